"""What a store tells of itself: who works on it, what is left undone, and how its database is set up."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest

from contracts.alerting import A, B, fail, make_rule
from contracts.elapse import elapse, silence
from hourhand.model.diagnosis import Demand, Program, Resting
from hourhand.model.errors import StoreError
from hourhand.model.pause import PauseScope
from hourhand.model.words import TaskType
from hourhand.rules.doctor_engine import UNSEALED_NOTED
from hourhand.store import examine
from hourhand.store.looking import look, owner_of, quick_check

if TYPE_CHECKING:
    from contracts.world import World
    from postgres import Cluster


async def test_an_empty_store_has_nothing_to_tell(world: World) -> None:
    found = await world.store.examine()
    assert abs((found.looked_at - datetime.now(UTC)).total_seconds()) < 30
    assert (found.executors, found.demands, found.programs, found.resting, found.unsent) == ((), (), (), (), ())
    assert (found.cycle_seconds, found.tasks_due, found.oldest_log, found.secrets) == (None, 0, None, 0)
    assert (found.days_ahead is None) is (world.store.database.dialect == "sqlite")


async def test_what_enabled_tasks_ask_for_is_told_together(world: World) -> None:
    await world.store.ensure_group("far")
    for name in ("a", "b"):
        await world.task(name)
    await world.task("gpu", executor_labels={"gpu": "yes"}, group="far")
    await world.task("py", type=TaskType.PYTHON, payload={"handler": "close"})
    await world.task("app", type=TaskType.PYTHON, payload={"handler": "close", "app": "billing"})
    await world.task("off", enabled=False, group="far")
    await world.store.delete_task((await world.task("gone")).id, by="test")
    found = await world.store.examine()
    assert set(map(str, found.demands)) == {
        str(Demand(group="default", requires="builtin", labels={}, tasks=2, example="a")),
        str(Demand(group="default", requires="python:default", labels={}, tasks=1, example="py")),
        str(Demand(group="default", requires="python:billing", labels={}, tasks=1, example="app")),
        str(Demand(group="far", requires="builtin", labels={"gpu": "yes"}, tasks=1, example="gpu")),
    }
    assert not found.tasks_left_out


async def test_what_is_looked_at_has_a_bound(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "LOOKED_AT", 3)
    for _ in range(5):
        await world.task()
    found = await world.store.examine()
    assert sum(one.tasks for one in found.demands) == 3
    assert found.tasks_left_out


async def test_the_first_words_of_commands_are_told_and_nothing_behind_them(world: World) -> None:
    await world.task("a", payload={"command": ["backup", "--password", "canary"]})
    await world.task("b", payload={"command": ["backup"], "env": {"TOKEN": "canary"}})
    await world.task("shell", payload={"command": "echo canary"})
    await world.task("own", payload={"command": ["mine"], "env": {"PATH": "/opt/mine"}})
    found = await world.store.examine()
    assert set(found.programs) == {
        Program(group="default", name="backup", tasks=2, example="a"),
        Program(group="default", name=None, tasks=1, example="shell"),
    }
    assert "canary" not in repr(found)


async def test_executors_are_told_with_how_long_they_have_been_silent(world: World) -> None:
    await world.executor("loud", labels={"zone": "eu"}, hostname="h1", version="1.0")
    await world.executor("silent")
    await silence(world, "silent")
    loud, silent = (await world.store.examine()).executors
    assert (loud.id, loud.group, loud.hostname, loud.labels, loud.provides) == (
        "loud",
        "default",
        "h1",
        {"zone": "eu"},
        ("builtin",),
    )
    assert loud.silent_seconds < 10 < silent.silent_seconds


async def test_tasks_that_no_scheduler_looks_at_are_told(world: World) -> None:
    await world.task(schedule="@every 10m")
    await elapse(world, 3_600)
    found = await world.store.examine()
    assert found.tasks_due == 1
    assert 2_000 < found.overdue_seconds < 3_700
    await world.store.materialise()
    await world.store.sign_cycle("s1")
    found = await world.store.examine()
    assert found.tasks_due == 0
    assert found.cycle_seconds is not None
    assert found.cycle_seconds < 10


async def test_pauses_of_groups_and_of_everything_are_told(world: World) -> None:
    task = await world.task()
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    await world.store.pause(PauseScope.TASK, task.id, reason="one", by="test")
    await world.store.pause(PauseScope.GROUP, task.group_id, reason="two", until=until, by="test")
    await world.store.pause(PauseScope.ALL, reason="three", by="test")
    assert (await world.store.examine()).resting == (
        Resting(group="default", reason="two", until=until),
        Resting(group=None, reason="three", until=None),
    )


async def test_only_the_last_notice_to_a_target_counts(world: World) -> None:
    await make_rule(world, {"kind": "failed"}, A, B)
    task = await world.task()
    await fail(world, task)
    while (await world.store.decide_alerts()).more:
        pass
    first, second = await world.store.take_notices(limit=10, seconds=60)
    await world.store.notice_failed(first.outbox_id, "answered 500")
    await world.store.notice_sent(second.outbox_id)
    found = await world.store.examine()
    (unsent,) = found.unsent
    assert (unsent.rule, unsent.target, unsent.error, unsent.given_up) == ("failed", A.shown, "answered 500", False)
    assert (found.alert_rules, found.secrets) == (1, 2)
    await fail(world, task)
    while (await world.store.decide_alerts()).more:
        pass
    for parcel in await world.store.take_notices(limit=10, seconds=60):
        await world.store.notice_sent(parcel.outbox_id)
    assert (await world.store.examine()).unsent == ()


async def test_the_audit_tells_how_far_it_is_sealed(world: World) -> None:
    columns = "action, resource_type, user_id, occurred_at, result"
    values = f"'edit', 'task', 'u', {_ago(world, 7_200)}, 'done'"
    await world.execute(f"INSERT INTO audit_logs ({columns}) VALUES ({values})")  # noqa: S608 - a test's own words
    found = await world.store.examine()
    assert found.audit_unsealed == 1
    assert found.audit_unsealed_seconds > UNSEALED_NOTED
    await world.store.seal_audit()
    found = await world.store.examine()
    assert (found.audit_sealed, found.audit_unsealed) == (1, 0)


def _ago(world: World, seconds: int) -> str:
    micros = int((datetime.now(UTC).timestamp() - seconds) * 1e6)
    return str(micros) if world.store.database.dialect == "sqlite" else f"now() - interval '{seconds} seconds'"


async def test_the_database_tells_how_it_is_set_up(world: World) -> None:
    facts = await world.store.database_facts()
    assert facts.dialect == world.store.database.dialect
    assert facts.version.startswith(str(facts.major))
    if facts.dialect == "sqlite":
        assert (facts.settings["journal_mode"], facts.settings["synchronous"]) == ("wal", "2")
    else:
        assert facts.settings["synchronous_commit"] == "on"
        assert (facts.may_create, facts.read_only, facts.tables_lacking) == (True, False, ())
        assert 0 < facts.connections_of_ours <= facts.connections


async def test_what_others_would_get_of_postgresql_is_told_not_what_our_sessions_set(cluster_world: World) -> None:
    name = (await cluster_world.sql("SELECT current_database() AS name"))[0]["name"]
    try:
        await cluster_world.sql(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        assert (await cluster_world.store.database_facts()).settings["synchronous_commit"] == "off"
    finally:
        await cluster_world.sql(f'ALTER DATABASE "{name}" RESET synchronous_commit')


async def test_a_user_without_rights_and_a_default_partition_are_told(
    cluster: Cluster, postgresql_template: str
) -> None:
    url = cluster.create_database(template=postgresql_template)
    name = url.rpartition("/")[2]
    cluster.sql("CREATE TABLE execution_logs_default PARTITION OF execution_logs DEFAULT", database=name)
    cluster.sql("CREATE ROLE weak LOGIN", database=name)
    try:
        cluster.sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO weak", database=name)
        facts = (await look(url.replace("postgres@", "weak@"), lease_seconds=15)).database
        assert {"tasks", "task_instances", "execution_logs"} <= set(facts.tables_lacking)
        assert not facts.may_create
        assert facts.default_partitions == ("execution_logs_default",)
    finally:
        cluster.drop_database(url)
        cluster.sql("DROP ROLE weak")


async def test_a_transaction_that_is_left_open_is_told(
    cluster_world: World, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hourhand.store.server_facts.IDLE_SECONDS", 0.0)
    connection = await asyncpg.connect(postgresql_url, server_settings={"application_name": "left open"})
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1")
            idle = (await cluster_world.store.database_facts()).idle
    finally:
        await connection.close()
    assert "left open" in [one.application for one in idle]


def folder_of(path: Path) -> dict[str, tuple[int, int]]:
    return {one.name: (one.stat().st_size, one.stat().st_mtime_ns) for one in path.parent.iterdir()}


async def test_a_look_leaves_no_trace(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    before = folder_of(path)
    looked = await look(sqlite_url, lease_seconds=15)
    assert quick_check(path, seconds=30) == []
    assert owner_of(path) is None
    assert folder_of(path) == before
    assert looked.revision == looked.newest
    assert looked.store is not None
    assert looked.key_check is None


async def test_a_look_goes_beside_the_owner_of_a_file(sqlite_world: World, sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    await sqlite_world.task("seen")
    assert "hourhand (pid" in (owner_of(path) or "")
    looked = await look(sqlite_url, lease_seconds=15)
    assert looked.store is not None
    assert [one.example for one in looked.store.demands] == ["seen"]
    assert looked.database.settings["journal_mode"] == "wal"
    await sqlite_world.task("still writable")


async def test_a_look_sees_what_the_owner_sees(world: World, store_url: str) -> None:
    await world.task("a")
    await world.executor()
    told, looked = await world.store.examine(), (await look(store_url, lease_seconds=15)).store
    assert looked is not None
    assert (looked.demands, looked.days_ahead) == (told.demands, told.days_ahead)
    assert [one.id for one in looked.executors] == ["e1"]


async def test_an_empty_database_and_a_newer_one_are_told_apart(cluster: Cluster) -> None:
    url = cluster.create_database()
    name = url.rpartition("/")[2]
    try:
        looked = await look(url, lease_seconds=15)
        assert (looked.revision, looked.known, looked.store) == (None, True, None)
        cluster.sql("CREATE TABLE alembic_version (version_num text)", database=name)
        cluster.sql("INSERT INTO alembic_version VALUES ('9999')", database=name)
        looked = await look(url, lease_seconds=15)
        assert (looked.revision, looked.known, looked.store) == ("9999", False, None)
    finally:
        cluster.drop_database(url)


async def test_a_clock_that_is_ahead_is_seen(cluster: Cluster, postgresql_template: str) -> None:
    url = cluster.create_database(template=postgresql_template)
    name = url.rpartition("/")[2]
    try:
        assert abs((await look(url, lease_seconds=15)).skew_seconds or 0) < 1
        cluster.sql(
            "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
            "'SELECT pg_catalog.clock_timestamp() + interval ''1 minute'''",
            database=name,
        )
        cluster.sql(f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')
        assert 55 < ((await look(url, lease_seconds=15)).skew_seconds or 0) < 65
    finally:
        cluster.drop_database(url)


def test_a_damaged_file_is_seen(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'uq_tasks_name'").fetchone()
    with path.open("r+b") as opened:
        opened.seek((root - 1) * size)
        opened.write(b"\xff" * size)
    assert quick_check(path, seconds=30)
    path.write_bytes(b"no database at all, but long enough to look like one" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        quick_check(path, seconds=30)


def test_a_file_that_takes_too_long_to_look_through_is_given_up(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
            "WHERE i < 200000) SELECT i, hex(i) AS text FROM n"
        )
        connection.execute("CREATE INDEX filler_text ON filler (text)")
        connection.commit()
    assert quick_check(path, seconds=-1) is None
