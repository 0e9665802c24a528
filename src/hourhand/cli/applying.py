"""`hourhand apply`: the tasks of files, made so."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, clean, console, note, print_json
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest
    from hourhand.cli.task_file_reading import FileSet

Files = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="PATH",
        help="A task file, a folder of them, or - for standard input; repeatable.",
        show_default=False,
    ),
]
_STYLES = {
    "create": ("+", "green"),
    "edit": ("~", "yellow"),
    "adopt": ("~", "yellow"),
    "delete": ("-", "red"),
    "gone": ("!", "magenta"),
    "refused": ("!", "red"),
}
_LONGEST = 200


def apply(
    *,
    file: Files = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="The same, and exit 1 when the store is not as the files say.")
    ] = False,
    name: Annotated[
        str | None,
        typer.Option(metavar="SET", help="The name of the set, where the files do not say it.", show_default=False),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete tasks that the files no longer have; needs the name of the set.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Manage tasks that an app or another file manages.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of task files, and exit.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make tasks as task files have them; what others changed meanwhile is shown and put back."""
    if schema:
        from hourhand.api.task_file_schema import task_file_schema

        print_json(task_file_schema())
        return
    if not file:
        raise InvalidInput.one(
            "--file", None, "is missing: name a task file or a folder of them, such as -f tasks.yaml"
        )
    from hourhand.cli.rest import connected
    from hourhand.cli.task_file_reading import read_sets

    sets = read_sets(file, name)
    looking = dry_run or check
    asking = not yes and sys.stdin.isatty()
    if prune:
        _refuse_pruning(sets, unasked=not (looking or yes or asking))
    answers = []
    with connected(patient=True) as rest:
        for number, each in enumerate(sets):
            run = _Run(rest, each, {"prune": prune, "take_over": take_over}, quiet=as_json)
            if looking:
                answers.append(run.look(after=sets[:number]))
            elif not asking:
                answers.append(run.apply())
            else:
                answers.append(run.ask_and_apply())
    if as_json:
        print_json(answers[0] if len(answers) == 1 else answers)
    changes = [one for answer in answers for one in answer["changes"]]
    differs = any(map(_differs, answers))
    if check and differs:
        note("The store is not as the files say.")
    if (check and differs) or any(one["action"] == "refused" for one in changes):
        raise typer.Exit(1)


def _refuse_pruning(sets: Sequence[FileSet], *, unasked: bool) -> None:
    """Refuse to delete what nobody has clearly asked for: two teams may each have a `tasks.yaml`."""
    for each in sets:
        if not each.said:
            raise InvalidInput.one(
                "--prune",
                None,
                f"deletes tasks of the set, and {each.paths[0]!r} does not say which set it is: write "
                f"name: {each.name} at its top, or give --name {shlex.quote(each.name)}",
            )
    if unasked:
        raise InvalidInput.one(
            "--prune",
            None,
            "deletes tasks, and there is no terminal to ask at: add --yes, or see by --dry-run what would be deleted",
        )


class _Run:
    """One set on its way."""

    def __init__(self, rest: Rest, wanted: FileSet, options: Json, *, quiet: bool) -> None:
        self._rest = rest
        self._wanted = wanted
        self._options = options
        self._quiet = quiet

    def look(self, after: Sequence[FileSet]) -> Json:
        """What would be done, once these others have been applied."""
        tasks = self._wanted.needed.intersection({name for one in after for name in one.names})
        groups = self._wanted.used_groups.intersection({name for one in after for name in one.groups})
        seen = self._post(dry_run=True, expected_tasks=sorted(tasks), expected_groups=sorted(groups))
        self._show(seen)
        self._sum_up(seen)
        return seen

    def apply(self) -> Json:
        """It is done, and shown."""
        done = self._post()
        self._show(done)
        self._sum_up(done)
        return done

    def ask_and_apply(self) -> Json:
        """It is shown, and done after a yes where something would be lost."""
        seen = self._post(dry_run=True)
        self._show(seen)
        if any(one["action"] == "refused" for one in seen["changes"]):
            self._sum_up(seen)
            return seen
        questions = _losses(seen)
        if questions and not typer.confirm(f"{' and '.join(questions)}?", err=True):
            note("Nothing was changed.")
            raise typer.Exit(1)
        done = self._post(plan_hash=seen["plan_hash"])
        self._sum_up(done)
        return done

    def _post(self, **more: object) -> Json:
        said = {"name": self._wanted.name, "groups": self._wanted.groups, "tasks": self._wanted.tasks}
        with self._wanted.placed():
            answer: Json = self._rest.post("/tasks/apply", **said, **self._options, **more)
        return answer

    def _show(self, answer: Json) -> None:
        if not self._quiet:
            out = console()
            for line in _lines(answer):
                out.print(line, soft_wrap=True)

    def _sum_up(self, answer: Json) -> None:
        from hourhand.rules.applying import file_owner, summary

        if not self._quiet:
            done = summary([one["action"] for one in answer["changes"]])
            would = "" if answer["applied"] or not _differs(answer) else " (nothing was changed)"
            typer.echo(f"{file_owner(answer['name'])}: {done}{would}")


def _differs(answer: Json) -> bool:
    return bool(answer["groups"]) or any(one["action"] != "unchanged" for one in answer["changes"])


def _losses(seen: Json) -> list[str]:
    """What somebody may miss afterwards, as a question."""
    deleted = [one["name"] for one in seen["changes"] if one["action"] == "delete"]
    drifted = [one for one in seen["changes"] if one["drift"]]
    questions = []
    if deleted:
        questions.append(f"delete {', '.join(map(repr, deleted))}")
    if drifted:
        who = sorted({one["drift"]["by"] or "somebody" for one in drifted})
        questions.append(f"undo what {', '.join(who)} did to {', '.join(repr(one['name']) for one in drifted)}")
    return [one[:1].upper() + one[1:] if number == 0 else one for number, one in enumerate(questions)]


def _lines(answer: Json) -> list[Text]:
    lines = [Text(clean(f"+ group {name}"), style="green") for name in answer["groups"]]
    for change in answer["changes"]:
        if change["action"] == "unchanged":
            continue
        sign, style = _STYLES[change["action"]]
        reason = f": {change['reason']}" if change["reason"] else ""
        lines.append(Text(clean(f"{sign} {change['action']} {change['name']}{reason}"), style=style))
        for each in change["fields"]:
            told = f"{_value(each['before'])} → {_value(each['after'])}"
            lines.append(Text(clean(f"    {each['field']}: {told}")))
        if change["drift"]:
            lines.append(Text(clean(f"  ! drift: {_drift(change['drift'])}"), style="magenta"))
    return lines


def _drift(drift: Json) -> str:
    did = "deleted it" if drift["deleted"] else f"changed {', '.join(drift['fields'])}"
    return f"{drift['by'] or 'somebody'} {did} at {moments.shown(drift['at'])}"


def _value(value: Any) -> str:  # noqa: ANN401 - any field's
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
