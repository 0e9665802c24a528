"""Operations from the outside: previewed, approved, carried out by executors, one at a time on a data source."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from engine.engines import GRACE, HEARTBEAT, LEASE, PATIENCE
from hourhand.bootstrap.operations import Asked, Operations, build_desk
from hourhand.model.audit import AuditFilter, Author
from hourhand.model.errors import PlanRefused
from hourhand.model.words import Status
from operations.addresses import postgres_address, sqlite_address
from operations.asking import execute, value

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from engine.engines import Engine
    from hourhand.model.data_source import Address
    from hourhand.model.instance import Instance
    from postgres import Cluster

ANN = Author(id="user:1", name="ann")
SAMPLE = "hourhand_sample_orders"
COUNT = "SELECT count(*) FROM hourhand_sample_orders"


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Iterator[Address]:
    """Return the address of a data source, without a password."""
    if request.param == "sqlite":
        yield sqlite_address(tmp_path / "shop.db")
        return
    url = cluster.create_database()
    yield replace(postgres_address(cluster, url), password=None)
    cluster.drop_database(url)


class Started:
    """Shorthand for what people do with operations."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.operations = Operations(build_desk(engine.settings, engine.store), elsewhere=False)

    async def start(self, kind: str, config: dict[str, Any], **how: Any) -> int:
        """Preview, approve what was shown, and start it."""
        config = {"data_source": "shop", **config}
        seen = await self.operations.preview(kind, config)
        asked = Asked(by="ann", plan_hash=seen.plan_hash, **how)
        store = self.engine.store.on_behalf(ANN)
        return (await self.operations.start(store, kind, config, asked)).instance_id

    async def lines(self, instance: Instance) -> list[tuple[str | None, str]]:
        """The phase and text of each line of its log."""
        return [(line.phase, line.message) for line in await self.engine.store.read_lines(instance.id)]


@pytest.fixture
async def started(engine: Engine, shop: Address) -> Started:
    """Return an engine whose store knows the data source; nothing of it runs yet."""
    await engine.store.add_data_source("shop", shop, by="ann")
    return Started(engine)


async def test_what_is_approved_is_carried_out_and_told(started: Started, shop: Address) -> None:
    running = started.engine.start()
    instance_id = await started.start("sample", {"rows": 12_000})
    done = await started.engine.until(instance_id)
    assert (done.status, done.error_message) == (Status.SUCCESS, None)
    assert (done.summary or {})["rows"] == 12_000 == await value(shop, COUNT)
    assert (done.summary or {})["plan_hash"] == (done.args or {})["plan_hash"]
    phases = list(dict.fromkeys(phase for phase, _ in await started.lines(done)))
    assert phases == ["submitted", "plan", "create", "fill", "verify", "analyze"]
    (entry,) = (await started.engine.store.list_audit(AuditFilter(resource_type="operation"))).items
    assert (entry.user_name, entry.action) == ("ann", "start")
    assert f"INTO {SAMPLE}" in (entry.script or "").replace('"', "").replace("public.", "")
    again = await started.start("statistics_update", {"tables": [SAMPLE]})
    assert (await started.engine.until(again)).status is Status.SUCCESS
    await started.engine.stop(running)


async def test_a_data_source_that_has_changed_since_is_not_worked_on(started: Started, shop: Address) -> None:
    await execute(shop, "CREATE TABLE orders (id integer)")
    held = await started.start("sample", {"rows": 10}, held=True)
    gone = await started.start("statistics_update", {"tables": ["orders"]}, held=True)
    await execute(shop, f"CREATE TABLE {SAMPLE} (id integer)", "DROP TABLE orders")
    config = {"data_source": "shop", "tables": [SAMPLE]}
    asked = Asked(by="ann", plan_hash="0" * 32)
    with pytest.raises(PlanRefused, match="look at the new preview"):
        await started.operations.start(started.engine.store, "statistics_update", config, asked)
    running = started.engine.start()
    await started.engine.store.dispatch([held, gone])
    for instance_id, why in ((held, "there is a table"), (gone, "there is no table")):
        failed = await started.engine.until(instance_id)
        assert failed.status is Status.FAILED
        assert why in (failed.error_message or "")
        assert failed.retry_count == 0, "trying again would not help"
    assert await value(shop, COUNT) == 0
    await started.engine.stop(running)


