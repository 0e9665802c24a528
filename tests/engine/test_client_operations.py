"""The client's calls about operations: the same on both stores and over REST, awaited and synchronous."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.clients import Side, side
from hourhand.errors import InvalidInput, PlanRefused, SourceError
from hourhand.model.operation import Duration, Preview
from hourhand.model.words import Status
from operations.addresses import sqlite_address
from operations.asking import execute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hourhand.model.data_source import Address
    from serving import Served


@pytest.fixture(params=["awaited", "sync"])
def sync(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "sync")


@pytest.fixture(params=["sqlite", "postgresql", "rest"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """Return the URL of a store, and what a client is given to get to it, for each way."""
    monkeypatch.setenv("HOURHAND_DATA_DIR", str(tmp_path / "data"))
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "shared_url")
    if request.param == "rest":
        served: Served = request.getfixturevalue("served")
        return url, {"url": served.address, "token": served.token}
    return url, {"store": url}


@pytest.fixture
async def one(way: tuple[str, dict[str, Any]], *, sync: bool) -> AsyncIterator[Side]:
    """Return a client of each kind."""
    url, given = way
    async with side(given, url, sync=sync) as made:
        yield made


@pytest.fixture
async def shop(tmp_path: Path) -> Address:
    address = sqlite_address(tmp_path / "shop.db")
    await execute(address, "CREATE TABLE orders (id integer)", "CREATE TABLE customers (id integer)")
    return address


@pytest.fixture
async def config(one: Side, shop: Address, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return a configuration for a data source of this test's own."""
    await one.world.store.add_data_source(request.node.name, shop, by="ann")
    return {"data_source": request.node.name, "tables": ["orders", "customers"]}


async def test_a_preview_is_told_the_same_way(one: Side, config: dict[str, Any]) -> None:
    seen: Preview = await one.ask.preview_operation("statistics_update", config)
    assert [step.name for step in seen.plan.steps] == ["analyze orders", "analyze customers"]
    assert seen.plan.steps[0].sql == ('ANALYZE "orders"',)
    assert (seen.plan.steps[0].duration, seen.plan.steps[0].action) == (Duration.BY_SIZE, None)
    assert seen.plan.config["data_source"] == config["data_source"]
    assert seen.plan.unmet == ()
    assert seen.plan_hash in seen.script
    wide = await one.ask.preview_operation("sample", {"data_source": config["data_source"], "rows": 10})
    assert (wide.impact.rows, len(wide.plan.steps[0].sql)) == (10, 2)


async def test_what_was_approved_is_started_and_nothing_else(one: Side, config: dict[str, Any]) -> None:
    seen = await one.ask.preview_operation("statistics_update", config)
    how = {"held": True, "notes": "why", "priority": 3}
    made = await one.ask.start_operation("statistics_update", config, plan_hash=seen.plan_hash, **how)
    assert (made.status, made.operation_kind, made.existing) == (Status.PLANNED, "statistics_update", False)
    assert (made.notes, made.priority, made.args["plan_hash"]) == ("why", 3, seen.plan_hash)
    other = {**config, "tables": ["orders"]}
    with pytest.raises(PlanRefused, match="is not the one that would be executed now") as refused:
        await one.ask.start_operation("statistics_update", other, plan_hash=seen.plan_hash)
    assert refused.value.reasons == ("step 'analyze customers' is no longer needed",)
    assert refused.value.plan_hash == (await one.ask.preview_operation("statistics_update", other)).plan_hash
    await one.ask.cancel(made.id)


async def test_a_planned_instance_of_an_operation(one: Side, config: dict[str, Any]) -> None:
    planned = await one.ask.plan("operation:statistics_update", config)
    assert (planned.status, planned.blocked_by) == (Status.PLANNED, "dispatch")
    assert planned.args["config"]["tables"] == ["orders", "customers"]
    assert (await one.ask.task("operation:statistics_update")).managed_by == "built-in:hourhand"
    await one.ask.cancel(planned.id)


async def test_a_key_that_lives_is_the_answer(one: Side, config: dict[str, Any]) -> None:
    first = await one.ask.start_operation("statistics_update", config, held=True, key=config["data_source"])
    second = await one.ask.start_operation("statistics_update", config, held=True, key=config["data_source"])
    assert (first.existing, second.existing, second.id) == (False, True, first.id)
    await one.ask.cancel(first.id)


async def test_refusals_are_the_same(one: Side, config: dict[str, Any], shop: Address) -> None:
    with pytest.raises(InvalidInput, match="kind: there is no operation 'statistics_updat'"):
        await one.ask.preview_operation("statistics_updat", config)
    with pytest.raises(InvalidInput, match=r"config\.tables: is required for statistics_update"):
        await one.ask.plan("operation:statistics_update", {"data_source": config["data_source"]})
    await one.ask.cancel((await one.ask.plan("operation:statistics_update", config)).id)
    with pytest.raises(InvalidInput, match="preview and start the operation"):
        await one.ask.submit("operation:statistics_update", {"config": config, "data_source_id": 1})
    await asyncio.to_thread(Path(str(shop.database)).unlink)
    with pytest.raises(SourceError, match="there is no file"):
        await one.ask.start_operation("statistics_update", config)
