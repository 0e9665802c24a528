"""Joining: a submission in a caller's own PostgreSQL transaction is made if that commits, and never was if not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from contracts.world import World
from hourhand.model.errors import Conflict, InvalidInput, NotFound, StoreError
from hourhand.model.instance import Instance, Submission
from hourhand.model.words import Status, TriggeredBy
from postgres import Cluster


class RolledBack(Exception):
    """What a caller raises to undo everything."""


Begun = Callable[[str], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def asyncpg_connection(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def asyncpg_connection_with_its_own_codecs(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=lambda _: object())
    try:
        async with connection.transaction():
            yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def asyncpg_connection_of_a_pool(url: str) -> AsyncIterator[Any]:
    pool = await asyncpg.create_pool(url, min_size=1, max_size=1)
    async with pool, pool.acquire() as connection, connection.transaction():
        yield connection


@asynccontextmanager
async def psycopg_connection(url: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        yield connection


@asynccontextmanager
async def psycopg_transaction_with_its_own_rows(url: str) -> AsyncIterator[Any]:
    connection = await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row)
    async with connection, connection.transaction():
        yield connection


def alchemy(driver: str, *, session: bool) -> Begun:
    @asynccontextmanager
    async def begun(url: str) -> AsyncIterator[Any]:
        engine = create_async_engine(url.replace("postgresql://", f"postgresql+{driver}://"))
        try:
            if session:
                async with AsyncSession(engine) as opened, opened.begin():
                    yield opened
            else:
                async with engine.begin() as connection:
                    yield connection
        finally:
            await engine.dispose()

    return begun


WAYS: dict[str, Begun] = {
    "asyncpg": asyncpg_connection,
    "asyncpg with its own codecs": asyncpg_connection_with_its_own_codecs,
    "asyncpg from a pool": asyncpg_connection_of_a_pool,
    "psycopg": psycopg_connection,
    "psycopg with its own rows": psycopg_transaction_with_its_own_rows,
    "SQLAlchemy connection on asyncpg": alchemy("asyncpg", session=False),
    "SQLAlchemy connection on psycopg": alchemy("psycopg", session=False),
    "SQLAlchemy session on asyncpg": alchemy("asyncpg", session=True),
    "SQLAlchemy session on psycopg": alchemy("psycopg", session=True),
}


@pytest.fixture(params=list(WAYS))
def begin(request: pytest.FixtureRequest) -> Begun:
    return WAYS[request.param]


async def execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def joined(world: World, task_id: int, conn: object, **said: Any) -> Instance:
    return await (await world.store.joining(Submission(task_id=task_id, **said))).submit(conn)


async def test_it_is_there_once_the_caller_commits(cluster_world: World, postgresql_url: str, begin: Begun) -> None:
    world = cluster_world
    task = await world.task(payload={"command": ["true"], "env": {"A": "ä"}}, tags=("x",))
    run_at = datetime(2200, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    said = {
        "args": {"n": 2**60, "t": "中 🙂 %s $1"},
        "priority": 0,
        "run_at": run_at,
        "key": "k",
        "requested_by": "ann",
    }

    async with begin(postgresql_url) as conn:
        instance = await joined(world, task.id, conn, **said)
        with pytest.raises(NotFound):
            await world.store.get_instance(instance.id + 1_000)
        assert await world.count("task_instances") == 0

    assert await world.store.get_instance(instance.id) == instance
    assert (instance.args, instance.priority, instance.key) == (said["args"], 0, "k")
    assert (instance.available_at, instance.requested_by) == (run_at, "ann")
    assert (instance.status, instance.triggered_by) == (Status.PENDING, TriggeredBy.API)


async def test_it_was_never_made_if_the_caller_rolls_back(
    cluster_world: World, postgresql_url: str, begin: Begun
) -> None:
    task = await cluster_world.task()
    with suppress(RolledBack):
        async with begin(postgresql_url) as conn:
            await joined(cluster_world, task.id, conn, key="k")
            raise RolledBack
    assert await cluster_world.count("task_instances") == 0
    await cluster_world.submit(task, key="k")


async def test_it_is_claimed_like_any_other(cluster_world: World, postgresql_url: str, begin: Begun) -> None:
    world = cluster_world
    await world.executor()
    task = await world.task()
    async with begin(postgresql_url) as conn:
        instance = await joined(world, task.id, conn, args={"a": [1]})
        assert await world.claim() == []
    (claimed,) = await world.claim()
    assert (claimed.instance_id, claimed.args) == (instance.id, {"a": [1]})


async def test_a_key_that_lives_answers_with_the_living_one(
    cluster_world: World, postgresql_url: str, begin: Begun
) -> None:
    task = await cluster_world.task()
    living = await cluster_world.submit(task, key="k")
    async with begin(postgresql_url) as conn:
        assert (await joined(cluster_world, task.id, conn, key="k")).id == living
    assert await cluster_world.count("task_instances") == 1


async def test_a_key_is_unique_within_the_transaction_too(
    cluster_world: World, postgresql_url: str, begin: Begun
) -> None:
    task = await cluster_world.task()
    async with begin(postgresql_url) as conn:
        first = await joined(cluster_world, task.id, conn, key="k")
        assert await joined(cluster_world, task.id, conn, key="k") == first
    assert await cluster_world.count("task_instances") == 1


async def test_a_living_checkpoint_of_any_shape_can_be_answered(cluster_world: World, postgresql_url: str) -> None:
    task = await cluster_world.task()
    await cluster_world.submit(task, key="k")
    await cluster_world.execute("""UPDATE task_instances SET checkpoint = '"page 1"'""")
    for begin in WAYS.values():
        async with begin(postgresql_url) as conn:
            assert (await joined(cluster_world, task.id, conn, key="k")).checkpoint == "page 1"


async def test_a_broadcast_goes_to_every_executor_alive(
    cluster_world: World, postgresql_url: str, begin: Begun
) -> None:
    world = cluster_world
    for name in ("e1", "e2"):
        await world.executor(name, labels={"zone": "eu"})
    task = await world.task(broadcast=True, executor_labels={"zone": "eu"})
    async with begin(postgresql_url) as conn:
        await joined(world, task.id, conn)
    assert len(await world.claim("e1")) == len(await world.claim("e2")) == 1


async def test_what_others_depend_on_enters_the_ledger(cluster_world: World, postgresql_url: str, begin: Begun) -> None:
    world = cluster_world
    task = await world.task()
    await world.task(schedule="@upstream", dependency_ids=(task.id,))
    async with begin(postgresql_url) as conn:
        assert (await joined(world, task.id, conn)).in_ledger
    assert await world.count("task_instants") == 1


async def test_a_refusal_leaves_the_callers_transaction_as_it_was(
    cluster_world: World, postgresql_url: str, begin: Begun
) -> None:
    task = await cluster_world.task()
    async with begin(postgresql_url) as conn:
        with pytest.raises(InvalidInput, match="priority"):
            await joined(cluster_world, task.id, conn, priority=11)
        with pytest.raises(NotFound, match="999"):
            await joined(cluster_world, 999, conn)
        await joined(cluster_world, task.id, conn)
    assert await cluster_world.count("task_instances") == 1


async def test_a_new_lane_holds_up_nobody_while_the_caller_takes_its_time(
    cluster_world: World, postgresql_url: str
) -> None:
    world = cluster_world
    task = await world.task(executor_labels={"zone": "new"})
    async with asyncpg_connection(postgresql_url) as conn:
        await joined(world, task.id, conn)
        await asyncio.wait_for(world.submit(task), timeout=20)
    assert await world.count("task_instances") == 2


async def test_the_callers_search_path_and_tables_of_the_same_name_do_not_matter(
    cluster_world: World, postgresql_url: str
) -> None:
    task = await cluster_world.task()
    await execute(postgresql_url, "CREATE SCHEMA app", "CREATE TABLE app.tasks (id integer)")
    try:
        async with asyncpg_connection(postgresql_url) as conn:
            await conn.execute("SET LOCAL search_path = app")
            await joined(cluster_world, task.id, conn, key="k")
    finally:
        await execute(postgresql_url, "DROP SCHEMA app CASCADE")
    assert await cluster_world.count("task_instances") == 1


async def test_a_serialization_failure_is_a_conflict_that_says_what_to_do(
    cluster_world: World, postgresql_url: str
) -> None:
    task = await cluster_world.task()
    async with asyncpg_connection(postgresql_url) as conn:
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await conn.fetch("SELECT 1 FROM tasks")
        await cluster_world.submit(task, key="k")
        with pytest.raises(Conflict, match="run all of it again"):
            await joined(cluster_world, task.id, conn, key="k")


@pytest.mark.parametrize(
    ("broken", "said"), [("SELECT 1 / 0", "failed already"), ("SET TRANSACTION READ ONLY", "read-only")]
)
async def test_a_transaction_that_cannot_write_is_refused_in_words(
    cluster_world: World, postgresql_url: str, broken: str, said: str
) -> None:
    task = await cluster_world.task()
    async with asyncpg_connection(postgresql_url) as conn:
        with suppress(asyncpg.DivisionByZeroError):
            await conn.execute(broken)
        with pytest.raises(Conflict, match=said):
            await joined(cluster_world, task.id, conn)


async def test_without_a_transaction_there_is_nothing_to_join(cluster_world: World, postgresql_url: str) -> None:
    task = await cluster_world.task()
    connection = await asyncpg.connect(postgresql_url)
    with pytest.raises(InvalidInput, match="not in a transaction"):
        await joined(cluster_world, task.id, connection)
    await connection.close()
    async with await psycopg.AsyncConnection.connect(postgresql_url, autocommit=True) as conn:
        with pytest.raises(InvalidInput, match="not in a transaction"):
            await joined(cluster_world, task.id, conn)
    for driver in ("asyncpg", "psycopg"):
        url = postgresql_url.replace("postgresql://", f"postgresql+{driver}://")
        engine = create_async_engine(url, isolation_level="AUTOCOMMIT")
        async with engine.connect() as opened:
            with pytest.raises(InvalidInput, match="not in a transaction"):
                await joined(cluster_world, task.id, opened)
        await engine.dispose()
    assert await cluster_world.count("task_instances") == 0


async def test_a_connection_to_another_database_is_refused(
    cluster_world: World, cluster: Cluster, postgresql_template: str
) -> None:
    task = await cluster_world.task()
    empty, other = cluster.create_database(), cluster.create_database(template=postgresql_template)
    try:
        for url, said in ((empty, "has no table public.task_instances"), (other, "another store")):
            async with asyncpg_connection(url) as conn:
                with pytest.raises(InvalidInput, match=said):
                    await joined(cluster_world, task.id, conn)
    finally:
        cluster.drop_database(empty)
        cluster.drop_database(other)


async def test_a_user_without_the_rights_is_told_so(cluster_world: World, postgresql_url: str) -> None:
    task = await cluster_world.task()
    await execute(postgresql_url, "CREATE ROLE visitor")
    async with asyncpg_connection(postgresql_url) as conn:
        await conn.execute("SET LOCAL ROLE visitor")
        with pytest.raises(StoreError, match="grant it"):
            await joined(cluster_world, task.id, conn)
    await execute(postgresql_url, "DROP ROLE visitor")


async def test_the_rights_that_the_reference_names_are_enough(cluster_world: World, postgresql_url: str) -> None:
    world = cluster_world
    followed, broadcast = await world.task(), await world.task(broadcast=True)
    await world.task(schedule="@upstream", dependency_ids=(followed.id,))
    await world.executor()
    await execute(
        postgresql_url,
        "CREATE ROLE writer",
        "GRANT SELECT ON tasks, groups, task_dependencies, lanes, task_instants, task_instances, executors TO writer",
        "GRANT INSERT ON task_instants, task_instances TO writer",
        "GRANT DELETE ON task_instants TO writer",
        "GRANT UPDATE ON lanes TO writer",
        "GRANT USAGE ON SEQUENCE instance_ids TO writer",
    )
    try:
        async with asyncpg_connection(postgresql_url) as conn:
            await conn.execute("SET LOCAL ROLE writer")
            first = await joined(world, followed.id, conn, key="k")
            assert (await joined(world, followed.id, conn, key="k")).id == first.id
            await joined(world, broadcast.id, conn)
    finally:
        await execute(postgresql_url, "DROP OWNED BY writer", "DROP ROLE writer")
    assert await world.count("task_instances") == 2


@pytest.mark.parametrize("conn", ["postgresql://h/d", object(), 7])
async def test_what_is_no_connection_is_refused_in_words(cluster_world: World, conn: object) -> None:
    task = await cluster_world.task()
    with pytest.raises(InvalidInput, match="give an asyncpg connection"):
        await joined(cluster_world, task.id, conn)


async def test_an_engine_on_another_driver_is_refused_in_words(cluster_world: World) -> None:
    task = await cluster_world.task()
    joining = await cluster_world.store.joining(Submission(task_id=task.id))
    with create_engine("sqlite://").connect() as conn, pytest.raises(InvalidInput, match=r"postgresql\+psycopg"):
        joining.submit_blocking(conn)


async def test_an_sqlite_store_refuses_in_words(sqlite_world: World) -> None:
    task = await sqlite_world.task()
    with pytest.raises(InvalidInput, match="an SQLite file"):
        await sqlite_world.store.joining(Submission(task_id=task.id))


async def test_a_concurrency_key_gets_its_permit_after_the_commit(cluster_world: World, postgresql_url: str) -> None:
    world = cluster_world
    await world.executor()
    task = await world.task(concurrency_key="one")
    async with asyncpg_connection(postgresql_url) as conn:
        instance = await joined(world, task.id, conn)
    assert instance.status is Status.PLANNED
    await world.store.sweep()
    assert [one.instance_id for one in await world.claim()] == [instance.id]


async def test_one_that_is_committed_late_is_found_by_claimers_that_have_looked_since(
    cluster_world: World, postgresql_url: str
) -> None:
    world = cluster_world
    await world.executor()
    task = await world.task()
    async with asyncpg_connection(postgresql_url) as conn:
        late = await joined(world, task.id, conn)
        later = await world.submit(task)
        assert [one.instance_id for one in await world.claim()] == [later]
    claimed = await world.claim()
    world.store._marks.clear()  # noqa: SLF001 - as their 30 s do
    claimed += await world.claim()
    assert [one.instance_id for one in claimed] == [late.id]


class TestBlocking:
    """The same with connections that block, in the thread that uses them."""

    @pytest.fixture(params=["psycopg", "connection", "session"])
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @staticmethod
    def through(way: str, url: str, use: Callable[[Any], Instance]) -> Instance:
        """Begin, use and commit."""
        if way == "psycopg":
            with psycopg.connect(url, row_factory=dict_row) as conn:
                return use(conn)
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        try:
            if way == "connection":
                with engine.begin() as opened:
                    return use(opened)
            with Session(engine) as session, session.begin():
                return use(session)
        finally:
            engine.dispose()

    async def test_commit_and_key(self, cluster_world: World, postgresql_url: str, way: str) -> None:
        task = await cluster_world.task()
        joining = await cluster_world.store.joining(Submission(task_id=task.id, args={"a": 1}, key="k"))
        instance = await asyncio.to_thread(self.through, way, postgresql_url, joining.submit_blocking)
        assert await cluster_world.store.get_instance(instance.id) == instance
        again = await asyncio.to_thread(self.through, way, postgresql_url, joining.submit_blocking)
        assert again == instance

    async def test_rollback(self, cluster_world: World, postgresql_url: str, way: str) -> None:
        task = await cluster_world.task()
        joining = await cluster_world.store.joining(Submission(task_id=task.id))

        def use(conn: Any) -> Instance:
            joining.submit_blocking(conn)
            raise RolledBack

        with suppress(RolledBack):
            await asyncio.to_thread(self.through, way, postgresql_url, use)
        assert await cluster_world.count("task_instances") == 0

    async def test_each_kind_is_told_where_it_belongs(self, cluster_world: World, postgresql_url: str) -> None:
        task = await cluster_world.task()
        joining = await cluster_world.store.joining(Submission(task_id=task.id))
        with psycopg.connect(postgresql_url) as conn, pytest.raises(InvalidInput, match=r"use client\.sync"):
            await joining.submit(conn)
        async with asyncpg_connection(postgresql_url) as loop_bound:
            with pytest.raises(InvalidInput, match="belongs to an event loop"):
                joining.submit_blocking(loop_bound)


async def test_the_callers_own_work_and_the_submission_are_one(cluster_world: World, postgresql_url: str) -> None:
    task = await cluster_world.task()
    await execute(postgresql_url, "CREATE TABLE invoices (id integer PRIMARY KEY)")
    try:
        async with alchemy("asyncpg", session=True)(postgresql_url) as session:
            await joined(cluster_world, task.id, session)
            await session.execute(text("INSERT INTO invoices VALUES (1)"))
        with suppress(RolledBack):
            async with alchemy("asyncpg", session=True)(postgresql_url) as session:
                await session.execute(text("INSERT INTO invoices VALUES (2)"))
                await joined(cluster_world, task.id, session, run_at=datetime.now(UTC) + timedelta(days=1))
                raise RolledBack
        assert (await cluster_world.count("invoices"), await cluster_world.count("task_instances")) == (1, 1)
    finally:
        await execute(postgresql_url, "DROP TABLE invoices")
