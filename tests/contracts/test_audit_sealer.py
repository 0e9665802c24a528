"""The sealer: a scheduler's chore that makes new entries part of the chain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from contracts.audits import fill, kept
from contracts.rows import shift
from hourhand.bootstrap import engine
from hourhand.scheduler import sealer
from hourhand.scheduler.sealer import EVERY_SECONDS, REFUSED_SECONDS, Sealer
from hourhand.service.outage import Outage
from hourhand.service.signals import Stopping
from hourhand.settings import Settings
from hourhand.store.audit_chain import HEAD

if TYPE_CHECKING:
    from pathlib import Path

    from contracts.world import World


async def test_what_is_new_is_sealed_until_nothing_is_left(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealer, "BATCH", 2)
    await fill(world.store, 3)
    one = Sealer(world.store, "one", days=400)
    assert [await one.step() for _ in range(2)] == [0.0, EVERY_SECONDS]
    assert [entry.sealed_no for entry in await kept(world)] == [1, 2, 3]


async def test_one_scheduler_at_a_time_seals(world: World) -> None:
    one, other = Sealer(world.store, "one", days=400), Sealer(world.store, "other", days=400)
    await one.step()
    await fill(world.store, 1)
    await other.step()
    assert [entry.sealed_no for entry in await kept(world)] == [None]
    await one.step()
    assert [entry.sealed_no for entry in await kept(world)] == [1]


async def test_once_an_hour_what_is_too_old_is_removed(world: World) -> None:
    now = 0.0
    one = Sealer(world.store, "one", days=400, clock=lambda: now)
    await fill(world.store, 2)
    await shift(world, "occurred_at", -401 * 86_400, "resource_id = '0'", table="audit_logs")
    await one.step()
    assert len(await kept(world)) == 2
    now = 3600.0
    await one.step()
    assert [entry.resource_id for entry in await kept(world)] == ["1"]


async def test_a_chain_that_somebody_meddled_with_is_left_alone_and_said(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    one = Sealer(world.store, "one", days=400)
    await fill(world.store, 2)
    await one.step()
    await world.execute(f"DELETE FROM store_values WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    await fill(world.store, 1)
    assert await one.step() == REFUSED_SECONDS
    assert "somebody has meddled with it" in caplog.text
    assert "Traceback" not in caplog.text
    assert sorted(entry.sealed_no or 0 for entry in await kept(world)) == [0, 1, 2]


async def test_a_scheduler_seals_by_itself(world: World, tmp_path: Path) -> None:
    stopping = Stopping()
    await fill(world.store, 3)
    work = engine.run(world.store, Settings(data_dir=tmp_path), engine.Work(scheduling=True), stopping, Outage())
    running = asyncio.create_task(work)
    try:
        async with asyncio.timeout(60):
            while (await world.store.verify_audit()).unsealed:
                await asyncio.sleep(0.05)
    finally:
        stopping.stop.set()
        await running
    assert (await world.store.verify_audit()).checked == 3
