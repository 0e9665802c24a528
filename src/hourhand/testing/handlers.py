"""Testing: one attempt at a handler, with no server and no store, by the code that executors use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict, Unpack

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import HourhandError, InvalidInput, shown
from hourhand.model.instance import LogLine, Outcome
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import OutcomeKind, Status, TaskType
from hourhand.runners.python_call import begin, call, drive
from hourhand.sdk.app import HANDLERS, App
from hourhand.sdk.context import running_loop
from hourhand.sdk.handlers import FunctionHandler, isolation_of, read_function
from hourhand.testing.attempts import FakeAttempt, Report, checkpoints_of, phases_of
from hourhand.testing.records import listening

STOPPED = Outcome(kind=OutcomeKind.CANCELLED, error_message="cancelled on request")


class AttemptOptions(TypedDict, total=False):
    """What `run_handler` takes beside the handler and its arguments."""

    task: str
    """Which of the app's tasks, or of the function's if it has several."""
    checkpoint: object
    """What an earlier attempt has stored."""
    retry_count: int
    """How many attempts have failed before this one."""
    scheduled_time: datetime | None
    """The instant that it is for; without one it was submitted just now."""
    shard_index: int
    shard_total: int
    cancel_after: int | None
    """Ask it to stop at its n-th report."""
    stale_after: int | None
    """Let another attempt take over after its n-th checkpoint: the next one raises StaleFence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerRun:
    """What came of one attempt."""

    status: Status
    """Success, failed or cancelled, as the attempt would end if there were no retries."""
    value: Any = None
    """What it returned, as it would be stored."""
    error: BaseException | None = None
    """What it raised."""
    error_message: str | None = None
    retryable: bool = True
    """Whether `max_retries` would apply."""
    retry_after_seconds: float | None = None
    lines: list[LogLine] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def result(self) -> Any:  # noqa: ANN401 - whatever the handler returns
        """What it returned; raises what it raised."""
        if self.status is Status.SUCCESS:
            return self.value
        raise self.error or HourhandError(self.error_message or self.status.value)

    @property
    def messages(self) -> list[str]:
        """The texts of the lines."""
        return [line.message for line in self.lines]

    @property
    def phases(self) -> list[str]:
        """The phases, in their order."""
        return phases_of(self.reports)

    @property
    def checkpoints(self) -> list[Any]:
        """What it stored, in its order; the last one is where its successor would resume."""
        return checkpoints_of(self.reports)

    @property
    def progress(self) -> float | None:
        """How far it had come at last."""
        return next((one.fraction for one in reversed(self.reports) if one.fraction is not None), None)


class _Watched:
    """A handler, and what it raised: an outcome has only the words."""

    isolation, source = "loop", None

    def __init__(self, handler: FunctionHandler) -> None:
        self._handler = handler
        self.name = handler.name
        self.error: BaseException | None = None

    def call(self, attempt: Attempt) -> Coroutine[Any, Any, object]:
        try:
            called = self._handler.call(attempt)
        except BaseException as error:
            self.error = error
            raise
        return self._finish(called)

    async def _finish(self, called: Coroutine[Any, Any, object]) -> object:
        try:
            return await called
        except BaseException as error:
            self.error = error
            raise


def run_handler(
    handler: App | Callable[..., object], args: Mapping[str, Any] | None = None, **options: Unpack[AttemptOptions]
) -> HandlerRun:
    """Carry out one attempt here and now; in tests that are `async def`, await `run_handler_async` instead.

    `handler` is a function, decorated or not, or an app together with `task`. `isolation` is left aside: it runs in
    this thread. Its `timeout_seconds` do not apply.
    """
    if running_loop() is not None:
        raise HourhandError("run_handler was called inside a running event loop: await run_handler_async there")
    watched, attempt, asynchronous = _prepare(handler, args, options)
    with listening():
        if asynchronous:
            return asyncio.run(_run(watched, attempt))
        called = begin(watched, attempt)
        ended = called if isinstance(called, Outcome) else drive(called, attempt)
    return _told(watched, attempt, ended if isinstance(ended, Outcome) else STOPPED)


async def run_handler_async(
    handler: App | Callable[..., object], args: Mapping[str, Any] | None = None, **options: Unpack[AttemptOptions]
) -> HandlerRun:
    """Do the same on the loop that runs; a `def` handler gets a thread."""
    watched, attempt, asynchronous = _prepare(handler, args, options)
    with listening():
        if asynchronous:
            # A task of its own, since a cancel is for it alone.
            return await asyncio.create_task(_run(watched, attempt))
        called = begin(watched, attempt)
        ended = called if isinstance(called, Outcome) else await asyncio.to_thread(drive, called, attempt)
    return _told(watched, attempt, ended if isinstance(ended, Outcome) else STOPPED)


async def _run(watched: _Watched, attempt: FakeAttempt) -> HandlerRun:
    attempt.begins()
    try:
        outcome = await call(watched, attempt)
    except asyncio.CancelledError:
        if not attempt.cancelled:
            raise
        outcome = STOPPED
    return _told(watched, attempt, outcome)


def _told(watched: _Watched, attempt: FakeAttempt, outcome: Outcome) -> HandlerRun:
    # With a cancel requested, any outcome but success ends as cancelled.
    cancelled = attempt.cancelled and outcome.kind is not OutcomeKind.SUCCESS
    return HandlerRun(
        status=Status.CANCELLED if cancelled else Status(outcome.kind.value),
        value=(outcome.result or {}).get("value"),
        error=watched.error,
        error_message=outcome.error_message,
        retryable=outcome.retryable,
        retry_after_seconds=outcome.retry_after_seconds,
        lines=attempt.lines,
        reports=attempt.reports,
    )


def _prepare(
    given: App | Callable[..., object], args: Mapping[str, Any] | None, options: AttemptOptions
) -> tuple[_Watched, FakeAttempt, bool]:
    handler = _handler(given, options.pop("task", None))
    attempt = FakeAttempt(handler.declaration.definition, args, **options)  # type: ignore[misc]  # `task` is gone
    return _Watched(handler), attempt, handler.asynchronous


def _handler(given: App | Callable[..., object], task: str | None) -> FunctionHandler:
    made: tuple[FunctionHandler, ...]
    made = tuple(given.handlers.values()) if isinstance(given, App) else getattr(given, HANDLERS, ())
    if not made and not isinstance(given, App):
        return _plain(given, task)
    found = [one for one in made if task in (None, one.name)]
    if len(found) != 1:
        known = ", ".join(one.name for one in made) or "none"
        said = "several tasks: name one by task=" if task is None and found else f"no task {shown(task)}"
        raise InvalidInput.one("task", task, f"{shown(given)} has {said}; it has: {known}")
    return found[0]


def _plain(function: Callable[..., object], task: str | None) -> FunctionHandler:
    """A function that no app has: as if one had it."""
    signature = read_function(function)
    name = str(task or getattr(function, "__name__", "task"))
    definition = TaskDefinition(name=name, type=TaskType.PYTHON, payload={"handler": name})
    return FunctionHandler(function, Declaration(definition=definition), signature, isolation_of(function, None))
