"""`hourhand calendar`: days that have a name together, by which maintenance windows may open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import moments
from hourhand.cli.flattening import flattened
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, plural, print_facts, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(
    name="calendar",
    help="Look after calendars: the holidays of a country or market, weekdays, and days of your own.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The calendar's name.", show_default=False)]
PATH = "/calendars"
PARTS = ("country", "subdivision", "market", "weekdays", "include", "exclude")
OPTIONS = {"weekdays": "--weekday"} | {name: f"--{name}" for name in PARTS if name != "weekdays"}
WORDS = {"name": "NAME", "definition": "--country"} | {f"definition.{name}": OPTIONS[name] for name in PARTS}
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarOptions:
    """What was given; None is what was not."""

    country: Annotated[str | None, _option("Its public holidays; an ISO 3166 code such as CN.", metavar="CODE")] = None
    subdivision: Annotated[str | None, _option("A state or province of the country.", metavar="CODE")] = None
    market: Annotated[
        str | None, _option("The days on which a market is closed; an ISO 10383 code such as XNYS.", metavar="CODE")
    ] = None
    weekday: Annotated[
        list[str] | None, _option("A day of every week, such as sat, or 6; repeatable.", metavar="DAY")
    ] = None
    include: Annotated[list[str] | None, _option("A date that it has besides; repeatable.", metavar="DATE")] = None
    exclude: Annotated[
        list[str] | None, _option("A date that it has not, whatever else says so; repeatable.", metavar="DATE")
    ] = None

    def parts(self) -> Json:
        """The parts of a definition that the options make."""
        given = {
            "country": self.country,
            "subdivision": self.subdivision,
            "market": self.market,
            "weekdays": None if self.weekday is None else [_weekday(one) for one in self.weekday],
            "include": self.include,
            "exclude": self.exclude,
        }
        return {name: value for name, value in given.items() if value is not None}


def _weekday(text: str) -> int:
    """1 is Monday; by its number, or the beginning of its name."""
    if text.isdecimal() and 1 <= int(text) <= len(DAYS):
        return int(text)
    short = text.lower()[:3]
    if short in DAYS:
        return DAYS.index(short) + 1
    raise InvalidInput.one("--weekday", text, f"{text!r} is no weekday: write sat, or 6; 1 is Monday")


@app.command()
@flattened(CalendarOptions)
def add(name: Name, *, as_json: AsJson = False, options: CalendarOptions) -> None:
    """Add a calendar, such as: hourhand calendar add China --country CN --weekday sat --weekday sun."""
    from hourhand.cli.rest import connected

    with connected() as rest, in_words_of(WORDS):
        made = rest.post(PATH, name=name, definition=options.parts())
        if as_json:
            print_json(made)
            return
        days = _days(rest, made, None)
    typer.echo(f"Calendar {name!r} is added: {plural(len(days['items']), 'day')} in {days['year']}.")


@app.command()
@flattened(CalendarOptions)
def edit(
    name: Name,
    *,
    rename: Annotated[str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION", help="Be without it, such as market or weekday; repeatable.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    options: CalendarOptions,
) -> None:
    """Change what is given of a calendar; all else stays. The windows that open by it follow from now on."""
    from hourhand.cli.rest import connected

    parts, cleared = options.parts(), [_part(one) for one in clear or ()]
    for part in cleared:
        if part in parts:
            raise InvalidInput.one(
                "--clear", part, f"{part!r} is given together with {OPTIONS[part]}: give one of them"
            )
    if not parts and not cleared and rename is None:
        raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --country")
    with connected() as rest, in_words_of(WORDS | {"name": "--rename"}):
        calendar = _found(rest, name)
        changes: Json = {} if rename is None else {"name": rename}
        if parts or cleared:
            kept = {part: value for part, value in calendar["definition"].items() if part not in cleared}
            changes["definition"] = kept | parts
        calendar = rest.patch(f"{PATH}/{calendar['id']}", changes)
        if as_json:
            print_json(calendar)
            return
        days = _days(rest, calendar, None)
    typer.echo(f"Calendar {calendar['name']!r} is changed: {plural(len(days['items']), 'day')} in {days['year']}.")


@app.command("list")
def list_calendars(*, as_json: AsJson = False) -> None:
    """List calendars, by name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(PATH)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no calendars: `hourhand calendar add`.")
        return
    print_table(
        (Column("NAME"), Column("DAYS", 8), Column("UPDATED", 3)),
        [(one["name"], _words(one["definition"]), moments.shown(one["updated_at"])) for one in found["items"]],
    )


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show which days a calendar is made of."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        calendar = _found(rest, name)
    if as_json:
        print_json(calendar)
        return
    facts = {"id": calendar["id"], "name": calendar["name"]}
    for part in PARTS:
        value = calendar["definition"].get(part)
        facts[part] = ", ".join(map(_shown, value)) if isinstance(value, list) else value
    times = {name: moments.shown(calendar[name]) for name in ("created_at", "updated_at")}
    print_facts(facts | times)


@app.command()
def preview(
    name: Name,
    *,
    year: Annotated[
        int | None, typer.Option(min=1970, max=2199, help="Another year than this one.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the days that a calendar has in a year, each with its name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = _days(rest, _found(rest, name), year)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note(f"It has no day in {found['year']}.")
        return
    print_table((Column("DATE"), Column("NAME")), [(one["date"], one["name"]) for one in found["items"]])


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Delete a calendar; refused while a maintenance window opens by it."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = _found(rest, name)
        rest.delete(f"{PATH}/{found['id']}")
    if as_json:
        print_json({"id": found["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Calendar {name!r} is deleted.")


def _found(rest: Rest, name: str) -> Json:
    return rest.named("calendar", PATH, name, paged=False)


def _days(rest: Rest, calendar: Json, year: int | None) -> Json:
    found: Json = rest.get(f"{PATH}/{calendar['id']}/days", year=year)
    return found


def _part(option: str) -> str:
    plain = option.removeprefix("--")
    part = "weekdays" if plain == "weekday" else plain
    if part not in PARTS:
        known = ", ".join(one.removeprefix("--") for one in sorted(OPTIONS.values()))
        raise InvalidInput.one("--clear", option, f"{option!r} cannot be cleared; what can be: {known}")
    return part


def _shown(value: str | int) -> str:
    return DAYS[value - 1] if isinstance(value, int) else value


def _words(definition: Json) -> str:
    """Its definition in a cell."""
    return "; ".join(
        f"{part} {', '.join(map(_shown, value)) if isinstance(value, list) else value}"
        for part, value in definition.items()
    )
