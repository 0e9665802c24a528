"""What a verb has committed is counted once, by the group and type of its task, whoever ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contracts.elapse import elapse
from hourhand.model.errors import StoreUnavailable
from hourhand.model.words import OutcomeKind, SkipReason
from hourhand.service.metrics import REGISTRY

if TYPE_CHECKING:
    from contracts.world import World

LABELS = {"group": "counted", "type": "command"}


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


class Counts:
    """How much each has risen since."""

    def __init__(self) -> None:
        self._before = self._now()

    @staticmethod
    def _now() -> dict[str, float]:
        ended = {
            status: value("hourhand_instances_ended_total", **LABELS, status=status)
            for status in ("success", "failed", "cancelled")
        }
        return ended | {
            "durations": value("hourhand_instance_duration_seconds_count", **LABELS),
            "seconds": value("hourhand_instance_duration_seconds_sum", **LABELS),
            "retried": value("hourhand_attempts_retried_total", **LABELS),
            "lost": value("hourhand_attempts_lost_total", **LABELS),
        }

    def risen(self) -> dict[str, float]:
        return {name: now - self._before[name] for name, now in self._now().items() if now != self._before[name]}


@pytest.fixture
async def counted(world: World) -> World:
    await world.store.ensure_group("counted")
    await world.executor("e1", group="counted")
    return world


async def test_five_that_succeed_and_two_that_fail_are_five_and_two(counted: World) -> None:
    task = await counted.task(group="counted")
    for _ in range(7):
        await counted.submit(task)
    claimed = await counted.claim()
    counts = Counts()
    await counted.end(claimed[:5], duration_ms=250)
    await counted.end(claimed[5:], OutcomeKind.FAILED, duration_ms=500)
    assert counts.risen() == {"success": 5, "failed": 2, "durations": 7, "seconds": pytest.approx(2.25)}


async def test_what_was_superseded_counts_for_nothing(counted: World) -> None:
    task = await counted.task(group="counted")
    await counted.submit(task)
    claimed = await counted.claim()
    await counted.end(claimed)
    counts = Counts()
    assert [one.fenced for one in await counted.end(claimed)] == [True]
    assert counts.risen() == {}


async def test_what_is_tried_again_has_not_ended(counted: World) -> None:
    task = await counted.task(group="counted", max_retries=1, retry_delay_seconds=0)
    await counted.submit(task)
    counts = Counts()
    await counted.end(await counted.claim(), OutcomeKind.FAILED)
    assert counts.risen() == {"retried": 1}


async def test_what_never_started_is_cancelled_without_a_duration(counted: World) -> None:
    task = await counted.task(group="counted")
    instance_id = await counted.submit(task)
    counts = Counts()
    await counted.store.cancel(instance_id, reason="test")
    assert counts.risen() == {"cancelled": 1}


async def test_what_its_deleted_task_had_waiting_is_counted_too(counted: World) -> None:
    task = await counted.task(group="counted")
    await counted.submit(task)
    await counted.submit(task)
    counts = Counts()
    await counted.store.delete_task(task.id, by="test")
    assert counts.risen() == {"cancelled": 2}


async def test_a_lost_attempt_is_counted_by_the_fate_of_its_instance(counted: World) -> None:
    again = await counted.task(group="counted")
    never = await counted.task(group="counted", executor_loss_policy="fail")
    for task in (again, never):
        await counted.submit(task)
    await counted.claim()
    await elapse(counted, 60)
    counts = Counts()
    reaped = {fate: value("hourhand_attempts_reaped_total", fate=fate) for fate in ("requeued", "ended")}
    await counted.store.reap()
    risen = counts.risen()
    assert (risen["lost"], risen["failed"]) == (2, 1)
    for fate, before in reaped.items():
        assert value("hourhand_attempts_reaped_total", fate=fate) - before == 1


async def test_a_dependent_that_fails_with_its_upstream_is_counted(counted: World) -> None:
    upstream = await counted.task(group="counted")
    dependent = await counted.task(group="counted", dependency_ids=(upstream.id,), upstream_failure_policy="fail")
    counts = Counts()
    await counted.submit(dependent, wait=True)
    assert counts.risen() == {"failed": 1}


async def test_a_counter_that_cannot_learn_the_group_counts_all_the_same(
    counted: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await counted.task(group="counted")
    await counted.submit(task)
    claimed = await counted.claim()
    before = value("hourhand_instances_ended_total", group="", type="", status="success")

    async def away(_: object) -> None:
        raise StoreUnavailable("gone between the commit and the look")

    monkeypatch.setattr(counted.store, "_look", away)
    assert [one.status for one in await counted.end(claimed)] == ["success"]
    assert value("hourhand_instances_ended_total", group="", type="", status="success") - before == 1


async def test_instants_are_counted_as_made_or_by_the_reason_they_were_skipped_for(world: World) -> None:
    await world.task(schedule="@every 1h", misfire_policy="fire_once")
    await elapse(world, 5.5 * 3600)
    reason = SkipReason.MISFIRE.value
    made, skipped = value("hourhand_instants_made_total"), value("hourhand_instants_skipped_total", reason=reason)
    done = await world.store.materialise()
    assert (done.instants, done.skips[SkipReason.MISFIRE]) == (1, 4)
    assert value("hourhand_instants_made_total") - made == 1
    assert value("hourhand_instants_skipped_total", reason=reason) - skipped == 4
