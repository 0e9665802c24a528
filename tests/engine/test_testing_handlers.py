"""hourhand.testing: one attempt at a handler behaves as it would in an executor, with no server and no store."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from typing import TYPE_CHECKING, Any

import pytest

from hourhand import App, Context, Fail, Retry, Status
from hourhand.errors import HourhandError, InvalidInput, StaleFence
from hourhand.testing import FakeContext, Report, run_handler, run_handler_async

if TYPE_CHECKING:
    from hourhand.contracts.runner import Attempt, Handler
    from hourhand.testing.attempts import FakeAttempt
    from hourhand.testing.handlers import HandlerRun, _Watched

    # For mypy: they are what the runners take.
    def _is_an_attempt(one: FakeAttempt) -> Attempt:
        return one

    def _is_a_handler(one: _Watched) -> Handler:
        return one


app = App("tested")


@app.task(args={"pages": 4})
async def post(ctx: Context, day: dt.date, pages: int = 1) -> dict[str, Any]:
    logging.getLogger("billing").info("begins %s", day)
    for page in range(ctx.checkpoint.get("page", -1) + 1, pages):
        await ctx.progress(page / pages, phase="posting", checkpoint={"page": page})
    await ctx.phase("closing")
    ctx.warning("closed")
    return {"day": f"{day:%d.%m.}", "pages": pages}


@app.task(isolation="process")
def crunch(ctx: Context, pages: int = 10) -> int:
    for page in range(pages):
        if ctx.cancelled:
            return page
        ctx.progress((page + 1) / pages, checkpoint=page + 1)
    return pages


async def both(handler: Any, args: dict[str, Any] | None = None, **options: Any) -> HandlerRun:
    """Both ways to run it say the same."""
    awaited = await run_handler_async(handler, args, **options)
    blocking = await asyncio.to_thread(run_handler, handler, args, **options)
    assert (awaited.status, awaited.value, awaited.messages) == (blocking.status, blocking.value, blocking.messages)
    assert awaited.reports == blocking.reports
    return awaited


async def test_arguments_are_converted_and_the_tasks_own_apply() -> None:
    run = await both(post, {"day": "2026-11-15"})
    assert run.result() == {"day": "15.11.", "pages": 4}
    assert run.status is Status.SUCCESS
    assert (await both(app, {"day": "2026-11-15", "pages": 2}, task="post")).value["pages"] == 2


async def test_what_it_says_is_kept() -> None:
    run = await both(post, {"day": "2026-11-15", "pages": 2})
    assert [(line.level, line.phase, line.message) for line in run.lines] == [
        ("info", None, "begins 2026-11-15"),
        ("warning", "closing", "closed"),
    ]
    assert (run.phases, run.checkpoints, run.progress) == (["posting", "closing"], [{"page": 0}, {"page": 1}], 0.5)
    assert run.reports[0] == Report(0.0, "posting", {"page": 0})


async def test_it_resumes_from_a_checkpoint() -> None:
    run = await both(post, {"day": "2026-11-15"}, checkpoint={"page": 2}, retry_count=1)
    assert run.checkpoints == [{"page": 3}]


async def test_arguments_that_do_not_fit_fail_as_they_would() -> None:
    run = await both(post, {"dya": "2026-11-15"})
    assert (run.status, run.retryable) == (Status.FAILED, False)
    assert "args.dya: is not an argument of the handler; did you mean 'day'?" in (run.error_message or "")
    with pytest.raises(InvalidInput, match=r"args\.day: is required"):
        run.result()


async def test_what_it_raises_is_there_as_it_was_raised() -> None:
    async def broken() -> None:
        raise LookupError("nobody")

    run = await both(broken)
    assert (run.status, run.error_message, run.retryable) == (Status.FAILED, "LookupError: nobody", True)
    assert "raise LookupError" in (run.lines[-1].exception or "")
    with pytest.raises(LookupError, match="nobody"):
        run.result()


async def test_what_it_raises_to_steer_is_told() -> None:
    def later() -> None:
        raise Retry("soon", after=5)

    def never() -> None:
        raise Fail("never")

    assert (await both(later)).retry_after_seconds == 5.0
    assert not (await both(never)).retryable


async def test_what_is_no_json_is_refused_with_its_place() -> None:
    run = await both(lambda: {"at": dt.date(2026, 11, 15)})
    assert run.error_message is not None
    assert run.error_message.startswith("result['at'] is a datetime.date, which is not JSON")
    with pytest.raises(HourhandError, match="which is not JSON"):
        run.result()


async def test_an_async_handler_is_cancelled_at_its_next_await() -> None:
    run = await both(post, {"day": "2026-11-15"}, cancel_after=2)
    assert run.status is Status.CANCELLED
    assert run.checkpoints == [{"page": 0}, {"page": 1}]
    assert isinstance(run.error, asyncio.CancelledError)


async def test_a_blocking_handler_looks_for_itself() -> None:
    run = await both(crunch, cancel_after=3)
    assert (run.status, run.value) == (Status.SUCCESS, 3)


async def test_one_that_fails_when_it_is_cancelled_is_cancelled() -> None:
    async def stubborn(ctx: Context) -> None:
        try:
            await ctx.progress(0.5)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("not now") from None

    assert (await both(stubborn, cancel_after=1)).status is Status.CANCELLED


async def test_another_attempt_takes_over_on_demand() -> None:
    for handler in (crunch, post):
        run = await both(handler, {"pages": 4} | ({"day": "2026-11-15"} if handler is post else {}), stale_after=2)
        assert isinstance(run.error, StaleFence)
        assert len(run.checkpoints) == 2


async def test_the_context_says_what_the_test_says() -> None:
    def told(ctx: Context) -> list[Any]:
        return [ctx.scheduled_time.isoformat(), ctx.shard_index, ctx.shard_total, ctx.retry_count, ctx.task, ctx.args]

    at = dt.datetime(2026, 11, 15, 2, tzinfo=dt.timezone(dt.timedelta(hours=8)))
    run = await both(told, scheduled_time=at, shard_index=1, shard_total=3, retry_count=2)
    assert run.value == ["2026-11-14T18:00:00+00:00", 1, 3, 2, "told", {}]
    with pytest.raises(InvalidInput, match="has no time zone"):
        await run_handler_async(told, scheduled_time=dt.datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is refused


async def test_inside_a_running_loop_it_says_what_to_await() -> None:
    with pytest.raises(HourhandError, match="await run_handler_async"):
        run_handler(post)


@pytest.mark.parametrize(
    ("given", "task", "said"),
    [
        (app, None, "has several tasks: name one by task=; it has: post, crunch"),
        (app, "pots", "has no task 'pots'; it has: post, crunch"),
        (App("empty"), None, "has no task None; it has: none"),
    ],
)
def test_which_handler_must_be_clear(given: App, task: str | None, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        run_handler(given, **({} if task is None else {"task": task}))  # type: ignore[arg-type]
    assert said in str(refused.value)


def test_arguments_and_checkpoints_are_json_as_everywhere() -> None:
    with pytest.raises(InvalidInput, match="args"):
        run_handler(crunch, {"pages": object()})
    with pytest.raises(InvalidInput, match="checkpoint"):
        run_handler(crunch, checkpoint={"page": {1}})

    def keeps(ctx: Context) -> None:
        pages = [1]
        ctx.progress(checkpoint={"pages": pages})
        pages.append(2)
        ctx.progress(2.0)

    run = run_handler(keeps)
    assert run.checkpoints == [{"pages": [1]}]
    assert "2.0 is out of range" in (run.error_message or "")


def test_the_level_of_the_root_logger_is_as_it_was() -> None:
    before = logging.getLogger().level
    run_handler(crunch)
    assert logging.getLogger().level == before


class TestFakeContext:
    """For calling the function itself."""

    def test_in_a_function_that_blocks(self) -> None:
        ctx = FakeContext(checkpoint={"page": 3}, retry_count=1)
        assert crunch(ctx, pages=2) == 2
        assert (ctx.checkpoints, ctx.retry_count, ctx.checkpoint) == ([1, 2], 1, {"page": 3})
        ctx.cancel()
        assert crunch(ctx, pages=2) == 0

    async def test_in_a_coroutine_function(self) -> None:
        ctx = FakeContext()
        await post(ctx, dt.date(2026, 11, 15), pages=2)
        assert (ctx.phases, [line.message for line in ctx.lines]) == (["posting", "closing"], ["closed"])
        assert len(ctx.reports) == 3
        ctx.supersede()
        with pytest.raises(StaleFence):
            await post(ctx, dt.date(2026, 11, 15))
