"""App: what people decorate besides plain functions, and what handlers raise to steer what follows."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import functools
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from engine.python_runs import attempt, run, runner_of
from hourhand import App, Context, Fail, Retry
from hourhand.errors import InvalidInput
from hourhand.model.words import OutcomeKind
from hourhand.testing import run_handler

if TYPE_CHECKING:
    from engine.engines import Engine


def load(zone: str, day: dt.date | None = None) -> str:
    """Load a zone."""
    return f"{zone} {day}"


class Thing:
    """What has methods."""

    def method(self) -> None: ...

    @classmethod
    def of_class(cls) -> None: ...

    @staticmethod
    def static(n: int = 1) -> int:
        return n


# Functions


def test_a_partial_is_a_task_of_its_own_whose_fixed_arguments_nobody_can_give() -> None:
    app = App()
    app.task(name="load-eu")(functools.partial(load, zone="eu"))
    app.task(name="load-us", args={"day": "2026-11-15"})(functools.partial(load, "us"))
    assert run_handler(app, {"day": "2026-11-15"}, task="load-eu").result() == "eu 2026-11-15"
    assert run_handler(app, task="load-us").result() == "us 2026-11-15"
    refused = run_handler(app, {"zone": "asia"}, task="load-eu")
    assert "args.zone: is not an argument of the handler" in (refused.error_message or "")
    assert app.handlers["default", "load-eu"].declaration.definition.description == "Load a zone."


def test_a_partial_of_a_coroutine_function_runs_on_the_loop() -> None:
    async def fetch(url: str, pages: int = 3) -> str:
        await asyncio.sleep(0)
        return f"{url} {pages}"

    app = App()
    app.task(name="fetch")(functools.partial(fetch, "http://books"))
    assert app.handlers["default", "fetch"].isolation == "loop"
    assert run_handler(app, {"pages": 5}).result() == "http://books 5"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (functools.partial(load, zone="eu"), "name: a partial has none: give it by name="),
        (Thing.method, "self: a method has no object to be called on: use a function, or @staticmethod above"),
        (vars(Thing)["of_class"], "is a classmethod: use a function"),
        (vars(Thing)["of_class"].__func__, "cls: a method has no object"),
        (vars(Thing)["static"], "is a staticmethod: write @staticmethod above @app.task"),
        (Thing(), "is not a function: use def or async def"),
        (print, "is not a function: use def or async def"),
        (Thing, "is not a function: use def or async def"),
    ],
)
def test_what_has_no_name_or_no_object_is_refused(function: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        App().task()(function)
    assert said in str(refused.value)


def test_a_static_method_may_be_decorated_below() -> None:
    app = App()

    class Holder:
        @staticmethod
        @app.task
        def double(n: int) -> int:
            return 2 * n

    assert Holder.double(2) == 4
    assert run_handler(app, {"n": 3}).result() == 6


def timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def around(*args: Any, **more: Any) -> Any:
        return function(*args, **more)

    return around


def timed_async(function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def around(*args: Any, **more: Any) -> Any:
        return await function(*args, **more)

    return around


def test_decorators_that_wrap_may_stand_below() -> None:
    app = App()

    @app.task
    @timed
    def one(ctx: Context, day: dt.date) -> str:
        ctx.info("here")
        return f"{day:%d.%m.}"

    @app.task
    @timed_async
    async def two(day: dt.date) -> str:
        await asyncio.sleep(0)
        return f"{day:%d.%m.}"

    for name in ("one", "two"):
        assert run_handler(app, {"day": "2026-11-15"}, task=name).result() == "15.11."


async def test_a_decorator_that_hides_a_coroutine_fails_in_words() -> None:
    @timed
    async def hidden() -> int:
        return 1

    outcome = await run(hidden)
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert "returned a coroutine that nobody awaits: a decorator hides that it is async" in (
        outcome.error_message or ""
    )


class Order(BaseModel):
    number: int
    lines: list[str] = []


@dataclasses.dataclass
class Address:
    street: str
    since: dt.date


def test_models_and_dataclasses_are_made_from_arguments() -> None:
    def ship(order: Order, to: Address, extra: list[Order] | None = None) -> str:
        assert isinstance(order, Order)
        assert isinstance(to, Address)
        return f"{order.number + 1} {to.street} {to.since:%Y} {len(extra or [])}"

    args = {
        "order": {"number": "4", "lines": []},
        "to": {"street": "x", "since": "2020-01-01"},
        "extra": [{"number": 1}],
    }
    assert run_handler(ship, args).result() == "5 x 2020 1"
    refused = run_handler(ship, {**args, "to": {"street": "x"}})
    assert refused.error_message == "args.to.since: is required: give it"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (dt.date(2026, 11, 15), "result is a datetime.date, which is not JSON"),
        ({"rows": [{"at": {1, 2}}]}, "result['rows'][0]['at'] is a set, which is not JSON"),
        (Order(number=1), f"result is a {__name__}.Order, which is not JSON"),
        (b"x", "result is a bytes, which is not JSON"),
        (float("inf"), "result is inf, which is not JSON"),
    ],
)
def test_what_is_no_json_cannot_be_returned(value: Any, said: str) -> None:
    told = run_handler(lambda: value)
    assert said in (told.error_message or "")
    assert not told.retryable


# Logging


async def test_the_logger_of_a_context_writes_to_its_instance_log_from_any_thread() -> None:
    attempted = attempt()

    def work(ctx: Context) -> None:
        def apart() -> None:
            ctx.logger.warning("%d of %d", 3, 4)
            try:
                raise KeyError("x")  # noqa: TRY301 - to have one
            except KeyError:
                ctx.logger.exception("broken")
            logging.getLogger("other").warning("nobody's")

        thread = threading.Thread(target=apart)
        thread.start()
        thread.join()

    await runner_of(work).run(attempted)
    assert [(line.message, line.level) for line in attempted.lines] == [("3 of 4", "warning"), ("broken", "error")]
    assert "KeyError: 'x'" in (attempted.lines[1].exception or "")


# What follows


async def test_a_handler_says_when_it_is_to_be_tried_again() -> None:
    def later() -> None:
        raise Retry("the bank is closed", after=dt.timedelta(hours=2))

    outcome = await run(later)
    assert (outcome.kind, outcome.retryable, outcome.retry_after_seconds) == (OutcomeKind.FAILED, True, 7_200.0)
    assert outcome.error_message == "Retry: the bank is closed"


async def test_a_handler_says_that_trying_again_is_of_no_use() -> None:
    async def never() -> None:
        raise Fail("there is no such customer")

    outcome = await run(never)
    assert (outcome.kind, outcome.retryable, outcome.retry_after_seconds) == (OutcomeKind.FAILED, False, None)


async def test_the_store_keeps_the_delay_and_counts_the_attempt(engine: Engine) -> None:
    engine.start()
    task = await engine.task("steer", max_retries=5, retry_delay_seconds=600)
    ended = await engine.result(task, after=0.0, times=2)
    assert (ended.status.value, ended.retry_count, ended.result) == ("success", 2, {"value": 2})
    failed = await engine.result(task, fail=True)
    assert (failed.status.value, failed.retry_count, failed.error_message) == ("failed", 0, "Fail: no use")


async def test_a_process_of_its_own_steers_as_well(engine: Engine) -> None:
    engine.start()
    task = await engine.task("steer_apart", max_retries=5, retry_delay_seconds=600)
    ended = await engine.result(task, after=0.0, times=1)
    assert (ended.status.value, ended.retry_count) == ("success", 1)
