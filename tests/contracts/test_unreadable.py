"""One task that cannot be read, or takes long to plan, never holds the others up (guarantees 2 and 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.dependencies import every
from contracts.elapse import align, elapse, instances
from hourhand.store import materialise

if TYPE_CHECKING:
    from contracts.world import World


async def test_a_task_whose_zone_is_unknown_here_is_passed_over_and_kept(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    good = await every(world, 60)
    bad = await every(world, 60)
    await align(world, good, bad)
    await elapse(world, 65)
    await world.execute("UPDATE tasks SET timezone = 'Atlantis/Capital' WHERE id = :id", id=bad.id)

    await world.store.materialise()

    assert len(await instances(world, good)) == 1
    assert await instances(world, bad) == []
    kept = await world.store.get_task(bad.id)
    assert kept.next_fire_at is not None
    assert kept.wake_at is not None
    assert kept.next_fire_at < await world.store.now() < kept.wake_at
    assert "Atlantis/Capital" in caplog.text

    mended = await world.store.edit_task(bad.id, {"timezone": "UTC"}, by="me")
    assert mended.next_fire_at is not None


async def test_an_upstream_that_is_unreadable_here_has_only_its_past(world: World) -> None:
    await world.executor()
    upstream = await every(world, 60)
    dependent = await every(world, 60, upstream)
    await align(world, upstream, dependent)
    await elapse(world, 65)
    await world.execute("UPDATE tasks SET timezone = 'Atlantis/Capital' WHERE id = :id", id=upstream.id)

    await world.store.materialise()

    assert len(await instances(world, dependent)) == 1


async def test_what_there_was_no_time_to_plan_is_due_as_before(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [await every(world, 60) for _ in range(3)]
    await align(world, *tasks)
    await elapse(world, 65)
    monkeypatch.setattr(materialise, "PLANNING_SECONDS", -1.0)

    carried = [(await world.store.materialise()).tasks for _ in range(4)]

    assert carried == [1, 1, 1, 0]
    assert [len(await instances(world, task)) for task in tasks] == [1, 1, 1]
