"""`hourhand window`: maintenance windows, which are pauses that recur."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import moments
from hourhand.cli.flattening import flattened
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_facts, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(
    name="window",
    help="Look after maintenance windows: pauses that recur, by a schedule or on the days of a calendar.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The window's name.", show_default=False)]
PATH = "/maintenance-windows"
_LENGTH = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": 1, "m": moments.MINUTE, "h": moments.HOUR, "d": moments.DAY, "w": 7 * moments.DAY}
WORDS = {
    "name": "NAME",
    "scope": "--task",
    "task_id": "--task",
    "group": "--group",
    "schedule": "--schedule",
    "duration_seconds": "--for",
    "calendar": "--calendar",
    "timezone": "--timezone",
    "reason": "--reason",
}
COLUMNS = (
    Column("NAME"),
    Column("OF", 8),
    Column("OPENS", 7),
    Column("STATE", 8),
    Column("NEXT", 6),
    Column("REASON", 4),
)


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions:
    """What was given; None is what was not."""

    task: Annotated[str | None, _option("Let this task's schedule rest.", metavar="NAME")] = None
    group: Annotated[str | None, _option("Let this group rest.", metavar="NAME")] = None
    everything: Annotated[bool, _option("Let everything rest.", "--all")] = False
    schedule: Annotated[str | None, _option("When it opens: cron, a macro, or @at.", metavar="EXPR")] = None
    length: Annotated[
        str | None, _option("How long it is open each time, such as 30m, 2h, 7d.", "--for", metavar="LENGTH")
    ] = None
    calendar: Annotated[
        str | None, _option("In place of --schedule: on the days of this calendar.", metavar="NAME")
    ] = None
    timezone: Annotated[str | None, _option("Of the schedule, or of the calendar's days.")] = None
    reason: Annotated[str | None, _option("For those who wonder what has stopped.", metavar="TEXT")] = None

    def fields(self, rest: Rest) -> Json:
        """The fields of a window that the options make."""
        given = {
            "schedule": self.schedule,
            "duration_seconds": None if self.length is None else _seconds(self.length),
            "calendar": self.calendar,
            "timezone": self.timezone,
            "reason": self.reason,
        }
        return self._scope(rest) | {name: value for name, value in given.items() if value is not None}

    def _scope(self, rest: Rest) -> Json:
        named = {"--task": self.task, "--group": self.group, "--all": self.everything or None}
        given = [option for option, value in named.items() if value is not None]
        if len(given) > 1:
            raise InvalidInput.one(given[1], named[given[1]], f"is given together with {given[0]}: give one of them")
        if self.task is not None:
            return {"scope": "task", "task_id": rest.task(self.task)["id"]}
        if self.group is not None:
            return {"scope": "group", "group": self.group}
        return {"scope": "all"} if self.everything else {}


def _seconds(text: str) -> int:
    given = _LENGTH.fullmatch(text)
    if given is None:
        raise InvalidInput.one("--for", text, f"{text!r} is not a length of time: use a form such as 30m, 2h or 7d")
    return int(given[1]) * _UNITS[given[2]]


@app.command()
@flattened(WindowOptions)
def add(
    name: Name,
    *,
    disabled: Annotated[bool, typer.Option("--disabled", help="Do not let it open yet.")] = False,
    as_json: AsJson = False,
    options: WindowOptions,
) -> None:
    """Add a window, such as: hourhand window add backup --group billing --schedule @daily --for 2h --reason backup."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of(WORDS):
        fields = options.fields(rest)
        if "scope" not in fields:
            raise InvalidInput.one("--task", None, "is missing: say what is to rest with --task, --group or --all")
        if "reason" not in fields:
            raise InvalidInput.one("--reason", None, "is missing: say why, for those who wonder what has stopped")
        window = rest.post(PATH, **(fields | {"name": name, "enabled": not disabled}))
    if as_json:
        print_json(window)
        return
    typer.echo(f"Maintenance window {name!r} is added: {_of(window)} rests {_opens(window)}.")
    _say_when(window)


@app.command()
@flattened(WindowOptions)
def edit(
    name: Name,
    *,
    rename: Annotated[str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Whether it opens at all.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    options: WindowOptions,
) -> None:
    """Change what is given of a window; all else stays. A calendar takes a schedule's place, and vice versa."""
    from hourhand.cli.rest import connected

    switched = {"name": rename, "enabled": enabled}
    with connected() as rest, in_words_of(WORDS | {"name": "--rename"}):
        changes = options.fields(rest) | {field: value for field, value in switched.items() if value is not None}
        if not changes:
            raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --for")
        window = rest.patch(f"{PATH}/{_found(rest, name)['id']}", changes)
    if as_json:
        print_json(window)
        return
    typer.echo(f"Maintenance window {window['name']!r} is changed: {_of(window)} rests {_opens(window)}.")
    _say_when(window)


@app.command("list")
def list_windows(*, as_json: AsJson = False) -> None:
    """List maintenance windows, by name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(PATH)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no maintenance windows: `hourhand window add`.")
        return
    print_table(
        COLUMNS,
        [
            (
                one["name"],
                _of(one),
                f"{_opens(one)} ({one['timezone']})",
                _state(one),
                moments.shown(_opening(one)),
                one["reason"],
            )
            for one in found["items"]
        ],
    )


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that is known of a window, and when it opens next."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        window = _found(rest, name)
    if as_json:
        print_json(window)
        return
    lines = [f"{moments.shown(one['from'])} to {moments.shown(one['to'])}" for one in window["next"]]
    told = {
        "open": "yes" if window["open"] else "no",
        "next": "\n".join(lines),
        "created_at": moments.shown(window["created_at"]),
        "updated_at": moments.shown(window["updated_at"]),
    }
    print_facts(window | told)


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Delete a window; if it is open, it ends now."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = _found(rest, name)
        rest.delete(f"{PATH}/{found['id']}")
    if as_json:
        print_json({"id": found["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Maintenance window {name!r} is deleted.")


def _found(rest: Rest, name: str) -> Json:
    return rest.named("maintenance window", PATH, name, paged=False)


def _of(window: Json) -> str:
    match window["scope"]:
        case "task":
            return f"task {window['task_name']!r}"
        case "group":
            return f"group {window['group']!r}"
    return "everything"


def _opens(window: Json) -> str:
    if window["calendar"] is not None:
        return f"on the days of {window['calendar']!r}"
    return f"for {moments.length(window['duration_seconds'])} from {window['schedule']!r}"


def _state(window: Json) -> str:
    if not window["enabled"]:
        return "disabled"
    return "open" if window["open"] else "closed"


def _opening(window: Json) -> str | None:
    """When it opens next: what is open now has opened already."""
    to_come = window["next"][1:] if window["open"] else window["next"]
    return to_come[0]["from"] if to_come else None


def _say_when(window: Json) -> None:
    if not window["enabled"]:
        note("It is disabled, so that it does not open: `hourhand window edit NAME --enable`.")
    elif window["open"]:
        typer.echo(f"It is open now, until {moments.shown(window['next'][0]['to'])}.")
    elif window["next"]:
        typer.echo(f"It opens next at {moments.shown(window['next'][0]['from'])}.")
    else:
        note("It never opens again: its schedule has no instant to come, or its calendar no day.")
