"""Clients in threads, in copies of their process, inside loops, and when nobody closes them: nothing hangs or warns."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from contracts.world import World
from hourhand import Client
from hourhand.errors import HourhandError, StoreOwned
from hourhand.store import open_store
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres import Cluster

PATIENCE = 60.0


@pytest.fixture(scope="module")
def shared_url(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    url = cluster.create_database(template=postgresql_template)

    async def add_task() -> None:
        store = await open_store(url)
        await store.ensure_group("elsewhere")
        await World(store).task("t", group="elsewhere")
        await store.close()

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(add_task())
    yield url
    cluster.drop_database(url)


@pytest.fixture(params=["store", "rest"])
def given(request: pytest.FixtureRequest, shared_url: str) -> dict[str, Any]:
    if request.param == "store":
        return {"store": shared_url}
    served: Served = request.getfixturevalue("served")
    return {"url": served.address, "token": served.token}


def program(code: str, given: dict[str, Any]) -> str:
    """What a program of its own prints; every warning is an error there, also those of what is collected."""
    script = f"from hourhand import Client\nGIVEN = {given!r}\n{textwrap.dedent(code)}"
    command = [sys.executable, "-W", "error", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout


def test_many_threads_share_one_synchronous_client(given: dict[str, Any]) -> None:
    with Client(**given).sync as client, ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda n: client.submit("t", {"n": n}), range(64)))
        assert [one.args for one in made] == [{"n": n} for n in range(64)]
        assert len({one.id for one in made}) == 64
        assert sum(thread.name == "hourhand-client" for thread in threading.enumerate()) == 1


async def test_inside_a_running_loop_the_synchronous_client_says_what_to_do(given: dict[str, Any]) -> None:
    client = Client(**given)
    for call in (lambda: client.sync.submit("t"), lambda: list(client.sync.logs(1))):
        with pytest.raises(HourhandError, match=r"await the client itself .*asyncio\.to_thread"):
            call()
    assert (await asyncio.to_thread(client.sync.submit, "t")).task_name == "t"
    await client.close()


def test_a_synchronous_client_that_is_collected_ends_its_thread(given: dict[str, Any]) -> None:
    client = Client(**given).sync
    client.submit("t")
    assert "hourhand-client" in {thread.name for thread in threading.enumerate()}
    del client
    gc.collect()
    deadline = time.monotonic() + PATIENCE
    while "hourhand-client" in {thread.name for thread in threading.enumerate()} and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "hourhand-client" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(
            """
            client = Client(**GIVEN).sync
            print(client.submit("t").task_name)
            """,
            id="synchronous and never closed",
        ),
        pytest.param(
            """
            import asyncio
            async def main():
                client = Client(**GIVEN)
                print((await client.submit("t")).task_name)
            asyncio.run(main())
            """,
            id="a local one, never closed",
        ),
        pytest.param(
            """
            import asyncio
            client = Client(**GIVEN)
            async def main():
                return (await client.submit("t")).task_name
            first = asyncio.run(main())
            print(asyncio.run(main()))
            """,
            id="one of the module, for one loop after the other",
        ),
        pytest.param(
            """
            import asyncio, gc
            async def main():
                for _ in range(3):
                    client = Client(**GIVEN)
                    name = (await client.submit("t")).task_name
                    del client
                    gc.collect()
                    await asyncio.sleep(0.1)
                print(name)
            asyncio.run(main())
            """,
            id="several, collected while the loop runs",
        ),
        pytest.param(
            """
            import asyncio
            async def main():
                client = Client(**GIVEN)
                async for line in client.logs((await client.submit("t")).id):
                    break
                following = asyncio.create_task(anext(aiter(client.logs((await client.submit("t")).id, follow=True))))
                await asyncio.sleep(0.1)
                following.cancel()
                await client.close()
                print("t")
            asyncio.run(main())
            """,
            id="logs that are not followed to their end",
        ),
    ],
)
def test_one_that_nobody_closes_neither_hangs_nor_warns(given: dict[str, Any], code: str) -> None:
    assert program(code, given) == "t\n"


def test_an_sqlite_file_is_free_again_when_a_program_without_a_close_has_ended(sqlite_url: str) -> None:
    code = """
        client = Client(**GIVEN).sync
        print(len(client.instances()))
    """
    assert program(code, {"store": sqlite_url}) == program(code, {"store": sqlite_url}) == "0\n"


@pytest.mark.parametrize("way", ["os.fork", "multiprocessing"])
def test_a_copy_of_the_process_makes_connections_of_its_own(given: dict[str, Any], way: str) -> None:
    """As web servers do that load a program once and then fork: both sides go on, and neither disturbs the other."""
    code = f"""
        import asyncio, multiprocessing, os, sys
        client = Client(**GIVEN)
        ids = [client.sync.submit("t").id]

        def copy():
            here = client.sync.submit("t").id
            async def main():
                async with client:
                    return (await client.submit("t")).id
            assert len({{here, asyncio.run(main()), *ids}}) == 3
            client.sync.close()

        if {way!r} == "os.fork":
            pids = []
            for _ in range(3):
                pid = os.fork()
                if pid == 0:
                    copy()
                    sys.exit(7)
                pids.append(pid)
            assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [7, 7, 7]
        else:
            forked = [multiprocessing.get_context("fork").Process(target=copy) for _ in range(3)]
            [one.start() for one in forked]
            [one.join() for one in forked]
            assert [one.exitcode for one in forked] == [0, 0, 0]
        print(client.sync.submit("t").task_name)
        client.sync.close()
    """
    assert program(code, given) == "t\n"


def test_a_copy_that_leaves_the_client_alone_ends_without_harm(given: dict[str, Any]) -> None:
    code = """
        import os, sys
        client = Client(**GIVEN).sync
        client.submit("t")
        pid = os.fork()
        if pid == 0:
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        print(client.submit("t").task_name)
    """
    assert program(code, given) == "t\n"


async def test_a_file_that_a_server_owns_is_refused_naming_its_url(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        async with Client(url=served.address, token=served.token) as over_rest:
            assert await over_rest.instances() == []
        with pytest.raises(StoreOwned, match=f"in use by {served.address}.*use it through its URL"):
            await Client(f"sqlite:///{tmp_path}/hourhand-data/hourhand.db").instances()


async def test_a_file_that_another_client_owns_is_refused_naming_its_process(sqlite_url: str) -> None:
    async with Client(sqlite_url):
        with pytest.raises(StoreOwned, match=f"in use by a Client in process {os.getpid()}"):
            await Client(sqlite_url).instances()
