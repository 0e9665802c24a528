"""The store's absence is waited out and said once; a loop is ended by nothing but cancellation."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import InvalidInput, StoreUnavailable
from hourhand.service import outage as outages
from hourhand.service.loop import repeat, rest_until
from hourhand.service.outage import LONGEST_WAIT, Outage, backoff, persist

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "FIRST_WAIT", 0.001)


def failing(times: int, error: Exception) -> Callable[[], Awaitable[str]]:
    left = [error] * times

    async def work() -> str:
        if left:
            raise left.pop()
        return "done"

    return work


async def test_work_is_repeated_until_the_store_answers_and_both_are_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outage = Outage()
    with caplog.at_level(logging.WARNING):
        assert await persist(failing(5, StoreUnavailable("gone fishing")), outage) == "done"
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert "gone fishing" in said[0]
    assert "is back" in said[1]
    assert not outage.lasts


async def test_what_is_wrong_for_good_is_not_repeated() -> None:
    with pytest.raises(InvalidInput):
        await persist(failing(1, InvalidInput.one("a", 1, "b")), Outage())


def test_an_answer_to_what_was_asked_before_the_outage_does_not_end_it() -> None:
    now = 10.0
    outage = Outage(lambda: now)
    asked_at = outage.now()
    now = 11.0
    outage.failed(StoreUnavailable("x"))
    outage.answered(asked_at)
    assert outage.lasts
    outage.answered(12.0)
    assert not outage.lasts


def test_the_wait_grows_and_is_bounded() -> None:
    first, later = backoff(0), backoff(50)
    assert 0 < first <= 0.001
    assert first < later <= LONGEST_WAIT


async def test_a_loop_goes_on_after_an_outage_and_after_a_fault_of_our_own(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [ZeroDivisionError("ours"), StoreUnavailable("theirs")]
    done = asyncio.Event()

    async def step() -> float:
        if errors:
            raise errors.pop()
        done.set()
        return 60.0

    with caplog.at_level(logging.WARNING):
        task = asyncio.create_task(repeat("the test", step, Outage()))
        async with asyncio.timeout(10):
            await done.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert any(record.exc_info and "the test failed" in record.getMessage() for record in caplog.records)


async def test_a_rest_ends_early_when_woken() -> None:
    wake = asyncio.Event()
    resting = asyncio.create_task(rest_until(wake, 60))
    await asyncio.sleep(0)
    wake.set()
    async with asyncio.timeout(10):
        assert await resting
    assert not wake.is_set(), "the next rest is a rest again"
    assert not await rest_until(wake, 0.001)
