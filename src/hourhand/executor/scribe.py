"""Executor: writes down what attempts say, many at a time: log lines, progress, checkpoints."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial

from hourhand.contracts.store import Store
from hourhand.executor.attempt import LiveAttempt
from hourhand.model.errors import StaleFence
from hourhand.model.instance import Held, LogLine, Progress
from hourhand.service.loop import rest_until
from hourhand.service.outage import Outage, persist

logger = logging.getLogger("hourhand.executor")
GATHER_SECONDS = 0.2
MOST_LINES = 500
MOST_BYTES = 1024 * 1024


class Scribe:
    """All that attempts write passes through here; from any thread."""

    def __init__(self, store: Store, outage: Outage) -> None:
        self._store = store
        self._outage = outage
        self._loop = asyncio.get_running_loop()
        self._lines: deque[tuple[LiveAttempt, LogLine]] = deque()
        self._noted: dict[Held, Progress] = {}
        self._checkpoints: list[tuple[Progress, asyncio.Future[None]]] = []
        self._told = False
        """Whether the loop knows that there are lines; told once, since each time wakes it."""
        self._wake = asyncio.Event()
        self._urgent = asyncio.Event()

    def add_line(self, attempt: LiveAttempt, line: LogLine) -> None:
        """Take one line over; never waits."""
        self._lines.append((attempt, line))
        if not self._told or len(self._lines) == MOST_LINES:
            self._told = True
            self._loop.call_soon_threadsafe(self._ring, len(self._lines) >= MOST_LINES)

    def note(self, report: Progress) -> None:
        """Take progress over; of several reports the last word counts. Never waits."""
        self._loop.call_soon_threadsafe(self._note, report)

    async def store(self, report: Progress) -> None:
        """Store a checkpoint; returns once it is durable."""
        if asyncio.get_running_loop() is self._loop:
            await self._store_here(report)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._store_here(report), self._loop))

    async def written(self, attempt: LiveAttempt) -> None:
        """Wait until every line of an attempt is stored: they come before its outcome."""
        if attempt.unwritten:
            attempt.written = asyncio.Event()
            self._ring(urgent=True)
            while attempt.unwritten:
                attempt.written.clear()
                await attempt.written.wait()

    def forget(self, held: Held) -> None:
        """Its outcome is stored: progress that has not been is of no interest any more."""
        self._noted.pop(held, None)

    async def step(self) -> float:
        """Wait for something to write, and write it."""
        await self._wake.wait()
        await rest_until(self._urgent, GATHER_SECONDS)
        self._wake.clear()
        await self.flush()
        return 0.0

    async def flush(self) -> None:
        """Write all there is."""
        self._told = False  # before they are taken: what comes after this tells again
        while self._lines:
            await self._flush_lines()
        if self._noted or self._checkpoints:
            await self._flush_progress()

    def _ring(self, urgent: bool) -> None:  # noqa: FBT001 - call_soon passes positions
        self._wake.set()
        if urgent:
            self._urgent.set()

    def _note(self, report: Progress) -> None:
        held = Held(report.instance_id, report.fence)
        before = self._noted.get(held)
        if before is not None:
            report = Progress(
                instance_id=report.instance_id,
                fence=report.fence,
                progress=before.progress if report.progress is None else report.progress,
                phase=before.phase if report.phase is None else report.phase,
            )
        self._noted[held] = report
        self._wake.set()

    async def _store_here(self, report: Progress) -> None:
        stored: asyncio.Future[None] = self._loop.create_future()
        self._checkpoints.append((report, stored))
        self._ring(urgent=True)
        await stored

    async def _flush_lines(self) -> None:
        batch: list[tuple[LiveAttempt, LogLine]] = []
        size = 0
        while self._lines and len(batch) < MOST_LINES and size < MOST_BYTES:
            batch.append(self._lines.popleft())
            size += len(batch[-1][1].message)
        try:
            await self._write([(attempt.held, line) for attempt, line in batch])
        finally:
            for attempt, _ in batch:
                attempt.line_written()

    async def _write(self, lines: list[tuple[Held, LogLine]]) -> None:
        """Guarantee 10: one bad line never blocks the rest; it is found by halving, and dropped."""
        try:
            await persist(partial(self._store.write_lines, lines), self._outage)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others' lines are not to blame
            if len(lines) == 1:
                logger.error("a log line of instance %d is dropped: %s", lines[0][0].instance_id, error)  # noqa: TRY400
                return
            half = len(lines) // 2
            await self._write(lines[:half])
            await self._write(lines[half:])

    async def _flush_progress(self) -> None:
        noted, self._noted = self._noted, {}
        checkpoints, self._checkpoints = self._checkpoints, []
        waiting: dict[Held, list[asyncio.Future[None]]] = {}
        for report, stored in checkpoints:
            waiting.setdefault(Held(report.instance_id, report.fence), []).append(stored)
        await self._report([*noted.values(), *(report for report, _ in checkpoints)], waiting)

    async def _report(self, reports: list[Progress], waiting: Mapping[Held, list[asyncio.Future[None]]]) -> None:
        try:
            superseded = set(await persist(partial(self._store.report_progress, reports), self._outage))
        except Exception as error:  # noqa: BLE001 - one that cannot be stored must not take the others with it
            if len(reports) == 1:
                logger.error("progress of instance %d is dropped: %s", reports[0].instance_id, error)  # noqa: TRY400
                _answer(waiting.get(Held(reports[0].instance_id, reports[0].fence), ()), error)
                return
            half = len(reports) // 2
            await self._report(reports[:half], waiting)
            await self._report(reports[half:], waiting)
            return
        for one in reports:
            held = Held(one.instance_id, one.fence)
            stale = StaleFence(one.instance_id, one.fence) if held in superseded else None
            if one.checkpoint is not None or stale:
                _answer(waiting.get(held, ()), stale)


def _answer(waiting: Iterable[asyncio.Future[None]], error: Exception | None) -> None:
    for stored in waiting:
        if not stored.done():
            if error is None:
                stored.set_result(None)
            else:
                stored.set_exception(error)
