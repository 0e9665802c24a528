"""The client: where it connects to, when, and in whose transaction; its calls are in test_client_calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest

from contracts.world import World
from hourhand.model.errors import (
    HourhandError,
    InvalidInput,
    NotFound,
    SchemaTooOld,
    StoreUnavailable,
)
from hourhand.sdk.address import address_of
from hourhand.sdk.client import Client
from hourhand.settings import load_settings
from hourhand.store import open_store
from serving import Served

ELSEWHERE = "elsewhere"
"""A group that the served process does not serve, so that nothing of it is claimed but by a test."""


@pytest.fixture
async def world(shared_url: str) -> AsyncIterator[World]:
    store = await open_store(shared_url)
    await store.ensure_group(ELSEWHERE)
    yield World(store)
    await store.close()


@pytest.fixture(params=["store", "rest"])
def given(request: pytest.FixtureRequest, shared_url: str) -> dict[str, Any]:
    if request.param == "store":
        return {"store": shared_url}
    served: Served = request.getfixturevalue("served")
    return {"url": served.address, "token": served.token}


@pytest.fixture
async def client(given: dict[str, Any]) -> AsyncIterator[Client]:
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


async def test_it_connects_at_its_first_call_and_can_be_closed_and_used_again(
    given: dict[str, Any], world: World, name: str
) -> None:
    client = Client(**given)
    first = await client.submit(await made(world, name))
    await client.close()
    assert (await client.get(first.id)).id == first.id
    await client.close()


def test_a_client_is_refused_in_another_loop(given: dict[str, Any], served: Served) -> None:
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

    async def test_closing_ends_its_thread(self, given: dict[str, Any], world: World, name: str) -> None:
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
