"""Executor: one attempt in hand: what its runner sees of it, and how it is stopped."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any

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
        "_args", "_bytes", "_callback", "_counter", "_lock", "_scribe", "assignment", "claimed_at", "definition",
        "done", "held", "leased_at", "loop", "phase", "stop_timer", "stopped", "task", "unwritten", "written",
    )  # fmt: skip

    def __init__(
        self,
        assignment: Assignment,
        definition: TaskDefinition,
        scribe: Scribe,
        *,
        callback: Callable[[], str] | None = None,
    ) -> None:
        self.assignment = assignment
        self.definition = definition
        self.held = Held(assignment.instance_id, assignment.fence)
        self.phase: str | None = None
        self.claimed_at = self.leased_at = time.monotonic()
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
        self._lock = threading.Lock()

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
        return None if self._callback is None else self._callback()

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Write to the instance log; past the bound one marker, then nothing."""
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
        self._scribe.add_line(self, line)

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Tell how far it has come; with a checkpoint, once that is durable."""
        if phase is not None:
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
