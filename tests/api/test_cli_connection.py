"""Where the CLI finds its server when nobody says, and what it says when there is none."""

from __future__ import annotations

import socket
from pathlib import Path

from api.cli import Ran, run_here
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


def test_what_a_server_that_was_killed_left_behind_is_named(tmp_path: Path) -> None:
    port = unused_port()
    (tmp_path / "hourhand-data").mkdir()
    (tmp_path / "hourhand-data" / "hourhand.db.lock").write_text(f"http://127.0.0.1:{port} (pid 1)")
    assert f"no Hourhand answers at http://127.0.0.1:{port}" in groups(tmp_path).err


def test_a_lock_without_an_address_is_no_address(tmp_path: Path) -> None:
    (tmp_path / "hourhand-data").mkdir()
    (tmp_path / "hourhand-data" / "hourhand.db.lock").write_text("hourhand token create (pid 1)")
    with socket.socket() as default:
        taken = default.connect_ex(("127.0.0.1", 8420)) == 0
    assert taken or "no Hourhand answers at http://127.0.0.1:8420" in groups(tmp_path).err
