"""Everything against everything: eight actors on the same few tasks; nothing but refusals, and a consistent end."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from contracts.invariants import assert_quiet, let_everything_finish
from contracts.rows import expire
from contracts.world import endings
from hourhand.model.errors import Conflict, IllegalEdge
from hourhand.model.instance import Held, Submission
from hourhand.model.words import OutcomeKind, OverlapPolicy, UpstreamFailurePolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from contracts.world import World
    from hourhand.model.instance import Assignment
    from hourhand.model.task import Task

logger = logging.getLogger(__name__)  # the figures, for who asks with --log-cli-level=INFO
EXECUTORS = ("e1", "e2")
MOST_AT_ONCE = 200
MOST_PERMITS = 3
OUTCOMES = {
    OutcomeKind.SUCCESS: 10,
    OutcomeKind.FAILED: 5,
    OutcomeKind.TIMED_OUT: 1,
    OutcomeKind.CANCELLED: 1,
    OutcomeKind.HANDED_BACK: 2,
}


@dataclass
class Scene:
    """The tasks that are fought over, and what the actors know."""

    world: World
    until: float
    upstreams: list[Task] = field(default_factory=list)
    following: list[Task] = field(default_factory=list)
    keyed: list[Task] = field(default_factory=list)
    scheduled: list[Task] = field(default_factory=list)
    broadcast: list[Task] = field(default_factory=list)
    accepted: set[int] = field(default_factory=set)
    seen: list[int] = field(default_factory=list)
    abandoned: list[Assignment] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    dice: random.Random = field(default_factory=random.Random)

    @property
    def tasks(self) -> list[Task]:
        return [*self.upstreams, *self.following, *self.keyed, *self.scheduled, *self.broadcast]

    async def attempt(self, name: str, act: Awaitable[Any]) -> Any:
        """Do something that may be refused; a refusal must not contradict itself."""
        try:
            answer = await act
        except Conflict as refused:
            if isinstance(refused, IllegalEdge) and refused.wanted in refused.legal:
                raise AssertionError(f"it contradicts itself: {refused}") from refused
            self.done[f"{name} refused"] += 1
            return None
        self.done[name] += 1
        return answer

    def some(self) -> int:
        """An instance that somebody has heard of, rather a young one."""
        return self.dice.choice(self.seen[-150:]) if self.seen else 1


async def set_up(world: World, seconds: float) -> Scene:
    scene = Scene(world, time.monotonic() + seconds)
    more: dict[str, Any] = {"max_retries": 1, "retry_delay_seconds": 0}
    scene.upstreams = [await world.task(name, **more) for name in ("a", "b")]
    a, b = (task.id for task in scene.upstreams)
    scene.following = [
        await world.task(
            "either",
            schedule="@upstream",
            dependency_ids=(a, b),
            upstream_failure_policy=UpstreamFailurePolicy.RUN,
            **more,
        ),
        await world.task(
            "strict",
            schedule="@upstream",
            dependency_ids=(a,),
            upstream_failure_policy=UpstreamFailurePolicy.FAIL,
            **more,
        ),
        await world.task("asked", dependency_ids=(a, b), upstream_failure_policy=UpstreamFailurePolicy.FAIL, **more),
    ]
    scene.keyed = [
        await world.task("one key", concurrency_key="k", concurrency_limit=2, **more),
        await world.task(
            "same key",
            concurrency_key="k",
            concurrency_limit=2,
            dependency_ids=(b,),
            upstream_failure_policy=UpstreamFailurePolicy.FAIL,
            **more,
        ),
    ]
    for name, policy in (("serial", OverlapPolicy.SERIAL), ("replace", OverlapPolicy.REPLACE)):
        scene.scheduled.append(await world.task(name, schedule="@every 1s", overlap_policy=policy, **more))
    scene.broadcast = [await world.task("everywhere", broadcast=True, **more)]
    await world.task("after everywhere", schedule="@upstream", dependency_ids=(scene.broadcast[0].id,))
    for name in EXECUTORS:
        await world.executor(name)
    return scene


# The actors


async def execute(scene: Scene, name: str) -> None:
    """Claim, beat, finish; leave some for the reaper, and finish what was left earlier too late."""
    claimed = await scene.world.claim(name, limit=scene.dice.randint(1, 40))
    scene.seen += [one.instance_id for one in claimed]
    scene.dice.shuffle(claimed)
    await scene.world.store.beat(name, [Held(one.instance_id, one.fence) for one in claimed])
    keep = scene.dice.randrange(len(claimed) + 1) // 4
    late, scene.abandoned = scene.abandoned[:10], [*scene.abandoned[10:], *claimed[:keep]][-200:]
    kinds = scene.dice.choices(list(OUTCOMES), list(OUTCOMES.values()), k=len(claimed) + len(late))
    ends = [*claimed[keep:], *late]
    outcomes = [end for one, kind in zip(ends, kinds, strict=False) for end in endings([one], kind)]
    for answer in await scene.world.store.finish(outcomes):
        scene.done["fenced" if answer.fenced else "finish"] += 1


async def submit(scene: Scene, _name: str) -> None:
    if await scene.world.count("task_instances", "blocked_by IS NULL OR blocked_by = 'permit'") > MOST_AT_ONCE:
        return
    batch = []
    for _ in range(scene.dice.randint(1, 12)):
        task = scene.dice.choice([*scene.upstreams, *scene.following, *scene.keyed, *scene.broadcast])
        held = not task.broadcast and scene.dice.random() < 0.1
        key = f"key-{scene.dice.randrange(5)}" if scene.dice.random() < 0.3 and not task.broadcast else None
        batch.append(Submission(task_id=task.id, key=key, held=held, wait=not held and scene.dice.random() < 0.5))
    answers = await scene.world.store.submit(batch)
    scene.accepted |= {answer.instance_id for answer in answers}
    scene.seen += [answer.instance_id for answer in answers]
    scene.done["submit"] += len(answers)
    held_ids = [answer.instance_id for answer, said in zip(answers, batch, strict=True) if said.held]
    if held_ids and scene.dice.random() < 0.5:
        await scene.attempt("dispatch", scene.world.store.dispatch(held_ids))


async def cancel(scene: Scene, _name: str) -> None:
    if scene.seen:
        await scene.attempt("cancel", scene.world.store.cancel(scene.some(), reason="conflict"))


async def retry(scene: Scene, _name: str) -> None:
    if scene.seen:
        await scene.attempt("retry", scene.world.store.retry(scene.some()))


async def reap(scene: Scene, _name: str) -> None:
    """Executors fall silent for some of what they hold, or lose the answer to a claim."""
    await expire(scene.world, f"status = 'running' AND id % 7 = {scene.dice.randrange(7)}")
    reaped = await scene.world.store.reap(limit=scene.dice.choice([5, 500]))
    scene.done["reap"] += reaped.requeued + reaped.ended
    if scene.dice.random() < 0.1:
        rows = await scene.world.sql("SELECT id FROM task_instances WHERE status = 'running'")
        await scene.world.store.hand_back_unheld("e1", [row["id"] for row in rows][::2])


async def settle(scene: Scene, _name: str) -> None:
    scene.done["settle"] += await scene.world.store.settle()
    scene.done["sweep"] += await scene.world.store.sweep()
    scene.done["materialise"] += (await scene.world.store.materialise()).instants
    taken = await scene.world.count("task_instances", "concurrency_key = 'k' AND blocked_by IS NULL")
    assert taken <= MOST_PERMITS


async def edit(scene: Scene, name: str) -> None:
    task = scene.dice.choice(scene.tasks)
    changes: dict[str, Any] = scene.dice.choice(
        [
            {"priority": scene.dice.randrange(10)},
            {"max_retries": scene.dice.randrange(3)},
            {"description": f"edited {scene.dice.random()}"},
            {"concurrency_limit": scene.dice.randint(1, MOST_PERMITS)},
            {"enabled": scene.dice.random() < 0.7} if task in scene.scheduled else {"timeout_seconds": 5},
            {"schedule": scene.dice.choice(["@every 1s", "@every 2s"])} if task in scene.scheduled else {},
            {"dependency_mode": scene.dice.choice(["all", "any"])} if task in scene.following else {},
        ]
    )
    await scene.attempt("edit", scene.world.store.edit_task(task.id, changes, by=name))


async def play(scene: Scene, name: str, act: Callable[[Scene, str], Awaitable[None]]) -> None:
    while time.monotonic() < scene.until:
        await act(scene, name)
        await asyncio.sleep(0.002)


@pytest.mark.parametrize("seconds", [6, pytest.param(60, marks=pytest.mark.chaos)])
async def test_eight_actors_against_each_other_leave_a_consistent_store(
    world: World,
    seconds: float,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = await set_up(world, seconds)
    actors = [execute, execute, submit, cancel, retry, reap, settle, edit]
    names = [*EXECUTORS, *[act.__name__ for act in actors[2:]]]

    await asyncio.gather(*[play(scene, name, act) for name, act in zip(names, actors, strict=True)])
    for task in scene.scheduled:
        await world.store.edit_task(task.id, {"enabled": False}, by="test")
    await let_everything_finish(world, EXECUTORS)

    logger.info("done: %s", dict(scene.done))
    await assert_quiet(world, scene.accepted)
    assert not [one.getMessage() for one in caplog.records if "left to the sweep" in one.getMessage()]
    for verb in ("finish", "fenced", "submit", "cancel", "retry", "reap", "edit", "materialise"):
        assert scene.done[verb] > 5, scene.done
    # An instant of an upstream that has ended is an instant of what follows it.
    a, b, either = scene.upstreams[0].id, scene.upstreams[1].id, scene.following[0].id
    instants = await world.sql("SELECT task_id, scheduled_time FROM task_instants")
    times = {task: {row["scheduled_time"] for row in instants if row["task_id"] == task} for task in (a, b, either)}
    assert times[either] == times[a] | times[b]
