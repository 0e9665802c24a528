"""`hourhand pause`: a task, a group, or everything rests for a while."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from hourhand.cli import completing, moments, resting
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(
    name="pause",
    short_help="Let a task, a group or everything rest; a paused task can still be run by hand.",
    help="Let a task, a group or everything rest. Instants that fall due meanwhile are recorded as skipped; what runs "
    "goes on. A paused task can still be run by hand; of a paused group, or while all is paused, nothing starts.",
    no_args_is_help=True,
)
Reason = Annotated[str, typer.Option(metavar="TEXT", help="For those who wonder what has stopped.", show_default=False)]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When it ends by itself; without an offset in UTC.", show_default=False),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="LENGTH", help="How long, such as 30m, 2h, 7d.", show_default=False)
]
_RESTS = "Executors learn of it at their next heartbeat; what runs goes on; what is run by hand waits for the end."
_OPTIONS = {"reason": "--reason", "until": "--until", "group": "NAME"}
COLUMNS = (
    Column("ID", right=True),
    Column("PAUSED"),
    Column("REASON", 7),
    Column("BY", 5),
    Column("SINCE", 3),
    Column("UNTIL", 8),
)


@app.command("task")
def pause_task(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The task's name.", show_default=False, autocompletion=completing.tasks),
    ],
    *,
    reason: Reason,
    until: Until = None,
    length: For = None,
    as_json: AsJson = False,
) -> None:
    """Let the schedule of a task rest; it can still be run by hand."""
    from hourhand.cli.rest import connected

    end = _end(until, length)
    with connected() as rest, in_words_of(_OPTIONS):
        made = rest.post("/pauses", scope="task", task_id=rest.task(name)["id"], reason=reason, until=end)
        means = f"Its schedule rests; `hourhand task run {shlex.quote(name)}` still runs it."
        _tell(rest, made, means, as_json=as_json)


@app.command("group")
def pause_group(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The group's name.", show_default=False, autocompletion=completing.groups),
    ],
    *,
    reason: Reason,
    until: Until = None,
    length: For = None,
    as_json: AsJson = False,
) -> None:
    """Let a group rest: its tasks do not fire and nothing of it starts, not even what is run by hand."""
    from hourhand.cli.rest import connected

    end = _end(until, length)
    with connected() as rest, in_words_of(_OPTIONS):
        made = rest.post("/pauses", scope="group", group=name, reason=reason, until=end)
        _tell(rest, made, _RESTS, as_json=as_json)


@app.command("all")
def pause_all(
    *,
    reason: Reason,
    until: Until = None,
    length: For = None,
    as_json: AsJson = False,
) -> None:
    """Let everything rest: no task fires and nothing starts, not even what is run by hand."""
    from hourhand.cli.rest import connected

    end = _end(until, length)
    with connected() as rest, in_words_of(_OPTIONS):
        made = rest.post("/pauses", scope="all", reason=reason, until=end)
        _tell(rest, made, _RESTS, as_json=as_json)


@app.command("list")
def list_pauses(*, as_json: AsJson = False) -> None:
    """List the pauses in force."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/pauses")
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("Nothing is paused.")
        return
    print_table(
        COLUMNS,
        [
            (
                str(one["id"]),
                _what(one),
                one["reason"],
                one["owner"],
                moments.shown(one["created_at"]),
                moments.shown(one["until"]) or "it is resumed",
            )
            for one in found["items"]
        ],
    )


@app.command()
def resume(
    pause_id: Annotated[
        int,
        typer.Argument(
            metavar="ID", min=1, help="The pause's id.", show_default=False, autocompletion=completing.pauses
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """End a pause; instants that were skipped meanwhile can be made up for by `hourhand task backfill`."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        rest.delete(f"/pauses/{pause_id}")
    if as_json:
        print_json({"id": pause_id, "resumed": True})
    else:
        typer.echo(f"Pause {pause_id} is over.")


def _end(until: str | None, length: str | None) -> str | None:
    if until is not None and length is not None:
        raise InvalidInput.one("--for", length, "is given together with --until: give the one or the other")
    if length is not None:
        return moments.read_length(length, "--for")
    return None if until is None else moments.read(until, "--until")


def _what(pause: Json) -> str:
    match pause["scope"]:
        case "task":
            return f"task {pause['task_name']!r}"
        case "group":
            return f"group {pause['group']!r}"
    return "everything"


def _tell(rest: Rest, pause: Json, means: str, *, as_json: bool) -> None:
    if as_json:
        print_json(pause)
        return
    what = _what(pause)
    end = f" until {moments.shown(pause['until'])}" if pause["until"] else ""
    typer.echo(f"{what[:1].upper()}{what[1:]} is paused{end}. {means}")
    typer.echo(f"`hourhand pause resume {pause['id']}` ends the pause.")
    for one in rest.get("/pauses")["items"]:
        if one["id"] != pause["id"] and _what(one) == what:
            note(f"Pause {one['id']} of it is in force already, {resting.until(one)}: it rests until both are over.")
