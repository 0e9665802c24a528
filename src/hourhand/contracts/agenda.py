"""Contracts: the instants to come of all tasks."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from hourhand.model.agenda import Load, Upcoming


class Agenda(Protocol):
    """What is to fire: of enabled tasks with a schedule, the instants that have not become instances yet.

    Of an `@after` only the next one is known. At most the 20,000 tasks that fire soonest are looked at. `groups` limits
    it to some groups. Going through schedules holds up nobody else in this process.
    """

    async def upcoming(
        self,
        begin: datetime | None = None,
        end: datetime | None = None,
        *,
        groups: Collection[int] | None = None,
        task_id: int | None = None,
        q: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Upcoming:
        """The instants of a period, from now on for a day unless told otherwise, the soonest first.

        Those that fall into a pause or a maintenance window are among them, with a note. `q`: of tasks with this in
        their names, in any case.
        """

    async def load(
        self,
        begin: datetime | None = None,
        end: datetime | None = None,
        *,
        step_seconds: int | None = None,
        timezone: str = "UTC",
        groups: Collection[int] | None = None,
    ) -> Load:
        """How many instants fire in each step of a period, from now on for a week unless told otherwise.

        Those that fall into a pause or a maintenance window do not count. Steps are those of the zone's wall clock:
        parts of a day or whole days, at most 1,000, in at most 62 days; anything else is refused.
        """
