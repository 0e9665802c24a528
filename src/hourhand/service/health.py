"""Service: whether a process and its cluster are fit to work, told truthfully and with the reason."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from hourhand.contracts.store import Store
from hourhand.model.errors import StoreError
from hourhand.model.figures import Signs

logger = logging.getLogger("hourhand")
ANSWER_SECONDS = 3.0
DAYS_AHEAD = 2
"""With fewer days of partitions to come, whoever is to make more has been failing for long."""
CYCLE_SECONDS = 30.0
"""A scheduler leaves its sign every few seconds; one that leaves none for so long does not schedule."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that was looked at."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return all(check.ok for check in self.checks)

    @property
    def wrong(self) -> str:
        """What does not hold, in one sentence."""
        return "not ready: " + "; ".join(check.detail for check in self.checks if not check.ok)

    def listed(self) -> list[dict[str, Any]]:
        """The checks, as JSON has them."""
        return [asdict(check) for check in self.checks]


class Health:
    """Looks at the store when asked: once for all who ask at the same time."""

    def __init__(self, store: Store | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self._clock = clock
        self._started_at = clock()
        self._looking: asyncio.Task[Report] | None = None
        self._said = ""

    async def ready(self, *, store_only: bool = False) -> Report:
        """Look at everything, or at no more than whether the store answers this process."""
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
            self._looking.add_done_callback(self._looked)
        report = await asyncio.shield(self._looking)
        return Report(report.checks[:1]) if store_only else report

    def _looked(self, _: asyncio.Task[Report]) -> None:
        self._looking = None

    async def _look(self) -> Report:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                signs = None if self.store is None else await self.store.signs()
        except TimeoutError:
            return self._say(_away(f"the store did not answer within {ANSWER_SECONDS:g} s"), "no answer in time")
        except StoreError as error:  # its message may name hosts and files: that is for the log
            return self._say(_away("the store cannot be reached right now; the log of this process says why"), error)
        if signs is None:
            return self._say(_away("the store has not been opened yet; the log of this process says why"), "not open")
        checks = (Check("store", ok=True, detail="the store answers"), self._scheduler(signs), _partitions(signs))
        report = Report(checks)
        return self._say(report, report.wrong if not report.ok else "")

    def _scheduler(self, signs: Signs) -> Check:
        up, ago = self._clock() - self._started_at, signs.cycle_seconds
        if ago is not None and ago <= CYCLE_SECONDS:
            return Check("scheduler", ok=True, detail=f"a scheduler completed a cycle {ago:.0f} s ago")
        seen = f"no scheduler has been seen for {ago:.0f} s" if ago is not None else "no scheduler has ever been seen"
        if up <= CYCLE_SECONDS:
            detail = f"{seen}; this process, started {up:.0f} s ago, waits {CYCLE_SECONDS:.0f} s for one"
            return Check("scheduler", ok=True, detail=detail)
        detail = f"{seen}: start `hourhand scheduler`, or look into the logs of those there are"
        return Check("scheduler", ok=False, detail=detail)

    def _say(self, report: Report, reason: object) -> Report:
        """Log what has changed, not what every probe finds again."""
        wrong = "" if report.ok else report.wrong
        if wrong and not self._said:
            logger.warning("not ready: %s", reason)
        elif self._said and not wrong:
            logger.warning("ready again")
        self._said = wrong
        return report


def _away(detail: str) -> Report:
    unknown = "not known while the store does not answer"
    return Report(
        (
            Check("store", ok=False, detail=detail),
            Check("scheduler", ok=False, detail=unknown),
            Check("partitions", ok=False, detail=unknown),
        )
    )


def _partitions(signs: Signs) -> Check:
    days = signs.days_ahead
    if days is None:
        return Check("partitions", ok=True, detail="this store needs none")
    if days >= DAYS_AHEAD:
        return Check("partitions", ok=True, detail=f"there are partitions for {days} days after today")
    return Check(
        "partitions",
        ok=False,
        detail=f"there are partitions for {max(days, 0)} of the days after today, and {DAYS_AHEAD} are the least: "
        "every process makes more each hour; its log says what keeps it from doing so",
    )
