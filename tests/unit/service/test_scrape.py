"""However often it is scraped, the store is asked rarely; a cycle of a chore is measured whether it fails or not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from hourhand.model.errors import StoreUnavailable
from hourhand.model.figures import GroupFigures
from hourhand.service.metrics import REGISTRY, timed
from hourhand.service.scrape import Scrape
from scraping import Scraped

if TYPE_CHECKING:
    from hourhand.contracts.store import Store


class Clocked:
    """A store that takes its time, by a clock of its own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.takes = 0.0
        self.asked = 0
        self.away = False

    def clock(self) -> float:
        return self.now

    async def figures(self) -> list[GroupFigures]:
        self.asked += 1
        self.now += self.takes
        if self.away:
            raise StoreUnavailable("away")
        return [GroupFigures(group="a", due=self.asked)]


async def due(scrape: Scrape) -> float:
    content, _ = await scrape.answer()
    return Scraped.read(content.decode()).value("hourhand_instances_due", group="a")


async def test_figures_are_kept_for_five_seconds() -> None:
    store = Clocked()
    scrape = Scrape(cast("Store", store), clock=store.clock)
    assert [await due(scrape), await due(scrape)] == [1, 1]
    store.now += 4.9
    assert await due(scrape) == 1
    store.now += 0.2
    assert await due(scrape) == 2


async def test_figures_that_took_long_are_kept_for_longer() -> None:
    store = Clocked()
    store.takes = 1.0
    scrape = Scrape(cast("Store", store), clock=store.clock)
    assert await due(scrape) == 1
    store.now += 48
    assert await due(scrape) == 1
    store.now += 2
    assert await due(scrape) == 2


async def test_of_many_scrapers_one_reads() -> None:
    store = Clocked()
    scrape = Scrape(cast("Store", store), clock=store.clock)
    assert set(await asyncio.gather(*(due(scrape) for _ in range(20)))) == {1}


async def test_a_store_that_is_away_is_asked_no_more_often() -> None:
    store = Clocked()
    store.away = True
    scrape = Scrape(cast("Store", store), clock=store.clock)
    for _ in range(5):
        content, _ = await scrape.answer()
        assert Scraped.read(content.decode()).value("hourhand_store_up") == 0
    assert store.asked == 1


async def test_a_process_without_a_store_has_metrics_all_the_same() -> None:
    content, content_type = await Scrape().answer()
    scraped = Scraped.read(content.decode())
    assert scraped.value("hourhand_store_up") == 0
    assert scraped.value("hourhand_build_info") == 1
    assert content_type.startswith("text/plain")
    assert not [name for name in scraped.names if name.endswith("_created")]


async def test_a_cycle_is_counted_by_how_it_ended() -> None:
    fails = [False, True, False]

    async def step() -> float:
        if fails.pop():
            raise StoreUnavailable("away")
        return 7.0

    measured = timed("a test", step)
    assert await measured() == 7.0
    with pytest.raises(StoreUnavailable):
        await measured()
    assert await measured() == 7.0
    assert REGISTRY.get_sample_value("hourhand_scheduler_cycle_seconds_count", {"chore": "a test"}) == 2
    assert REGISTRY.get_sample_value("hourhand_scheduler_cycles_failed_total", {"chore": "a test"}) == 1
