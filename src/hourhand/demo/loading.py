"""Demo: putting it into a store, keeping it fit to run, and taking it out again."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import TypeVar

from hourhand.contracts.store import Store
from hourhand.demo.app import RELEASE
from hourhand.demo.past import DAY, past
from hourhand.demo.samples import GROUP_TITLE, NEWSLETTER, PAUSED_BECAUSE, RULE_NAME, samples
from hourhand.model.alert import AlertDefinition, FailedInARow, Scope, ScopeKind
from hourhand.model.demo import DEMO_APP, DEMO_GROUP, DemoRemoved, DemoState
from hourhand.model.errors import Conflict, DuplicateName
from hourhand.model.filters import TaskFilter
from hourhand.model.pause import PauseScope
from hourhand.model.task import Task
from hourhand.rules.demo import DEMO_OWNER, is_sample

T = TypeVar("T")
LEASE, LEASE_SECONDS, RENEW_SECONDS = "demo", 60.0, 20.0
PAUSED_FOR = timedelta(days=3)
STOPPING_SECONDS = 20.0
"""What is cancelled gets the executors' grace, and they notice at their next beat at the latest."""
LOOK_SECONDS = 0.1
MOST_TASKS = 200


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of loading."""

    state: DemoState
    new: bool
    kept: tuple[tuple[str, str], ...]
    """Names of sample tasks that are not as they should be, each with the reason."""


async def load(store: Store, *, address: str | None, day: timedelta = DAY) -> Loaded:
    """Put the demo into the store, unless it is there; what it finds of it, it leaves.

    `address` is where this Hourhand listens, if executors may call it there; `day` is how far its past goes back.
    """

    async def load_it() -> Loaded:
        before = await store.demo_state()
        if before.owned and not before.tasks:  # a removal was interrupted, or somebody has deleted them all
            await _clear(store)
            before = await store.demo_state()
        if not before.owned and DEMO_GROUP in {one.name for one in await store.list_groups()}:
            raise Conflict(
                f"there is a group {DEMO_GROUP!r} that is not the demo's: delete it first, "
                f"such as by `hourhand group delete {DEMO_GROUP}`"
            )
        declared = await store.declare(samples(address=address, now=await store.now()), app=DEMO_APP, release=RELEASE)
        if before.loaded_at is None:
            await _furnish(store, day)
        return Loaded(await store.demo_state(), before.loaded_at is None, declared.kept)

    return await _alone(store, load_it)


async def refresh(store: Store, *, address: str | None) -> DemoState:
    """At the start of a process: if the demo is there, its tasks call the address that there is now."""
    if (await store.demo_state()).tasks:
        await store.declare(samples(address=address, now=await store.now()), app=DEMO_APP, release=RELEASE)
    return await store.demo_state()


async def _furnish(store: Store, day: timedelta) -> None:
    """Give what has been declared a title, a pause, an alert rule, and last a past: then the demo is loaded."""
    (group,) = [one for one in await store.list_groups() if one.name == DEMO_GROUP]
    await store.edit_group(group.id, {"title": GROUP_TITLE})
    tasks = await _sample_tasks(store)
    resting = {one.scope_id for one in await store.list_pauses() if one.scope is PauseScope.TASK}
    now = await store.now()
    for task in tasks:
        if task.name == NEWSLETTER and task.id not in resting:
            until = now + PAUSED_FOR
            await store.pause(PauseScope.TASK, task.id, reason=PAUSED_BECAUSE, until=until, by=DEMO_OWNER)
    await _add_rule(store, group.id)
    await store.fold_stats()  # a new store has not begun to: then it would fold this whole day minute by minute
    await store.write_demo_past(past(tasks, now=now, day=day))


async def _add_rule(store: Store, group_id: int) -> None:
    """Without a target: it shows what fires, and bothers nobody."""
    rule = AlertDefinition(
        name=RULE_NAME, condition=FailedInARow(count=3), scope=Scope(kind=ScopeKind.GROUP, id=group_id)
    )
    try:
        await store.create_alert_rule(rule, [], by=DEMO_OWNER)
    except DuplicateName:
        return  # from a load that was interrupted, or somebody's own


async def _sample_tasks(store: Store) -> list[Task]:
    page = await store.list_tasks(TaskFilter(group=DEMO_GROUP), limit=MOST_TASKS)
    return [task for task in page.items if is_sample(task)]


async def remove(store: Store, *, by: str) -> DemoRemoved:
    """Take the demo out of the store, with all that it ever did; what people made themselves stays."""

    async def remove_it() -> DemoRemoved:
        if not (await store.demo_state()).owned:
            raise Conflict("the demo is not loaded, so that there is nothing to remove: `hourhand demo load` loads it")
        await store.stop_demo(by=by)
        return await _clear(store)

    return await _alone(store, remove_it)


async def _clear(store: Store) -> DemoRemoved:
    """Wait until all of it has ended; the store says what is in the way if it does not."""
    give_up = monotonic() + STOPPING_SECONDS
    while ((left := await store.demo_state()).living or left.executors) and monotonic() < give_up:  # noqa: ASYNC110 - others' work ends
        await asyncio.sleep(LOOK_SECONDS)
    return await store.clear_demo()


async def _alone(store: Store, work: Callable[[], Awaitable[T]]) -> T:
    """One at a time, however long it takes: else two that load at once would each add a pause."""
    holder = secrets.token_hex(8)
    busy = Conflict("the demo is being loaded or removed just now: ask again in a moment")
    if not await store.take_lease(LEASE, holder, LEASE_SECONDS):
        raise busy
    working = asyncio.ensure_future(work())
    try:
        while not (await asyncio.wait([working], timeout=RENEW_SECONDS))[0]:
            if not await store.take_lease(LEASE, holder, LEASE_SECONDS):
                raise busy  # this process stood still for so long that another has begun: it goes on alone
        return await working
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await store.give_lease(LEASE, holder)
