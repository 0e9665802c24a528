"""hourhand.testing: a real server in the test's own process, and the fixtures that pytest finds by itself."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from hourhand import App, Client, Context, Status
from hourhand.errors import HourhandError, InvalidInput, StoreUnavailable
from hourhand.testing import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hourhand.testing import TestServer

app = App("served")
RATE = {"eu": 1}


@app.task(max_retries=1, retry_delay_seconds=0)
async def charge(ctx: Context, amount: int, zone: str = "eu") -> int:
    ctx.logger.info("charging %d", amount)
    if ctx.retry_count == 0 and amount < 0:
        raise ValueError("refunds are tried twice")
    return amount * RATE[zone]


@app.task(isolation="process")
def apart(ctx: Context) -> str:
    return ctx.task


@app.task("@every 1s")
def ticks() -> None: ...


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with serving(app) as running:
        yield running


def test_a_task_runs_by_its_name(server: TestServer) -> None:
    ended = server.run("charge", {"amount": 3})
    assert (ended.status, ended.result) == (Status.SUCCESS, {"value": 3})
    assert [line.message for line in server.client.sync.logs(ended.id)] == ["charging 3"]


def test_handlers_see_what_the_test_has_patched(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RATE, "us", 7)
    assert server.run("charge", {"amount": 3, "zone": "us"}).result == {"value": 21}


def test_it_is_a_real_server_with_retries_refusals_and_a_schedule(server: TestServer) -> None:
    assert server.run("charge", {"amount": -3}).retry_count == 1
    assert server.run("charge", {"amunt": 3}).status is Status.FAILED
    answer = httpx.get(f"{server.url}/api/v1/tasks", headers={"Authorization": f"Bearer {server.token}"})
    assert {one["name"] for one in answer.json()["items"]} == {"charge", "apart", "ticks"}
    assert httpx.get(f"{server.url}/api/v1/tasks").status_code == 401
    client = server.client.sync
    tick = next(line for line in iter(lambda: client.instances("ticks", status="success", limit=1), None) if line)
    assert tick[0].triggered_by == "scheduler"


def test_a_handler_that_wants_a_process_gets_it(server: TestServer) -> None:
    assert server.run("apart").result == {"value": "apart"}


async def test_it_can_be_used_in_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOURHAND_STORE", "postgresql://nowhere/nothing")
    monkeypatch.setenv("HOURHAND_PORT", "1")
    (tmp_path / "hourhand.toml").write_text("metrics_port = 1")
    monkeypatch.chdir(tmp_path)
    own = App()

    @own.task
    def double(n: int) -> int:
        return 2 * n

    async with serving(own) as running:
        assert (await running.run_async("double", {"n": 4})).result == {"value": 8}
        with pytest.raises(HourhandError, match="inside a running event loop"):
            running.run("double", {"n": 4})
        async with Client(url=running.url, token=running.token) as client:
            assert len(await client.instances("double")) == 1
    assert contents(tmp_path) == ["hourhand.toml"]


def contents(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def test_nothing_is_left_when_it_has_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    threads, level = {thread.name for thread in threading.enumerate()}, logging.getLogger().level
    with serving(app) as running:
        url, token = running.url, running.token
        running.run("charge", {"amount": 1})
    with pytest.raises(StoreUnavailable), Client(url=url, token=token, patience=0).sync as client:
        client.instances()
    assert {thread.name for thread in threading.enumerate()} - threads <= {"asyncio_0"}
    assert list(tmp_path.iterdir()) == []
    assert logging.getLogger().level == level
    with pytest.raises(HourhandError, match="the server is not running"):
        _ = running.url


def test_it_can_serve_another_store(sqlite_url: str) -> None:
    with serving(app, store=sqlite_url) as running:
        instance = running.run("charge", {"amount": 1})
    with Client(sqlite_url).sync as client:
        assert client.get(instance.id).result == {"value": 1}


def test_settings_are_those_of_serve() -> None:
    with pytest.raises(InvalidInput, match="settings: cannot be used"), serving(app, concurrency=0):
        pass
    with pytest.raises(InvalidInput, match="settings: cannot be used"), serving(app, conkurrency=1):
        pass


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file.db").write_text("no database")
    with pytest.raises(HourhandError, match=r"file\.db"), serving(app, store=f"sqlite:///{tmp_path}/file.db"):
        pass
    with pytest.raises(InvalidInput, match="there is no module 'nowhere'"):
        serving("nowhere:app")


# pytest's plugin


def test_a_project_needs_only_to_name_its_app(tmp_path: Path) -> None:
    files = {
        "books.py": """
            from hourhand import App
            app = App()
            @app.task
            def double(n: int) -> int:
                return 2 * n
        """,
        "conftest.py": """
            import pytest
            @pytest.fixture(scope="session")
            def hourhand_app():
                return "books:app"
        """,
        "test_books.py": """
            def test_double(hourhand_server):
                assert hourhand_server.run("double", {"n": 2}).result == {"value": 4}
            async def test_again(hourhand_server):
                assert (await hourhand_server.run_async("double", {"n": 3})).result == {"value": 6}
        """,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-o", "asyncio_mode=auto"]
    command += ["-o", "asyncio_default_fixture_loop_scope=function"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed" in ran.stdout, ran.stdout + ran.stderr


def test_the_plugin_is_found_by_pytest_and_imports_next_to_nothing() -> None:
    code = """
        import sys
        from importlib.metadata import entry_points
        import pytest
        before = set(sys.modules)
        found = [one for one in entry_points(group="pytest11") if one.name == "hourhand"]
        assert [one.value for one in found] == ["hourhand.testing.pytest_plugin"]
        found[0].load()
        print(sorted(name for name in set(sys.modules) - before if not name.startswith("importlib")))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "['hourhand', 'hourhand.testing', 'hourhand.testing.pytest_plugin']", ran.stderr
