"""The python runner: whatever a handler does, an outcome comes of it; what its context offers."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import Recorded, Report
from engine.python_runs import attempt, both, is_, run, runner_of
from hourhand import App, Context
from hourhand.model.errors import InvalidInput, StaleFence
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners.python import PythonRunner
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hourhand.contracts.runner import Runner

    # For mypy: it is a runner.
    def _is_a_runner(runner: PythonRunner) -> Runner:
        return runner


# What comes of it


@both
@pytest.mark.parametrize("value", [None, 3, "x", [1, {"a": None}], {"posted": 40}])
async def test_what_a_handler_returns_is_the_result(value: object, *, sync: bool) -> None:
    outcome = await run(is_(sync, lambda ctx: value))  # noqa: ARG005
    assert (outcome.kind, outcome.result, outcome.error_message) == (OutcomeKind.SUCCESS, {"value": value}, None)


@both
async def test_what_a_handler_raises_is_a_failure_with_its_traceback(*, sync: bool) -> None:
    def fails(ctx: Context) -> None:
        raise ValueError(f"no books for instance {ctx.instance_id}")

    attempted = attempt()
    outcome = await run(is_(sync, fails), attempted)
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "ValueError: no books for instance 7")
    assert outcome.retryable
    (line,) = attempted.lines
    assert (line.level, line.message) == ("error", outcome.error_message)
    assert line.exception is not None
    assert line.exception.startswith(f'Traceback (most recent call last):\n  File "{Path(__file__).parent}/')
    assert line.exception.rstrip().endswith("ValueError: no books for instance 7")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@both
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (StopIteration(3), "RuntimeError: coroutine raised StopIteration"),
        (BaseExceptionGroup("two", [SystemExit(1), ValueError("x")]), "BaseExceptionGroup: two (2 sub-exceptions)"),
        (Unspeakable(), "Unspeakable: (it cannot be shown)"),
        (ValueError("x" * 100_000), "… [truncated] …"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_nothing_that_a_handler_raises_ends_its_executor(error: BaseException, said: str, *, sync: bool) -> None:
    def fails(_ctx: Context) -> None:
        raise error

    outcome = await run(is_(sync, fails))
    assert outcome.kind is OutcomeKind.FAILED
    assert said in (outcome.error_message or "")
    assert len(outcome.error_message or "") < 10_000


@both
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "result is a object, which is not JSON"),
        ({"rows": [1, {"at": dt.date(2026, 11, 15)}]}, "result['rows'][1]['at'] is a datetime.date, which is not JSON"),
        ([1.0, float("nan")], "result[1] is nan"),
        ({(1, 2): 3}, "a key of result is a tuple"),
    ],
)
async def test_a_result_that_is_not_json_fails_for_good_and_says_what_is_where(
    value: object, said: str, *, sync: bool
) -> None:
    outcome = await run(is_(sync, lambda ctx: value))  # noqa: ARG005
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert said in (outcome.error_message or "")


async def test_a_result_that_holds_itself_fails_for_good() -> None:
    circle: list[Any] = []
    circle.append(circle)
    outcome = await run(lambda: circle)
    assert "nested too deeply, or holds itself" in (outcome.error_message or "")


async def test_a_result_that_is_too_large_is_replaced_by_a_word_about_it() -> None:
    attempted = attempt()
    outcome = await run(lambda: "x" * 300_000, attempted)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert outcome.result == {"value": None, "error": "the result has 300002 bytes; at most 262144 are kept"}
    assert len(attempted.at_level("warning")) == 1


async def test_arguments_that_do_not_fit_fail_for_good_and_are_named() -> None:
    def load(day: dt.date) -> str:
        return day.isoformat()

    assert (await run(load, day="2026-11-15")).result == {"value": "2026-11-15"}
    attempted = attempt(args={"day": "soon"})
    outcome = await run(load, attempted)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert (outcome.error_message or "").startswith("args.day: 'soon' is refused")
    assert [line.exception for line in attempted.lines] == [None]


async def test_an_unknown_handler_is_handed_back_for_the_length_of_a_lease() -> None:
    attempted = attempt("nobody")
    outcome = await runner_of(lambda: None, lease_seconds=17).run(attempted)
    assert (outcome.kind, outcome.delay_seconds) == (OutcomeKind.HANDED_BACK, 17)
    assert attempted.at_level("warning") == [
        "handed back: this executor's app 'default' has no handler 'nobody'; it has: sample"
    ]


async def test_a_handler_is_looked_up_by_app_and_name() -> None:
    apps = [App("books", group="billing"), App(group="billing")]
    for app in apps:
        app.task(name="load")(lambda app=app.name: app)
    runner = PythonRunner({**apps[0].handlers, **apps[1].handlers}, settings=Settings())
    for payload, said in (({"handler": "load", "app": "books"}, "books"), ({"handler": "load"}, "billing")):
        outcome = await runner.run(Recorded(TaskType.PYTHON, payload, group="billing"))
        assert outcome.result == {"value": said}


# The context


@both
async def test_the_context_knows_the_attempt(*, sync: bool) -> None:
    def look(ctx: Context) -> Any:
        return [
            *(ctx.instance_id, ctx.fence, ctx.task, ctx.retry_count, ctx.idempotency_key),
            *(ctx.shard_index, ctx.shard_total, ctx.checkpoint.get("page", 0), ctx.scheduled_time.isoformat()),
        ]

    more = {"instance_id": 5, "fence": 3, "retry_count": 2, "shard_index": 1, "shard_total": 4}
    outcome = await run(is_(sync, look), attempt(name="sample", **more, checkpoint={"page": 9}))
    assert outcome.result == {
        "value": [5, 3, "recorded", 2, "hourhand-5", 1, 4, 9, "2026-11-15T02:00:00+00:00"],
    }


@pytest.mark.parametrize(("stored", "seen"), [(None, {}), ([1, 2], [1, 2]), (0, 0)])
async def test_a_checkpoint_comes_as_it_was_stored_and_none_as_an_empty_dict(stored: Any, seen: Any) -> None:
    outcome = await run(lambda ctx: ctx.checkpoint, attempt(checkpoint=stored))
    assert outcome.result == {"value": seen}


async def report_awaited(ctx: Context) -> None:
    await ctx.progress(0.5, phase="posting", checkpoint={"page": 20})
    await ctx.phase("closing")


def report_at_once(ctx: Context) -> None:
    ctx.progress(0.5, phase="posting", checkpoint={"page": 20})
    ctx.phase("closing")


async def report_from_a_thread(ctx: Context) -> None:
    await asyncio.to_thread(report_at_once, ctx)


def report_from_a_loop_of_its_own(ctx: Context) -> None:
    asyncio.run(report_awaited(ctx))


@pytest.mark.parametrize(
    "handler", [report_awaited, report_at_once, report_from_a_thread, report_from_a_loop_of_its_own]
)
async def test_progress_is_reported_from_wherever_a_handler_is(handler: Callable[[Context], object]) -> None:
    attempted = attempt()
    assert (await run(handler, attempted)).kind is OutcomeKind.SUCCESS
    assert attempted.reports == [Report(0.5, "posting", {"page": 20}), Report(phase="closing")]


@both
async def test_a_refused_checkpoint_is_raised_in_the_handler(*, sync: bool) -> None:
    attempted = attempt()
    attempted.refusal = StaleFence(7, 1)
    outcome = await run(report_at_once if sync else report_awaited, attempted)
    assert (outcome.error_message or "").startswith("StaleFence: instance 7 is no longer running under fence 1")


@pytest.mark.parametrize("fraction", [50, -0.1, float("nan"), "0.5", True])
def test_a_fraction_that_is_none_is_refused(fraction: Any) -> None:
    with pytest.raises(InvalidInput, match=r"fraction: .*(from|give) 0 to 1"):
        Context(attempt()).progress(fraction)


async def test_a_fraction_that_is_one_but_for_rounding_is_taken() -> None:
    attempted = attempt()
    context = Context(attempted, asyncio.get_running_loop())
    for fraction in (sum([0.1] * 10) + 1e-12, -1e-12, 1, None):
        await context.progress(fraction)
    assert [report.fraction for report in attempted.reports] == [1.0, 0.0, 1.0, None]


async def test_lines_go_to_the_instance_log_with_their_level() -> None:
    def talk(ctx: Context) -> None:
        ctx.log("plain")
        for level in ("debug", "info", "warning", "error"):
            getattr(ctx, level)(f"a {level}")
        ctx.log("odd", level="warning")

    attempted = attempt()
    await run(talk, attempted)
    said = [(line.level, line.message) for line in attempted.lines]
    levels = ["debug", "info", "warning", "error"]
    assert said == [("info", "plain"), *[(level, f"a {level}") for level in levels], ("warning", "odd")]
