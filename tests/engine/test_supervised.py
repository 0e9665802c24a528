"""The executor's side of a supervised process, as the other runners use it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from engine.commands import Family
from hourhand.runners.supervised import Exit, Limits, Supervised, kill_marked, signal_name, start
from hourhand.runners.supervisor import Order

ENV = {"PATH": "/usr/bin:/bin"}


@asynccontextmanager
async def supervised(*argv: str, **changes: Any) -> AsyncIterator[Supervised]:
    given: dict[str, Any] = {"env": ENV, "cwd": None, "stdin": None, "limits": Limits(), "grace_seconds": 1.0}
    process = await start(argv, **(given | changes))
    try:
        yield process
    finally:
        process.close()
        await process.wait()


async def test_how_a_process_ended_is_told_exactly() -> None:
    async with supervised("sh", "-c", "exit 127") as process:
        assert await process.wait() == Exit(code=127)
    async with supervised("sh", "-c", "kill -KILL $$") as process:
        ended = await process.wait()
        assert (ended, ended.returncode) == (Exit(signal=9), -9)
    async with supervised("no-such-program") as process:
        ended = await process.wait()
        assert (ended.started, ended.code, ended.signal, ended.returncode) == (False, None, None, None)
        assert (ended.failure or "").startswith("no such program: 'no-such-program'")


async def test_both_streams_are_read_to_their_end() -> None:
    async with supervised("sh", "-c", "cat; echo err >&2", stdin=b"in") as process:
        assert await process.stdout.read() == b"in"
        assert await process.stderr.read() == b"err\n"


async def test_a_stream_that_the_process_closes_ends_while_the_process_goes_on() -> None:
    async with supervised("sh", "-c", "exec 1>&-; while :; do sleep 0.1; done") as process:
        assert await process.stdout.read() == b""
        assert (await process.stop()).signal == 15


async def test_descriptors_are_passed_on_and_held_by_nobody_else() -> None:
    reading, writing = os.pipe()
    try:
        async with supervised("bash", "-c", f"echo hi >&{writing}; exec {writing}>&-; sleep 1000", pass_fds=[writing]):
            os.close(writing)
            assert await asyncio.to_thread(os.read, reading, 100) == b"hi\n"
            assert await asyncio.to_thread(os.read, reading, 100) == b""
    finally:
        os.close(reading)


async def test_to_wait_and_to_stop_may_be_done_again_and_by_several() -> None:
    async with supervised("sleep", "1000") as process:
        first = asyncio.create_task(process.wait())
        await asyncio.sleep(0)
        assert {await process.stop(), await process.stop(), await process.kill(), await first} == {Exit(signal=15)}


async def test_a_cancelled_wait_stops_nothing() -> None:
    async with supervised("sh", "-c", "read line; echo $line", stdin=b"on\n") as process:
        waiting = asyncio.create_task(process.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        assert await process.stdout.read() == b"on\n"
        assert await process.wait() == Exit(code=0)


async def test_kill_waits_for_no_grace() -> None:
    async with supervised("sh", "-c", "trap '' TERM; echo on; sleep 1000; :", grace_seconds=600) as process:
        await process.stdout.readline()
        assert await process.kill() == Exit(signal=9)


async def test_close_ends_what_still_runs() -> None:
    family = Family()
    async with supervised("sleep", "1000", env=ENV | family.env):
        await family.grown_to(1)
    assert family.pids() == []


async def test_what_carries_a_mark_is_killed_wherever_it_is_and_nothing_else() -> None:
    process = await asyncio.create_subprocess_exec("setsid", "sleep", "1000", env=ENV | {"HOURHAND_SUPERVISED": "m1"})
    other = await asyncio.create_subprocess_exec("sleep", "1000", env=ENV | {"HOURHAND_SUPERVISED": "m10"})
    try:
        assert await asyncio.to_thread(kill_marked, "m1") == 1
        assert await process.wait() == -9
        assert other.returncode is None
    finally:
        other.kill()
        await other.wait()
    assert await asyncio.to_thread(kill_marked, "m1") == 0


@pytest.mark.parametrize(("number", "name"), [(15, "SIGTERM"), (42, "signal 42")])
def test_signals_have_names(number: int, name: str) -> None:
    assert signal_name(number) == name


def test_an_order_travels_whole() -> None:
    order = Order()
    order.argv = [b"a=b", b"", b"\xff\n"]
    order.env = {b"A": b"b=c", b"E": b""}
    order.cwd, order.grace, order.parent = b"/x=y", 1.5, 7
    order.memory, order.processes, order.ids = 1, 2, (3, 4)
    order.groups, order.descriptors = [5, 6], [8]
    assert vars(Order.unpack(order.pack())) == vars(order)
    small = Order()
    small.argv = [b"x"]
    assert vars(Order.unpack(small.pack())) == vars(small)
