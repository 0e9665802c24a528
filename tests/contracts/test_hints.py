"""Hints: whoever listens hears soon of what may be worth a look, in this process and in others."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import StoreError
from hourhand.model.hints import MOST_IDS, Hint
from hourhand.model.instance import Held, LogLine, Progress
from hourhand.rules.lines import line_seq
from hourhand.store import hints, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contracts.world import World
    from hourhand.store import Store
    from postgres import Cluster


class Ear:
    """Remembers what it heard."""

    def __init__(self, store: Store, hint: Hint) -> None:
        self.heard: list[frozenset[int]] = []
        self.event = asyncio.Event()
        self.quiet: Callable[[], None] = store.listen(hint, self._hear)

    @classmethod
    async def ready(cls, store: Store, hint: Hint) -> Ear:
        """One that hears other processes, too: whoever begins to is told to look."""
        ear = cls(store, hint)
        if store.database.shared:
            assert await ear.wait() == frozenset()
            ear.heard.clear()
        return ear

    def _hear(self, ids: frozenset[int]) -> None:
        self.heard.append(ids)
        self.event.set()

    async def wait(self) -> frozenset[int]:
        async with asyncio.timeout(20):
            await self.event.wait()
        self.event.clear()
        return self.heard[-1]


async def test_a_submission_is_heard_in_its_own_process_at_once(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.PENDING)
    await world.submit(await world.task())
    assert ear.heard == [frozenset()]


async def test_who_stops_listening_hears_nothing_more(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.PENDING)
    ear.quiet()
    await world.submit(await world.task())
    assert ear.heard == []


async def test_a_new_and_an_edited_task_wake_the_schedulers(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.WAKE)
    task = await world.task()
    await world.store.edit_task(task.id, {"schedule": "@hourly"}, by="test")
    assert len(ear.heard) == 2


async def test_the_end_of_an_after_task_wakes_the_schedulers(world: World) -> None:
    await world.executor()
    await world.task(schedule="@after 1s")
    await world.store.materialise()
    claimed = await world.claim()
    ear = await Ear.ready(world.store, Hint.WAKE)
    await world.end(claimed)
    assert ear.heard


async def test_a_cancel_names_its_instance(world: World) -> None:
    instance_id = await world.submit(await world.task())
    ear = await Ear.ready(world.store, Hint.CANCEL)
    await world.store.cancel(instance_id, reason="test")
    assert ear.heard == [frozenset({instance_id})]


async def test_a_retry_after_a_failure_is_heard(world: World) -> None:
    await world.executor()
    await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    claimed = await world.claim()
    ear = await Ear.ready(world.store, Hint.PENDING)
    await world.end(claimed, "failed")  # type: ignore[arg-type]  # a word of OutcomeKind
    assert ear.heard


async def test_another_process_hears_it_too(cluster_world: World, postgresql_url: str) -> None:
    other = await open_store(postgresql_url)
    try:
        cancel = Ear(other, Hint.CANCEL)
        pending = await Ear.ready(other, Hint.PENDING)
        cancel.event.clear()
        instance_id = await cluster_world.submit(await cluster_world.task())
        assert await pending.wait() == frozenset()
        await cluster_world.store.cancel(instance_id, reason="test")
        assert instance_id in await cancel.wait()
    finally:
        await other.close()


async def test_what_is_rung_often_is_sent_seldom_and_all_of_it(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    notify = cluster_world.store.database.notify

    async def counting(message: str) -> None:
        sent.append(message)
        await notify(message)

    monkeypatch.setattr(cluster_world.store.database, "notify", counting)
    task = await cluster_world.task()
    ids = [await cluster_world.submit(task) for _ in range(50)]
    other = await open_store(postgresql_url)
    try:
        ear = await Ear.ready(other, Hint.CANCEL)
        sent.clear()
        await asyncio.gather(*(cluster_world.store.cancel(one, reason="test") for one in ids))
        async with asyncio.timeout(20):
            while len(frozenset().union(*ear.heard)) < len(ids):
                await ear.wait()
    finally:
        await other.close()
    assert len(sent) < len(ids)


async def test_a_listener_that_lost_its_connection_is_told_to_look_and_hears_again(
    cluster_world: World, cluster: Cluster, postgresql_url: str
) -> None:
    other = await open_store(postgresql_url)
    try:
        ear = await Ear.ready(other, Hint.PENDING)
        name = postgresql_url.rsplit("/", 1)[1]
        listening = f"datname = '{name}' AND query LIKE 'LISTEN%'"
        cluster.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {listening}")  # noqa: S608 - its own
        assert await ear.wait() == frozenset()
        await cluster_world.submit(await cluster_world.task())
        await ear.wait()
    finally:
        await other.close()


async def test_a_message_that_cannot_be_read_is_passed_over(cluster_world: World, postgresql_url: str) -> None:
    other = await open_store(postgresql_url)
    try:
        ear = await Ear.ready(other, Hint.PENDING)
        for message in ("nonsense", "[]", '["x", {"pending": ["y"]}]', '["x", {"unknown": [1]}]'):
            await cluster_world.store.database.notify(message)
        await cluster_world.store.database.notify('["x", {"pending": [7]}]')
        assert await ear.wait() == frozenset({7})
        assert ear.heard == [frozenset({7})]
    finally:
        await other.close()


async def test_a_listener_survives_a_fault_and_hears_again(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = await open_store(postgresql_url)
    hear, faults = other.database.hear, [RuntimeError("a fault of our own"), StoreError("a password was changed")]

    async def failing(heard: Callable[[str], None]) -> None:
        if faults:
            raise faults.pop(0)
        await hear(heard)

    monkeypatch.setattr(other.database, "hear", failing)
    monkeypatch.setattr(hints, "RECONNECT_SECONDS", 0.05)
    try:
        ear = Ear(other, Hint.CANCEL)
        async with asyncio.timeout(20):
            while frozenset({7}) not in ear.heard:
                await cluster_world.store.database.notify('["x", {"cancel": [7]}]')
                await asyncio.sleep(0.1)
    finally:
        await other.close()
    assert caplog.text.count("cannot be heard") == 2
    assert "a fault of our own" in caplog.text


# What is of interest to clients


async def test_a_task_that_is_made_edited_or_deleted_is_named(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.TASKS)
    task = await world.task()
    await world.store.edit_task(task.id, {"schedule": "@hourly"}, by="test")
    await world.store.delete_task(task.id, by="test")
    assert ear.heard == [frozenset({task.id})] * 3


async def test_an_instance_is_named_at_every_step(world: World) -> None:
    await world.executor()
    task = await world.task()
    ear = await Ear.ready(world.store, Hint.INSTANCES)

    def told() -> frozenset[int]:
        heard = frozenset().union(*ear.heard)
        ear.heard.clear()
        return heard

    one = await world.submit(task, held=True)
    assert told() == {one}
    await world.store.dispatch([one])
    assert told() == {one}
    (claimed,) = await world.claim()
    assert told() == {one}
    await world.store.report_progress([Progress(instance_id=one, fence=claimed.fence, progress=0.5)])
    assert told() == {one}
    await world.store.cancel(one, reason="test")
    assert told() == {one}
    await world.end([claimed], "cancelled")  # type: ignore[arg-type]  # a word of OutcomeKind
    assert told() == {one}
    await world.store.retry(one)
    assert told() == {one}


async def test_a_claim_that_finds_nothing_is_no_news(world: World) -> None:
    await world.executor()
    ear = await Ear.ready(world.store, Hint.INSTANCES)
    assert await world.claim() == []
    assert ear.heard == []


async def test_what_a_schedule_makes_is_heard(world: World) -> None:
    await world.task(schedule="@every 1s")
    await world.execute("UPDATE tasks SET wake_at = created_at")
    ear = await Ear.ready(world.store, Hint.INSTANCES)
    await world.store.materialise()
    assert ear.heard == [frozenset()]


async def test_a_lost_attempt_is_named(world: World) -> None:
    await world.executor()
    one = await world.submit(await world.task())
    await world.claim()
    past = "created_at" if world.store.database.shared else "0"
    await world.execute(f"UPDATE task_instances SET lease_until = {past} WHERE status = 'running'")  # noqa: S608
    ear = await Ear.ready(world.store, Hint.INSTANCES)
    assert (await world.store.reap()).requeued == 1
    assert frozenset({one}) in ear.heard


async def test_lines_name_the_instances_that_wrote_them(world: World) -> None:
    await world.executor()
    task = await world.task()
    ids = {await world.submit(task) for _ in range(3)}
    claimed = await world.claim()
    ear = await Ear.ready(world.store, Hint.LINES)
    now = await world.store.now()
    lines = [LogLine(seq=line_seq(one.fence, 0), logged_at=now, message="hi") for one in claimed]
    await world.store.write_lines(
        [(Held(one.instance_id, one.fence), line) for one, line in zip(claimed, lines, strict=True)]
    )
    assert ear.heard == [frozenset(ids)]


async def test_executors_that_come_and_go_are_heard(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.EXECUTORS)
    name = await world.executor()
    await world.store.deregister(name)
    assert ear.heard == [frozenset()] * 2


async def test_a_new_group_is_named(world: World) -> None:
    ear = await Ear.ready(world.store, Hint.GROUPS)
    group = await world.store.add_group("billing")
    assert ear.heard == [frozenset({group.id})]


# What is sent


def test_a_message_is_never_too_long_and_names_what_it_can() -> None:
    long = 2**62
    rung = {hint: frozenset(range(long, long + MOST_IDS)) for hint in Hint}
    rung[Hint.TASKS] = frozenset({7})
    text = hints.message_of("x" * 16, rung)
    assert len(text) <= hints.MOST_BYTES
    _, named = json.loads(text)
    assert named.keys() == {hint.value for hint in Hint}
    assert named["tasks"] == [7]
    assert any(len(ids) == MOST_IDS for ids in named.values())


async def test_what_only_people_look_at_waits_for_more_and_goes_with_what_is_urgent(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "GATHER_SECONDS", 60.0)
    other = await open_store(postgresql_url)
    try:
        groups = Ear(other, Hint.GROUPS)
        pending = await Ear.ready(other, Hint.PENDING)
        await cluster_world.store.database.notify('["x", {"pending": [1]}]')
        await pending.wait()
        groups.heard.clear()
        group = await cluster_world.store.add_group("billing")
        await cluster_world.store.database.notify('["x", {"pending": [2]}]')
        assert await pending.wait() == frozenset({2})
        assert groups.heard == []
        await cluster_world.submit(await cluster_world.task())
        await pending.wait()
        assert groups.heard == [frozenset({group.id})]
    finally:
        await other.close()


async def test_where_nobody_listens_and_nobody_else_is_there_nothing_is_done(sqlite_world: World) -> None:
    def ids() -> Iterator[int]:
        raise AssertionError("somebody wants to know")
        yield 1

    sqlite_world.store._hints.ring(Hint.INSTANCES, ids())  # noqa: SLF001 - what verbs call
    Ear(sqlite_world.store, Hint.INSTANCES)
    with pytest.raises(AssertionError, match="wants to know"):
        sqlite_world.store._hints.ring(Hint.INSTANCES, ids())  # noqa: SLF001
