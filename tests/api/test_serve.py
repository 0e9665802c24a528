"""`hourhand serve`: first start, restart, refusals, and how it ends."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from forking import completed
from postgres import Cluster
from serving import Served

if TYPE_CHECKING:
    from pathlib import Path


TOKEN = re.compile(r"hh_[A-Za-z0-9_-]{43}")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return completed(list(arguments), folder, dict(os.environ), timeout=30)


def test_first_start_makes_a_token_only_its_owner_can_read(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        assert TOKEN.fullmatch(served.token)
        assert served.token_file.stat().st_mode & 0o777 == 0o600
        assert served.token_file.parent.stat().st_mode & 0o777 == 0o700
        assert served.lines[-1].split()[-1] == f"{served.address}/sign-in#token={served.token}"
        assert [path.name for path in served.token_file.parent.glob(".admin-token-*")] == []


def test_a_restart_keeps_the_token_and_does_not_show_it_again(tmp_path: Path) -> None:
    with Served(tmp_path) as first:
        token = first.token
    with Served(tmp_path) as second:
        assert second.token == token
        assert token not in second.output
        assert str(second.token_file) in second.output
        with second.client() as client:
            assert client.get("/api/v1/version").status_code == 200


def test_the_token_itself_is_nowhere_in_the_store(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        token = served.token.encode()
    holding = [path for path in served.token_file.parent.rglob("*") if path.is_file() and token in path.read_bytes()]
    assert holding == [served.token_file]


def test_a_token_file_others_can_read_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        pass
    served.token_file.chmod(0o640)
    ended = run(tmp_path, "serve", "--port", "0")
    assert ended.returncode == 2
    assert "has mode 0640" in ended.stderr
    assert f"chmod 600 {served.token_file}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_chosen_token_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        pass
    served.token_file.write_text("changeme\n")
    ended = run(tmp_path, "serve", "--port", "0")
    assert ended.returncode == 2
    assert "does not hold a generated token" in ended.stderr


def test_a_missing_token_file_is_said(tmp_path: Path) -> None:
    with Served(tmp_path) as first:
        first.token_file.unlink()
    with Served(tmp_path) as second:
        assert f"its file {second.token_file} is gone" in second.output
        assert not second.token_file.exists()


def test_a_lost_token_is_replaced_by_whoever_has_the_store(tmp_path: Path) -> None:
    with Served(tmp_path) as first:
        first.token_file.unlink()
        in_use = run(tmp_path, "token", "create", "--local")
    assert (in_use.returncode, "is in use by" in in_use.stderr) == (1, True)

    made = run(tmp_path, "token", "create", "--local")

    assert (made.returncode, str(first.token_file) in made.stdout) == (0, True)
    assert first.token_file.stat().st_mode & 0o777 == 0o600
    assert run(tmp_path, "token", "create", "--local").returncode == 2  # there is one already
    with Served(tmp_path) as again:
        headers = {"Authorization": f"Bearer {first.token_file.read_text().strip()}"}
        assert httpx.get(f"{again.address}/api/v1/version", headers=headers).status_code == 200


def test_only_its_owner_can_read_a_sqlite_store(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        modes = {file.name: file.stat().st_mode & 0o077 for file in served.token_file.parent.iterdir()}
    assert len(modes) >= 3
    assert not any(modes.values())


def test_the_token_of_the_sign_in_link_is_traded_for_a_session(tmp_path: Path) -> None:
    with Served(tmp_path) as served, served.visitor() as visitor:
        page, _, token = served.lines[-1].split()[-1].partition("#token=")
        assert visitor.get(page).status_code == 200
        assert visitor.post("/api/v1/sessions", json={"token": token}).status_code == 201
        assert visitor.get("/api/v1/sessions/current").json()["role"] == "admin"


def test_a_second_serve_of_the_same_file_names_the_first(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        ended = run(tmp_path, "serve", "--port", "0")
        assert ended.returncode == 1
        assert served.address in ended.stderr
        assert str(served.process.pid) in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_second_serve_with_everything_the_same_names_the_first_too(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        ended = run(tmp_path, "serve", "--port", served.address.rsplit(":", 1)[1])
        assert ended.returncode == 1
        assert str(served.process.pid) in ended.stderr


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run(tmp_path, "serve", "--port", str(port))
    assert ended.returncode == 1
    assert f"port {port} of 127.0.0.1 is taken" in ended.stderr
    assert f"--port {port + 1}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_address_others_can_reach_needs_a_flag(tmp_path: Path) -> None:
    ended = run(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104  # refused is the point
    assert ended.returncode == 2
    assert "--allow-remote" in ended.stderr
    assert not (tmp_path / "hourhand-data").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_soon(tmp_path: Path, number: int) -> None:
    with Served(tmp_path) as served:
        with served.visitor() as visitor:
            assert visitor.get("/healthz").status_code == 200
        started = time.monotonic()
        assert served.stop(number) == 0
        assert time.monotonic() - started < 5
        assert served.lines[-1] == "Hourhand has stopped.\n"
        assert "Traceback" not in served.output


def test_a_killed_process_leaves_a_store_that_opens(tmp_path: Path) -> None:
    with Served(tmp_path) as first:
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    with Served(tmp_path) as second, second.client() as client:
        assert client.get("/readyz").status_code == 200


def test_postgresql_is_served(tmp_path: Path, cluster: Cluster) -> None:
    url = cluster.create_database()
    try:
        with Served(tmp_path, "--store", url) as served, served.client() as client:
            assert client.get("/readyz").status_code == 200
            assert client.get("/api/v1/version").status_code == 200
            assert TOKEN.search(served.output)
    finally:
        cluster.drop_database(url)


def test_a_second_process_of_a_cluster_says_where_the_token_is(tmp_path: Path, postgresql_url: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        Served(tmp_path / "one", HOURHAND_STORE=postgresql_url) as first,
        Served(tmp_path / "two", HOURHAND_STORE=postgresql_url) as second,
    ):
        assert "generated by another process of this cluster" in second.output
        assert not second.token_file.exists()
        with second.client(first.token) as client:
            assert client.get("/api/v1/version").status_code == 200


def test_a_store_that_cannot_be_reached_yet_is_waited_for_and_said_once_without_its_password(tmp_path: Path) -> None:
    cluster = Cluster()
    url = cluster.url().replace("postgres@", "postgres:canary-1@")
    command = [sys.executable, "-m", "hourhand", "scheduler", "--store", url]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        told = process.stderr.readline()
        assert "cannot be reached, trying again until it can" in told
        assert "postgres:***@127.0.0.1" in told
        time.sleep(2)  # as long as it takes to try, and to fail, several times
        cluster.start()
        assert "scheduler on postgresql://postgres:***@" in process.stdout.readline()
        process.terminate()
        rest = process.communicate(timeout=30)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()
        cluster.stop()
    said = told + rest[1]
    assert said.count("cannot be reached") == 1
    assert said.count("is back") == 1
    assert "canary-1" not in said + rest[0]
    assert "Traceback" not in said


def test_readyz_follows_the_store(tmp_path: Path, cluster: Cluster, postgresql_url: str) -> None:
    with Served(tmp_path, "--store", postgresql_url) as served, served.client() as client:
        assert client.get("/readyz").status_code == 200
        cluster.crash()
        try:
            for path in ("/readyz", "/api/v1/version"):
                refused = client.get(path)
                assert refused.status_code == 503
                assert refused.headers["content-type"] == "application/problem+json"
                assert int(refused.headers["retry-after"]) > 0
                assert "127.0.0.1" not in refused.text
            assert client.get("/healthz").status_code == 200
        finally:
            cluster.start()
        deadline = time.monotonic() + 10
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_a_schema_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        file = served.token_file.with_name("hourhand.db")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    for arguments in (["serve", "--port", "0"], ["db", "upgrade"]):
        ended = run(tmp_path, *arguments)
        assert ended.returncode == 1
        assert "9999" in ended.stderr
        assert "newer release" in ended.stderr
    assert list(file.parent.glob("*.bak")) == []


def test_db_upgrade_and_check(tmp_path: Path) -> None:
    unready = run(tmp_path, "db", "check")
    assert unready.returncode == 1
    assert "run `hourhand db upgrade`" in unready.stderr
    upgraded = run(tmp_path, "db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    assert "upgraded from an empty database" in upgraded.stdout
    assert run(tmp_path, "db", "check").returncode == 0
    assert "nothing to do" in run(tmp_path, "db", "upgrade").stdout
