"""`/api/v1/operations`: previewed, approved by the plan's hash, started; and the tasks that repeat them."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from api.in_process import serving
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from hourhand.store import Store

STATISTICS = f"{API}/operations/statistics_update"
CONFIG = {"data_source": "shop", "tables": ["orders"]}


@pytest.fixture
def settings(store_url: str, tmp_path: Path) -> Settings:
    key = {} if store_url.startswith("sqlite") else {"secret_key": base64.b64encode(b"k" * 32).decode()}
    return Settings(store=store_url, data_dir=tmp_path / "data", **key)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    _execute(path, "CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    return path


@pytest.fixture
async def shop(store: Store, settings: Settings, file: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind, with an SQLite file for a data source."""
    async with serving(store, settings) as client:
        ok(await client.post(f"{API}/data-sources", json={"name": "shop", "url": f"sqlite:///{file}"}), 201)
        mssql = {"name": "mssql", "dialect": "sqlserver", "host": "db.example.com", "database": "shop"}
        ok(await client.post(f"{API}/data-sources", json=mssql), 201)
        yield client


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.execute(statement)
        made.commit()


async def preview(client: httpx.AsyncClient, **config: Any) -> dict[str, Any]:
    seen: dict[str, Any] = ok(await client.post(f"{STATISTICS}/preview", json={"config": {**CONFIG, **config}}))
    return seen


async def start(client: httpx.AsyncClient, **more: Any) -> httpx.Response:
    return await client.post(STATISTICS, json={"config": CONFIG, **more})


async def test_a_preview_shows_everything_and_changes_nothing(shop: httpx.AsyncClient) -> None:
    seen = await preview(shop)
    assert (seen["kind"], seen["data_source"], seen["dialect"]) == ("statistics_update", "shop", "sqlite")
    assert seen["config"]["lock_timeout_ms"] == 1_000, "every default is filled in"
    (statement,) = seen["statements"]
    assert (statement["step"], statement["sql"], statement["side"]) == ("analyze orders", 'ANALYZE "orders"', "source")
    assert seen["impact"]["strongest_lock"] == statement["lock"]
    assert seen["preconditions"] == [{"name": "ownership", "ok": True, "detail": "owned", "side": "source"}]
    assert 'ANALYZE "orders";' in seen["script"]
    assert seen["plan_hash"] in seen["script"]
    assert (seen["script_only"], seen["impact"]["blockers"]) == (False, [])
    assert ok(await shop.get(f"{API}/instances"))["items"] == []


async def test_what_was_approved_becomes_an_instance(shop: httpx.AsyncClient) -> None:
    seen = await preview(shop)
    answer = await start(shop, plan_hash=seen["plan_hash"], priority=1, notes="slow queries", held=True)
    made = ok(answer, 202)
    assert answer.headers["location"] == f"{API}/instances/{made['id']}"
    assert (made["status"], made["blocked_by"], made["existing"]) == ("planned", "dispatch", False)
    assert (made["operation_kind"], made["priority"], made["notes"]) == ("statistics_update", 1, "slow queries")
    assert made["args"]["config"] == seen["config"]
    assert made["args"]["plan_hash"] == seen["plan_hash"]
    lines = ok(await shop.get(f"{API}/instances/{made['id']}/logs"))["items"]
    assert lines[0]["message"].startswith("statistics_update on shop/orders, asked for by ")
    assert lines[1]["message"] == seen["script"]
    (entry,) = ok(await shop.get(f"{API}/audit-logs?resource_type=operation"))["items"]
    assert (entry["action"], entry["script"]) == ("plan", seen["script"])
    assert entry["payload"]["config"] == seen["config"]
    assert ok(await shop.post(f"{API}/instances/{made['id']}/dispatch"))["status"] in ("planned", "pending")


async def test_a_plan_that_has_changed_is_refused_with_what_changed(shop: httpx.AsyncClient, file: Path) -> None:
    config = {"data_source": "shop", "table": "fresh", "rows": 5}
    seen = ok(await shop.post(f"{API}/operations/sample/preview", json={"config": config}))
    other = config | {"rows": 7}
    body = {"config": other, "plan_hash": seen["plan_hash"]}
    found = problem(await shop.post(f"{API}/operations/sample", json=body), 409)
    now = ok(await shop.post(f"{API}/operations/sample/preview", json={"config": other}))["plan_hash"]
    assert found["plan_hash"] == now != seen["plan_hash"]
    assert any("step 'fill fresh' has changed" in one for one in found["reasons"])
    assert seen["plan_hash"] in found["detail"]
    assert now in found["detail"]
    _execute(file, "CREATE TABLE fresh (id INTEGER)")
    body = {"config": config, "plan_hash": seen["plan_hash"]}
    assert list(refused(await shop.post(f"{API}/operations/sample", json=body))) == ["config.table"]
    unknown = problem(await start(shop, plan_hash="0" * 32), 409)
    assert "not known to this server any more" in unknown["detail"]
    assert ok(await shop.get(f"{API}/instances"))["items"] == []


async def test_the_same_request_starts_once_whatever_has_become_of_the_plan(
    shop: httpx.AsyncClient, file: Path
) -> None:
    body, once = {"config": {"data_source": "shop", "table": "fresh", "rows": 5}}, {"Idempotency-Key": "k1"}
    made = ok(await shop.post(f"{API}/operations/sample", json=body, headers=once), 202)
    _execute(file, "CREATE TABLE fresh (id INTEGER)")
    again = ok(await shop.post(f"{API}/operations/sample", json=body, headers=once), 202)
    assert (again["id"], again["existing"]) == (made["id"], True)


