"""Store: rests: pauses and maintenance windows, read together, since a window is a pause that recurs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, bindparam, literal_column, null, or_, select, union_all

from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Recurrence, Rest
from hourhand.rules.pausing import Covered, stretch_at
from hourhand.rules.schedule import parse
from hourhand.rules.windows import open_at
from hourhand.service.holidays import days_from, days_of
from hourhand.store.database import Row, Tx
from hourhand.store.rows import Unreadable, readable
from hourhand.store.schema_access import pauses
from hourhand.store.schema_windows import calendars, maintenance_windows, past_windows
from hourhand.store.sql import store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Instant, dump_json


def _rests(since: ColumnElement[datetime]) -> Statement:
    """All in one statement, since who asks is far from the server: what holds at that time or after it."""
    windows = maintenance_windows.c
    current = (
        select(
            windows.scope,
            windows.scope_id,
            windows.active_since.label("begin"),
            null().cast(Instant).label("until"),
            windows.schedule,
            windows.duration_seconds,
            calendars.c.definition.label("days"),
            windows.timezone,
            windows.name,
            store_clock().label("now"),
        )
        .outerjoin(calendars, calendars.c.id == windows.calendar_id)
        .where(windows.enabled)
    )
    past = select(
        past_windows.c.scope,
        past_windows.c.scope_id,
        past_windows.c.active_since,
        past_windows.c.active_until,
        past_windows.c.schedule,
        past_windows.c.duration_seconds,
        past_windows.c.days,
        past_windows.c.timezone,
        past_windows.c.name,
        store_clock(),
    ).where(past_windows.c.active_until > since)
    paused = select(
        pauses.c.scope,
        pauses.c.scope_id,
        pauses.c.created_at,
        pauses.c.until,
        *(literal_column("NULL") for _ in range(5)),
        store_clock(),
    ).where(or_(pauses.c.until.is_(None), pauses.c.until > since))
    return Statement(union_all(current, past, paused))


_SINCE = _rests(bindparam("since", type_=Instant()))
_NOW = _rests(store_clock())


async def rests_since(tx: Tx, since: datetime) -> list[Rest]:
    """Every pause and window that an instant may lie in that is not older than `since`."""
    return readable(await tx.fetch(_SINCE, since=since), rest_of)


async def covered_now(tx: Tx) -> list[Covered]:
    """What rests at this moment: the scope of each pause and open window, and which task or group."""
    rows = await tx.fetch(_NOW)
    return [
        (row["scope"], row["scope_id"])
        for row in rows
        if row["timezone"] is None or any(stretch_at(one, row["now"]) is not None for one in readable([row], rest_of))
    ]


def open_scopes(windows: Sequence[Sequence[Any]], now: datetime) -> list[Covered]:
    """The same from windows as the beat reads them: scope, which, and when they are open."""
    names = ("scope", "scope_id", "schedule", "duration_seconds", "days", "timezone", "name")
    rows = [dict(zip(names, one, strict=True)) for one in windows]
    read = readable(rows, lambda row: ((row["scope"], row["scope_id"]), recurrence_of(row)))
    return [covered for covered, recurrence in read if open_at(recurrence, now) is not None]


def rest_of(row: Row) -> Rest:
    """A rest from its row."""
    return Rest(
        scope=PauseScope(row["scope"]),
        scope_id=row["scope_id"],
        begin=row["begin"],
        end=row["until"],
        recurrence=None if row["timezone"] is None else recurrence_of(row),
        name=row["name"] or "",
    )


def recurrence_of(row: Row) -> Recurrence:
    """When a window is open, from its row; refused if this host cannot tell."""
    days = None if row["days"] is None else dump_json(row["days"])
    try:
        return _recurrence(row["timezone"], row["schedule"], row["duration_seconds"], days)
    except (InvalidInput, ValueError, TypeError) as error:
        raise Unreadable(f"when the maintenance window {row['name']!r} is open cannot be read here: {error}") from None


@lru_cache(maxsize=1024)
def _recurrence(timezone: str, schedule: str | None, seconds: int | None, days: str | None) -> Recurrence:
    parse(schedule or "@manual", timezone)  # refuses what this host does not know
    read = None if days is None else days_from(json.loads(days))
    return Recurrence(
        timezone=timezone,
        schedule=schedule,
        duration_seconds=seconds,
        days=read,
        days_of=None if read is None else days_of,
    )