async def test_what_a_schedule_makes_is_carried_out(started: Started, shop: Address) -> None:
    running = started.engine.start()
    moment = datetime.now(UTC) + timedelta(seconds=1)
    task = await started.engine.task(
        name="nightly",
        type="operation",
        schedule=f"@at {moment:%Y-%m-%dT%H:%M:%SZ}",
        payload={"kind": "sample", "config": {"data_source": "shop", "rows": 100}},
    )
    async with asyncio.timeout(PATIENCE):
        while not (found := [one for one in (await started.engine.store.list_instances()).items if one.status.ended]):
            await asyncio.sleep(0.05)
    (done,) = found
    source = await started.engine.store.find_data_source("shop")
    assert (done.task_id, done.status, done.operation_kind) == (task.id, Status.SUCCESS, "sample")
    assert (done.data_source_id, done.concurrency_key) == (source.id, f"datasource:{source.id}")
    assert await value(shop, COUNT) == 100
    await started.engine.stop(running)


async def test_two_on_one_data_source_take_turns(started: Started) -> None:
    running = started.engine.start(executors=2)
    ids = [await started.start("sample", {"rows": 20_000, "table": f"t{number}"}) for number in range(3)]
    done = sorted([await started.engine.until(one) for one in ids], key=lambda one: str(one.start_time))
    assert [one.status for one in done] == [Status.SUCCESS] * 3
    for before, after in pairwise(done):
        assert before.end_time is not None
        assert after.start_time is not None
        assert before.end_time <= after.start_time
    await started.engine.stop(running)


async def test_one_is_cancelled_in_the_middle(started: Started, shop: Address) -> None:
    running = started.engine.start()
    instance_id = await started.start("sample", {"rows": 50_000_000})
    await _under_way(started.engine, instance_id)
    await started.engine.store.cancel(instance_id, reason="enough")
    done = await started.engine.until(instance_id)
    assert (done.status, done.error_message) == (Status.CANCELLED, "enough")
    left = await value(shop, COUNT)
    assert left > 0
    assert left % 10_000 == 0, "chunks are whole"
    await started.engine.stop(running)


async def _under_way(engine: Engine, instance_id: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while not ((await engine.store.get_instance(instance_id)).checkpoint or {}).get("position"):
            await asyncio.sleep(0.01)


@asynccontextmanager
async def executor_of_its_own(engine: Engine) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start `hourhand executor` on the same store."""
    given = {
        "STORE": engine.settings.store,
        "DATA_DIR": str(engine.settings.data_dir),
        "HEARTBEAT_SECONDS": str(HEARTBEAT),
        "LEASE_SECONDS": str(LEASE),
        "GRACE_SECONDS": str(GRACE),
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "hourhand",
        "executor",
        env={**os.environ, **{f"HOURHAND_{name}": text for name, text in given.items()}},
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("shop", ["postgresql"], indirect=True)
async def test_another_executor_goes_on_where_a_killed_one_was(started: Started, shop: Address) -> None:
    rows = 300_000
    scheduler = started.engine.start("nobody", scheduling=True)  # its executor serves another group
    instance_id = await started.start("sample", {"rows": rows})
    async with executor_of_its_own(started.engine) as doomed:
        await _under_way(started.engine, instance_id)
        doomed.send_signal(signal.SIGKILL)
        await doomed.wait()
    left = await started.engine.store.get_instance(instance_id)
    assert left.status is not Status.SUCCESS
    assert 0 < left.checkpoint["position"]["next"] <= rows
    running = started.engine.start(scheduling=False)
    done = await started.engine.until(instance_id)
    assert (done.status, done.error_message) == (Status.SUCCESS, None)
    assert await value(shop, COUNT) == rows
    assert await value(shop, "SELECT count(DISTINCT id) FROM hourhand_sample_orders") == rows
    lines = [text for _, text in await started.lines(done)]
    assert "goes on with the plan of the attempt before" in lines
    assert any(text.startswith(f"fill {SAMPLE}: goes on from") for text in lines)
    running.stop.set()
    await started.engine.stop(scheduler)
