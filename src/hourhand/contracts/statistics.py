"""Contracts: figures over what has ended and what waits."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from hourhand.model.page import Page
from hourhand.model.stats import Distribution, Failures, LongRunning, Overview, Series
from hourhand.model.trends import TaskStats, Timeline
from hourhand.model.words import TaskType


class Statistics(Protocol):
    """Figures, from counters that are folded once and summed when read.

    They are exact: what is not folded yet is counted from the execution logs. Only an ending whose transaction took
    longer than ten seconds to commit may be missing for a quarter of an hour. `groups` limits them to some groups.
    Periods are whole minutes: their beginnings are rounded down, their ends up.
    """

    async def fold_stats(self) -> bool:
        """Fold what can be folded by now, a bounded part of it; whether there is more. Any number may do so at once."""

    async def overview(self, *, hours: int = 24, groups: Collection[int] | None = None) -> Overview:
        """What lives now and what ended in the last hours, in all and by group."""

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
        """What ended, step by step; steps in which nothing did are there as well.

        A step is a number of whole minutes, and there are at most 1,000; anything else is refused. With a step of whole
        hours the beginning is rounded down to a whole hour. By the clock of a zone steps begin as those of a `load` do,
        and are parts of a day or whole days.
        """

    async def distribution(
        self, begin: datetime, end: datetime, *, groups: Collection[int] | None = None
    ) -> Distribution:
        """What ended, and what lives now, by type and operation kind."""

    async def long_running(
        self,
        *,
        minutes: int = 30,
        groups: Collection[int] | None = None,
        task_type: TaskType | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[LongRunning]:
        """What has been running for longer than this, the longest first."""

    async def failures(
        self,
        *,
        days: int = 7,
        groups: Collection[int] | None = None,
        task_type: TaskType | None = None,
        limit: int = 50,
    ) -> Failures:
        """Why instances failed in the last days, the most frequent reason first."""

    async def task_stats(
        self, ids: Collection[int], *, last: int = 30, groups: Collection[int] | None = None
    ) -> list[TaskStats]:
        """How each of up to 200 tasks fared lately; those that are not there, or not in the groups, are left out."""

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
        """What ran in a period of at most seven days, also what still runs; `q` is a part of the task's name.

        What ended more than a day after the period is left out.
        """
