"""Many at once in the CLI: what a filter fits is counted first, and changed only after a yes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import completing, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import note, plural, print_json
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput
from hourhand.model.words import Status, TaskType, TriggeredBy

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

_DONE = {
    "cancel": "cancelled or asked to stop",
    "retry": "revived",
    "enable": "enabled",
    "disable": "disabled",
    "delete": "deleted",
}
_OPTIONS = {
    "filter": "--all",
    "filter.status": "--status",
    "filter.group": "--group",
    "group": "--group",
    "filter.q": "--search",
    "filter.exclude": "--exclude",
    "filter.owner": "--owner",
    "filter.tag": "--tag",
    "filter.args": "--with-args",
    "filter.error": "--error",
}


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, rich_help_panel="Many at once", **more)


def data_source_id(rest: Rest, name: str | None) -> int | None:
    """The id of the data source of that name, or a refusal that names the nearest."""
    return None if name is None else int(rest.named("data source", "/data-sources", name, paged=False)["id"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """What to do with all that a filter fits."""

    noun: str
    action: str
    chosen: Json
    dry_run: bool = False
    yes: bool = False
    more: Json = field(default_factory=dict)

    def refuse_with(self, one: object, name: str) -> None:
        """Refuse options that are for many when one is named."""
        if self.chosen or self.dry_run or self.yes:
            raise InvalidInput.one(name, one, "is given together with options for many at once: give one or the other")

    def change(self, rest: Rest, *, as_json: bool = False) -> None:
        """Count, ask, and do it; exit 1 when some were left as they are."""
        with in_words_of(_OPTIONS):
            answer = self._asked(rest)
        if as_json:
            print_json(answer)
        elif not answer["matched"]:
            typer.echo(f"There is nothing to {self.action}: no {self.noun} fits, or all are so already.")
        elif answer["dry_run"]:
            typer.echo(f"{self._count(answer)} would be {_DONE[self.action]}.")
        else:
            typer.echo(f"{plural(answer['done'], self.noun)} {_DONE[self.action]}.")
        self._remark(answer)
        if answer["refused"]:
            raise typer.Exit(1)

    def _asked(self, rest: Rest) -> Json:
        if not self.chosen:
            raise InvalidInput.one(
                "--all", None, f"is missing: name one {self.noun}, or say which ones by a filter, or --all for all"
            )
        if not self.dry_run and not self.yes:
            self._confirm(rest)
        return self._post(rest, dry_run=self.dry_run)

    def _confirm(self, rest: Rest) -> None:
        if not sys.stdin.isatty():
            raise InvalidInput.one(
                "--yes", None, f"is missing: nobody can be asked here whether to {self.action} them (--dry-run counts)"
            )
        counted = self._post(rest, dry_run=True)
        if counted["matched"] and not typer.confirm(f"{self.action.capitalize()} {self._count(counted)}?", err=True):
            note("Nothing was changed.")
            raise typer.Exit(1)

    def _post(self, rest: Rest, *, dry_run: bool) -> Json:
        found: Json = rest.post(
            f"/{self.noun}s/bulk", action=self.action, filter=self.chosen, dry_run=dry_run, **self.more
        )
        return found

    def _count(self, answer: Json) -> str:
        return plural(answer["matched"], self.noun)

    def _remark(self, answer: Json) -> None:
        for each in answer["refused"]:
            note(f"{self.noun} {each['id']} is left as it is: {each['message']}")
        unsaid = answer["matched"] - answer["done"] - len(answer["refused"])
        if not answer["dry_run"] and unsaid > 0:
            note(f"… and {unsaid} more {'is left as it is' if unsaid == 1 else 'are left as they are'}.")
        if answer["more"]:
            note("One command changes 10,000: run it again for the rest.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filter:
    """Options of every command that can change many at once."""

    everything: Annotated[bool, _option("Really all of them.", "--all")] = False
    dry_run: Annotated[bool, _option("Only count them.", "--dry-run")] = False
    yes: Annotated[bool, _option("Do not ask.", "--yes", "-y")] = False

    def _many(self, noun: str, action: str, given: Json, more: Json) -> Many:
        chosen = given | {"all": self.everything or None}
        return Many(
            noun=noun,
            action=action,
            chosen={name: value for name, value in chosen.items() if value is not None},
            dry_run=self.dry_run,
            yes=self.yes,
            more=more,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter(_Filter):
    """Which tasks: those that all of it fits."""

    q: Annotated[str | None, _option("Those with this in the name.", "--search", "--q", "-q")] = None
    group: Annotated[
        str | None, _option("Those of this group.", "--group", metavar="NAME", autocompletion=completing.groups)
    ] = None
    kind: Annotated[TaskType | None, _option("Those of this type.", "--type")] = None
    exclude: Annotated[str | None, _option("Those without this in the name.", "--exclude", metavar="TEXT")] = None
    owner: Annotated[str | None, _option("Those of this owner.", "--owner")] = None
    tag: Annotated[str | None, _option("Those with this tag.", "--tag")] = None

    def many(self, action: str, **more: object) -> Many:
        """What to do with them."""
        given = {
            "q": self.q,
            "group": self.group,
            "type": self.kind,
            "exclude": self.exclude,
            "owner": self.owner,
            "tag": self.tag,
        }
        return self._many("task", action, given, more)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFilter(_Filter):
    """Which instances: those that all of it fits."""

    task: Annotated[
        str | None, _option("Those of this task.", "--task", metavar="NAME", autocompletion=completing.tasks)
    ] = None
    status: Annotated[Status | None, _option("Those in this state.", "--status")] = None
    group: Annotated[
        str | None, _option("Those of this group.", "--group", metavar="NAME", autocompletion=completing.groups)
    ] = None
    kind: Annotated[TaskType | None, _option("Those of this type.", "--type")] = None
    executor: Annotated[
        str | None,
        _option("Those that it runs or ran.", "--executor", metavar="ID", autocompletion=completing.executors),
    ] = None
    triggered_by: Annotated[TriggeredBy | None, _option("Those made so.", "--triggered-by")] = None
    data_source: Annotated[
        str | None,
        _option("Those that work on it.", "--data-source", metavar="NAME", autocompletion=completing.data_sources),
    ] = None
    q: Annotated[str | None, _option("Those of tasks with this in the name.", "--search", "--q", "-q")] = None
    exclude: Annotated[str | None, _option("Those of tasks without this in the name.", "--exclude", metavar="TEXT")] = (
        None
    )
    owner: Annotated[str | None, _option("Those of tasks of this owner.", "--owner")] = None
    with_args: Annotated[
        str | None, _option("Those with this in their arguments, as JSON.", "--with-args", metavar="TEXT")
    ] = None
    error: Annotated[str | None, _option("Those with this in their error.", "--error", metavar="TEXT")] = None
    since: Annotated[
        str | None, _option("Those due or ended since this time, or 30m, 2h, 7d ago.", "--since", metavar="TIME")
    ] = None
    before: Annotated[str | None, _option("The same, before this time.", "--before", metavar="TIME")] = None

    def many(self, rest: Rest, action: str, **more: object) -> Many:
        """What to do with them."""
        given = {
            "task_id": rest.task(self.task)["id"] if self.task else None,
            "status": self.status,
            "group": self.group,
            "type": self.kind,
            "executor_id": self.executor,
            "triggered_by": self.triggered_by,
            "data_source_id": data_source_id(rest, self.data_source),
            "q": self.q,
            "exclude": self.exclude,
            "owner": self.owner,
            "args": self.with_args,
            "error": self.error,
            "from": None if self.since is None else moments.read_since(self.since, "--since"),
            "to": None if self.before is None else moments.read_since(self.before, "--before"),
        }
        return self._many("instance", action, given, more)
