"""The client's calls: the same answers and refusals straight on both stores and over REST, awaited and synchronous."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.clients import ELSEWHERE, Side, side
from hourhand import Client, Instance, LogLine
from hourhand.errors import Conflict, IllegalEdge, InvalidInput, NotFound
from hourhand.model.explanation import Code
from hourhand.model.instance import Held
from hourhand.model.words import OutcomeKind, Status, TriggeredBy
from hourhand.rules.lines import FIRST_OF_CALLBACKS, line_seq
from hourhand.sdk.sync import SyncClient
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World

PATIENCE = 60.0


@pytest.fixture(params=["awaited", "sync"])
def sync(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "sync")


@pytest.fixture(params=["sqlite", "postgresql", "rest"])
def way(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Return the URL of a store, and what a client is given to get to it, for each way."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "shared_url")
    if request.param == "rest":
        served: Served = request.getfixturevalue("served")
        return url, {"url": served.address, "token": served.token}
    return url, {"store": url}


@pytest.fixture
async def one(way: tuple[str, dict[str, Any]], *, sync: bool) -> AsyncIterator[Side]:
    """Return a client of each kind."""
    url, given = way
    async with side(given, url, sync=sync) as made:
        yield made


@pytest.fixture
async def task(one: Side, request: pytest.FixtureRequest) -> str:
    """Return the name of a task that nobody executes but the test."""
    return await one.task(request.node.name)


async def claimed(world: World, name: str, instance: Instance) -> Any:
    """Claim the instance as an executor of this name would."""
    await world.executor(name, group=ELSEWHERE)
    (claim,) = [each for each in await world.claim(name) if each.instance_id == instance.id]
    return claim


def test_both_clients_offer_the_same_calls_with_the_same_parameters() -> None:
    def calls(kind: type) -> dict[str, list[inspect.Parameter]]:
        return {
            name: list(inspect.signature(call).parameters.values())
            for name, call in vars(kind).items()
            if callable(call) and not name.startswith("_")
        }

    awaited = calls(Client)
    del awaited["joining"]  # the half of `submit(conn=)` that is awaited; blocking code has no use for it
    assert calls(SyncClient) == awaited


async def test_submit_answers_with_the_instance(one: Side, task: str) -> None:
    run_at = datetime(2100, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    instance = await one.ask.submit(task, {"day": "ä", "n": [1, None]}, priority=0, run_at=run_at, key="k")
    assert instance == await one.world.store.get_instance(instance.id)
    assert (instance.args, instance.priority, instance.key) == ({"day": "ä", "n": [1, None]}, 0, "k")
    assert (instance.available_at, instance.status) == (run_at, Status.PENDING)
    assert instance.triggered_by is TriggeredBy.API


async def test_a_key_is_unique_while_its_instance_lives(one: Side, task: str) -> None:
    other = await one.task(f"{task}-other")
    first = await one.ask.submit(task, {"n": 1}, key="k")
    again = await one.ask.submit(task, {"n": 2}, key="k")
    assert (first.existing, again.existing) == (False, True)
    assert (again.id, again.args) == (first.id, {"n": 1})
    assert not (await one.ask.submit(other, key="k")).existing
    assert not (await one.ask.submit(task)).existing
    await one.ask.cancel(first.id)
    later = await one.ask.submit(task, key="k")
    assert not later.existing
    assert later.id != first.id


async def test_submit_many_answers_with_ids_in_order(one: Side, task: str) -> None:
    ids = await one.ask.submit_many(task, [{"n": n} for n in range(20)])
    assert [(await one.world.store.get_instance(each)).args for each in ids] == [{"n": n} for n in range(20)]
    assert await one.ask.submit_many(task, []) == []


async def test_plan_waits_for_dispatch(one: Side, task: str) -> None:
    planned = [await one.ask.plan(task, {"n": n}) for n in range(3)]
    assert {each.status for each in planned} == {Status.PLANNED}
    assert (await one.ask.dispatch(planned[0].id)).status is Status.PENDING
    await one.ask.dispatch_many([each.id for each in planned[1:]])
    assert (await one.ask.get(planned[2].id)).status is Status.PENDING
    with pytest.raises(Conflict, match="does not wait to be dispatched"):
        await one.ask.dispatch(planned[0].id)


async def test_wait_answers_once_it_has_ended(one: Side, task: str) -> None:
    instance = await one.ask.submit(task)
    waiting = asyncio.create_task(one.ask.wait(instance.id, timeout=PATIENCE))
    claim = await claimed(one.world, task, instance)
    await one.world.end([claim], OutcomeKind.SUCCESS, result={"value": [1]})
    ended = await waiting
    assert (ended.status, ended.result) == (Status.SUCCESS, {"value": [1]})
    assert ended == await one.world.store.get_instance(instance.id)
    await one.world.store.deregister(task)


async def test_wait_gives_up_after_its_time_and_the_instance_goes_on(one: Side, task: str) -> None:
    instance = await one.ask.submit(task)
    with pytest.raises(TimeoutError, match=f"instance {instance.id} is pending"):
        await one.ask.wait(instance.id, timeout=0.1)
    assert (await one.ask.get(instance.id)).status is Status.PENDING


async def test_cancel_and_retry(one: Side, task: str) -> None:
    instance = await one.ask.submit(task, {"n": 1})
    ended = await one.ask.cancel(instance.id, reason="no more")
    assert (ended.status, ended.error_message) == (Status.CANCELLED, "no more")
    with pytest.raises(IllegalEdge, match="cancelled") as refused:
        await one.ask.cancel(instance.id)
    assert (refused.value.state, set(refused.value.legal)) == ("cancelled", {"pending", "planned"})
    assert (await one.ask.retry(instance.id, {"n": 2})).args == {"n": 2}


async def test_logs_are_read_to_the_end(one: Side, task: str) -> None:
    instance = await one.ask.submit(task)
    assert await one.ask.logs(instance.id) == []
    claim = await claimed(one.world, task, instance)
    lines = await written(one.world, claim, range(1_100))
    assert await one.ask.logs(instance.id) == lines
    assert await one.ask.logs(instance.id, after=lines[-3].seq) == lines[-2:]
    await one.world.store.deregister(task)


async def written(world: World, claim: Any, counters: Any) -> list[LogLine]:
    """Write lines with these counters."""
    now = await world.store.now()
    lines = [
        LogLine(
            seq=line_seq(claim.fence, n),
            logged_at=now + timedelta(microseconds=n % 1_000),
            message=f"line {n}",
            phase="p",
            stream="stdout",
        )
        for n in counters
    ]
    await world.store.write_lines([(Held(claim.instance_id, claim.fence), line) for line in lines])
    return lines


async def test_logs_are_followed_to_the_end_of_the_instance(one: Side, task: str) -> None:
    instance = await one.ask.submit(task)
    claim = await claimed(one.world, task, instance)
    first = await written(one.world, claim, range(3))
    following = asyncio.create_task(one.ask.logs(instance.id, follow=True))
    await asyncio.sleep(0.1)
    # The executor's own line comes after that of a callback, whose number is higher.
    called = await written(one.world, claim, [FIRST_OF_CALLBACKS])
    await asyncio.sleep(0.1)
    own = await written(one.world, claim, [3])
    assert not following.done()
    await one.world.end([claim])
    found = await asyncio.wait_for(following, PATIENCE)
    assert sorted(found, key=lambda line: line.seq) == [*first, *own, *called]
    assert await one.ask.logs(instance.id, follow=True) == [*first, *own, *called]
    await one.world.store.deregister(task)


async def test_instances_are_listed_by_task_status_and_time(one: Side, task: str) -> None:
    ids = [(await one.ask.submit(task, {"n": n})).id for n in range(3)]
    begin = (await one.ask.get(ids[0])).created_at - timedelta(minutes=1)
    await one.ask.cancel(ids[0])
    assert [each.id for each in await one.ask.instances(task)] == [ids[2], ids[1], ids[0]]
    assert [each.id for each in await one.ask.instances(task, limit=2)] == [ids[2], ids[1]]
    assert [each.id for each in await one.ask.instances(task, status="cancelled")] == [ids[0]]
    assert [each.id for each in await one.ask.instances(task, status=Status.PENDING, limit=1)] == [ids[2]]
    assert len(await one.ask.instances(task, begin=begin)) == 3
    assert await one.ask.instances(task, end=begin) == []
    assert {ids[1], ids[2]} <= {each.id for each in await one.ask.instances(limit=200)}


async def test_a_list_may_take_several_pages(one: Side, task: str) -> None:
    await one.world.store.submit([await submission(one, task)] * 230)
    assert len({each.id for each in await one.ask.instances(task, limit=220)}) == 220
    assert len(await one.ask.instances(task, limit=1_000)) == 230


async def submission(one: Side, task: str) -> Any:
    from hourhand.model.instance import Submission  # noqa: PLC0415 - what a client has no need of

    return Submission(task_id=(await one.world.store.find_task(task)).id)


async def test_a_task_is_found_by_its_name(one: Side, task: str) -> None:
    stored = await one.world.store.find_task(task)
    found = await one.ask.task(task)
    assert (found.id, found.name, found.group, found.version) == (stored.id, task, ELSEWHERE, 1)
    assert (found.payload, found.tags, found.dependency_ids) == (stored.payload, stored.tags, stored.dependency_ids)
    assert (found.type, found.created_at, found.retry_backoff) == (stored.type, stored.created_at, stored.retry_backoff)


async def test_an_instance_is_explained(one: Side, task: str) -> None:
    planned = await one.ask.plan(task)
    why = await one.ask.explain(planned.id)
    assert why == await one.world.store.explain(planned.id)
    assert (why.instance_id, why.status, why.reasons[0].code) == (planned.id, Status.PLANNED, Code.HELD)
    ended = await one.ask.cancel(planned.id, "no more")
    assert "no more" in (await one.ask.explain(ended.id)).summary


async def test_refusals_are_the_same_every_way(one: Side, task: str) -> None:
    for call in (one.ask.submit, one.ask.plan, one.ask.task, one.ask.instances):
        with pytest.raises(NotFound, match="there is no task 'nobody'") as unknown:
            await call("nobody")
        assert (unknown.value.kind, unknown.value.key) == ("task", "nobody")
    for call in (one.ask.get, one.ask.cancel, one.ask.retry, one.ask.logs, one.ask.explain, one.ask.wait):
        with pytest.raises(NotFound, match="there is no instance 999999999"):
            await call(999_999_999)
    with pytest.raises(NotFound, match="there is no instance 999999999"):
        await one.ask.logs(999_999_999, follow=True)
    with pytest.raises(InvalidInput) as wrong:
        await one.ask.submit(task, priority=11)
    assert [each.field for each in wrong.value.errors] == ["priority"]
    naive = datetime(2100, 1, 1)  # noqa: DTZ001 - that is what is refused
    submissions: list[tuple[str, dict[str, Any]]] = [
        ("args", {"args": {"when": object()}}),
        ("no time zone", {"run_at": naive}),
        ("is not a datetime", {"run_at": "2100-01-01"}),
        ("key", {"key": ""}),
    ]
    for said, given in submissions:
        with pytest.raises(InvalidInput, match=said):
            await one.ask.submit(task, **given)
    lists: list[tuple[str, dict[str, Any]]] = [
        ("limit", {"limit": 0}),
        ("'done' is not a status: give one of planned", {"status": "done"}),
        ("no time zone", {"begin": naive}),
    ]
    for said, given in lists:
        with pytest.raises(InvalidInput, match=said):
            await one.ask.instances(task, **given)


async def test_one_that_is_refused_refuses_its_batch(one: Side, task: str) -> None:
    with pytest.raises(InvalidInput, match="args"):
        await one.ask.submit_many(task, [{"n": 1}, {"n": float("nan")}])
    assert await one.ask.instances(task) == []
