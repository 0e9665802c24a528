"""Store: the verbs of figures."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import partial

from hourhand.model.page import Page
from hourhand.model.stats import Distribution, Failures, LongRunning, Overview, Series
from hourhand.model.trends import TaskStats, Timeline
from hourhand.model.words import TaskType
from hourhand.store import long_running, stats, stats_fold, task_stats, timeline
from hourhand.store.verbs.transactions import Transactions

FOLDED_AT_ONCE = 200


class Statistics(Transactions):
    """Figures, from counters that are folded once and summed when read."""

    async def fold_stats(self) -> bool:
        for _ in range(FOLDED_AT_ONCE):
            span = await self._read(stats_fold.next_span)
            if span is None:
                return False
            counters = await self._read(partial(stats_fold.count, span=span))
            await self._write(partial(stats_fold.keep, span=span, counters=counters))
        return True

    async def overview(self, *, hours: int = 24, groups: Collection[int] | None = None) -> Overview:
        return await self._read(
            lambda tx: stats.overview(tx, hours=hours, groups=groups, lease_seconds=self.lease_seconds)
        )

    async def series(
        self,
        begin: datetime,
        end: datetime,
        *,
        step_seconds: int,
        groups: Collection[int] | None = None,
        task_type: TaskType | None = None,
        timezone: str | None = None,
    ) -> Series:
        return await self._read(
            lambda tx: stats.series(
                tx, begin, end, step_seconds=step_seconds, groups=groups, task_type=task_type, timezone=timezone
            )
        )

    async def distribution(
        self, begin: datetime, end: datetime, *, groups: Collection[int] | None = None
    ) -> Distribution:
        return await self._read(lambda tx: stats.distribution(tx, begin, end, groups=groups))

    async def long_running(
        self,
        *,
        minutes: int = 30,
        groups: Collection[int] | None = None,
        task_type: TaskType | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LongRunning]:
        return await self._read(
            lambda tx: long_running.long_running(
                tx, minutes=minutes, groups=groups, task_type=task_type, limit=limit, cursor=cursor
            )
        )

    async def failures(
        self,
        *,
        days: int = 7,
        groups: Collection[int] | None = None,
        task_type: TaskType | None = None,
        limit: int = 50,
    ) -> Failures:
        return await self._read(
            lambda tx: stats.failures(tx, days=days, groups=groups, task_type=task_type, limit=limit)
        )

    async def task_stats(
        self, ids: Collection[int], *, last: int = 30, groups: Collection[int] | None = None
    ) -> list[TaskStats]:
        return await self._read(lambda tx: task_stats.task_stats(tx, ids, last=last, groups=groups))

    async def timeline(
        self,
        begin: datetime,
        end: datetime,
        *,
        groups: Collection[int] | None = None,
        task_id: int | None = None,
        q: str | None = None,
        limit: int = 500,
    ) -> Timeline:
        return await self._read(
            lambda tx: timeline.timeline(tx, begin, end, groups=groups, task_id=task_id, q=q, limit=limit)
        )
