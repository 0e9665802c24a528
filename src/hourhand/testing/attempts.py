"""Testing: an attempt that no executor supervises, and the context that a handler sees of it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from hourhand.model.errors import InvalidInput, StaleFence, shown
from hourhand.model.instance import Assignment, LogLine
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType, TriggeredBy
from hourhand.rules.definition import check_args, check_json
from hourhand.rules.lines import line_seq
from hourhand.sdk.context import Context, running_loop

INSTANCE_ID, FENCE = 1, 1


@dataclass(frozen=True, slots=True)
class Report:
    """One call of `ctx.progress` or `ctx.phase`."""

    fraction: float | None = None
    phase: str | None = None
    checkpoint: Any = None


class FakeAttempt:
    """Keeps what a handler says; `hourhand.contracts.runner.Attempt` says what each part promises."""

    def __init__(
        self,
        definition: TaskDefinition,
        args: Mapping[str, Any] | None = None,
        *,
        checkpoint: object = None,
        retry_count: int = 0,
        scheduled_time: datetime | None = None,
        shard_index: int = 0,
        shard_total: int = 1,
        cancel_after: int | None = None,
        stale_after: int | None = None,
    ) -> None:
        check_args(args)
        check_json(checkpoint, "checkpoint")
        now = datetime.now(UTC)
        if scheduled_time is not None and scheduled_time.tzinfo is None:
            message = f"{scheduled_time} has no time zone: give one, such as UTC"
            raise InvalidInput.one("scheduled_time", scheduled_time, message)
        self.definition = definition
        self.assignment = Assignment(
            instance_id=INSTANCE_ID,
            fence=FENCE + retry_count,
            task_id=1,
            task_version=1,
            scheduled_time=now if scheduled_time is None else scheduled_time.astimezone(UTC),
            priority=definition.priority,
            available_at=now,
            lease_until=now,
            triggered_by=TriggeredBy.API if scheduled_time is None else TriggeredBy.SCHEDULER,
            retry_count=retry_count,
            loss_count=0,
            args=_copy(args),
            checkpoint=_copy(checkpoint),
            shard_index=shard_index,
            shard_total=shard_total,
            data_source_id=None,
            operation_kind=None,
            operation_config_id=None,
            lane_id=1,
        )
        self.args: Mapping[str, Any] = {**(definition.payload.get("args") or {}), **(_copy(args) or {})}
        self.phase: str | None = None
        self.cancelled = False
        self.lines: list[LogLine] = []
        self.reports: list[Report] = []
        self._superseded = False
        self._cancel_after = cancel_after
        self._stale_after = stale_after
        self._counter = count()
        self._lock = threading.Lock()
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begins(self) -> None:
        """From the task that carries it out: what is to be cancelled with it."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()

    def cancel(self) -> None:
        """Ask it to stop, as an executor does: `ctx.cancelled` from now on, and CancelledError in an async handler."""
        if not self.cancelled:
            self.cancelled = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    def supersede(self) -> None:
        """Another attempt has taken over: checkpoints are refused from now on."""
        self._superseded = True

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Keep a line."""
        word = logging.getLevelName(level).lower() if isinstance(level, int) else str(level)
        with self._lock:
            seq = line_seq(self.assignment.fence, next(self._counter))
            line = LogLine(
                seq=seq,
                logged_at=datetime.now(UTC),
                message=str(message),
                level=word,
                phase=self.phase,
                stream=stream,
                exception=exception,
            )
            self.lines.append(line)

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Keep a report; only where there is a loop does it give way to others, and to a cancel."""
        if phase is not None:
            if not isinstance(phase, str):
                raise InvalidInput.one("phase", phase, f"{shown(phase)} is not a text: name what it is doing")
            self.phase = phase
        if checkpoint is not None:
            check_json(checkpoint, "checkpoint")
            stored = sum(report.checkpoint is not None for report in self.reports)
            if self._superseded or (self._stale_after is not None and stored >= self._stale_after):
                self.supersede()
                raise StaleFence(self.assignment.instance_id, self.assignment.fence)
        self.reports.append(Report(fraction, phase, _copy(checkpoint)))
        if self._cancel_after is not None and len(self.reports) >= self._cancel_after:
            self.cancel()
        if running_loop() is not None:
            await asyncio.sleep(0)

    def callback_url(self) -> str | None:
        """None: nobody listens."""
        return None


class FakeContext(Context):
    """A context for calling a handler's function directly: `close_books(FakeContext(), day="2026-11-15")`.

    `cancel()` and `supersede()` do what an operator, or another executor, would; `lines`, `reports` and `phases` are
    what the handler said.
    """

    __slots__ = ("_fake",)

    def __init__(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        task: str = "task",
        checkpoint: object = None,
        retry_count: int = 0,
        scheduled_time: datetime | None = None,
        shard_index: int = 0,
        shard_total: int = 1,
        cancel_after: int | None = None,
        stale_after: int | None = None,
    ) -> None:
        self._fake = FakeAttempt(
            TaskDefinition(name=task, type=TaskType.PYTHON, payload={"handler": task}),
            args,
            checkpoint=checkpoint,
            retry_count=retry_count,
            scheduled_time=scheduled_time,
            shard_index=shard_index,
            shard_total=shard_total,
            cancel_after=cancel_after,
            stale_after=stale_after,
        )
        super().__init__(self._fake)

    @property
    def lines(self) -> list[LogLine]:
        """What was logged."""
        return self._fake.lines

    @property
    def reports(self) -> list[Report]:
        """Each call of `progress` and `phase`."""
        return self._fake.reports

    @property
    def phases(self) -> list[str]:
        """The phases, in their order."""
        return phases_of(self._fake.reports)

    @property
    def checkpoints(self) -> list[Any]:
        """What was stored, in its order."""
        return checkpoints_of(self._fake.reports)

    def cancel(self) -> None:
        """From now on `ctx.cancelled` is true."""
        self._fake.cancel()

    def supersede(self) -> None:
        """From now on a checkpoint raises StaleFence."""
        self._fake.supersede()


def phases_of(reports: list[Report]) -> list[str]:
    """Each phase once for each time that it began."""
    found: list[str] = []
    for report in reports:
        if report.phase is not None and found[-1:] != [report.phase]:
            found.append(report.phase)
    return found


def checkpoints_of(reports: list[Report]) -> list[Any]:
    """What was stored."""
    return [report.checkpoint for report in reports if report.checkpoint is not None]


def _copy(value: Any) -> Any:  # noqa: ANN401 - JSON
    """As it comes back from a store: what the handler changes later is not changed there."""
    return None if value is None else json.loads(json.dumps(value))
