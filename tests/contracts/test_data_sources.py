"""Data sources: kept with their passwords sealed, and not deleted or renamed from under those who need them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.contracts.sealing import NewSecret
from hourhand.model.audit import Author, Once
from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import Conflict, DuplicateName, NotFound, StoreError
from hourhand.model.sealing import UnopenedSource
from hourhand.model.words import TaskType
from hourhand.service.envelope import Envelope, Unsealable
from hourhand.service.sources import SealedSources, owner_of
from hourhand.store import data_sources

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.data_source import DataSource

OLD, NEW = Envelope(b"o" * 32), Envelope(b"n" * 32)
CANARY = "canary7f3a"
SHOP = Address(
    dialect=Dialect.POSTGRESQL,
    host="db.example.com",
    port=5432,
    database="shop",
    username="hourhand",
    password=CANARY,
    options={"sslmode": "verify-full"},
)


async def sealing(envelope: Envelope) -> SealedSources:
    async def found() -> Envelope:
        return envelope

    return SealedSources(found)


async def secret(envelope: Envelope = OLD, password: str = CANARY) -> NewSecret:
    return await (await sealing(envelope)).secret(password)


async def add(world: World, name: str = "shop", envelope: Envelope = OLD) -> DataSource:
    await world.store.agree_on_key(OLD.check)
    return await world.store.add_data_source(name, SHOP, await secret(envelope), by="ann")


async def opened(source: DataSource, envelope: Envelope) -> str | None:
    return (await (await sealing(envelope)).address_of(source)).password


def anew(owner: str, sealed: bytes) -> bytes | None:
    try:
        return NEW.seal(OLD.open(sealed, belongs_to=owner), belongs_to=owner)
    except Unsealable:
        return None


async def operation(world: World, name: str, **config: Any) -> int:
    task = await world.task(name, type=TaskType.OPERATION, payload={"kind": "statistics_update", "config": config})
    return task.id


async def test_one_is_added_read_changed_and_deleted(world: World) -> None:
    made = await add(world)
    assert (made.name, made.dialect, made.created_by) == ("shop", Dialect.POSTGRESQL, "ann")
    assert made.address(CANARY) == SHOP
    assert await opened(made, OLD) == CANARY
    other = await world.store.add_data_source(
        "files", Address(dialect=Dialect.SQLITE, database="/srv/shop.db"), by="ann"
    )
    assert (other.secret, other.host, other.options) == (None, None, {})
    assert await world.store.get_data_source(made.id) == made
    assert await world.store.find_data_source("files") == other
    assert await world.store.list_data_sources() == [other, made]
    moved = Address(dialect=Dialect.MARIADB, host="other", port=3306, database="shop")
    edited = await world.store.edit_data_source(made.id, {"name": "store", "address": moved})
    assert (edited.name, edited.address(None), edited.secret) == ("store", moved, made.secret)
    assert edited.updated_at > made.updated_at
    assert (edited.created_at, edited.created_by) == (made.created_at, "ann")
    changed = await world.store.edit_data_source(made.id, {"secret": await secret(OLD, "another")})
    assert await opened(changed, OLD) == "another"
    assert (await world.store.edit_data_source(made.id, {"secret": None})).secret is None
    await world.store.delete_data_source(made.id)
    assert await world.store.list_data_sources() == [other]


@pytest.mark.parametrize("one", [0, -1, 12345, 2**63, 2**70])
async def test_there_is_no_such_data_source(world: World, one: int) -> None:
    for verb in (
        world.store.get_data_source(one),
        world.store.edit_data_source(one, {"name": "x"}),
        world.store.delete_data_source(one),
    ):
        with pytest.raises(NotFound, match=str(one)):
            await verb
    for name in ("", "nobody", "a\x00b"):
        with pytest.raises(NotFound):
            await world.store.find_data_source(name)


async def test_a_name_is_taken_once(world: World) -> None:
    made = await add(world)
    with pytest.raises(DuplicateName):
        await add(world)
    other = await add(world, "other")
    with pytest.raises(DuplicateName):
        await world.store.edit_data_source(other.id, {"name": "shop"})
    assert await world.store.edit_data_source(made.id, {"name": "shop"})


async def test_of_two_who_choose_the_same_name_at_once_one_is_refused(world: World) -> None:
    sources = [await add(world, f"s{number}") for number in range(6)]
    results = await asyncio.gather(
        *(world.store.edit_data_source(one.id, {"name": "wanted"}) for one in sources), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in results) == ["DataSource", *["DuplicateName"] * 5]


async def test_the_same_request_adds_one(world: World) -> None:
    await world.store.agree_on_key(OLD.check)
    once = Once(principal="p", route="r", key="k", request_hash="h")
    store = world.store.on_behalf(Author(id="p", name="ann"), once=once)
    first = await store.add_data_source("shop", SHOP, await secret(), by="ann")
    assert await store.add_data_source("shop", SHOP, await secret(), by="ann") == first


async def test_there_may_be_many_but_not_any_number(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_sources, "MOST", 1)
    await add(world)
    with pytest.raises(Conflict, match="1 data sources already"):
        await add(world, "other")


@pytest.mark.parametrize("field", ["data_source", "target_data_source"])
async def test_what_tasks_name_is_neither_deleted_nor_renamed(world: World, field: str) -> None:
    made = await add(world)
    task = await operation(world, "nightly", **{field: "shop"})
    await operation(world, "elsewhere", **{field: "another", "table": "shop"})
    await world.task("no operation", type=TaskType.PYTHON, payload={"handler": "f", "args": {field: "shop"}})
    for verb in (
        world.store.delete_data_source(made.id),
        world.store.edit_data_source(made.id, {"name": "x", "secret": None}),
    ):
        with pytest.raises(Conflict, match="named by the tasks 'nightly': "):
            await verb
    assert await world.store.get_data_source(made.id) == made
    moved = Address(dialect=Dialect.POSTGRESQL, host="elsewhere", port=5432, database="shop")
    await world.store.edit_data_source(made.id, {"name": "shop", "address": moved})
    await world.store.delete_task(task, by="ann")
    await world.store.edit_data_source(made.id, {"name": "x"})
    await world.store.delete_data_source(made.id)


async def test_many_who_name_it_are_told_by_the_first(world: World) -> None:
    made = await add(world)
    for number in range(7):
        await operation(world, f"t{number}", data_source="shop")
    with pytest.raises(Conflict, match="'t0', 't1', 't2', 't3', 't4' …: "):
        await world.store.delete_data_source(made.id)


async def test_what_living_instances_work_on_is_not_deleted(world: World) -> None:
    made, other = await add(world), await add(world, "other")
    await world.executor()
    one = await world.submit(await world.task(), data_source_id=made.id)
    with pytest.raises(Conflict, match=rf"have not ended \({one}\)"):
        await world.store.delete_data_source(made.id)
    await world.store.delete_data_source(other.id)
    await world.run_all()
    await world.store.delete_data_source(made.id)
    assert (await world.store.get_instance(one)).data_source_id == made.id


async def test_what_living_instances_know_by_its_name_is_not_renamed(world: World) -> None:
    made, target = await add(world), await add(world, "archive")
    await world.executor()
    args = {"config": {"data_source": "shop", "target_data_source": "archive"}}
    one = await world.submit(await world.task(), data_source_id=made.id, args=args)
    await world.submit(await world.task(name="no operation"), args={"config": {"target_data_source": "archive"}})
    for source in (made, target):
        for verb in (
            world.store.edit_data_source(source.id, {"name": "x", "secret": None}),
            world.store.delete_data_source(source.id),
        ):
            with pytest.raises(Conflict, match=rf"have not ended \({one}\)"):
                await verb
    moved = Address(dialect=Dialect.POSTGRESQL, host="elsewhere", port=5432, database="shop")
    await world.store.edit_data_source(made.id, {"name": "shop", "address": moved})
    await world.run_all()
    await world.store.edit_data_source(made.id, {"name": "x"})
    await world.store.delete_data_source(target.id)


async def test_what_worked_on_another_data_source_of_that_name_is_not_retried(world: World) -> None:
    made = await add(world)
    args = {"config": {"data_source": "shop"}}
    one = await world.submit(await world.task(), data_source_id=made.id, args=args)
    await world.store.cancel(one, reason="enough")
    await world.store.edit_data_source(made.id, {"name": "old shop"})
    await add(world, "shop")
    with pytest.raises(Conflict, match="was renamed to 'old shop' since"):
        await world.store.retry(one)
    await world.store.delete_data_source(made.id)
    with pytest.raises(Conflict, match="was deleted since"):
        await world.store.retry(one)


async def test_what_somebody_changed_since_is_not_changed(world: World) -> None:
    made = await add(world)
    await world.store.edit_data_source(made.id, {"name": "store"}, seen=made.updated_at)
    with pytest.raises(Conflict, match="'store' was changed by somebody else"):
        await world.store.edit_data_source(made.id, {"name": "third"}, seen=made.updated_at)


async def test_the_audit_tells_all_but_the_password(world: World) -> None:
    await world.store.agree_on_key(OLD.check)
    store = world.store.on_behalf(Author(id="u", name="ann"))
    made = await store.add_data_source("shop", SHOP, await secret(), by="ann")
    await store.edit_data_source(made.id, {"secret": await secret(OLD, f"{CANARY}2")})
    await store.edit_data_source(made.id, {"secret": None})
    await store.delete_data_source(made.id)
    entries: Any = (await world.store.list_audit()).items
    assert [(one.action, one.resource_type, one.resource_id) for one in entries] == [
        (action, "data-source", str(made.id)) for action in ("delete", "edit", "edit", "create")
    ]
    assert {one.summary for one in entries} == {"data source 'shop'"}
    deleted, removed, changed, added = entries
    assert added.after["host"] == "db.example.com"
    assert added.after["options"] == {"sslmode": "verify-full"}
    assert (added.after["password"], changed.after["password"]) == ("***", "*** (changed)")
    assert (removed.before["password"], removed.after["password"]) == ("***", None)
    assert deleted.before["name"] == "shop"
    sealed = made.secret.hex() if made.secret else CANARY
    assert sealed not in str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])
    for table in ("audit_logs", "data_sources", "store_values"):
        assert CANARY not in str([dict(row) for row in await world.sql(f"SELECT * FROM {table}")])  # noqa: S608


async def test_a_secret_opens_nowhere_but_in_its_place(world: World) -> None:
    one, other = await add(world), await add(world, "other")
    assert one.secret is not None
    with pytest.raises(Unsealable):
        OLD.open(one.secret, belongs_to=owner_of(other.id))
    await world.execute("UPDATE data_sources SET secret = (SELECT secret FROM data_sources WHERE name = 'shop')")
    assert await opened(await world.store.get_data_source(one.id), OLD) == CANARY
    with pytest.raises(Unsealable, match=f"data source {other.id}"):
        await opened(await world.store.get_data_source(other.id), OLD)


async def test_one_of_a_later_release_is_left_out_and_named(world: World) -> None:
    made, other = await add(world), await add(world, "other")
    await world.execute("UPDATE data_sources SET dialect = 'oracle' WHERE name = 'shop'")
    assert await world.store.list_data_sources() == [other]
    with pytest.raises(StoreError, match="'shop' speaks 'oracle'"):
        await world.store.get_data_source(made.id)


# The key


async def test_passwords_are_sealed_anew_with_another_key(world: World) -> None:
    made = await add(world)
    await world.store.add_data_source("files", Address(dialect=Dialect.SQLITE, database="/srv/a.db"), by="ann")
    done = await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    assert (done.count, done.unopened) == (1, ())
    after = await world.store.get_data_source(made.id)
    assert await opened(after, NEW) == CANARY
    assert after.updated_at == made.updated_at
    with pytest.raises(Unsealable):
        await opened(after, OLD)


async def test_a_password_that_cannot_be_opened_is_named_and_left(world: World) -> None:
    made, other = await add(world), await add(world, "other")
    await world.execute("UPDATE data_sources SET secret = (SELECT secret FROM data_sources WHERE name = 'shop')")
    done = await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    assert done.count == 1
    assert done.unopened == (UnopenedSource(source_id=other.id, name="other"),)
    assert (await world.store.get_data_source(other.id)).secret == made.secret


async def test_a_password_sealed_before_a_rotation_is_refused_after_it(world: World) -> None:
    made, late = await add(world), await secret()
    await world.store.reseal(anew, before=OLD.check, after=NEW.check)
    with pytest.raises(Conflict, match="start this process again with the new key"):
        await world.store.add_data_source("late", SHOP, late, by="ann")
    with pytest.raises(Conflict, match="was rotated"):
        await world.store.edit_data_source(made.id, {"name": "late", "secret": late})
    (left,) = await world.store.list_data_sources()
    assert left.name == "shop"
    await world.store.edit_data_source(made.id, {"name": "late"})
    assert await opened(await world.store.get_data_source(made.id), NEW) == CANARY


async def test_whoever_edits_while_the_key_is_rotated_neither_loses_nor_brings_back_a_password(world: World) -> None:
    sources = [await add(world, f"s{number}") for number in range(6)]

    async def edit(number: int) -> None:
        for turn in range(8):
            await world.store.edit_data_source(sources[number].id, {"name": f"s{number}-{turn}"})

    async def insert(number: int) -> None:
        for turn in range(8):
            with suppress(Conflict):
                await world.store.add_data_source(f"n{number}-{turn}", SHOP, await secret(), by="ann")

    async def rotate() -> None:
        await asyncio.sleep(0.02)
        await world.store.reseal(anew, before=OLD.check, after=NEW.check)

    await asyncio.gather(rotate(), *[work(number) for number in range(6) for work in (edit, insert)])
    found = await world.store.list_data_sources()
    assert len(found) >= len(sources)
    assert {await opened(one, NEW) for one in found} == {CANARY}
