"""SDK: what a handler knows of the attempt it carries out, and how it reports."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Coroutine, Generator, Mapping
from datetime import datetime
from typing import Any

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import InvalidInput, shown
from hourhand.runners.python_records import BOUND

_ROUNDING = 1e-6


class Context:
    """One attempt, as its handler sees it; the same object serves `async def` and `def`.

    In a `def` handler, `progress` and `phase` return when they are done. In an `async def` handler they are awaited.
    """

    __slots__ = ("_attempt", "_loop")

    def __init__(self, attempt: Attempt, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._attempt = attempt
        self._loop = loop
        """Where the attempt lives; None: it may be used from any thread and never has to wait for a loop."""

    @property
    def instance_id(self) -> int:
        """The instance; the same for every attempt at it."""
        return self._attempt.assignment.instance_id

    @property
    def fence(self) -> int:
        """The number of this attempt: it only grows, so a system that remembers the highest can refuse older ones."""
        return self._attempt.assignment.fence

    @property
    def task(self) -> str:
        """The task's name."""
        return self._attempt.definition.name

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments as they were submitted; the handler's parameters have them converted."""
        return self._attempt.args

    @property
    def scheduled_time(self) -> datetime:
        """The instant this instance is for, in UTC; of a submission, when it was due."""
        return self._attempt.assignment.scheduled_time

    @property
    def retry_count(self) -> int:
        """0 in the first attempt; one more after each that failed."""
        return self._attempt.assignment.retry_count

    @property
    def idempotency_key(self) -> str:
        """Guarantee 4: the same for every attempt at this instance, so that outside effects can be made once."""
        return self._attempt.assignment.idempotency_key

    @property
    def shard_index(self) -> int:
        """Which part of a broadcast this is, from 0."""
        return self._attempt.assignment.shard_index

    @property
    def shard_total(self) -> int:
        """How many parts the broadcast has; 1 if it is none."""
        return self._attempt.assignment.shard_total

    @property
    def checkpoint(self) -> Any:  # noqa: ANN401 - whatever the handler stored
        """What an earlier attempt stored last by `progress(checkpoint=…)`; {} if there is nothing."""
        stored = self._attempt.assignment.checkpoint
        return {} if stored is None else stored

    @property
    def cancelled(self) -> bool:
        """Whether it has been asked to stop: a `def` handler cannot be interrupted and must look for itself."""
        return self._attempt.cancelled

    def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> Awaitable[None]:
        """Tell how far it has come: a fraction from 0 to 1, what it is doing, and where to resume.

        With a checkpoint (any JSON but null) this is done once that is durable, and raises StaleFence if another
        attempt has taken over: then stop without writing anything.
        """
        report = self._attempt.progress(_fraction(fraction), phase=phase, checkpoint=checkpoint)
        here = running_loop()
        if self._loop is here:
            return report if here is not None else _drive(report)
        if self._loop is None:
            return report
        try:
            reported = asyncio.run_coroutine_threadsafe(report, self._loop)
        except RuntimeError:  # the executor has ended, and this thread has outlived it
            report.close()
            raise
        if here is not None:
            return asyncio.wrap_future(reported)
        reported.result()
        return DONE

    def phase(self, name: str) -> Awaitable[None]:
        """Tell what it is doing; the lines it writes from now on carry the name."""
        return self.progress(phase=name)

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger of the standard library, for what wants one: its records go to the instance log, from any thread."""
        return logging.LoggerAdapter(logging.getLogger(f"task.{self.task}"), {BOUND: self._attempt})

    def log(self, message: str, level: str = "info") -> None:
        """Write a line to the instance log."""
        self._attempt.log(str(message), level=level)

    def debug(self, message: str) -> None:
        """Write a line of level debug."""
        self.log(message, "debug")

    def info(self, message: str) -> None:
        """Write a line of level info."""
        self.log(message, "info")

    def warning(self, message: str) -> None:
        """Write a line of level warning."""
        self.log(message, "warning")

    def error(self, message: str) -> None:
        """Write a line of level error."""
        self.log(message, "error")


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class _Done:
    """What may be awaited, and is done already."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


DONE = _Done()


def _drive(report: Coroutine[Any, Any, None]) -> Awaitable[None]:
    """Run what never has to wait for a loop."""
    try:
        report.send(None)
    except StopIteration:
        return DONE
    report.close()
    raise RuntimeError("this attempt waits for a loop, and there is none here")


def _fraction(value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput.one("fraction", value, f"{shown(value)} is not a number: give one from 0 to 1")
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise InvalidInput.one("fraction", value, f"{shown(value)} is out of range: give 0 to 1, such as 40 / 100")
    return min(1.0, max(0.0, float(value)))
