"""An attempt for tests of runners: it keeps what was logged and reported."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hourhand.model.instance import Assignment
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType, TriggeredBy

if TYPE_CHECKING:
    from hourhand.contracts.runner import Attempt

SCHEDULED = datetime(2026, 11, 15, 2, 0, tzinfo=UTC)
PATIENCE = 30.0
"""How long a test waits for what must come; far longer than it takes, so that a slow machine fails nothing."""


@dataclass(frozen=True)
class Line:
    """One call of `log`."""

    message: str
    level: str = "info"
    stream: str | None = None
    exception: str | None = None
    phase: str | None = None


@dataclass(frozen=True)
class Report:
    """One call of `progress`."""

    fraction: float | None = None
    phase: str | None = None
    checkpoint: object = None


class Recorded:
    """An attempt that nobody supervises: fields of the definition by name, and what a claim would have handed out.

    `refusal`, once set, is raised by the next `progress` that carries a checkpoint. `keep_lines=False` only counts what
    is logged, for tests of how much memory a runner needs itself.
    """

    def __init__(
        self,
        kind: TaskType = TaskType.COMMAND,
        payload: Mapping[str, Any] | None = None,
        *,
        args: Mapping[str, Any] | None = None,
        checkpoint: Any = None,
        instance_id: int = 7,
        fence: int = 1,
        retry_count: int = 0,
        shard_index: int = 0,
        shard_total: int = 1,
        callback_url: str | None = None,
        keep_lines: bool = True,
        **definition: Any,
    ) -> None:
        self.assignment = Assignment(
            instance_id=instance_id,
            fence=fence,
            task_id=1,
            task_version=1,
            scheduled_time=SCHEDULED,
            priority=5,
            available_at=SCHEDULED,
            lease_until=SCHEDULED,
            triggered_by=TriggeredBy.MANUAL,
            retry_count=retry_count,
            loss_count=0,
            args=args,
            checkpoint=checkpoint,
            shard_index=shard_index,
            shard_total=shard_total,
            data_source_id=None,
            operation_kind=None,
            operation_config_id=None,
            lane_id=1,
        )
        self.definition = TaskDefinition(
            **{"name": "recorded", "type": kind, "payload": dict(payload or {}), **definition}
        )
        self.args: Mapping[str, Any] = dict(args or {})
        self.cancelled = False
        self.phase: str | None = None
        self.lines: list[Line] = []
        self.reports: list[Report] = []
        self.logged_characters = 0
        self.refusal: Exception | None = None
        self._keep_lines = keep_lines
        self._callback_url = callback_url

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        self.logged_characters += len(message)
        if self._keep_lines:
            self.lines.append(Line(message, level, stream, exception, self.phase))

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        if phase is not None:
            self.phase = phase
        await asyncio.sleep(0)
        if checkpoint is not None and self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            raise refusal
        self.reports.append(Report(fraction, phase, checkpoint))

    def callback_url(self) -> str | None:
        return self._callback_url

    def written(self, stream: str | None = None) -> str:
        """Everything logged on one stream, put together; None: what was not on a stream."""
        return "".join(line.message for line in self.lines if line.stream == stream)

    def at_level(self, level: str) -> list[str]:
        """The messages of one level."""
        return [line.message for line in self.lines if line.level == level]

    async def until_written(self, text: str, stream: str = "stdout") -> None:
        """Wait until a text has been logged."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.written(stream):  # log is called from threads too
                await asyncio.sleep(0.02)


if TYPE_CHECKING:
    # For mypy: it is an attempt.
    def _is_an_attempt(recorded: Recorded) -> Attempt:
        return recorded
