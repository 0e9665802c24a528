"""The client: the same calls, answers and refusals straight on the store and over REST."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from contracts.world import World
from hourhand.model.errors import (
    Conflict,
    HourhandError,
    IllegalEdge,
    InvalidInput,
    NotFound,
    SchemaTooOld,
    StoreUnavailable,
)
from hourhand.model.instance import Held, LogLine
from hourhand.model.words import OutcomeKind, Status, TriggeredBy
from hourhand.sdk.address import address_of
from hourhand.sdk.client import Client
from hourhand.settings import load_settings
from hourhand.store import open_store
from postgres import Cluster
from serving import Served

ELSEWHERE = "elsewhere"
"""A group that the served process does not serve, so that nothing of it is claimed but by a test."""


@pytest.fixture(scope="module")
def shared_url(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    url = cluster.create_database(template=postgresql_template)
    yield url
    cluster.drop_database(url)


@pytest.fixture(scope="module")
def served(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served"), "--store", shared_url) as process:
        yield process


@pytest.fixture
async def world(shared_url: str) -> AsyncIterator[World]:
    store = await open_store(shared_url)
    await store.ensure_group(ELSEWHERE)
    yield World(store)
    await store.close()


@pytest.fixture(params=["store", "rest"])
def given(request: pytest.FixtureRequest, shared_url: str) -> dict[str, str]:
    if request.param == "store":
        return {"store": shared_url}
    served: Served = request.getfixturevalue("served")
    return {"url": served.address, "token": served.token}


@pytest.fixture
async def client(given: dict[str, str]) -> AsyncIterator[Client]:
    async with Client(**given) as opened:
        yield opened


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)


async def made(world: World, name: str, **changes: Any) -> str:
    await world.task(name, group=ELSEWHERE, **changes)
    return name


def contents(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_submit_answers_with_the_instance(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    run_at = datetime(2100, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    instance = await client.submit(task, {"day": "ä", "n": [1, None]}, priority=0, run_at=run_at, key="k")
    assert instance == await world.store.get_instance(instance.id)
    assert (instance.args, instance.priority, instance.key) == ({"day": "ä", "n": [1, None]}, 0, "k")
    assert (instance.available_at, instance.status) == (run_at, Status.PENDING)
    assert instance.triggered_by is TriggeredBy.API
    assert await client.submit(task, key="k") == instance


async def test_submit_many_answers_with_ids_in_order(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    ids = await client.submit_many(task, [{"n": n} for n in range(30)])
    assert [(await world.store.get_instance(one)).args for one in ids] == [{"n": n} for n in range(30)]
    assert await client.submit_many(task, []) == []


async def test_plan_waits_for_dispatch(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    planned = [await client.plan(task, {"n": n}) for n in range(3)]
    assert {one.status for one in planned} == {Status.PLANNED}
    assert (await client.dispatch(planned[0].id)).status is Status.PENDING
    await client.dispatch_many([one.id for one in planned[1:]])
    assert (await client.get(planned[2].id)).status is Status.PENDING
    with pytest.raises(Conflict, match="does not wait to be dispatched"):
        await client.dispatch(planned[0].id)


async def test_wait_answers_once_it_has_ended(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    await world.executor(name, group=ELSEWHERE)
    instance = await client.submit(task)
    waiting = asyncio.create_task(client.wait(instance.id, timeout=60))
    claimed = [one for one in await world.claim(name) if one.instance_id == instance.id]
    await world.end(claimed, OutcomeKind.SUCCESS, result={"value": [1]})
    ended = await waiting
    assert (ended.status, ended.result) == (Status.SUCCESS, {"value": [1]})
    assert ended == await world.store.get_instance(instance.id)
    await world.store.deregister(name)


async def test_wait_gives_up_after_its_time_and_the_instance_goes_on(client: Client, world: World, name: str) -> None:
    instance = await client.submit(await made(world, name))
    with pytest.raises(TimeoutError, match=f"instance {instance.id} is pending"):
        await client.wait(instance.id, timeout=0.2)
    assert (await client.get(instance.id)).status is Status.PENDING


async def test_cancel_and_retry(client: Client, world: World, name: str) -> None:
    instance = await client.submit(await made(world, name), {"n": 1})
    ended = await client.cancel(instance.id, reason="no more")
    assert (ended.status, ended.error_message) == (Status.CANCELLED, "no more")
    with pytest.raises(IllegalEdge, match="cancelled") as refused:
        await client.cancel(instance.id)
    assert (refused.value.state, set(refused.value.legal)) == ("cancelled", {"pending", "planned"})
    assert (await client.retry(instance.id, {"n": 2})).args == {"n": 2}


async def test_logs_are_read_to_the_end(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    await world.executor(name, group=ELSEWHERE)
    instance = await client.submit(task)
    assert await client.logs(instance.id) == []
    (claim,) = [one for one in await world.claim(name) if one.instance_id == instance.id]
    now = await world.store.now()
    lines = [
        LogLine(seq=n, logged_at=now + timedelta(microseconds=n), message=f"line {n}", phase="p", stream="stdout")
        for n in range(2_100)
    ]
    await world.store.write_lines([(Held(instance.id, claim.fence), line) for line in lines])
    assert await client.logs(instance.id) == lines
    assert await client.logs(instance.id, after=2_097) == lines[2_098:]
    await world.store.deregister(name)


async def test_refusals_are_the_same_both_ways(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    with pytest.raises(NotFound, match="there is no task 'nobody'") as unknown:
        await client.submit("nobody")
    assert (unknown.value.kind, unknown.value.key) == ("task", "nobody")
    for call in (client.get, client.cancel, client.retry, client.logs):
        with pytest.raises(NotFound, match="there is no instance 999999999"):
            await call(999_999_999)
    with pytest.raises(InvalidInput) as wrong:
        await client.submit(task, priority=11)
    assert [one.field for one in wrong.value.errors] == ["priority"]
    with pytest.raises(InvalidInput, match="args"):
        await client.submit(task, {"when": object()})
    with pytest.raises(InvalidInput, match="no time zone"):
        await client.submit(task, run_at=datetime(2100, 1, 1))  # noqa: DTZ001 - that is what is refused


async def test_one_that_is_refused_refuses_its_batch(client: Client, world: World, name: str) -> None:
    task = await made(world, name)
    with pytest.raises(InvalidInput, match="args"):
        await client.submit_many(task, [{"n": 1}, {"n": float("nan")}])
    assert await world.count("task_instances i JOIN tasks t ON t.id = i.task_id", f"t.name = '{task}'") == 0


async def test_it_connects_at_its_first_call_and_can_be_closed_and_used_again(
    given: dict[str, str], world: World, name: str
) -> None:
    client = Client(**given)
    first = await client.submit(await made(world, name))
    await client.close()
    assert (await client.get(first.id)).id == first.id
    await client.close()


def test_a_client_is_refused_in_another_loop(given: dict[str, str], served: Served) -> None:
    del served  # someone must have made the admin token
    client = Client(**given)

    async def look() -> None:
        with pytest.raises(NotFound):
            await client.get(999_999_999)

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as first:
        first.run(look())
        with (
            asyncio.Runner(loop_factory=asyncio.new_event_loop) as second,
            pytest.raises(HourhandError, match="another event loop"),
        ):
            second.run(look())
        first.run(client.close())


class TestSync:
    """`client.sync`, as programs without an event loop use it."""

    async def test_the_same_calls(self, given: dict[str, str], world: World, name: str) -> None:
        task = await made(world, name)

        def program() -> None:
            with Client(**given).sync as client:
                instance = client.submit(task, {"a": 1}, key="k")
                assert client.get(instance.id) == instance
                assert client.submit_many(task, [None, {"n": 2}])
                assert client.logs(instance.id) == []
                planned = client.plan(task)
                assert client.dispatch(planned.id).status is Status.PENDING
                client.dispatch_many([client.plan(task).id])
                client.cancel(instance.id, "why not")
                assert client.wait(instance.id, timeout=60).error_message == "why not"
                assert client.retry(instance.id).status is Status.PENDING
                with pytest.raises(TimeoutError):
                    client.wait(instance.id, timeout=0.1)
                with pytest.raises(NotFound):
                    client.submit("nobody")

        await asyncio.to_thread(program)

    async def test_closing_ends_its_thread(self, given: dict[str, str], world: World, name: str) -> None:
        task = await made(world, name)
        client = Client(**given)
        await asyncio.to_thread(client.sync.submit, task)
        assert "hourhand-client" in {thread.name for thread in threading.enumerate()}
        await client.close()
        assert "hourhand-client" not in {thread.name for thread in threading.enumerate()}

    async def test_a_blocking_connection_is_joined(self, shared_url: str, world: World, name: str) -> None:
        task = await made(world, name)

        def program() -> tuple[int, int]:
            with Client(store=shared_url).sync as client:
                with psycopg.connect(shared_url) as conn:
                    kept = client.submit(task, conn=conn).id
                with psycopg.connect(shared_url) as conn:
                    undone = client.submit(task, conn=conn).id
                    conn.rollback()
            return kept, undone

        kept, undone = await asyncio.to_thread(program)
        assert (await world.store.get_instance(kept)).id == kept
        with pytest.raises(HourhandError, match=str(undone)):
            await world.store.get_instance(undone)


async def test_a_connection_is_joined(shared_url: str, world: World, name: str) -> None:
    task = await made(world, name)
    connection = await asyncpg.connect(shared_url)
    async with Client(store=shared_url) as client:
        async with connection.transaction():
            instance = await client.submit(task, {"a": 1}, conn=connection)
        assert await client.get(instance.id) == instance
    await connection.close()


async def test_a_connection_cannot_be_joined_over_rest(served: Served) -> None:
    async with Client(url=served.address, token=served.token) as client:
        with pytest.raises(InvalidInput, match="use Client"):
            await client.submit("any", conn=object())


async def test_a_wrong_token_and_a_wrong_address_are_told_apart(served: Served, unused_port: int) -> None:
    async with Client(url=served.address, token="hh_wrong") as client:  # noqa: S106 - a wrong one
        with pytest.raises(HourhandError, match="refuses the token"):
            await client.get(1)
    async with Client(url=f"http://127.0.0.1:{unused_port}", token="hh_any") as client:  # noqa: S106
        with pytest.raises(StoreUnavailable, match="start one with `hourhand serve`"):
            await client.get(1)


@pytest.fixture
async def unused_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


async def test_another_server_is_not_taken_for_hourhand() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(url=f"http://127.0.0.1:{port}", token="hh_any") as client:  # noqa: S106
        with pytest.raises(HourhandError, match="is HOURHAND_URL right"):
            await client.get(1)


class TestWhereItGoes:
    """What is left out comes from the environment, or from the folder of the local server."""

    @pytest.fixture(autouse=True)
    def empty_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("HOURHAND_URL", "HOURHAND_TOKEN", "HOURHAND_DATA_DIR", "HOURHAND_STORE"):
            monkeypatch.delenv(name, raising=False)

    async def test_the_environment(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOURHAND_URL", f"{served.address}/")
        monkeypatch.setenv("HOURHAND_TOKEN", served.token)
        async with Client() as client:
            with pytest.raises(NotFound):
                await client.get(999_999_999)

    @pytest.fixture
    def in_the_folder_of_the_server(self, served: Served, tmp_path: Path) -> None:
        port = served.address.rpartition(":")[2]
        (tmp_path / "hourhand.toml").write_text(f'port = {port}\ndata_dir = "{served.token_file.parent}"')

    @pytest.mark.usefixtures("in_the_folder_of_the_server")
    async def test_the_folder_of_the_server(self) -> None:
        async with Client() as client:
            with pytest.raises(NotFound):
                await client.get(999_999_999)

    @pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", True), ("localhost", True), ("192.0.2.1", False)])
    def test_the_token_of_a_folder_is_shown_to_this_machine_only(
        self, served: Served, monkeypatch: pytest.MonkeyPatch, host: str, *, shown: bool
    ) -> None:
        monkeypatch.setenv("HOURHAND_DATA_DIR", str(served.token_file.parent))
        address = address_of(load_settings(url=f"http://{host}:8420"))
        assert (address.token == served.token) is shown
        assert shown or address.headers == {}

    async def test_without_a_token_it_says_where_to_find_one(self, served: Served) -> None:
        async with Client(url=served.address) as client:
            with pytest.raises(HourhandError, match="set HOURHAND_TOKEN, or HOURHAND_DATA_DIR"):
                await client.get(1)

    def test_both_ways_at_once_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="the one or the other"):
            Client("sqlite:///x.db", url="http://127.0.0.1:8420")

    async def test_a_store_without_a_schema_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        with pytest.raises(SchemaTooOld, match="hourhand db upgrade"):
            await Client(f"sqlite:///{tmp_path}/new.db").get(1)
        assert contents(tmp_path) == []


async def test_straight_to_an_sqlite_file(sqlite_url: str) -> None:
    store = await open_store(sqlite_url)
    await World(store).task("t")
    await store.close()
    async with Client(sqlite_url) as client:
        instance = await client.submit("t", {"a": 1})
        assert (await client.get(instance.id)).args == {"a": 1}
        with pytest.raises(InvalidInput, match="an SQLite file"):
            await client.submit("t", conn=object())
