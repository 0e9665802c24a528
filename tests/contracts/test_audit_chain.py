"""Audit chain: every entry is sealed once, in one chain, and whoever meddles with it in the database is found."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.audits import ADA, fill, kept, on_behalf
from contracts.rows import shift
from hourhand.model.audit import AuditFilter, Change, FaultKind, Seal
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.rules.audit_chain import BEGINNING, canonical, follow, seal
from hourhand.store import audit_chain, open_store
from hourhand.store.audit_chain import FLOOR, HEAD
from hourhand.store.types import dump_json

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.audit import Verification


async def sealed(world: World, count: int = 6) -> Verification:
    """A chain of so many entries."""
    await fill(world.store, count)
    assert await world.store.seal_audit() == count
    found = await world.store.verify_audit()
    assert (found.ok, found.checked, found.fault) == (True, count, None)
    return found


async def fault(world: World, *, noted: str | None = None) -> tuple[int, FaultKind]:
    found = await world.store.verify_audit(noted=noted)
    assert not found.ok
    assert found.fault is not None
    assert found.fault.detail
    return found.fault.number, found.fault.kind


async def stored(world: World, name: str) -> Seal:
    (row,) = await world.sql("SELECT number, text FROM store_values WHERE name = :name", name=name)
    return Seal(row["number"], row["text"])


# Sealing


async def test_an_empty_audit_is_whole(world: World) -> None:
    assert await world.store.seal_audit() == 0
    found = await world.store.verify_audit()
    assert (found.ok, found.checked, found.first, found.unsealed) == (True, 0, 1, 0)
    assert found.head == str(BEGINNING)


async def test_entries_are_sealed_in_their_order_and_numbered_without_a_gap(world: World) -> None:
    await fill(world.store, 5)
    before = await world.store.verify_audit()
    assert (before.ok, before.checked, before.unsealed) == (True, 0, 5)
    assert before.oldest_unsealed_at is not None
    assert before.oldest_unsealed_at <= before.verified_at
    assert [await world.store.seal_audit(limit=2) for _ in range(4)] == [2, 2, 1, 0]
    entries = await kept(world)
    assert [(each.sealed_no, each.resource_id) for each in entries] == [(n + 1, str(n)) for n in range(5)]
    previous = BEGINNING
    for each in entries:
        previous = seal(previous, each)
        assert (each.sealed_no, each.hash) == (previous.number, previous.hash)
    found = await world.store.verify_audit()
    assert (found.ok, found.checked, found.head, found.unsealed) == (True, 5, str(previous), 0)
    assert found.oldest_unsealed_at is None


async def test_an_entry_that_was_committed_late_comes_later_in_the_chain(cluster_world: World) -> None:
    world = cluster_world
    pool = world.store.database.pool  # type: ignore[attr-defined]  # PostgreSQL
    async with pool.acquire() as late, late.transaction():
        await late.execute(
            "INSERT INTO audit_logs (action, resource_type, user_id, occurred_at, result) "
            "VALUES ('late', 'task', 'x', now(), 'done')"
        )
        await fill(world.store, 2)
        assert await world.store.seal_audit() == 2
    assert await world.store.seal_audit() == 1
    entries = await kept(world)
    assert [(each.action, each.sealed_no) for each in entries] == [("late", 3), ("edit", 1), ("edit", 2)]
    assert (await world.store.verify_audit()).ok


async def test_two_processes_that_seal_at_once_make_one_chain(cluster_world: World, postgresql_url: str) -> None:
    await fill(cluster_world.store, 60)
    others = [await open_store(postgresql_url) for _ in range(3)]
    try:

        async def some(store: Any) -> int:
            return sum([await store.seal_audit(limit=5) for _ in range(12)])

        counts = await asyncio.gather(*[some(store) for store in (cluster_world.store, *others)])
    finally:
        for store in others:
            await store.close()
    assert sum(counts) == 60
    found = await cluster_world.store.verify_audit()
    assert (found.ok, found.checked, found.unsealed) == (True, 60, 0)


async def test_the_chain_can_be_verified_while_it_grows_and_is_shortened(
    cluster_world: World, postgresql_url: str
) -> None:
    world = cluster_world
    await sealed(world, 40)
    await shift(world, "occurred_at", -500 * 86_400, "id <= 20", table="audit_logs")  # an honest past
    await world.execute("UPDATE audit_logs SET sealed_no = NULL, hash = NULL")
    await world.execute(f"DELETE FROM store_values WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    await world.store.seal_audit()
    other = await open_store(postgresql_url)
    try:

        async def meanwhile() -> None:
            for _ in range(10):
                await fill(other, 3)
                await other.seal_audit()
            await other.retain_audit(days=400)

        going = asyncio.create_task(meanwhile())
        while not going.done():
            found = await world.store.verify_audit()
            assert found.ok, found.fault
        await going
    finally:
        await other.close()
    found = await world.store.verify_audit()
    assert (found.ok, found.first, found.checked) == (True, 21, 50)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**300, -(10**40), 2**63, 2**64 + 1, 1e22, 1e16, 1.5e300, 5e-324, -0.0, 1e-7, 0.1, 1.0, 100.0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=5), inner, max_size=4
        )
    ),
    max_leaves=10,
)


async def test_a_value_has_the_same_text_after_it_was_stored(cluster_world: World) -> None:
    """jsonb orders keys in its own way and writes numbers in another; neither may change a hash."""
    values: list[Any] = []

    @settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(JSON)
    def gather(value: Any) -> None:
        values.append(value)

    gather()
    pool = cluster_world.store.database.pool  # type: ignore[attr-defined]  # PostgreSQL
    async with pool.acquire() as connection:
        back = [await connection.fetchval("SELECT CAST($1 AS jsonb)", {"value": one}) for one in values]
    for value, stored_value in zip(values, back, strict=True):
        text = canonical({"value": value})
        assert canonical(stored_value) == text == canonical(json.loads(dump_json({"value": value})))


async def test_the_same_entry_has_the_same_hash_on_both_databases(sqlite_world: World, cluster_world: World) -> None:
    hashes = []
    payload = {"b": [1e22, 0.1, -0.0, 10**30], "a": {"é": None, "日本": True, "z": 1.0}, "aa": '\u2028"\\'}
    for world in (sqlite_world, cluster_world):
        await on_behalf(world).store.record(Change(action="x", resource_type="y", resource_id="1", payload=payload))
        moment = "1790000000123456" if world is sqlite_world else "to_timestamp(1790000000.123456)"
        await world.execute(f"UPDATE audit_logs SET occurred_at = {moment}, id = 7")  # noqa: S608 - a test's own words
        await world.store.seal_audit()
        (entry,) = await kept(world)
        assert entry.payload == payload
        hashes.append(entry.hash)
    assert hashes[0] == hashes[1]


# Meddling


@pytest.mark.parametrize(
    "change",
    [
        "user_id = 'user:9'",
        "user_name = 'eve'",
        "summary = 'x'",
        "result = 'refused'",
        "resource_id = NULL",
        "payload = '{\"n\": 2}'",
        "occurred_at = (SELECT min(occurred_at) FROM audit_logs)",
        "before = '{}'",
    ],
)
async def test_a_changed_field_is_found(world: World, change: str) -> None:
    await sealed(world)
    await world.execute(f"UPDATE audit_logs SET {change} WHERE sealed_no = 3")  # noqa: S608 - a test's own words
    assert await fault(world) == (3, FaultKind.CHANGED)
    found = await world.store.verify_audit()
    assert found.checked == 2
    assert found.fault is not None
    (row,) = await world.sql("SELECT id FROM audit_logs WHERE sealed_no = 3")
    assert found.fault.entry_id == row["id"]


async def test_a_removed_entry_is_found(world: World) -> None:
    await sealed(world)
    await world.execute("DELETE FROM audit_logs WHERE sealed_no = 3")
    assert await fault(world) == (3, FaultKind.MISSING)


async def test_an_entry_taken_out_of_the_chain_to_be_sealed_anew_is_found(world: World) -> None:
    await sealed(world)
    await world.execute("UPDATE audit_logs SET sealed_no = NULL, hash = NULL, user_id = 'x' WHERE sealed_no = 3")
    assert await world.store.seal_audit() == 1
    assert await fault(world) == (3, FaultKind.MISSING)


async def test_the_first_entry_removed_is_found(world: World) -> None:
    await sealed(world)
    await world.execute("DELETE FROM audit_logs WHERE sealed_no = 1")
    assert await fault(world) == (1, FaultKind.MISSING)


@pytest.mark.parametrize(("one", "other"), [(2, 3), (1, 5)])
async def test_two_entries_that_changed_places_are_found(world: World, one: int, other: int) -> None:
    await sealed(world)
    for old, new in ((one, -1), (other, one), (-1, other)):
        await world.execute(f"UPDATE audit_logs SET sealed_no = {new} WHERE sealed_no = {old}")  # noqa: S608 - a test's own words
    assert await fault(world) == (one, FaultKind.REORDERED)


async def test_a_tail_that_was_cut_off_is_found_also_when_more_was_sealed_since(world: World) -> None:
    await sealed(world)
    await world.execute("DELETE FROM audit_logs WHERE sealed_no > 4")
    assert await fault(world) == (5, FaultKind.CUT_OFF)
    await fill(world.store, 1)
    await world.store.seal_audit()
    assert await fault(world) == (5, FaultKind.MISSING)


async def test_everything_removed_is_found(world: World) -> None:
    await sealed(world)
    await world.execute("DELETE FROM audit_logs")
    assert await fault(world) == (1, FaultKind.CUT_OFF)


async def forge(world: World, number: int, previous: Seal) -> None:
    """Add an entry with a hash that fits it."""
    await on_behalf(world).store.record(Change(action="forged", resource_type="task", resource_id="x"))
    (entry,) = await kept(world, action="forged")
    made = seal(previous, entry)
    await world.execute(f"UPDATE audit_logs SET sealed_no = {number}, hash = '{made.hash}' WHERE id = {entry.id}")  # noqa: S608 - a test's own words


async def test_an_entry_added_behind_the_head_with_a_hash_that_fits_is_found(world: World) -> None:
    await sealed(world)
    await forge(world, 7, await stored(world, HEAD))
    assert await fault(world) == (7, FaultKind.BEHIND_HEAD)


async def test_an_entry_put_in_another_s_place_with_a_hash_that_fits_is_found(world: World) -> None:
    await sealed(world)
    entries = await kept(world)
    await world.execute("DELETE FROM audit_logs WHERE sealed_no = 3")
    await forge(world, 3, Seal(2, entries[1].hash or ""))
    assert await fault(world) == (4, FaultKind.CHANGED)


async def test_an_entry_with_a_made_up_hash_is_found(world: World) -> None:
    await sealed(world)
    await world.execute(f"UPDATE audit_logs SET user_id = 'x', hash = '{'ab' * 32}' WHERE sealed_no = 3")  # noqa: S608 - a test's own words
    assert await fault(world) == (3, FaultKind.FORGED)


async def test_a_head_that_was_set_back_is_found_and_nothing_is_sealed_on_top(world: World) -> None:
    await sealed(world)
    entries = await kept(world)
    await world.execute(f"UPDATE store_values SET number = 3, text = '{entries[2].hash}' WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    await fill(world.store, 1)
    with pytest.raises(Conflict, match="meddled"):
        await world.store.seal_audit()
    assert await fault(world) == (4, FaultKind.BEHIND_HEAD)
    await world.execute(f"DELETE FROM store_values WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    with pytest.raises(Conflict, match="meddled"):
        await world.store.seal_audit()
    assert await fault(world) == (1, FaultKind.BEHIND_HEAD)


async def test_a_head_with_another_hash_is_found(world: World) -> None:
    await sealed(world)
    await world.execute(f"UPDATE store_values SET text = '{'0' * 64}' WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    assert await fault(world) == (6, FaultKind.WRONG_HEAD)


async def test_faults_are_found_on_whatever_page_they_are(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_chain, "PAGE", 2)
    monkeypatch.setattr(audit_chain, "AROUND", 2)
    await sealed(world)
    for number in range(1, 7):
        await world.execute(f"UPDATE audit_logs SET user_name = 'eve' WHERE sealed_no = {number}")  # noqa: S608 - a test's own words
        assert await fault(world) == (number, FaultKind.CHANGED)
        await world.execute(f"UPDATE audit_logs SET user_name = '{ADA.name}' WHERE sealed_no = {number}")  # noqa: S608 - a test's own words
    assert (await world.store.verify_audit()).ok


# A head that somebody has noted


async def test_a_noted_head_shows_a_chain_that_was_made_anew(world: World) -> None:
    noted = (await sealed(world)).head
    await fill(world.store, 2)
    await world.store.seal_audit()
    assert (await world.store.verify_audit(noted=noted)).ok
    await world.execute("UPDATE audit_logs SET user_id = 'user:9' WHERE sealed_no = 2")
    await world.execute("UPDATE audit_logs SET sealed_no = NULL, hash = NULL")
    await world.execute(f"DELETE FROM store_values WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    await world.store.seal_audit()
    assert (await world.store.verify_audit()).ok  # nothing in the database shows it
    assert await fault(world, noted=noted) == (6, FaultKind.NOT_AS_NOTED)


async def test_a_noted_head_shows_a_tail_that_was_cut_off_together_with_the_head(world: World) -> None:
    noted = (await sealed(world)).head
    entries = await kept(world)
    await world.execute("DELETE FROM audit_logs WHERE sealed_no > 4")
    await world.execute(f"UPDATE store_values SET number = 4, text = '{entries[3].hash}' WHERE name = '{HEAD}'")  # noqa: S608 - a test's own words
    assert (await world.store.verify_audit()).ok
    assert await fault(world, noted=noted) == (6, FaultKind.NOT_AS_NOTED)


async def test_a_noted_head_that_retention_removes_meanwhile_is_no_fault(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(world.store, 6)
    await shift(world, "occurred_at", -401 * 86_400, "resource_id IN ('0', '1', '2')", table="audit_logs")
    await world.store.seal_audit()
    by_number = {each.sealed_no: each.hash for each in await kept(world)}
    original = audit_chain._go_along  # noqa: SLF001 - retention is to come right after it

    async def then_retain(*given: Any) -> Any:
        done = await original(*given)
        await world.store.retain_audit(days=400)
        return done

    monkeypatch.setattr(audit_chain, "_go_along", then_retain)
    assert (await world.store.verify_audit(noted=f"3:{by_number[3]}")).ok  # the floor itself now


async def test_hashing_does_not_keep_others_waiting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await sealed(world)
    began, may_end = threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        began.set()
        assert may_end.wait(30)
        return follow(*given)

    monkeypatch.setattr(audit_chain, "follow", slow)
    verifying = asyncio.create_task(world.store.verify_audit())
    while not began.is_set():
        await asyncio.sleep(0.001)
    await world.store.now()  # others are served
    may_end.set()
    assert (await verifying).ok


async def test_a_head_that_cannot_be_read_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="is no head"):
        await world.store.verify_audit(noted="7")


# Retention


async def test_retention_removes_the_oldest_and_the_chain_begins_behind_them(world: World) -> None:
    await fill(world.store, 6)
    await shift(world, "occurred_at", -401 * 86_400, "resource_id IN ('0', '1', '2')", table="audit_logs")
    await world.store.seal_audit()
    third = next(each for each in await kept(world) if each.sealed_no == 3)
    first_head = f"1:{next(each.hash for each in await kept(world) if each.sealed_no == 1)}"
    assert await world.store.retain_audit(days=400) == 3
    assert await world.store.retain_audit(days=400) == 0
    found = await world.store.verify_audit()
    assert (found.ok, found.first, found.checked) == (True, 4, 3)
    assert await stored(world, FLOOR) == Seal(3, third.hash or "")
    assert (await world.store.verify_audit(noted=f"3:{third.hash}")).ok
    with pytest.raises(InvalidInput, match="removed by retention"):
        await world.store.verify_audit(noted=first_head)
    await world.execute("UPDATE audit_logs SET user_id = 'x' WHERE sealed_no = 4")
    assert await fault(world) == (4, FaultKind.CHANGED)


async def test_retention_removes_nothing_that_is_not_part_of_the_chain_or_behind_what_is_young(world: World) -> None:
    await fill(world.store, 4)
    await shift(world, "occurred_at", -401 * 86_400, "resource_id IN ('0', '2')", table="audit_logs")
    assert await world.store.retain_audit(days=400) == 0
    await world.store.seal_audit()
    assert await world.store.retain_audit(days=400) == 1
    assert [each.resource_id for each in await kept(world)] == ["1", "2", "3"]
    assert (await world.store.verify_audit()).ok


async def test_retention_may_remove_everything(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_chain, "_BATCH", 2)
    await fill(world.store, 5)
    await shift(world, "occurred_at", -401 * 86_400, table="audit_logs")
    await world.store.seal_audit()
    assert await world.store.retain_audit(days=400) == 5
    assert (await world.store.verify_audit()).ok
    await fill(world.store, 1)
    await world.store.seal_audit()
    found = await world.store.verify_audit()
    assert (found.ok, found.first, found.checked) == (True, 6, 1)


async def test_entries_that_retention_is_said_to_have_removed_are_found(world: World) -> None:
    await sealed(world)
    entries = await kept(world)
    await world.execute(f"INSERT INTO store_values (name, number, text) VALUES ('{FLOOR}', 3, '{entries[2].hash}')")  # noqa: S608 - a test's own words
    assert await fault(world) == (1, FaultKind.BEFORE_FLOOR)


# Much


async def test_ten_thousand_entries_are_sealed_and_verified(world: World) -> None:
    store = on_behalf(world).store
    await asyncio.gather(
        *[
            store.record(Change(action="edit", resource_type="task", resource_id=str(n), payload={"n": n}))
            for n in range(100)
        ]
    )
    columns = "action, resource_type, resource_id, user_id, user_name, occurred_at, payload, result"
    hundred = "(WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n) AS n"
    await world.execute(f"INSERT INTO audit_logs ({columns}) SELECT {columns} FROM audit_logs, {hundred}")  # noqa: S608 - a test's own words
    begin = asyncio.get_running_loop().time()
    while await world.store.seal_audit():
        pass
    found = await world.store.verify_audit()
    assert (found.ok, found.checked, found.unsealed) == (True, 10_000, 0)
    assert asyncio.get_running_loop().time() - begin < 60
    page = await world.store.list_audit(AuditFilter(resource_type="task", resource_id="7"))
    assert len(page.items) == 50
