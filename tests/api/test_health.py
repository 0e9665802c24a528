"""`/healthz` and `/readyz` tell the truth: each thing that can be wrong is found, named, and found mended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from contracts.elapse import moment, transaction
from contracts.world import World
from forking import completed
from hourhand.api.app import create_app
from hourhand.bootstrap import upkeep
from hourhand.bootstrap.upkeep import DaysAhead
from hourhand.service.health import Health
from hourhand.settings import Settings
from hourhand.store import open_store
from postgres import Cluster, free_port
from scraping import Scraped
from serving import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from hourhand.store import Store

PATIENCE = 60.0


class Time:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
async def asking(store: Store, clock: Time) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(store, Settings())
    app.state.health = Health(store, clock=clock)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        yield client


def checks(body: dict[str, Any]) -> dict[str, bool]:
    return {check["name"]: check["ok"] for check in body["checks"]}


def details(body: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["detail"] for check in body["checks"]}


async def test_a_process_lives_and_says_no_more(asking: httpx.AsyncClient) -> None:
    assert ok(await asking.get("/healthz")) == {"status": "ok"}
    assert (await asking.head("/healthz")).status_code == 200


async def test_where_a_scheduler_works_everything_is_ready(
    asking: httpx.AsyncClient, store: Store, clock: Time
) -> None:
    clock.now += 1_000
    await store.sign_cycle("s1")
    body = ok(await asking.get("/readyz"))
    assert body["status"] == "ok"
    assert checks(body) == {"store": True, "scheduler": True, "partitions": True}
    assert (await asking.head("/readyz")).status_code == 200


async def test_no_scheduler_at_all_is_waited_for_and_then_said(asking: httpx.AsyncClient, clock: Time) -> None:
    clock.now += 20
    waiting = details(ok(await asking.get("/readyz")))
    assert waiting["scheduler"] == "no scheduler has ever been seen; this process, started 20 s ago, waits 30 s for one"
    clock.now += 20
    body = problem(await asking.get("/readyz"), 503)
    assert checks(body) == {"store": True, "scheduler": False, "partitions": True}
    assert "start `hourhand scheduler`" in details(body)["scheduler"]
    assert "start `hourhand scheduler`" in body["detail"]


async def test_a_scheduler_that_has_fallen_silent_is_missed(
    asking: httpx.AsyncClient, world: World, clock: Time
) -> None:
    clock.now += 1_000
    await world.store.sign_cycle("s1")
    back = moment(world, datetime.now(UTC) + timedelta(seconds=3600 - 120))
    await world.execute("UPDATE leases SET lease_until = :back WHERE name = 'scheduler cycle'", back=back)
    body = problem(await asking.get("/readyz"), 503)
    assert "no scheduler has been seen for 12" in details(body)["scheduler"]


async def test_a_balancer_may_ask_for_this_process_alone(asking: httpx.AsyncClient, clock: Time) -> None:
    clock.now += 1_000
    assert (await asking.get("/readyz")).status_code == 503
    assert checks(ok(await asking.get("/readyz?only=store"))) == {"store": True}
    assert refused(await asking.get("/readyz?only=scheduler")).keys() == {"only"}


async def test_a_store_that_is_gone_leaves_nothing_ready(asking: httpx.AsyncClient, store: Store) -> None:
    await store.close()
    for path in ("/readyz", "/readyz?only=store"):
        body = problem(await asking.get(path), 503)
        assert not any(checks(body).values())
    assert (await asking.get("/healthz")).status_code == 200


async def test_missing_partitions_are_missed_until_they_are_made(postgresql_url: str) -> None:
    store = await open_store(postgresql_url)
    world = World(store)
    day = datetime.now(UTC).date() + timedelta(days=2)
    transport = httpx.ASGITransport(create_app(store, Settings()))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            async with transaction(world) as connection:
                await connection.execute(f"DROP TABLE execution_logs_{day:%Y%m%d}")
            body = problem(await client.get("/readyz"), 503)
            assert checks(body) == {"store": True, "scheduler": True, "partitions": False}
            assert "there are partitions for 1 of the days after today, and 2 are the least" in body["detail"]
            assert await DaysAhead(store).step() == upkeep.EVERY_SECONDS
            assert "14 days after today" in details(ok(await client.get("/readyz")))["partitions"]
    finally:
        await store.close()


def until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "hourhand", *arguments]
    with (folder / "said").open("wb") as said:
        started = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        try:
            yield started
        finally:
            started.terminate()
            try:
                code = started.wait(timeout=30)
            finally:
                started.kill()
                started.wait()
    assert code == 0, (folder / "said").read_text()


def test_an_executor_is_seen_through_its_metrics_port_from_before_its_store_is_there(tmp_path: Path) -> None:
    cluster = Cluster()
    port = free_port()
    arguments = ("executor", "--store", cluster.url(), "--metrics-port", str(port))
    try:
        with (
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10, trust_env=False) as client,
            process(tmp_path, *arguments),
        ):

            def status(path: str) -> int:
                try:
                    return client.get(path).status_code
                except httpx.TransportError:
                    return 0

            until(lambda: status("/healthz") == 200)
            body = problem(client.get("/readyz"), 503)
            assert "has not been opened yet" in details(body)["store"]
            assert Scraped.read(client.get("/metrics").text).value("hourhand_store_up") == 0
            assert status("/other") == 404
            cluster.start()
            until(lambda: status("/readyz?only=store") == 200)
            until(lambda: Scraped.read(client.get("/metrics").text).value("hourhand_executors", group="default") == 1)
            cluster.crash()
            until(lambda: status("/readyz?only=store") == 503)
            assert status("/healthz") == 200
            until(lambda: Scraped.read(client.get("/metrics").text).value("hourhand_beats_failed_total") >= 1)
            assert Scraped.read(client.get("/metrics").text).value("hourhand_store_outages_total") >= 2
            cluster.start()
            until(lambda: status("/readyz?only=store") == 200)
    finally:
        cluster.stop()


def test_the_scheduler_of_serve_leaves_its_sign(tmp_path: Path) -> None:
    with Served(tmp_path) as served, served.visitor() as visitor:
        until(lambda: "completed a cycle" in details(ok(visitor.get("/readyz")))["scheduler"])


def test_the_metrics_port_of_an_api_asks_for_no_token_and_tells_the_same(tmp_path: Path) -> None:
    port = free_port()
    arguments = ("--host", "0.0.0.0", "--allow-remote", "--metrics-port", str(port))  # noqa: S104 - for this test
    with Served(tmp_path, *arguments) as served:
        address = served.address.replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        headers = {"Authorization": f"Bearer {served.token}"}
        assert httpx.get(f"{address}/metrics", trust_env=False).status_code == 401
        given = {"name": "a", "type": "command", "payload": {"command": ["true"]}}
        ok(httpx.post(f"{address}{API}/tasks", json=given, headers=headers, trust_env=False), 201)
        for found in (
            httpx.get(f"{address}/metrics", headers=headers, trust_env=False),
            httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False),
        ):
            scraped = Scraped.read(found.text)
            assert scraped.value("hourhand_api_requests_total", route=f"{API}/tasks", method="POST") == 1


def test_a_metrics_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        port = served.address.rpartition(":")[2]
        other = tmp_path / "other"
        other.mkdir()
        ended = completed(["scheduler", "--metrics-port", port], other, dict(os.environ), timeout=60)
    assert ended.returncode == 2
    assert f"cannot listen on 127.0.0.1 port {port} for metrics" in ended.stderr
    assert "choose another with --metrics-port" in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr
