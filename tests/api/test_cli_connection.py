"""Where the CLI finds its server when nobody says, and what it says when there is none."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import chdir
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.cli import Ran, run_here
from hourhand.cli.rest import found_here
from hourhand.sdk.address import address_of
from hourhand.settings import load_settings
from serving import Served


def groups(folder: Path, **environment: str) -> Ran:
    return run_here(folder, "group", "list", "--json", **environment)


def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_in_the_folder_of_a_server_its_port_need_not_be_said(served: Served) -> None:
    assert "default" in {one["name"] for one in groups(served.folder).json["items"]}


def test_a_port_that_is_said_is_taken(served: Served) -> None:
    ran = groups(served.folder, HOURHAND_PORT=str(unused_port()))
    assert ran.code == 1
    assert "no Hourhand answers at" in ran.err


def test_the_settings_of_the_folder_say_where_the_server_is(served: Served, tmp_path: Path) -> None:
    port = served.address.rpartition(":")[2]
    (tmp_path / "hourhand.toml").write_text(f'port = {port}\ndata_dir = "{served.folder}/hourhand-data"\n')
    assert groups(tmp_path).code == 0
    (tmp_path / "hourhand.toml").write_text(f'port = 0\ndata_dir = "{served.folder}/hourhand-data"\n')
    assert groups(tmp_path).code == 0


def test_without_a_server_it_says_what_to_start_and_what_to_set(tmp_path: Path) -> None:
    ran = groups(tmp_path, HOURHAND_PORT=str(unused_port()))
    assert (ran.code, ran.out) == (1, "")
    for word in ("hourhand serve", "HOURHAND_URL", "HOURHAND_PORT", "hourhand.toml"):
        assert word in ran.err


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, list[str]]]:
    """Somebody at a port, who hears what is said there and answers everything."""
    heard: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization", "nothing"))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_port, heard
        server.shutdown()
        thread.join()


def with_lock(folder: Path, text: str) -> Path:
    (folder / "hourhand-data").mkdir()
    lock = folder / "hourhand-data" / "hourhand.db.lock"
    lock.write_text(text)
    return lock


def asked(folder: Path) -> str:
    """Whom the CLI would ask there."""
    with chdir(folder):
        return address_of(found_here(load_settings())).url


DEFAULT = "http://127.0.0.1:8420"


def test_an_address_beside_the_store_is_taken_of_a_living_process_and_shown_the_token(tmp_path: Path) -> None:
    with listening() as (port, heard):
        with_lock(tmp_path, f"http://127.0.0.1:{port} (pid {os.getpid()})")
        groups(tmp_path, HOURHAND_TOKEN="hh_mine")  # noqa: S106 - of nobody
    assert heard == ["Bearer hh_mine"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_only_an_address_of_this_machine_is_taken(tmp_path: Path, host: str) -> None:
    with_lock(tmp_path, f"http://{host}:1234 (pid {os.getpid()})")
    assert asked(tmp_path) == f"http://{host}:1234"


def test_a_server_that_listens_everywhere_is_asked_on_this_machine(tmp_path: Path) -> None:
    with_lock(tmp_path, f"http://0.0.0.0:1234 (pid {os.getpid()})")
    assert asked(tmp_path) == "http://127.0.0.1:1234"


@pytest.mark.parametrize(
    "host", ["evil.example", "192.0.2.7", "127.0.0.1.evil.example", "x@evil.example", "[2001:db8::1]"]
)
def test_another_machine_named_in_a_folder_is_not_asked(tmp_path: Path, host: str) -> None:
    with_lock(tmp_path, f"http://{host}:1234 (pid {os.getpid()})")
    assert asked(tmp_path) == DEFAULT


def test_what_a_server_that_was_killed_left_behind_is_no_address(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with_lock(tmp_path, f"http://127.0.0.1:1234 (pid {gone.pid})")
    assert asked(tmp_path) == DEFAULT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_somebody_else_wrote_is_no_address(tmp_path: Path) -> None:
    os.chown(with_lock(tmp_path, f"http://127.0.0.1:1234 (pid {os.getpid()})"), 12345, -1)
    assert asked(tmp_path) == DEFAULT


@pytest.mark.parametrize("pid", ["0", "-1", "9999999999", "1e3", ""])
def test_a_lock_without_a_process_is_no_address(tmp_path: Path, pid: str) -> None:
    with_lock(tmp_path, f"http://127.0.0.1:1234 (pid {pid})")
    assert asked(tmp_path) == DEFAULT


def test_a_pipe_in_place_of_the_lock_is_no_address(tmp_path: Path) -> None:
    with_lock(tmp_path, "").unlink()
    os.mkfifo(tmp_path / "hourhand-data" / "hourhand.db.lock")
    assert asked(tmp_path) == DEFAULT


def test_a_lock_without_an_address_is_no_address(tmp_path: Path) -> None:
    with_lock(tmp_path, f"hourhand token create (pid {os.getpid()})")
    assert asked(tmp_path) == DEFAULT


def test_https_at_a_port_that_speaks_http_is_said(served: Served, tmp_path: Path) -> None:
    ran = groups(tmp_path, HOURHAND_URL=served.address.replace("http://", "https://"))
    assert (ran.code, ran.out) == (1, "")
    assert f"it speaks http: use {served.address}" in ran.err


def test_a_refused_token_is_said_to_come_from_where_it_does(served: Served, tmp_path: Path) -> None:
    where = {"HOURHAND_URL": served.address}
    wrong = {"HOURHAND_TOKEN": "hh_wrong"}
    assert "refuses the token (HOURHAND_TOKEN): " in groups(tmp_path, **where, **wrong).err
    (tmp_path / "admin-token").write_text("hh_wrong\n")
    kept = groups(tmp_path, HOURHAND_DATA_DIR=str(tmp_path), **where).err
    assert f"refuses the token ({tmp_path}/admin-token): " in kept
    (tmp_path / "hourhand.toml").write_text('token = "hh_wrong"\n')
    assert "refuses the token (token in hourhand.toml): " in groups(tmp_path, **where).err