@pytest.mark.parametrize(
    ("kind", "config", "field", "message"),
    [
        ("statistics_updat", CONFIG, "kind", "did you mean 'statistics_update'?"),
        ("statistics_update", {"tables": ["orders"]}, "config.data_source", "is required for statistics_update"),
        ("statistics_update", CONFIG | {"data_source": "shoq"}, "config.data_source", "did you mean 'shop'?"),
        ("statistics_update", CONFIG | {"tables": []}, "config.tables", "at least 1 item"),
        ("statistics_update", CONFIG | {"table": "x"}, "config.table", "is not a field of statistics_update"),
        ("statistics_update", CONFIG | {"tables": ["orderz"]}, "config.tables", "did you mean orders?"),
        ("statistics_update", CONFIG | {"lock_retries": -1}, "config.lock_retries", "greater than or equal to 0"),
        ("sample", {"data_source": "mssql"}, "config.data_source", "is not done on sqlserver"),
    ],
)
async def test_what_cannot_be_planned_is_refused_by_its_field(
    shop: httpx.AsyncClient, kind: str, config: dict[str, Any], field: str, message: str
) -> None:
    for path in (f"{API}/operations/{kind}/preview", f"{API}/operations/{kind}"):
        errors = refused(await shop.post(path, json={"config": config}))
        assert list(errors) == [field]
        assert message in errors[field]


async def test_a_script_is_shown_and_not_started(shop: httpx.AsyncClient) -> None:
    seen = await preview(shop, data_source="mssql")
    assert seen["script_only"]
    assert "UPDATE STATISTICS [dbo].[orders] WITH FULLSCAN;" in seen["script"]
    answer = await shop.post(STATISTICS, json={"config": CONFIG | {"data_source": "mssql"}})
    assert "is a script to read and run by hand" in problem(answer, 409)["detail"]


async def test_a_data_source_that_cannot_be_reached_is_not_our_fault(shop: httpx.AsyncClient, file: Path) -> None:
    await asyncio.to_thread(file.unlink)
    for path in (STATISTICS, f"{STATISTICS}/preview"):
        found = problem(await shop.post(path, json={"config": CONFIG}), 424)
        assert "there is no file" in found["detail"]


async def test_nothing_takes_back_what_was_not_done(shop: httpx.AsyncClient) -> None:
    made = ok(await start(shop), 202)
    found = problem(await shop.get(f"{API}/instances/{made['id']}/undo"), 409)
    assert "only an operation that has succeeded" in found["detail"]
    task = ok(
        await shop.post(f"{API}/tasks", json={"name": "t", "type": "command", "payload": {"command": ["true"]}}), 201
    )
    plain = ok(await shop.post(f"{API}/tasks/{task['id']}/run"), 202)
    assert "is no operation" in problem(await shop.get(f"{API}/instances/{plain['id']}/undo"), 409)["detail"]


async def test_a_task_that_repeats_an_operation_is_checked_where_it_is_written(shop: httpx.AsyncClient) -> None:
    payload: dict[str, Any] = {"kind": "statistics_update", "config": CONFIG}
    task = {"name": "nightly", "type": "operation", "schedule": "0 2 * * *", "payload": payload}
    made = ok(await shop.post(f"{API}/tasks", json=task), 201)
    wrong = [
        ({"kind": "statistics"}, "payload.kind"),
        (payload | {"config": CONFIG | {"tables": "orders"}}, "payload.config.tables"),
        (payload | {"config": CONFIG | {"data_source": "gone"}}, "payload.config.data_source"),
        (payload | {"config": {}}, "payload.config.data_source"),
    ]
    for one, field in wrong:
        other = {**task, "name": "other", "payload": one}
        assert field in refused(await shop.post(f"{API}/tasks", json=other))
        assert f"tasks.0.{field}" in refused(await shop.post(f"{API}/tasks/batch", json={"tasks": [other]}))
        assert field in refused(await shop.patch(f"{API}/tasks/{made['id']}", json={"payload": one}))
        file = {"name": "set", "tasks": [other]}
        assert f"tasks.0.{field}" in refused(await shop.post(f"{API}/tasks/apply", json=file))
    ran = ok(await shop.post(f"{API}/tasks/{made['id']}/run"), 202)
    assert (ran["operation_kind"], ran["concurrency_key"]) == (
        "statistics_update",
        f"datasource:{ran['data_source_id']}",
    )
    args = {"args": {"config": {"tables": ["customers"]}}}
    assert list(refused(await shop.post(f"{API}/tasks/{made['id']}/run", json=args))) == ["args"]


async def test_the_built_in_task_is_left_alone(shop: httpx.AsyncClient) -> None:
    made = ok(await start(shop), 202)
    where = f"{API}/tasks/{made['task_id']}"
    assert ok(await shop.get(where))["managed_by"] == "built-in:hourhand"
    assert "is built in" in problem(await shop.patch(where, json={"priority": 1}), 409)["detail"]
    assert "is built in" in problem(await shop.delete(where), 409)["detail"]
    refused(await shop.post(f"{where}/run", json={"args": {"config": CONFIG, "data_source_id": 1}}))
    own = {"name": "t", "type": "command", "payload": {"command": ["true"]}, "managed_by": "built-in:hourhand"}
    assert list(refused(await shop.post(f"{API}/tasks", json=own))) == ["managed_by"]
