"""`/api/v1/instances/{id}/stream`: an instance as it goes; no line is lost and none comes twice."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from api.cutting import follow
from api.in_process import serving
from api.sse import Reader, reading
from hourhand.api import instance_stream, streaming
from hourhand.model.instance import Held, LogLine, Progress
from hourhand.rules.lines import FIRST_OF_CALLBACKS, line_seq
from hourhand.settings import Settings
from hourhand.store import attempts
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterable

    from contracts.world import World
    from hourhand.model.instance import Assignment

TESTS = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 30


def path_of(instance_id: int) -> str:
    return f"{API}/instances/{instance_id}/stream"


async def start(world: World, **changes: Any) -> Assignment:
    await world.executor()
    await world.submit(await world.task(**changes))
    (claimed,) = await world.claim()
    return claimed


async def write(world: World, claimed: Assignment, counters: Iterable[int], message: str = "") -> None:
    held, now = Held(claimed.instance_id, claimed.fence), await world.store.now()
    lines = [
        LogLine(seq=line_seq(claimed.fence, one), logged_at=now, message=message or f"line {one}") for one in counters
    ]
    assert await world.store.write_lines([(held, line) for line in lines]) == len(lines)


async def counters(stream: Reader, number: int) -> list[int]:
    """Of the next lines."""
    return [(await stream.until("line")).data["seq"] % 2**32 for _ in range(number)]


async def test_a_stream_tells_state_and_lines_and_the_end_and_closes(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world)
    await write(world, claimed, range(2))
    async with reading(rest, path_of(claimed.instance_id)) as stream:
        assert (await stream.next()).retry == "1000"
        told = await stream.next()
        assert told.name == "instance"
        assert told.data == ok(await rest.get(f"{API}/instances/{claimed.instance_id}"))
        lines = [await stream.next() for _ in range(2)]
        assert [one.data for one in lines] == ok(await rest.get(f"{API}/instances/{claimed.instance_id}/logs"))["items"]
        assert [one.id for one in lines] == [str(one.data["seq"]) for one in lines]
        await write(world, claimed, [2])
        assert await counters(stream, 1) == [2]
        reported = Progress(instance_id=claimed.instance_id, fence=claimed.fence, progress=0.5, phase="copying")
        await world.store.report_progress([reported])
        told = await stream.until("instance")
        assert (told.data["progress"], told.data["phase"]) == (0.5, "copying")
        await world.end([claimed])
        state, end = await stream.rest()
        assert (state.name, state.data["status"]) == ("instance", "success")
        assert (end.name, end.data) == ("end", {"status": "success"})


async def test_an_instance_that_waits_is_followed_from_then_on(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    instance_id = await world.submit(await world.task())
    async with reading(rest, path_of(instance_id)) as stream:
        assert (await stream.until("instance")).data["status"] == "pending"
        (claimed,) = await world.claim()
        assert (await stream.until("instance")).data["status"] == "running"
        await world.end([claimed])
        assert (await stream.until("end")).data["status"] == "success"


async def test_a_heartbeat_is_no_news(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world)
    async with reading(rest, path_of(claimed.instance_id)) as stream:
        await stream.until("instance")
        await world.store.beat("e1", [Held(claimed.instance_id, claimed.fence)])
        await write(world, claimed, [0])
        assert (await stream.next()).name == "line"


@pytest.mark.parametrize("way", ["Last-Event-ID", "after"])
async def test_a_stream_goes_on_where_the_one_before_was_cut(rest: httpx.AsyncClient, world: World, way: str) -> None:
    claimed = await start(world)
    await write(world, claimed, range(5))
    place = str(line_seq(claimed.fence, 2))
    path, headers = path_of(claimed.instance_id), {}
    if way == "after":
        path += f"?after={place}"
    else:
        path, headers = f"{path}?after=-1", {way: place}  # a browser asks for the same address again
    async with reading(rest, path, **headers) as stream:
        assert await counters(stream, 2) == [3, 4]


async def test_the_executors_lines_after_those_of_a_callback_are_not_lost(
    rest: httpx.AsyncClient, world: World
) -> None:
    claimed = await start(world, max_retries=1, retry_delay_seconds=0)
    path = path_of(claimed.instance_id)
    await write(world, claimed, [0])
    await write(world, claimed, [FIRST_OF_CALLBACKS + 5])
    async with reading(rest, path) as stream:
        assert await counters(stream, 2) == [0, FIRST_OF_CALLBACKS + 5]
        await write(world, claimed, [1])
        assert await counters(stream, 1) == [1]
        await write(world, claimed, [FIRST_OF_CALLBACKS + 9])
        place = (await stream.until("line")).id
    assert place == f"{line_seq(1, 1)}:{line_seq(1, FIRST_OF_CALLBACKS + 9)}"
    await write(world, claimed, [2, 3])
    await write(world, claimed, [FIRST_OF_CALLBACKS + 11])
    await world.end([claimed], "failed")  # type: ignore[arg-type]  # a word of OutcomeKind
    (second,) = await world.claim()
    await write(world, second, [0])
    async with reading(rest, path, **{"Last-Event-ID": place}) as stream:
        assert await counters(stream, 4) == [2, 3, FIRST_OF_CALLBACKS + 11, 0]


async def test_a_batched_stream_tells_the_same_lines_many_at_a_time(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world)
    await write(world, claimed, range(500))
    path = path_of(claimed.instance_id)
    async with reading(rest, f"{path}?batch=true") as stream:
        batches = [await stream.until("lines")]
        while batches[-1].data["items"][-1]["seq"] != line_seq(claimed.fence, 499):
            batches.append(await stream.until("lines"))
        await write(world, claimed, [500])
        (last,) = (await stream.until("lines")).data["items"]
        await world.end([claimed])
        assert [one.name for one in await stream.rest()] == ["instance", "end"]
    told = [line for one in batches for line in one.data["items"]]
    logs = [ok(await rest.get(f"{API}/instances/{claimed.instance_id}/logs", params={"limit": 1_000}))["items"]]
    assert [*told, last] == logs[0]
    assert all(0 < len(one.data["items"]) <= 200 for one in batches)
    assert len(batches) < 10
    assert [one.id for one in batches] == [str(one.data["items"][-1]["seq"]) for one in batches]


async def test_a_batched_stream_goes_on_where_the_one_before_was_cut(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world)
    path = f"{path_of(claimed.instance_id)}?batch=true"
    await write(world, claimed, range(3))
    await write(world, claimed, [FIRST_OF_CALLBACKS + 5])
    async with reading(rest, path) as stream:
        first = await stream.until("lines")
    assert first.id == f"{line_seq(1, 2)}:{line_seq(1, FIRST_OF_CALLBACKS + 5)}"
    await write(world, claimed, [3, 4])
    await write(world, claimed, [FIRST_OF_CALLBACKS + 6])
    await world.end([claimed])
    async with reading(rest, path, **{"Last-Event-ID": first.id or ""}) as stream:
        rest_of_it = [one for one in await stream.rest() if one.name == "lines"]
    assert [line["seq"] for one in rest_of_it for line in one.data["items"]] == [
        line_seq(1, 3),
        line_seq(1, 4),
        line_seq(1, FIRST_OF_CALLBACKS + 6),
    ]
    refusal = refused(await rest.get(path_of(claimed.instance_id), params={"batch": "perhaps"}))
    assert refusal.keys() == {"batch"}


async def test_a_retry_goes_on_in_the_same_stream(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world, max_retries=1, retry_delay_seconds=0)
    async with reading(rest, path_of(claimed.instance_id)) as stream:
        await write(world, claimed, [7])
        assert (await stream.until("line")).data["seq"] == line_seq(1, 7)
        await world.end([claimed], "failed")  # type: ignore[arg-type]  # a word of OutcomeKind
        (second,) = await world.claim()
        await write(world, second, [0])
        assert (await stream.until("line")).data["seq"] == line_seq(second.fence, 0)
        await world.end([second])
        assert (await stream.rest())[-1].data == {"status": "success"}


async def test_who_was_told_of_the_end_is_told_not_to_come_again_until_it_is_retried(
    rest: httpx.AsyncClient, world: World
) -> None:
    claimed = await start(world)
    await write(world, claimed, [0])
    await world.end([claimed], "failed")  # type: ignore[arg-type]  # a word of OutcomeKind
    path = path_of(claimed.instance_id)
    async with reading(rest, path, **{"Last-Event-ID": str(line_seq(1, 0))}) as stream:
        end = (await stream.rest())[-1]  # who was cut before the end hears of it
    assert (end.name, end.id) == ("end", f"{line_seq(1, 0)}.end")
    assert (await rest.get(path, headers={"Last-Event-ID": end.id or ""})).status_code == 204
    await world.store.retry(claimed.instance_id)
    async with reading(rest, path, **{"Last-Event-ID": end.id or ""}) as stream:
        assert (await stream.until("instance")).data["status"] == "pending"


async def test_wrong_places_and_unknown_instances_are_refused(rest: httpx.AsyncClient, world: World) -> None:
    claimed = await start(world)
    path = path_of(claimed.instance_id)
    assert "`seq`" in refused(await rest.get(path, params={"after": "yesterday"}))["after"]
    assert "`seq`" in refused(await rest.get(path, headers={"Last-Event-ID": "1:2"}))["Last-Event-ID"]
    problem(await rest.get(path_of(999_999)), 404)


async def test_who_reads_slowly_costs_little_and_misses_nothing(
    rest: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = await start(world)
    for begin in range(0, 3_000, 500):
        await write(world, claimed, range(begin, begin + 500), message="x" * 8_000)
    await world.end([claimed])
    number = longest = 0
    read_lines = attempts.read_lines

    async def counting(*given: object, **more: object) -> list[LogLine]:
        nonlocal number, longest
        page = await read_lines(*given, **more)  # type: ignore[arg-type]
        number += len(page)
        longest = max(longest, sum(len(line.message) for line in page))
        return page

    monkeypatch.setattr(attempts, "read_lines", counting)
    request = f"GET {path_of(claimed.instance_id)} HTTP/1.0\r\nAuthorization: {rest.headers['Authorization']}\r\n\r\n"
    with socket.socket() as idle:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        idle.connect((rest.base_url.host, rest.base_url.port))
        idle.sendall(request.encode())
        before = -1
        while not number or before != number:  # until it has stopped reading for somebody who does not
            before = number
            await asyncio.sleep(1)
        assert 0 < number < 2_400
        text = await asyncio.to_thread(_read_all, idle)
    assert text.count(b"event: line\n") == 3_000
    assert text.count(b"event: end\n") == 1
    assert longest <= instance_stream.PAGE_BYTES


async def test_who_reads_nothing_is_cut_off(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(streaming, "WRITE_SECONDS", 0.5)
    pieces: list[int] = []
    sending = streaming.Outlet.send

    async def counting(outlet: streaming.Outlet, text: bytes) -> None:
        pieces.append(len(text))
        await sending(outlet, text)

    monkeypatch.setattr(streaming.Outlet, "send", counting)
    claimed = await start(world)
    for begin in range(0, 3_000, 500):
        await write(world, claimed, range(begin, begin + 500), message="x" * 8_000)
    async with serving(world.store, Settings(max_streams=1)) as rest:
        request = (
            f"GET {path_of(claimed.instance_id)} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: {rest.headers['Authorization']}\r\n\r\n"
        )
        with socket.socket() as idle:
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            idle.connect((rest.base_url.host, rest.base_url.port))
            idle.sendall(request.encode())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not pieces:
                    await asyncio.sleep(0.05)
                while True:  # its place is free again, though it has not closed anything
                    async with rest.stream("GET", f"{API}/events") as answer:
                        if answer.status_code == 200:
                            break
                    await asyncio.sleep(0.05)
            text = await asyncio.to_thread(_read_all, idle)  # what had been sent, and no end
    assert 0 < text.count(b"event: line\n") < 3_000
    assert not text.endswith(b"0\r\n\r\n")
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


def _read_all(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE_SECONDS)
    with connection.makefile("rb") as opened:
        return opened.read()


async def submit(client: httpx.AsyncClient, task: str, **args: object) -> int:
    (found,) = ok(await client.get(f"{API}/tasks", params={"name": task}))["items"]
    instance: dict[str, int] = ok(await client.post(f"{API}/tasks/{found['id']}/run", json={"args": args}), 202)
    return instance["id"]


async def all_lines(client: httpx.AsyncClient, instance_id: int) -> list[int]:
    seqs: list[int] = []
    after = -1
    while items := ok(await client.get(f"{API}/instances/{instance_id}/logs?after={after}&limit=1000"))["items"]:
        seqs += [one["seq"] for one in items]
        after = seqs[-1]
    return seqs


def talking(folder: Path, store_url: str) -> Served:
    """A real process whose executor carries out what talks."""
    return Served(folder, "api.chatter:app", "--store", store_url, PYTHONPATH=str(TESTS))


def client_of(served: Served) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {served.token}"}
    return httpx.AsyncClient(base_url=served.address, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False)


@pytest.mark.parametrize(
    ("lines", "seconds", "longest"),
    [(3_000, 6.0, 0.5), pytest.param(50_000, 60.0, 2.0, marks=pytest.mark.chaos)],
)
async def test_a_client_that_cuts_its_connection_all_the_time_reads_every_line_once(
    tmp_path: Path, store_url: str, lines: int, seconds: float, longest: float
) -> None:
    with talking(tmp_path, store_url) as served:
        async with client_of(served) as client:
            instance_id = await submit(client, "talk", lines=lines, seconds=seconds)
            read = await follow(client, path_of(instance_id), longest=longest, patience=seconds + 60)
            written = await all_lines(client, instance_id)
    assert len(written) == lines
    assert read.seqs == written
    assert read.messages == [f"line {number}" for number in range(lines)]
    assert read.connections > seconds / longest
    assert read.states[-1] == "success"


async def test_lines_of_several_threads_are_read_once_each(tmp_path: Path, store_url: str) -> None:
    with talking(tmp_path, store_url) as served:
        async with client_of(served) as client:
            instance_id = await submit(client, "talk_at_once", lines=1_000, threads=4)
            read = await follow(client, path_of(instance_id), longest=0.3, patience=60)
            assert read.seqs == await all_lines(client, instance_id)
    assert sorted(read.messages) == sorted(f"thread {who} line {line}" for who in range(4) for line in range(1_000))
