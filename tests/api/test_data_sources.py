"""`/api/v1/data-sources`: passwords go in and never come out."""

from __future__ import annotations

import base64
import logging
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from api.in_process import serving
from hourhand.model.words import TaskType
from hourhand.settings import Settings
from postgres import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from contracts.world import World
    from hourhand.store import Store

SOURCES = f"{API}/data-sources"
CANARY = "canary7f3a"
NOBODY: dict[str, Any] = {
    "name": "shop",
    "dialect": "postgresql",
    "host": "db.example.com",
    "database": "shop",
    "username": "ann",
    "password": CANARY,
    "test": False,
}
"""Nothing connects to it."""


@pytest.fixture
def settings(store_url: str, tmp_path: Path) -> Settings:
    key = {} if store_url.startswith("sqlite") else {"secret_key": base64.b64encode(b"k" * 32).decode()}
    return Settings(store=store_url, data_dir=tmp_path / "data", **key)  # type: ignore[arg-type]


@pytest.fixture
async def sealing(store: Store, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a fresh store of each kind, with a key for its secrets."""
    async with serving(store, settings) as client:
        yield client


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop of ours.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
    return path


async def test_one_is_added_read_changed_and_deleted(sealing: httpx.AsyncClient) -> None:
    answer = await sealing.post(SOURCES, json=NOBODY | {"options": {"sslmode": "require"}})
    made = ok(answer, 201)
    where = f"{SOURCES}/{made['id']}"
    assert answer.headers["location"] == where
    assert {name: made[name] for name in ("name", "dialect", "host", "port", "database", "username")} == {
        "name": "shop",
        "dialect": "postgresql",
        "host": "db.example.com",
        "port": 5432,
        "database": "shop",
        "username": "ann",
    }
    assert (made["options"], made["has_password"]) == ({"sslmode": "require"}, True)
    assert made["url"] == "postgresql://ann@db.example.com:5432/shop"
    assert ok(await sealing.get(where)) == made
    assert ok(await sealing.get(SOURCES)) == {"items": [made], "next_cursor": None}
    changes = {"name": "store", "database": "archive", "options": None, "test": False}
    edited = ok(await sealing.patch(where, json=changes))
    assert edited == made | {
        "name": "store",
        "database": "archive",
        "options": {},
        "url": "postgresql://ann@db.example.com:5432/archive",
        "updated_at": edited["updated_at"],
    }
    without = ok(await sealing.patch(where, json={"password": None, "test": False}))
    assert (without["has_password"], without["username"]) == (False, "ann")
    assert ok(await sealing.patch(where, json={"password": CANARY, "test": False}))["has_password"]
    assert (await sealing.delete(where)).status_code == 204
    problem(await sealing.get(where), 404)
    problem(await sealing.patch(where, json={"name": "x"}), 404)
    problem(await sealing.delete(where), 404)
    problem(await sealing.post(f"{where}/test"), 404)


async def test_a_file_is_added_by_its_url_and_tried(sealing: httpx.AsyncClient, file: Path) -> None:
    url = f"sqlite:///{str(file).replace(' ', '%20')}"
    made = ok(await sealing.post(SOURCES, json={"name": "files", "url": url}), 201)
    assert (made["database"], made["has_password"], made["port"]) == (str(file), False, None)
    tested = ok(await sealing.post(f"{SOURCES}/{made['id']}/test"))
    assert (tested["ok"], tested["dialect"], tested["user"]) == (True, "sqlite", None)
    assert tested["version"] == sqlite3.sqlite_version
    assert tested["latency_ms"] >= 0
    assert "SQLite" in tested["detail"]
    file.unlink()  # noqa: ASYNC240 - of a test's own folder
    tested = ok(await sealing.post(f"{SOURCES}/{made['id']}/test"))
    assert (tested["ok"], tested["version"]) == (False, None)
    assert "there is no file" in tested["detail"]
    assert not file.exists()  # noqa: ASYNC240


async def test_what_cannot_be_reached_is_refused_unless_it_is_not_tried(
    sealing: httpx.AsyncClient, tmp_path: Path
) -> None:
    missing = {"name": "files", "dialect": "sqlite", "database": str(tmp_path / "none.db")}
    told = refused(await sealing.post(SOURCES, json=missing))["database"]
    assert "there is no file" in told
    assert "test false (--no-test) keeps it all the same" in told
    port = free_port()
    url = f"postgresql://ann:{CANARY}@127.0.0.1:{port}/shop"
    answer = await sealing.post(SOURCES, json={"name": "shop", "url": url})
    assert f"postgresql://ann@127.0.0.1:{port}/shop cannot be reached" in refused(answer)["url"]
    assert ok(await sealing.get(SOURCES))["items"] == []
    made = ok(await sealing.post(SOURCES, json={"name": "shop", "url": url, "test": False}), 201)
    where = f"{SOURCES}/{made['id']}"
    assert "cannot be reached" in refused(await sealing.patch(where, json={"database": "other"}))["host"]
    assert "cannot be reached" in refused(await sealing.patch(where, json={"url": url}))["url"]
    assert ok(await sealing.get(where)) == made
    ok(await sealing.patch(where, json={"name": "renamed"}))
    tested = ok(await sealing.post(f"{where}/test"))
    assert (tested["ok"], tested["version"], tested["latency_ms"], tested["user"]) == (False, None, None, None)
    assert "cannot be reached" in tested["detail"]


async def test_a_server_that_says_nothing_is_not_waited_for(
    sealing: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hourhand.bootstrap.sources.SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for dialect in ("postgresql", "mariadb"):
            url = f"{dialect}://ann:{CANARY}@127.0.0.1:{silent.getsockname()[1]}/shop"
            told = refused(await sealing.post(SOURCES, json={"name": "shop", "url": url}))["url"]
            assert "has not answered within 0.2 seconds" in told


async def test_sql_server_is_taken_without_being_tried(sealing: httpx.AsyncClient) -> None:
    made = ok(await sealing.post(SOURCES, json={"name": "old", "url": f"mssql://sa:{CANARY}@10.0.0.1/shop"}), 201)
    assert (made["dialect"], made["port"], made["has_password"]) == ("sqlserver", 1433, True)
    tested = ok(await sealing.post(f"{SOURCES}/{made['id']}/test"))
    assert (tested["ok"], tested["dialect"]) == (False, "sqlserver")
    assert "does not connect to SQL Server" in tested["detail"]


async def test_a_password_that_is_kept_is_not_sent_elsewhere(sealing: httpx.AsyncClient) -> None:
    made = ok(await sealing.post(SOURCES, json=NOBODY), 201)
    where = f"{SOURCES}/{made['id']}"
    for moved in ({"host": "evil.example.com"}, {"port": 1}, {"url": "postgresql://ann@evil.example.com/shop"}):
        told = refused(await sealing.patch(where, json={**moved, "test": False}))["password"]
        assert "is needed again: the one that is kept is for postgresql://ann@db.example.com:5432/shop" in told
    assert ok(await sealing.get(where)) == made
    moved = ok(await sealing.patch(where, json={"host": "new", "password": CANARY, "test": False}))
    assert (moved["host"], moved["has_password"]) == ("new", True)
    left = ok(await sealing.patch(where, json={"host": "newer", "password": None, "test": False}))
    assert (left["host"], left["has_password"]) == ("newer", False)


async def test_names_are_taken_once_and_bound(sealing: httpx.AsyncClient, world: World) -> None:
    made = ok(await sealing.post(SOURCES, json=NOBODY), 201)
    problem(await sealing.post(SOURCES, json=NOBODY), 409)
    config = {"kind": "statistics_update", "config": {"data_source": "shop"}}
    await world.task("nightly", type=TaskType.OPERATION, payload=config)
    where = f"{SOURCES}/{made['id']}"
    for answer in (await sealing.delete(where), await sealing.patch(where, json={"name": "x"})):
        assert "'shop' is named by the tasks 'nightly'" in problem(answer, 409)["detail"]


async def test_the_same_request_adds_one(sealing: httpx.AsyncClient) -> None:
    for _ in range(2):
        ok(await sealing.post(SOURCES, json=NOBODY, headers={"Idempotency-Key": "once"}), 201)
    assert len(ok(await sealing.get(SOURCES))["items"]) == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": f"postgresql://ann:{CANARY}/x@db/shop"}, "url"),
        ({"url": f"oracle://ann:{CANARY}@db/shop"}, "url"),
        ({"url": [CANARY]}, "url"),
        ({"url": f"postgresql://ann:{CANARY}\0@db/shop"}, "body"),
        ({"url": f"postgresql://ann:{CANARY}@db/shop", "password": CANARY}, "password"),
        ({"url": f"postgresql://ann:{CANARY}@db/shop", "host": CANARY}, "host"),
        ({"dialect": CANARY}, "dialect"),
        ({"dialect": "postgresql", "host": f"ann:{CANARY}@db", "database": "shop"}, "host"),
        ({"dialect": "postgresql", "host": "db", "database": "shop", "password": [CANARY]}, "password"),
        ({"dialect": "postgresql", "host": "db", "database": "shop", "pasword": CANARY}, "pasword"),
        (
            {"dialect": "postgresql", "host": "db", "database": "shop", "options": {"password": CANARY}},
            "options.password",
        ),
        ({"dialect": "postgresql", "host": "db", "database": "shop", "port": CANARY}, "port"),
        ({}, "dialect"),
    ],
    ids=lambda one: str(one)[:80],
)
async def test_what_is_wrong_is_refused_without_being_repeated(
    sealing: httpx.AsyncClient, world: World, given: dict[str, Any], field: str
) -> None:
    answer = await sealing.post(SOURCES, json={"name": "shop", "test": False} | given)
    assert field in refused(answer), answer.text
    assert CANARY not in answer.text
    assert CANARY not in str([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])


async def test_a_name_that_is_none_is_refused(sealing: httpx.AsyncClient) -> None:
    made = ok(await sealing.post(SOURCES, json=NOBODY), 201)
    for name in ("", " a", "x" * 101, 7, "a\nb", "a://b"):
        assert "name" in refused(await sealing.post(SOURCES, json=NOBODY | {"name": name}))
        assert "name" in refused(await sealing.patch(f"{SOURCES}/{made['id']}", json={"name": name}))
    assert "name" in refused(await sealing.patch(f"{SOURCES}/{made['id']}", json={"name": None}))


async def test_a_password_is_nowhere_but_sealed(
    sealing: httpx.AsyncClient, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    port = free_port()
    url = f"postgresql://ann:{CANARY}@127.0.0.1:{port}/shop"
    made = await sealing.post(SOURCES, json={"name": "shop", "url": url, "test": False})
    where = f"{SOURCES}/{ok(made, 201)['id']}"
    answers = [
        made,
        await sealing.post(SOURCES, json={"name": "other", "url": url}),
        await sealing.patch(where, json={"password": f"{CANARY}2", "test": False}),
        await sealing.patch(where, json={"password": f"{CANARY}2"}),
        await sealing.post(f"{where}/test"),
        await sealing.get(where),
        await sealing.get(SOURCES),
        await sealing.get(f"{API}/audit-logs"),
        await sealing.delete(where),
    ]
    assert [answer.status_code for answer in answers] == [201, 422, 200, 422, 200, 200, 200, 200, 204]
    assert not [answer.text for answer in answers if CANARY in answer.text]
    assert CANARY not in caplog.text
    for table in ("audit_logs", "data_sources", "store_values", "idempotency_keys"):
        assert CANARY not in str([dict(row) for row in await world.sql(f"SELECT * FROM {table}")])  # noqa: S608
    actions = [one["action"] for one in ok(answers[7])["items"] if one["resource_type"] == "data-source"]
    assert actions == ["test", "edit", "edit", "create", "create"]


async def test_without_a_key_postgresql_takes_no_password(postgresql_url: str, tmp_path: Path) -> None:
    from hourhand.store import open_store  # noqa: PLC0415 - as the fixtures do

    store = await open_store(postgresql_url)
    try:
        async with serving(store, Settings(store=postgresql_url, data_dir=tmp_path)) as client:
            told = refused(await client.post(SOURCES, json=NOBODY))
            assert "openssl rand -base64 32" in told["HOURHAND_SECRET_KEY"]
            ok(await client.post(SOURCES, json=NOBODY | {"password": None}), 201)
    finally:
        await store.close()


async def test_with_another_key_a_password_cannot_be_opened_and_is_asked_for_again(
    store: Store, sealing: httpx.AsyncClient, store_url: str, tmp_path: Path
) -> None:
    made = ok(await sealing.post(SOURCES, json=NOBODY), 201)
    where = f"{SOURCES}/{made['id']}"
    wrong = Settings(store=store_url, data_dir=tmp_path, secret_key=base64.b64encode(b"w" * 32).decode())  # type: ignore[arg-type]
    async with serving(store, wrong) as client:
        tested = ok(await client.post(f"{where}/test"))
        assert not tested["ok"]
        assert "is not the key" in tested["detail"]
        told = refused(await client.patch(where, json={"database": "other"}))["password"]
        assert "is needed again" in told
        assert "is not the key" in told


async def test_editors_read_and_try_and_admins_write(sealing: httpx.AsyncClient) -> None:
    made = ok(await sealing.post(SOURCES, json=NOBODY | {"host": "127.0.0.1", "port": free_port()}), 201)
    where = f"{SOURCES}/{made['id']}"
    token = ok(await sealing.post(f"{API}/tokens", json={"name": "ed", "role": "editor"}), 201)["token"]
    editor = {"Authorization": f"Bearer {token}"}
    assert ok(await sealing.get(SOURCES, headers=editor))["items"] == [made]
    ok(await sealing.post(f"{where}/test", headers=editor))
    problem(await sealing.post(SOURCES, json=NOBODY, headers=editor), 403)
    problem(await sealing.patch(where, json={}, headers=editor), 403)
    problem(await sealing.delete(where, headers=editor), 403)
    asked = {"name": "limited", "role": "admin", "groups": ["default"]}
    limited = {"Authorization": f"Bearer {ok(await sealing.post(f'{API}/tokens', json=asked), 201)['token']}"}
    problem(await sealing.get(SOURCES, headers=limited), 403)
