"""Claim: the leased right to the next instances of some lanes, by priority and age, for one executor at a time."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import expire, shift
from hourhand.model.instance import Submission
from hourhand.model.words import OutcomeKind, Status, TaskType
from hourhand.store.marks import FULL_PROBE_SECONDS, Marks

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment


def ids(claimed: list[Assignment]) -> list[int]:
    return [one.instance_id for one in claimed]


async def test_the_highest_priority_comes_first_whatever_its_age(world: World) -> None:
    await world.executor()
    tasks = {priority: await world.task(priority=priority) for priority in (9, 0, 5)}
    submitted = {priority: await world.submit(task) for priority, task in tasks.items()}

    assert ids(await world.claim(limit=2)) == [submitted[0], submitted[5]]
    assert ids(await world.claim(limit=2)) == [submitted[9]]


async def test_within_a_priority_the_oldest_comes_first(world: World) -> None:
    await world.executor()
    task = await world.task()
    submitted = [await world.submit(task) for _ in range(6)]
    await shift(world, "available_at", -60, f"id = {submitted[4]}")

    in_order = [submitted[4], *submitted[:4], submitted[5]]
    assert ids(await world.claim(limit=3)) == in_order[:3]
    assert ids(await world.claim(limit=3)) == in_order[3:]


async def test_a_batch_of_the_same_microsecond_is_claimed_in_the_order_of_its_submission(world: World) -> None:
    await world.executor()
    task = await world.task()
    submitted = await world.store.submit([Submission(task_id=task.id) for _ in range(20)])

    claimed = [one for _ in range(4) for one in await world.claim(limit=5)]

    assert ids(claimed) == [one.instance_id for one in submitted]


@pytest.mark.parametrize("limit", [1, 7, 10, 11])
async def test_no_more_than_the_limit_is_taken(world: World, limit: int) -> None:
    await world.executor(labels={"zone": "a"})
    places = [(1, {}), (1, {"zone": "a"}), (5, {}), (5, {"zone": "a"})]
    tasks = [await world.task(priority=priority, executor_labels=labels) for priority, labels in places]
    await world.store.submit([Submission(task_id=task.id) for task in tasks for _ in range(3)][:10])

    assert len(await world.claim(limit=limit)) == min(limit, 10)
    assert await world.count("task_instances", "status = 'running'") == min(limit, 10)


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_nothing_takes_nothing(world: World, limit: int) -> None:
    await world.executor()
    await world.submit(await world.task())

    assert await world.claim(limit=limit) == []
    assert await world.store.claim("e1", (), limit=10) == []


async def test_what_is_not_available_yet_is_not_claimed(world: World) -> None:
    await world.executor()
    now = await world.store.now()
    await world.submit(await world.task(priority=0), run_at=now + timedelta(seconds=3600))
    due = await world.submit(await world.task(priority=9))

    assert ids(await world.claim()) == [due]

    await shift(world, "available_at", -3601, "status = 'pending'")
    assert len(await world.claim()) == 1


async def test_a_claim_is_running_leased_to_one_executor_under_a_new_fence(world: World) -> None:
    await world.executor()
    submitted = await world.submit(await world.task(), args={"a": 1})
    before = await world.store.now()

    (claimed,) = await world.claim()

    instance = await world.store.get_instance(submitted)
    after = await world.store.now()
    assert (instance.status, instance.executor_id, instance.fence) == (Status.RUNNING, "e1", 1)
    assert instance.start_time is not None
    assert before <= instance.start_time <= after
    assert instance.lease_until == claimed.lease_until
    lease = timedelta(seconds=world.store.lease_seconds)
    slack = timedelta(milliseconds=50)  # SQLite's leases run by a clock of their own
    assert before + lease - slack <= claimed.lease_until <= after + lease + slack
    assert (claimed.fence, claimed.args, claimed.task_version, claimed.retry_count) == (1, {"a": 1}, 1, 0)
    assert not await world.claim()


async def test_every_claim_raises_the_fence(world: World) -> None:
    await world.executor()
    await world.submit(await world.task())
    fences = []
    for _ in range(3):
        claimed = await world.claim()
        fences.append(claimed[0].fence)
        await world.end(claimed, OutcomeKind.HANDED_BACK)

    assert fences == sorted(set(fences))


# Lanes

LANES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "its group": ({"group": "g"}, {"group": "g"}, True),
    "another group": ({"group": "g"}, {"group": "default"}, False),
    "an app it has": (
        {"type": TaskType.PYTHON, "payload": {"handler": "h", "app": "shop"}},
        {"provides": ("builtin", "python:shop")},
        True,
    ),
    "an app it has not": (
        {"type": TaskType.PYTHON, "payload": {"handler": "h", "app": "shop"}},
        {"provides": ("builtin", "python:other")},
        False,
    ),
    "an app is named after its group": (
        {"type": TaskType.PYTHON, "payload": {"handler": "h"}},
        {"provides": ("python:default",)},
        True,
    ),
    "nothing built in": ({}, {"provides": ("python:default",)}, False),
    "labels it has": ({"executor_labels": {"zone": "a"}}, {"labels": {"zone": "a", "gpu": "yes"}}, True),
    "labels of another value": ({"executor_labels": {"zone": "a"}}, {"labels": {"zone": "b"}}, False),
    "labels it lacks": ({"executor_labels": {"zone": "a", "gpu": "yes"}}, {"labels": {"zone": "a"}}, False),
    "no labels wanted": ({}, {"labels": {"zone": "a"}}, True),
}


@pytest.mark.parametrize("lane", LANES.values(), ids=LANES.keys())
async def test_an_executor_claims_what_its_lanes_hold(world: World, lane: tuple[Any, Any, bool]) -> None:
    task, executor, served = lane
    await world.store.ensure_group("g")
    await world.executor(**executor)
    await world.submit(await world.task(**task))

    assert len(await world.claim()) == served


async def test_a_shard_is_claimed_by_the_executor_it_is_for(world: World) -> None:
    await world.executor("e1")
    await world.executor("e2")
    await world.submit(await world.task(broadcast=True))

    claimed = {name: await world.claim(name) for name in ("e2", "e1")}

    assert {name: [one.shard_index for one in found] for name, found in claimed.items()} == {"e1": [0], "e2": [1]}


async def test_lanes_of_the_same_priority_are_all_served(world: World) -> None:
    await world.executor(labels={"zone": "a", "gpu": "yes"})
    wanted: tuple[dict[str, str], ...] = ({}, {"zone": "a"}, {"gpu": "yes"})
    for labels in wanted:
        await world.submit(await world.task(executor_labels=labels))

    assert len(await world.claim()) == 3


async def test_a_backlog_in_one_lane_does_not_starve_another_of_the_same_priority(world: World) -> None:
    await world.executor(labels={"zone": "a"})
    wanted: tuple[dict[str, str], ...] = ({}, {"zone": "a"})
    tasks = [await world.task(executor_labels=labels) for labels in wanted]
    for task in tasks:
        await world.store.submit([Submission(task_id=task.id) for _ in range(60)])

    claimed = [one for _ in range(40) for one in await world.claim(limit=1)]

    # By chance alone one of the two would come fewer than three times in 40 about once in a billion runs.
    assert min(sum(one.task_id == task.id for one in claimed) for task in tasks) >= 3


async def test_a_claim_of_many_lanes_skips_nothing_that_the_marks_allow(world: World) -> None:
    await world.executor(labels={"zone": "a", "gpu": "yes"})
    wanted: tuple[dict[str, str], ...] = ({}, {"zone": "a"}, {"gpu": "yes"})
    tasks = [await world.task(executor_labels=labels, priority=place) for place, labels in enumerate(wanted)]
    await world.store.submit([Submission(task_id=task.id) for task in tasks for _ in range(5)])
    claimed = []
    while found := await world.claim(limit=2):
        claimed += found
    assert [one.priority for one in claimed] == [0] * 5 + [1] * 5 + [2] * 5


@pytest.mark.parametrize(("scope", "claimed"), [("all", 0), ("group", 0), ("other", 1), ("over", 1)])
async def test_a_paused_group_is_not_served_until_the_pause_is_over(world: World, scope: str, claimed: int) -> None:
    await world.executor()
    task = await world.task()
    await world.submit(task)
    other = await world.store.ensure_group("other")
    scope_id = {"all": "NULL", "group": task.group_id, "other": other.id, "over": "NULL"}[scope]
    clock = "clock_timestamp()"  # both stores have it
    await world.execute(
        "INSERT INTO pauses (scope, scope_id, reason, owner, created_at, until) VALUES "  # noqa: S608 - a test's own words
        f"('{'all' if scope in ('all', 'over') else 'group'}', {scope_id}, 'r', 'o', {clock}, "
        f"{clock if scope == 'over' else 'NULL'})"
    )

    assert len(await world.claim()) == claimed

    await world.execute("DELETE FROM pauses")
    assert len(await world.claim()) == 1 - claimed


# What has lost executors


async def lost(world: World, count: int, *, times: int = 2) -> list[int]:
    """Instances that have lost so many executors."""
    task = await world.task()
    submitted = [await world.submit(task) for _ in range(count)]
    await world.executor("dead")
    for _ in range(times):
        held = 0
        while claimed := await world.claim("dead"):
            held += len(claimed)
        assert held == count
        await expire(world)
        assert (await world.store.reap()).requeued == count
    return submitted


async def test_a_first_loss_is_nobodys_fault(world: World) -> None:
    await world.executor()
    victims = await lost(world, 3, times=1)
    assert ids(await world.claim(take_lost=False)) == victims


async def test_a_claim_takes_at_most_one_that_has_lost_two_executors(world: World) -> None:
    await world.executor()
    suspects = await lost(world, 3)
    fresh = await world.submit(await world.task(priority=9))

    claimed = await world.claim()

    assert sorted(ids(claimed)) == sorted([suspects[0], fresh])
    assert [one.loss_count for one in claimed if one.instance_id == suspects[0]] == [2]
    assert ids(await world.claim()) == [suspects[1]]


async def test_it_counts_towards_the_limit(world: World) -> None:
    await world.executor()
    suspects = await lost(world, 2)
    await world.submit(await world.task(priority=0))

    assert ids(await world.claim(limit=1)) == [suspects[0]]


async def test_who_holds_one_already_takes_none(world: World) -> None:
    await world.executor()
    await lost(world, 2)
    fresh = await world.submit(await world.task())

    assert ids(await world.claim(take_lost=False)) == [fresh]
    assert not await world.claim(take_lost=False)


# Low-water marks


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


def assignment(lane: int, priority: int, available_at: datetime, loss_count: int = 0) -> Any:
    return SimpleNamespace(lane_id=lane, priority=priority, available_at=available_at, loss_count=loss_count)


async def test_what_slips_below_the_mark_is_claimed_at_the_next_full_probe(world: World) -> None:
    clock = Hand()
    world.store._marks["e1"] = Marks(clock)  # noqa: SLF001 - a clock to be moved by hand
    await world.executor()
    task = await world.task()
    await world.submit(task)
    assert len(await world.claim()) == 1
    late = await world.submit(task)
    await shift(world, "available_at", -3600, f"id = {late}")  # as if its transaction had been open for an hour

    early = await world.claim()
    clock.seconds += FULL_PROBE_SECONDS

    assert ids(early + await world.claim()) == [late]
    if world.store.database.dialect == "postgresql":
        assert early == []  # the mark is there: dead entries below it are not read again


async def test_the_mark_lets_pass_what_is_a_second_late(world: World) -> None:
    world.store._marks["e1"] = Marks(Hand())  # noqa: SLF001 - a clock that stands still: no full probe helps
    await world.executor()
    task = await world.task()
    await world.submit(task)
    await world.claim()
    late = await world.submit(task)
    await shift(world, "available_at", -1, f"id = {late}")

    assert ids(await world.claim()) == [late]


async def test_everything_that_becomes_pending_stands_above_the_mark(world: World) -> None:
    world.store._marks["e1"] = Marks(Hand())  # noqa: SLF001 - a clock that stands still: no full probe helps
    await world.executor()
    task = await world.task(max_retries=1, retry_delay_seconds=0)
    keyed = await world.task(concurrency_key="k")
    old = await world.store.now() - timedelta(days=1)
    held = await world.submit(task, held=True, run_at=old)
    failed, back, permitted, waiting = [await world.submit(one, run_at=old) for one in (task, task, keyed, keyed)]
    first = {one.instance_id: one for one in await world.claim()}
    assert set(first) == {failed, back, permitted}
    await shift(world, "available_at", -86_400)

    await world.store.dispatch([held])
    await world.end([first[failed]], OutcomeKind.FAILED)
    await world.end([first[back]], OutcomeKind.HANDED_BACK)
    await world.end([first[permitted]])

    assert set(ids(await world.claim())) == {held, failed, back, waiting}


def test_marks_rise_with_what_is_claimed_and_fall_at_the_full_probe() -> None:
    clock = Hand()
    marks = Marks(clock)
    noon = datetime.fromisoformat("2026-11-15T12:00:00+00:00")
    beginning = marks.probes([1])[5]
    marks.advance([assignment(1, 5, noon), assignment(1, 5, noon - timedelta(hours=1)), assignment(2, 5, noon)])
    marks.advance([assignment(1, 5, noon + timedelta(hours=1), loss_count=2)])  # out of turn

    assert marks.probes([1])[5] == noon - timedelta(seconds=1)
    assert marks.probes([1])[4] == beginning
    assert marks.probes([3, 2])[11] == noon - timedelta(seconds=1)
    clock.seconds += FULL_PROBE_SECONDS
    assert marks.probes([1])[5] == beginning
