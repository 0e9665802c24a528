"""`hourhand export`: tasks as the files that `hourhand apply` takes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli.json_options import Json
from hourhand.cli.printing import note, plural
from hourhand.model.errors import HourhandError, InvalidInput
from hourhand.model.words import Role

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

_EVERY = 1_000_000
_UNFIT = re.compile(r"[^\w.-]+")
_MANY = 5


def export(
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A file, or a folder for one file per group. [dim]standard output[/dim]",
            show_default=False,
        ),
    ] = None,
    group: Annotated[str | None, typer.Option(help="Of this group only.", show_default=False)] = None,
    managed_by: Annotated[
        str | None, typer.Option(metavar="OWNER", help="Those of file:NAME, or app:NAME.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Those that apps and other files manage too.")] = False,
    name: Annotated[str | None, typer.Option(metavar="SET", help="The name of the set.", show_default=False)] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that there are.")] = False,
) -> None:
    """Write tasks as task files, such that applying them changes nothing; by default those that nobody manages."""
    if managed_by is not None and everything:
        raise InvalidInput.one("--all", None, "is given together with --managed-by: give one of them")
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/tasks", _EVERY, group=group)["items"]
        chosen = _Choice(managed_by, name, everything=everything).of(found)
        _refuse_masked(rest, chosen)
        written = _Writer(rest, found).written(chosen)
        header = f"# yaml-language-server: $schema={rest.url}/api/v1/task-file.schema.json\n"
    called = name or (managed_by or "").partition("file:")[2] or None
    if not written:
        note("There are no such tasks.")
        return
    texts = _texts(written, called, output)
    _save({path: header + text for path, text in texts.items()}, force=force)
    if output is not None:
        for path in texts:
            typer.echo(f"{path} is written.")


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which tasks: a file with those of others would be refused."""

    managed_by: str | None
    name: str | None
    everything: bool = field(kw_only=True)

    def of(self, tasks: Iterable[Json]) -> list[Json]:
        """Those of these; what is left out is said."""
        from hourhand.rules.operation_tasks import BUILT_IN

        ours = {self.managed_by} if self.managed_by else {None, f"file:{self.name}"}
        chosen: list[Json] = []
        left: list[Json] = []
        for task in tasks:
            if task["managed_by"] == BUILT_IN:
                continue  # every Hourhand makes its own
            (chosen if self.everything or task["managed_by"] in ours else left).append(task)
        if left and not self.managed_by:
            owners = ", ".join(sorted({one["managed_by"] for one in left}))
            note(f"{plural(len(left), 'task')} of {owners} left out: --managed-by OWNER, or --all.")
        return chosen


def _refuse_masked(rest: Rest, tasks: Sequence[Json]) -> None:
    """Refuse to write masks into a file: applied, they would take the place of what they hide."""
    from hourhand.rules.redaction import redacted
    from hourhand.rules.secret_text import MASK

    who = rest.get("/sessions/current")
    if Role(who["role"]).includes(Role.EDITOR):
        if secret := [task["name"] for task in tasks if redacted(task["payload"]) != task["payload"]]:
            named = ", ".join(map(repr, secret[:_MANY])) + (" …" if len(secret) > _MANY else "")
            note(f"What looks like a secret is written as it is, of: {named}")
        return
    hidden = next((task["name"] for task in tasks if MASK in str(task["payload"])), None)
    if hidden is not None:
        raise HourhandError(
            f"task {hidden!r} has values that are hidden from the role {who['role']}, and a file with *** in their "
            "place would overwrite them: export with a token of an editor"
        )


class _Writer:
    """Tasks as a file says them: dependencies by name."""

    def __init__(self, rest: Rest, tasks: Iterable[Json]) -> None:
        self._rest = rest
        self._names: dict[int, str | None] = {task["id"]: task["name"] for task in tasks}

    def written(self, tasks: Iterable[Json]) -> dict[str, list[Json]]:
        """By group."""
        from hourhand.rules.task_files import written

        found: dict[str, list[Json]] = {}
        for task in tasks:
            needed = [self._name(task["name"], one) for one in task["dependency_ids"]]
            entry = written(task, [one for one in needed if one is not None])
            found.setdefault(task["group"], []).append(entry)
        return found

    def _name(self, task: str, number: int) -> str | None:
        if number not in self._names:
            try:
                self._names[number] = self._rest.get(f"/tasks/{number}")["name"]
            except HourhandError as refused:
                self._names[number] = None
                note(f"task {task!r} depends on task {number}, which is left out: {refused}")
        return self._names[number]


def _texts(written: Mapping[str, list[Json]], name: str | None, output: str | None) -> dict[str, str]:
    """What goes where: all into one place, or a file for each group into a folder."""
    from hourhand.model.task import DEFAULT_GROUP

    if output is None or not (output.endswith("/") or Path(output).is_dir()):
        tasks = sorted((task for each in written.values() for task in each), key=lambda task: str(task["name"]))
        return {output or "": _text(name, sorted(set(written) - {DEFAULT_GROUP}), tasks)}
    texts: dict[str, str] = {}
    for group, tasks in sorted(written.items()):
        stem = _UNFIT.sub("-", group).strip(".-") or "group"
        path, number = Path(output) / f"{stem}.yaml", 1
        while str(path) in texts:
            number += 1
            path = Path(output) / f"{stem}-{number}.yaml"
        texts[str(path)] = _text(name, [group] if group != DEFAULT_GROUP else [], tasks)
    return texts


def _text(name: str | None, groups: Sequence[str], tasks: Sequence[Json]) -> str:
    from hourhand.cli.yaml_writing import write_yaml

    head: Json = {"name": name} if name else {}
    head |= {"groups": list(groups)} if groups else {}
    return write_yaml({**head, "tasks": list(tasks)})


def _save(texts: Mapping[str, str], *, force: bool) -> None:
    from hourhand.cli.file_writing import write_file

    there = [path for path in texts if path and os.path.lexists(path)]
    if there and not force:
        raise HourhandError(f"{there[0]!r} exists already: choose another place, or overwrite it (--force)")
    for path, text in texts.items():
        if not path:
            typer.echo(text, nl=False)
            continue
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            write_file(Path(path), text, overwrite=force)
        except OSError as error:
            raise HourhandError(f"{path!r} cannot be written: {error.strerror}") from None
