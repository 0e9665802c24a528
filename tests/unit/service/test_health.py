"""Many probes at once cost the store one look, and what they find is logged when it changes."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, cast

from hourhand.model.errors import StoreUnavailable
from hourhand.model.figures import Signs
from hourhand.service import health as subject
from hourhand.service.health import Health

if TYPE_CHECKING:
    import pytest

    from hourhand.contracts.store import Store


class Answering:
    """As much of a store as is asked: it answers, refuses or hangs."""

    def __init__(self) -> None:
        self.asked = 0
        self.error: Exception | None = None
        self.slow: asyncio.Event | None = None

    async def signs(self) -> Signs:
        self.asked += 1
        if self.slow is not None:
            await self.slow.wait()
        if self.error is not None:
            raise self.error
        return Signs(cycle_seconds=1.0, days_ahead=14)


def health_of(store: Answering) -> Health:
    return Health(cast("Store", store))


async def test_all_who_ask_at_once_get_one_answer() -> None:
    store = Answering()
    store.slow = asyncio.Event()
    health = health_of(store)
    asking = [asyncio.create_task(health.ready()) for _ in range(50)]
    await asyncio.sleep(0)
    store.slow.set()
    reports = await asyncio.gather(*asking)
    assert store.asked == 1
    assert all(report.ok for report in reports)
    assert (await health.ready()).ok
    assert store.asked == 2, "who asks later is told what is so by then"


async def test_one_who_goes_away_takes_no_answer_from_the_others() -> None:
    store = Answering()
    store.slow = asyncio.Event()
    health = health_of(store)
    gone, stays = asyncio.create_task(health.ready()), asyncio.create_task(health.ready())
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    store.slow.set()
    assert (await stays).ok


async def test_a_store_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "ANSWER_SECONDS", 0.01)
    store = Answering()
    store.slow = asyncio.Event()
    report = await health_of(store).ready()
    assert [check.ok for check in report.checks] == [False, False, False]
    assert "did not answer within 0.01 s" in report.wrong


async def test_the_reason_is_logged_once_and_told_to_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    store = Answering()
    health = health_of(store)
    with caplog.at_level(logging.WARNING):
        store.error = StoreUnavailable("PostgreSQL: nothing at db.internal:5432")
        reports = [await health.ready() for _ in range(3)]
        store.error = None
        assert (await health.ready()).ok
    assert [record.getMessage() for record in caplog.records] == [
        "not ready: PostgreSQL: nothing at db.internal:5432",
        "ready again",
    ]
    assert not any("db.internal" in report.wrong for report in reports)
