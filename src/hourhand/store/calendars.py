"""Store: calendars, by whose days windows may open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Text, bindparam, delete, func, select, update

from hourhand.model.errors import Conflict, DuplicateName, InvalidInput, NotFound
from hourhand.model.window import Calendar, Days
from hourhand.rules.calendars import days_json
from hourhand.service.holidays import days_from
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.rows import Unreadable, readable
from hourhand.store.schema import store_values
from hourhand.store.schema_windows import calendars, maintenance_windows
from hourhand.store.sql import insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Json

MOST = 500
"""All of them are looked at again and again: by every beat, and whenever instants are made."""
# Windows and calendars are changed rarely, and each looks at the others: one at a time.
ONE_AT_A_TIME = Statement(select(store_values.c.name).where(store_values.c.name == "window_edits").with_for_update())
_id = bindparam("calendar_id", type_=Id)
_values = {
    "name": bindparam("new_name", type_=Text),
    "definition": bindparam("new_definition", type_=Json()),
    "updated_at": store_clock(),
}
_ADD = Statement(
    insert(calendars).values(**_values, created_at=store_clock()).on_conflict_do_nothing().returning(calendars)
)
_EDIT = Statement(update(calendars).values(**_values).where(calendars.c.id == _id).returning(calendars))
_DELETE = Statement(delete(calendars).where(calendars.c.id == _id))
_GET = Statement(select(calendars).where(calendars.c.id == _id))
_FIND = Statement(select(calendars).where(calendars.c.name == bindparam("name", type_=Text)))
_ALL = Statement(select(calendars).order_by(calendars.c.name))
_COUNT = Statement(select(func.count().label("n")).select_from(calendars))
_USERS = Statement(
    select(maintenance_windows.c.name)
    .where(maintenance_windows.c.calendar_id == _id)
    .order_by(maintenance_windows.c.name)
)


async def create(tx: Tx, name: str, definition: Days) -> Calendar:
    """A new calendar; its name must be free."""
    await tx.fetch(ONE_AT_A_TIME)
    (there,) = await tx.fetch(_COUNT)
    if there["n"] >= MOST:
        raise Conflict(f"there are {there['n']} calendars already: delete some that nobody needs")
    rows = await tx.fetch(_ADD, new_name=name, new_definition=days_json(definition))
    if not rows:
        raise DuplicateName("calendar", name)
    return calendar_of(rows[0])


async def edit(tx: Tx, calendar_id: int, changes: Mapping[str, Any]) -> tuple[Calendar, Calendar]:
    """Change its name or its definition; how it was and how it is."""
    before = await get(tx, calendar_id)
    name, definition = changes.get("name", before.name), changes.get("definition", before.definition)
    if name != before.name and await tx.fetch(_FIND, name=name):
        raise DuplicateName("calendar", name)
    (row,) = await tx.fetch(_EDIT, calendar_id=calendar_id, new_name=name, new_definition=days_json(definition))
    return before, calendar_of(row)


async def remove(tx: Tx, calendar_id: int) -> Calendar:
    """Delete a calendar that no window opens by."""
    await tx.fetch(ONE_AT_A_TIME)
    before = await get(tx, calendar_id)
    if users := await tx.fetch(_USERS, calendar_id=calendar_id):
        named = ", ".join(repr(row["name"]) for row in users)
        raise Conflict(
            f"calendar {before.name!r} is needed by the maintenance windows {named}: change or delete them first"
        )
    await tx.run(_DELETE, calendar_id=calendar_id)
    return before


async def get(tx: Tx, calendar_id: int) -> Calendar:
    """One calendar."""
    rows = await tx.fetch(_GET, calendar_id=calendar_id) if possible(calendar_id) else []
    if not rows:
        raise NotFound("calendar", calendar_id)
    return calendar_of(rows[0])


async def find(tx: Tx, name: str) -> Calendar:
    """The calendar of that name, or a refusal that names those there are."""
    rows = await tx.fetch(_FIND, name=name)
    if not rows:
        known = ", ".join(repr(row["name"]) for row in await tx.fetch(_ALL))
        there = f"there are: {known}" if known else "there is none at all: create it first"
        raise InvalidInput.one("calendar", name, f"there is no calendar {name!r}; {there}")
    return calendar_of(rows[0])


async def list_calendars(tx: Tx) -> list[Calendar]:
    """All of them, by name."""
    return readable(await tx.fetch(_ALL), calendar_of)


def calendar_of(row: Row) -> Calendar:
    """A calendar from its row."""
    try:
        definition = days_from(row["definition"])
    except InvalidInput as error:
        raise Unreadable(f"calendar {row['name']!r} cannot be read here: {error}") from None
    return Calendar(
        id=row["id"],
        name=row["name"],
        definition=definition,
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def described(calendar: Calendar) -> dict[str, Any]:
    """What the audit keeps of a calendar."""
    return {"name": calendar.name, "definition": days_json(calendar.definition)}
