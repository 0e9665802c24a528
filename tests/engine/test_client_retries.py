"""Over REST, what was not answered is asked again where that cannot do a thing twice, and nowhere else."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from hourhand import Client
from hourhand.errors import StoreUnavailable
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

SERVED_ALREADY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


class Unreliable:
    """A way to the server on which the first connections of each kind of request fail in some manner."""

    def __init__(self, served: Served) -> None:
        self._port = int(served.address.rpartition(":")[2])
        self.port = 0
        self.failing = 0
        self.manner = "cut"
        self.method = b"POST"
        self.seen: Counter[bytes] = Counter()
        self._tasks: set[asyncio.Task[None] | None] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Listen; at the same port when it is opened again."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        try:
            self.port = server.sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{self.port}"
        finally:
            server.close()
            for task in self._tasks:
                if task is not None:
                    task.cancel()
            await asyncio.gather(*filter(None, self._tasks), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.current_task())
        try:
            while head := await _head(reader):
                body = await reader.readexactly(_length(head))
                method = head.split(b" ", 1)[0]
                self.seen[method] += 1
                fails = method == self.method and self.failing > 0
                self.failing -= fails
                if fails and self.manner == "cut before":
                    return
                if self.manner == "silent":
                    await asyncio.sleep(60)
                answer = SERVED_ALREADY if fails and self.manner == "503" else await self._ask(head + body)
                if fails and self.manner == "cut":
                    return
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _ask(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(request)
        head = await _head(reader)
        body = await reader.readexactly(_length(head))
        writer.close()
        await writer.wait_closed()
        return head + body


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length(head: bytes) -> int:
    lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    return int(lines.get(b"content-length", b"0"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as process:
        made = {"name": "t", "type": "python", "payload": {"handler": "nobody", "app": "nobody"}}
        with process.client() as client:
            client.post("/api/v1/tasks", json=made).raise_for_status()
        yield process


@pytest.fixture
async def way(served: Served) -> AsyncIterator[tuple[Unreliable, Client]]:
    unreliable = Unreliable(served)
    async with unreliable.open() as url, Client(url=url, token=served.token, patience=30) as client:
        yield unreliable, client


@pytest.mark.parametrize("manner", ["cut", "cut before", "503"])
async def test_a_submission_whose_answer_was_lost_is_made_once(way: tuple[Unreliable, Client], manner: str) -> None:
    unreliable, client = way
    before = len(await client.instances("t", limit=1_000))
    unreliable.manner, unreliable.failing = manner, 2
    instance = await client.submit("t", {"manner": manner})
    assert unreliable.seen[b"POST"] == 3
    assert not instance.existing
    assert len(await client.instances("t", limit=1_000)) == before + 1


async def test_many_submissions_whose_answers_are_lost_are_each_made_once(way: tuple[Unreliable, Client]) -> None:
    unreliable, client = way
    before = len(await client.instances("t", limit=1_000))
    unreliable.failing = 10
    ids = await client.submit_many("t", [{"n": n} for n in range(20)])
    found = await client.instances("t", limit=1_000)
    assert len(found) == before + 20
    assert [next(one.args for one in found if one.id == each) for each in ids] == [{"n": n} for n in range(20)]


@pytest.mark.parametrize("manner", ["cut", "503"])
async def test_what_reads_is_asked_again(way: tuple[Unreliable, Client], manner: str) -> None:
    unreliable, client = way
    unreliable.method, unreliable.manner, unreliable.failing = b"GET", manner, 3
    assert (await client.task("t")).name == "t"
    assert unreliable.seen[b"GET"] == 4


async def test_a_cancel_whose_answer_was_lost_is_not_made_again(way: tuple[Unreliable, Client]) -> None:
    unreliable, client = way
    instance = await client.submit("t")
    unreliable.failing = 1
    with pytest.raises(StoreUnavailable, match="may have been done or not"):
        await client.cancel(instance.id)
    assert unreliable.seen[b"POST"] == 2
    assert (await client.get(instance.id)).status.ended


async def test_a_server_that_is_not_there_yet_is_waited_for(served: Served) -> None:
    unreliable = Unreliable(served)
    async with unreliable.open():
        port = unreliable.port
    async with Client(url=f"http://127.0.0.1:{port}", token=served.token, patience=60) as client:
        asking = asyncio.create_task(client.instances("t", limit=1))
        await asyncio.sleep(0.5)
        assert not asking.done()
        async with unreliable.open():
            await asyncio.wait_for(asking, 60)


async def test_the_patience_has_an_end(served: Served) -> None:
    unreliable = Unreliable(served)
    async with unreliable.open():
        url = f"http://127.0.0.1:{unreliable.port}"
    async with Client(url=url, token=served.token, patience=0) as client:
        with pytest.raises(StoreUnavailable, match="no Hourhand answers"):
            await client.instances()


async def test_a_request_may_take_so_long_and_no_longer(served: Served) -> None:
    unreliable = Unreliable(served)
    unreliable.manner = "silent"
    async with unreliable.open() as url, Client(url=url, token=served.token, timeout=0.2, patience=0) as client:
        with pytest.raises(StoreUnavailable, match="did not answer to the end"):
            await client.get(1)
