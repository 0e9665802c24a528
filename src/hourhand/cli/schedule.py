"""`hourhand schedule`: what a schedule means; works without a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer
from rich.table import Table
from rich.text import Text

from hourhand.cli import completing
from hourhand.cli.printing import console
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
    for note in seen.notes:
        out.print(Text.assemble(("Note: ", "yellow"), note))


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
