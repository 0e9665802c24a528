"""The database of a Hourhand itself is no data source: no operation may empty its audit, whoever asks."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from api.answers import API, ok, refused
from api.in_process import serving
from hourhand.operations.sessions.own import TABLES
from hourhand.rules.data_sources import address_from
from hourhand.settings import Settings
from hourhand.store.schema import metadata
from operations.running import run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from hourhand.store import Store

SOURCES = f"{API}/data-sources"
OPERATIONS = f"{API}/operations"
SAID = "is the database of a Hourhand itself"
EMPTIED = {"table": "audit_logs", "where": "id > 0"}


@pytest.fixture
async def shop(store: Store, store_url: str, file: Path, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind, with a file for a data source."""
    key = {} if store_url.startswith("sqlite") else {"secret_key": base64.b64encode(b"k" * 32).decode()}
    async with serving(store, Settings(store=store_url, data_dir=tmp_path / "data", **key)) as client:  # type: ignore[arg-type]
        ok(await client.post(SOURCES, json={"name": "shop", "url": f"sqlite:///{file}"}), 201)
        yield client


def test_it_is_known_by_tables_that_it_has() -> None:
    assert set(TABLES) - {"alembic_version"} <= set(metadata.tables)


async def test_it_is_neither_added_nor_changed_to(shop: httpx.AsyncClient, store_url: str) -> None:
    said = refused(await shop.post(SOURCES, json={"name": "own", "url": store_url}))["url"]
    assert SAID in said
    assert "audit_retention_days" in said
    assert "--no-test" not in said
    (only,) = ok(await shop.get(SOURCES))["items"]
    assert SAID in refused(await shop.patch(f"{SOURCES}/{only['id']}", json={"url": store_url}))["url"]
    assert ok(await shop.get(f"{SOURCES}/{only['id']}")) == only


async def test_what_was_added_untried_is_of_no_use(shop: httpx.AsyncClient, store_url: str) -> None:
    made = ok(await shop.post(SOURCES, json={"name": "own", "url": store_url, "test": False}), 201)
    tested = ok(await shop.post(f"{SOURCES}/{made['id']}/test"))
    assert not tested["ok"]
    assert SAID in tested["detail"]
    config: dict[str, Any] = {"data_source": "own", **EMPTIED}
    asked = {"config": config, "plan_hash": "0" * 64}
    before = await shop.get(f"{API}/audit-logs")
    seen = refused(await shop.post(f"{OPERATIONS}/data_cleanup/preview", json={"config": config}))
    assert SAID in seen["config.data_source"]
    assert SAID in refused(await shop.post(f"{OPERATIONS}/data_cleanup", json=asked))["config.data_source"]
    target = {"data_source": "shop", "table": "orders", "target_data_source": "own", "target_table": "audit_logs"}
    seen = refused(await shop.post(f"{OPERATIONS}/archive_bulk_copy/preview", json={"config": target}))
    assert SAID in seen["config.target_data_source"]
    kept = {one["id"] for one in before.json()["items"]}
    assert kept
    assert kept <= {one["id"] for one in ok(await shop.get(f"{API}/audit-logs"))["items"]}


@pytest.mark.usefixtures("store")
async def test_an_executor_refuses_it_too(store_url: str) -> None:
    ran = await run("data_cleanup", EMPTIED, {"source": address_from({"url": store_url})})
    assert SAID in ran.error
    assert not ran.outcome.retryable


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
async def test_other_tables_beside_it_need_a_user_without_rights_to_it(shop: httpx.AsyncClient, store_url: str) -> None:
    database = store_url.rpartition("/")[2]
    role = f"clerk_of_{database}"
    connection = await asyncpg.connect(store_url)
    url = store_url.replace("postgresql://postgres", f"postgresql://{role}")
    assert role in url.partition("@")[0]
    try:
        await connection.execute(f'CREATE ROLE "{role}" LOGIN')
        await connection.execute(f'CREATE SCHEMA app AUTHORIZATION "{role}"')
        made = ok(await shop.post(SOURCES, json={"name": "beside", "url": url}), 201)
        where = f"{SOURCES}/{made['id']}/test"
        for right in ("SELECT", "TRUNCATE"):
            await connection.execute(f'GRANT {right} ON task_instances TO "{role}"')
            assert SAID in ok(await shop.post(where))["detail"]
            await connection.execute(f'REVOKE {right} ON task_instances FROM "{role}"')
            assert ok(await shop.post(where))["ok"]
        await connection.execute(f'GRANT postgres TO "{role}"')
        assert SAID in ok(await shop.post(where))["detail"]
    finally:
        await connection.execute(f'DROP OWNED BY "{role}" CASCADE')
        await connection.execute(f'DROP ROLE "{role}"')
        await connection.close()
