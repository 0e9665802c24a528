"""`hourhand schedule`: what a schedule means, which needs no server; and what all of them are about to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer
from rich.table import Table
from rich.text import Text

from hourhand.cli import completing, moments
from hourhand.cli.printing import AsJson, Column, console, note, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.rules.schedule import Preview

WIDTH_OF_BOTH = 60

app = typer.Typer(name="schedule", help="Look at schedules.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look at schedules."""


@app.command()
def preview(
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPR", help="Such as '0 9 * * MON-FRI' or '@every 30s'.", autocompletion=completing.schedules
        ),
    ],
    *,
    timezone: Annotated[
        str,
        typer.Option(
            help="The zone the schedule is read in, such as Europe/Berlin.", autocompletion=completing.timezones
        ),
    ] = "UTC",
    count: Annotated[int, typer.Option(min=1, max=100, help="How many instants to show.")] = 10,
    after: Annotated[
        str | None, typer.Option(help="Show instants after this time; without an offset it is read in --timezone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, as the API answers.")] = False,
) -> None:
    """Show when a schedule fires next, and say in words what it means."""
    from hourhand.rules.schedule import parse
    from hourhand.rules.schedule import preview as look_ahead

    schedule = parse(expression, timezone)
    zone = ZoneInfo(timezone)
    start = _moment(after, zone) if after is not None else datetime.now(UTC)
    seen = look_ahead(schedule, start, count, anchor=start)
    if as_json:
        typer.echo(_as_json(seen))
    else:
        _print(seen, timezone)


@app.command()
def upcoming(
    *,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="From this time on, or 2h, 7d from now.", show_default=False),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="TIME", help="Before this time. [dim]a day after --from[/dim]", show_default=False
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this group only.", show_default=False, autocompletion=completing.groups),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of this task only.", show_default=False, autocompletion=completing.tasks),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what fires next, of all tasks, the soonest first."""
    from hourhand.cli.rest import connected

    wanted = {
        "from": None if begin is None else moments.read_until(begin, "--from"),
        "to": None if end is None else moments.read_until(end, "--to"),
        "group": group,
    }
    with connected() as rest, in_words_of({"from": "--from", "to": "--to", "group": "--group"}):
        task_id = None if task is None else rest.task(task)["id"]
        found = rest.some("/schedules/upcoming", limit, **wanted, task_id=task_id)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("Nothing fires in this time.")
        return
    print_table(
        (Column("AT"), Column("TASK"), Column("GROUP", 3), Column("TIMEZONE", 2), Column("NOTE", 6)),
        [
            (moments.shown(one["at"]), one["task_name"], one["group"], one["timezone"], one["note"] or "")
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the first {limit}: there are more (--limit).")


def _moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput.one(
            "--after", text, f"{text!r} is not a time: use a form such as 2026-11-15T09:00 or 2026-11-15T08:00:00Z"
        ) from None


def _as_json(seen: Preview) -> str:
    instants = [instant.astimezone(UTC).isoformat().replace("+00:00", "Z") for instant in seen.instants]
    found = {"instants": instants, "description": seen.description, "notes": list(seen.notes)}
    return json.dumps(found, ensure_ascii=False, indent=2)


def print_instants(instants: Sequence[datetime], timezone: str) -> None:
    """By the clock of the zone, and in UTC beside it where there is room."""
    out = console()
    if instants:
        out.print(_table(instants, timezone, both=timezone != "UTC" and out.width >= WIDTH_OF_BOTH))


def _print(seen: Preview, timezone: str) -> None:
    out = console()
    out.print(Text(seen.description, style="bold"))
    print_instants(seen.instants, timezone)
    for one in seen.notes:
        out.print(Text.assemble(("Note: ", "yellow"), one))


def _table(instants: Sequence[datetime], timezone: str, *, both: bool) -> Table:
    zone = UTC if timezone == "UTC" else ZoneInfo(timezone)
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(timezone, no_wrap=True)
    if both:
        table.add_column("UTC", no_wrap=True)
    for instant in instants:
        local = _shown(instant.astimezone(zone), "%a %Y-%m-%d")
        table.add_row(local, *([_shown(instant.astimezone(UTC), "%Y-%m-%d")] if both else []))
    return table


def _shown(moment: datetime, day: str) -> str:
    precise = "%H:%M:%S.%f" if moment.microsecond else "%H:%M:%S"
    offset = "Z" if moment.tzinfo is UTC else f" {moment:%Z}"
    return f"{moment.strftime(f'{day} {precise}')}{offset}"
