"""Store: the verbs of the instants to come."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from itertools import islice, takewhile

from hourhand.model.agenda import Load, Upcoming, UpcomingInstant
from hourhand.rules import agenda as rule
from hourhand.store import agenda
from hourhand.store.ids import possible
from hourhand.store.paging import bounded, read_cursor, write_cursor
from hourhand.store.types import from_micros, to_micros
from hourhand.store.verbs.transactions import Transactions

DAY, WEEK = timedelta(days=1), timedelta(days=7)


class Agenda(Transactions):
    """What is to fire."""

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
        limit = bounded(limit)
        place = read_cursor(cursor, {"upcoming": (int, int, int)})
        after = None if place is None else (from_micros(place[1]), place[2])
        begin = begin or (await self.now() if after is None else after[0])
        # All pages are of the same period, also where nobody has said when it ends.
        end = end or (begin + DAY if place is None else from_micros(place[3]))
        rule.period(begin, end, rule.LONGEST_AGENDA)
        if task_id is not None and not possible(task_id):
            return Upcoming((), None, truncated=False)
        start = (begin, 0) if after is None else max((begin, 0), after)
        tasks, rests, truncated = await self._read(
            lambda tx: agenda.clocked(tx, end, groups=groups, task_id=task_id, q=q, place=start, limit=limit + 1)
        )
        found = rule.Agenda(tasks, rests)

        def first() -> list[UpcomingInstant]:
            return list(islice(takewhile(lambda one: one.at < end, found.upcoming(begin, after)), limit + 1))

        # To pass over what lies before the period may take a look at each schedule.
        items = await asyncio.to_thread(first)
        last = items[limit - 1] if len(items) > limit else None
        more = None if last is None else write_cursor("upcoming", to_micros(last.at), last.task_id, to_micros(end))
        return Upcoming(tuple(items[:limit]), more, truncated)

    async def load(
        self,
        begin: datetime | None = None,
        end: datetime | None = None,
        *,
        step_seconds: int | None = None,
        timezone: str = "UTC",
        groups: Collection[int] | None = None,
    ) -> Load:
        begin = begin or await self.now()
        end = end or begin + WEEK
        rule.period(begin, end, rule.LONGEST_LOAD)
        step = rule.usual_step(begin, end) if step_seconds is None else step_seconds
        rule.steps(begin, end, step, timezone)  # refuses what cannot be had before anything is read
        # One at a time: several are no sooner done, and would take the threads that sign-in and the pages need.
        async with self._one_load:
            tasks, rests, more = await self._read(lambda tx: agenda.clocked(tx, end, groups=groups))
            return await asyncio.to_thread(rule.Agenda(tasks, rests).load, begin, end, step, timezone, truncated=more)
