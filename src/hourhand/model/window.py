"""Model: maintenance windows and calendars: a window is a pause that recurs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from hourhand.model.pause import PauseScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Which days a calendar has: those of a country and of a market, some weekdays, and some more, without others."""

    country: str | None = None
    subdivision: str | None = None
    market: str | None = None
    weekdays: tuple[int, ...] = ()
    """By ISO: 1 is Monday, 7 is Sunday."""
    include: tuple[date, ...] = ()
    exclude: tuple[date, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Days that have a name together."""

    id: int
    name: str
    definition: Days
    created_at: datetime
    updated_at: datetime


DaysOf = Callable[[Days, int], Mapping[date, str]]
"""Tells the days of a year in their order, each with its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """When a window is open: so many seconds from each instant of a schedule, or on whole days."""

    timezone: str = "UTC"
    schedule: str | None = None
    duration_seconds: int | None = None
    days: Days | None = None
    days_of: DaysOf | None = None
    """Who knows which days these are; with `days` only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowDefinition:
    """What somebody says of a window: what rests, and when, by a schedule and a duration or by a calendar's name."""

    name: str
    scope: PauseScope
    scope_id: int | None = None
    """The id of the task or group; None for everything."""
    schedule: str | None = None
    duration_seconds: int | None = None
    calendar: str | None = None
    timezone: str = "UTC"
    reason: str
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(WindowDefinition):
    """A maintenance window: while it is open, it acts as a pause does."""

    id: int
    recurrence: Recurrence
    active_since: datetime
    """Instants before this are none of its business: it was made, or made another, only then."""
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str
    task_name: str | None = None
    group: str | None = None
    """The name of the group that rests, or that the task belongs to."""


@dataclass(frozen=True, slots=True)
class Opening:
    """One occurrence of a window: from a moment up to another, which is no part of it."""

    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a pause and a window have in common: in force from a moment on, up to another if that is known.

    With a recurrence it lets its scope rest only while it is open.
    """

    scope: PauseScope
    scope_id: int | None
    begin: datetime
    end: datetime | None = None
    recurrence: Recurrence | None = None
    name: str = ""
    """A window's name."""


@dataclass(frozen=True, slots=True)
class OpenWindow:
    """A window, and the occurrence in which it is open."""

    window: Window
    opening: Opening
