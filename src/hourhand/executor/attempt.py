"""Executor: one attempt in hand: what its runner sees of it, and how it is stopped."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any

from hourhand.model.errors import InvalidInput, shown
from hourhand.model.instance import Assignment, Held, LogLine, Progress
from hourhand.model.task import TaskDefinition
from hourhand.rules.definition import check_json
from hourhand.rules.lines import line_seq

if TYPE_CHECKING:
    from hourhand.executor.scribe import Scribe

LOG_BYTES = 4 * 1024 * 1024
"""Guarantee 10: at most this much of what one attempt writes is kept."""
LINE_BYTES = 32 * 1024


class Why(Enum):
    """Why an attempt is stopped before it has ended."""

    CANCELLED = "cancelled on request"
    TIMED_OUT = "timed out"
    SUPERSEDED = "superseded: its lease was lost, and another executor may have it"
    SHUTDOWN = "its executor was stopped"


class LiveAttempt:
    """One attempt of this executor; `hourhand.contracts.runner.Attempt` says what each part promises."""

    __slots__ = (
        "_args", "_bytes", "_callback", "_counter", "_lock", "_scribe", "assignment", "begun", "claimed_at",
        "definition", "done", "held", "leased_at", "loop", "may_end_elsewhere", "phase", "stop_timer", "stopped",
        "task", "unwritten", "written",
    )  # fmt: skip

    def __init__(
        self,
        assignment: Assignment,
        definition: TaskDefinition,
        scribe: Scribe,
        *,
        claimed_at: float,
        callback: Callable[[], str] | None = None,
    ) -> None:
        self.assignment = assignment
        self.definition = definition
        self.held = Held(assignment.instance_id, assignment.fence)
        self.phase: str | None = None
        self.claimed_at = self.leased_at = claimed_at
        """By the monotonic clock, before the claim was asked for: its lease began no earlier."""
        self.begun = False
        self.may_end_elsewhere = False
        self.stopped: Why | None = None
        self.done = False
        """Whether its outcome has been handed on; what it does after that is of no interest."""
        self.loop: asyncio.AbstractEventLoop | None = None
        self.task: asyncio.Task[None] | None = None
        self.stop_timer: asyncio.TimerHandle | None = None
        self.unwritten = 0
        self.written: asyncio.Event | None = None
        self._scribe = scribe
        self._callback = callback
        self._args: Mapping[str, Any] | None = None
        self._counter = count()
        self._bytes = 0
        self._lock = threading.RLock()

    @property
    def args(self) -> Mapping[str, Any]:
        """The instance's arguments, above those of the payload."""
        if self._args is None:
            self._args = {**(self.definition.payload.get("args") or {}), **(self.assignment.args or {})}
        return self._args

    @property
    def cancelled(self) -> bool:
        """Whether it has been asked to stop."""
        return self.stopped is not None

    def callback_url(self) -> str | None:
        """Where work that goes on elsewhere may report."""
        if self._callback is None:
            return None
        self.may_end_elsewhere = True
        return self._callback()

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Write to the instance log; past the bound one marker, then nothing."""
        message, level = str(message), _level(level)
        size = len(message) + len(exception or "")
        with self._lock:
            before = self._bytes
            self._bytes += size
            if before > LOG_BYTES or self.done:
                return
            if self._bytes > LOG_BYTES:
                level, stream, exception = "warning", None, None
                message = f"… [truncated: more than {LOG_BYTES // 2**20} MiB were written; the rest is not kept]"
            self.unwritten += 1
            line = LogLine(
                seq=line_seq(self.assignment.fence, next(self._counter)),
                logged_at=datetime.now(UTC),
                message=message,
                level=level,
                phase=self.phase,
                stream=stream,
                exception=exception,
            )
            # Handed on in the order of their numbers, whichever threads write: readers go by these.
            self._scribe.add_line(self, line)

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Tell how far it has come; with a checkpoint, once that is durable."""
        if phase is not None:
            if not isinstance(phase, str):
                raise InvalidInput.one("phase", phase, f"{shown(phase)} is not a text: name what it is doing")
            self.phase = phase
        report = Progress(
            instance_id=self.held.instance_id,
            fence=self.held.fence,
            progress=fraction,
            phase=phase,
            checkpoint=checkpoint,
        )
        if checkpoint is None:
            self._scribe.note(report)
            return
        check_json(checkpoint, "checkpoint")  # here, since one that cannot be stored would refuse the others' too
        await self._scribe.store(report)

    def stop(self, why: Why) -> None:
        """Ask it to stop; the first reason counts."""
        if self.stopped is not None or self.done:
            return
        self.stopped = why
        if self.task is not None and self.loop is not None:
            self.loop.call_soon_threadsafe(self.task.cancel)

    def line_written(self) -> None:
        """Called on the executor's loop when a line of it has been stored, or given up."""
        with self._lock:
            self.unwritten -= 1
        if self.unwritten == 0 and self.written is not None:
            self.written.set()


def _level(level: object) -> str:
    """As a word; numbers are those of the standard library's logging."""
    return logging.getLevelName(level).lower() if isinstance(level, int) else str(level)
