"""`hourhand doctor` sees what is wrong, each of it really so, says it in words, and changes nothing."""

from __future__ import annotations

import re
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from api.cli import Ran, Terminal, run_here
from api.impostor import impostor
from hourhand import __version__
from hourhand.cli import doctor_reading
from hourhand.rules.doctor import AREAS
from hourhand.store import migrate
from postgres import free_port
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hourhand.store import Store

EXPECTED = {"machine.root", "server.root", "clock.ntp"}
"""Tests may be run by root, and on machines whose clock nobody sets."""
Findings = dict[str, list[dict[str, str]]]


def findings(ran: Ran) -> Findings:
    assert "Traceback" not in ran.err
    found: Findings = {}
    for one in ran.json["findings"]:
        assert one.keys() == {"check", "level", "summary", "detail", "remedy"}
        found.setdefault(one["check"], []).append(one)
    problems = any(one["level"] == "problem" for several in found.values() for one in several)
    assert ran.code == (1 if problems else 0)
    return found


def wrong(found: Findings) -> dict[str, str]:
    """What is not as it should be, by check."""
    return {
        check: one["level"]
        for check, several in found.items()
        for one in several
        if one["level"] != "ok" and check not in EXPECTED
    }


def doctor(folder: Path, *arguments: str, **environment: str) -> Findings:
    return findings(run_here(folder, "doctor", "--json", *arguments, **environment))


def tree(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return what is there; but SQLite's shared memory, which every reader touches."""
    found = [one for one in sorted(folder.rglob("*")) if not one.name.endswith("-shm")]
    return {str(one): (one.stat().st_size, one.stat().st_mtime_ns, one.stat().st_mode) for one in found}


@pytest.fixture
def nowhere() -> dict[str, str]:
    """Return the settings of somebody whose port nobody listens on."""
    return {"HOURHAND_PORT": str(free_port())}


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a store that these tests alone change."""
    with Served(tmp_path_factory.mktemp("apart")) as served:
        yield served


def test_a_newcomer_is_told_how_to_begin_and_nothing_is_made(tmp_path: Path, nowhere: dict[str, str]) -> None:
    ran = run_here(tmp_path, "doctor", **nowhere)
    assert (ran.code, ran.err) == (0, "")
    assert "! nothing here yet: `hourhand serve` starts one" in ran.out
    assert "→ hourhand serve\n" in ran.out
    assert tree(tmp_path) == {}


def test_all_is_well_beside_a_running_server(apart: Served) -> None:
    found = doctor(apart.folder)
    assert wrong(found) == {}
    assert apart.address in found["server.reachable"][0]["summary"]
    assert found["server.version"][0]["summary"] == f"the server and this command are both {__version__}"
    assert "which was asked" in found["store.reachable"][0]["summary"]
    assert {"schedulers.alive", "executors.alive", "audit.sealed", "store.integrity", "clock.server"} <= found.keys()
    ran = run_here(apart.folder, "doctor")
    assert "✓ the token is 'admin', with the role admin" in ran.out
    assert "Schedulers\n" in ran.out


def test_it_fits_a_narrow_terminal(tmp_path: Path, nowhere: dict[str, str]) -> None:
    ran = run_here(tmp_path, "doctor", COLUMNS="40", **nowhere)
    assert max(len(line) for line in ran.out.splitlines() if "→" not in line) <= 40
    assert "nothing here yet" in ran.out


def test_a_wrong_token_and_one_that_may_not_know(apart: Served) -> None:
    found = doctor(apart.folder, HOURHAND_TOKEN="hh_guessed")  # noqa: S106 - it is none
    assert wrong(found)["server.token"] == "problem"
    assert "refuses the token" in found["server.token"][0]["summary"]
    token = Terminal(apart)("token", "create", "looker", "--role", "viewer").out.strip()
    found = doctor(apart.folder, HOURHAND_TOKEN=token)
    assert wrong(found) == {"server.diagnosis": "warning"}
    assert "operator" in found["server.diagnosis"][0]["summary"]


def test_what_no_executor_can_execute_is_named(apart: Served) -> None:
    hourhand = Terminal(apart)
    hourhand.done("group", "add", "far")
    hourhand.done("task", "add", "distant", "--command", "true", "--group", "far")
    hourhand.done("task", "add", "heavy", "--command", "true", "--label", "gpu=yes")
    hourhand.done("task", "add", "handled", "--handler", "close_books")
    hourhand.done("task", "add", "unknown", "--command", "no-such-program-here")
    found = doctor(apart.folder)
    assert wrong(found) == {
        "executors.group": "problem",
        "executors.labels": "problem",
        "executors.handlers": "problem",
        "tools.program": "warning",
    }
    assert found["executors.group"][0]["remedy"] == "hourhand serve --group far"
    assert "'heavy'" in found["executors.labels"][0]["summary"]
    assert "python:default" in found["executors.handlers"][0]["summary"]
    assert "no-such-program-here" in found["tools.program"][0]["summary"]
    hourhand.done("task", "disable", "--all", "--yes")
    assert wrong(doctor(apart.folder)) == {}


@pytest.mark.parametrize(
    ("programs", "level", "words"),
    [
        ({}, "ok", "there is no mariadb-dump and no mariadb"),
        ({"mariadb-dump": "Ver 10.19 Distrib 10.11.19-MariaDB, for x"}, "warning", "mariadb is not on this machine"),
        (
            {"mariadb-dump": "from 11.4.2-MariaDB, client 10.19", "mysql": "Ver 8.0.36 for Linux"},
            "ok",
            "mariadb-dump 11.4.2, mysql 8.0.36",
        ),
        ({"mariadb-dump": "", "mariadb": "says nothing"}, "ok", "mariadb of an unknown version"),
    ],
)
def test_programs_for_backups(
    tmp_path: Path, nowhere: dict[str, str], programs: dict[str, str], level: str, words: str
) -> None:
    for name, version in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{name}  {version}'\n")
        (tmp_path / name).chmod(0o755)
    said = doctor(tmp_path, **nowhere, PATH=str(tmp_path))["tools.backup"]
    assert "no pg_dump" in said[0]["summary"]
    assert said[1]["level"] == level
    assert words in said[1]["summary"]


def test_pauses_are_told(apart: Served) -> None:
    hourhand = Terminal(apart)
    pause = hourhand.done("pause", "all", "--reason", "the data centre moves", "--json").json
    found = doctor(apart.folder)
    hourhand.done("pause", "resume", str(pause["id"]))
    assert wrong(found) == {"engine.paused": "warning"}
    assert "the data centre moves" in found["engine.paused"][0]["summary"]


def test_files_that_others_may_read(apart: Served) -> None:
    data = apart.token_file.parent
    for path, mode, check, level in (
        (apart.token_file, 0o644, "files.token", "problem"),
        (data, 0o755, "files.folder", "warning"),
        (data, 0o777, "files.folder", "problem"),
        (data / "hourhand.db", 0o644, "store.file", "warning"),
    ):
        before = path.stat().st_mode
        path.chmod(mode)
        try:
            found = doctor(apart.folder)
        finally:
            path.chmod(before)
        assert wrong(found) == {check: level}
        assert found[check][0]["remedy"].startswith("chmod ")


def test_a_server_that_hangs_does_not_hold_doctor_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_reading, "ANSWER_SECONDS", 1.0)
    with Served(tmp_path) as served:
        served.process.send_signal(signal.SIGSTOP)
        try:
            found = doctor(tmp_path)
        finally:
            served.process.send_signal(signal.SIGCONT)
    assert wrong(found)["server.reachable"] == "problem"
    assert f"(pid {served.process.pid}) owns the store, and does not answer" in found["server.reachable"][0]["summary"]


def test_what_takes_too_long_is_left_out_and_said(
    tmp_path: Path, nowhere: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_reading, "STORE_SECONDS", 0.05)
    monkeypatch.setattr(doctor_reading, "owner_of", lambda _: signal.pause())
    (tmp_path / "hourhand-data").mkdir()
    (tmp_path / "hourhand-data" / "hourhand.db").touch()
    found = doctor(tmp_path, **nowhere)
    assert "took longer than 0.05 s" in found["store.unread"][0]["summary"]


def test_a_store_whose_server_has_stopped_is_looked_at_and_left_as_it_is(
    tmp_path: Path, nowhere: dict[str, str]
) -> None:
    with Served(tmp_path):
        pass
    before = tree(tmp_path)
    found = doctor(tmp_path, **nowhere)
    assert wrong(found) == {"server.reachable": "problem"}
    assert found["server.reachable"][0]["remedy"] == "hourhand serve"
    assert found["store.durability"][0]["summary"] == "SQLite keeps a write-ahead log"
    assert tree(tmp_path) == before


def test_a_damaged_file_and_one_that_is_none(tmp_path: Path, nowhere: dict[str, str]) -> None:
    store = tmp_path / "some.db"
    store.write_bytes(b"this is a letter to somebody" * 1_000)
    found = doctor(tmp_path, "--store", f"sqlite:///{store}", **nowhere)
    assert wrong(found)["store.reachable"] == "problem"
    assert "not a database" in found["store.reachable"][0]["summary"]


def test_older_and_newer_schemas(tmp_path: Path, nowhere: dict[str, str]) -> None:
    store = tmp_path / "some.db"
    store.touch(mode=0o600)
    arguments = ("--store", f"sqlite:///{store}")
    empty = doctor(tmp_path, *arguments, **nowhere)
    assert (wrong(empty)["store.schema"], empty["store.schema"][0]["remedy"]) == ("warning", "hourhand serve")
    migrate._on_sqlite(store, lambda connection: migrate._upgrade(connection, "0002"))  # noqa: SLF001 - an older release
    older = doctor(tmp_path, *arguments, **nowhere)["store.schema"][0]
    assert older["level"] == "problem"
    assert older["remedy"] == f"hourhand db upgrade --store sqlite:///{store}"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    newer = doctor(tmp_path, *arguments, **nowhere)["store.schema"][0]
    assert (newer["level"], newer["remedy"]) == ("problem", "pip install --upgrade hourhand")


def test_settings_that_are_wrong_misspelt_or_hidden(tmp_path: Path, nowhere: dict[str, str]) -> None:
    toml = tmp_path / "hourhand.toml"
    toml.write_text('port = 9000\ngroup = "billing"\ntoken = "hh_secret"\n')
    toml.chmod(0o644)
    found = doctor(tmp_path, HOURHAND_PROT="9001", HOURHAND_INSTANCE_ID="7", **nowhere)
    given = found["settings.sources"][0]["summary"]
    assert f"port = {nowhere['HOURHAND_PORT']}  (HOURHAND_PORT, over hourhand.toml)" in given
    assert "group = billing  (hourhand.toml)" in given
    assert "token = ***" in given
    (misspelt,) = found["settings.unknown"]
    assert misspelt["summary"] == "HOURHAND_PROT is no setting: did you mean HOURHAND_PORT?"
    assert found["settings.secrets"][0]["remedy"] == "chmod 600 hourhand.toml"
    toml.write_text("prot = 9000\n")
    found = doctor(tmp_path)
    assert wrong(found) == {"settings.refused": "problem"}
    assert "prot in hourhand.toml" in found["settings.refused"][0]["summary"]
    toml.unlink()
    found = doctor(tmp_path, HOURHAND_PORT="far")
    assert "HOURHAND_PORT" in found["settings.refused"][0]["summary"]
    found = doctor(tmp_path, HOURHAND_URL="http://127.0.0.1:1", HOURHAND_PORT="2")
    assert "commands ask the one" in found["settings.conflict"][0]["summary"]


def test_clocks_that_differ(tmp_path: Path, apart: Served) -> None:
    for seconds, level in ((3.0, "warning"), (-60.0, "problem")):
        with impostor(apart, ahead=seconds) as address:
            found = doctor(tmp_path, HOURHAND_URL=address, HOURHAND_TOKEN=apart.token)
        assert wrong(found) == {"clock.server": level}
        assert ("ahead of" if seconds > 0 else "behind") in found["clock.server"][0]["summary"]


def test_a_server_of_another_release_and_one_that_is_none(tmp_path: Path, apart: Served) -> None:
    with impostor(apart, version="99.1") as address:
        found = doctor(tmp_path, HOURHAND_URL=address, HOURHAND_TOKEN=apart.token)
    assert wrong(found) == {"server.version": "warning", "executors.version": "warning"}
    with impostor(apart, stranger=True) as address:
        found = doctor(tmp_path, HOURHAND_URL=address, HOURHAND_TOKEN=apart.token)
    assert wrong(found) == {"server.reachable": "problem"}
    assert "no Hourhand" in found["server.reachable"][0]["detail"]


def test_a_cluster_without_anybody_at_work(tmp_path: Path, postgresql_url: str, nowhere: dict[str, str]) -> None:
    found = doctor(tmp_path, "--store", postgresql_url, **nowhere)
    assert wrong(found) == {
        "server.reachable": "warning",
        "schedulers.alive": "problem",
        "executors.alive": "warning",
    }
    assert "PostgreSQL" in found["store.version"][0]["summary"]
    assert {"store.privileges", "store.connections", "logs.partitions", "clock.store"} <= found.keys()


def _alter(name: str, setting: str) -> str:
    return f'ALTER DATABASE "{name}" {setting}'


def test_a_database_that_forgets_or_takes_no_changes(
    tmp_path: Path, postgresql_url: str, nowhere: dict[str, str], cluster: Any
) -> None:
    name = postgresql_url.rpartition("/")[2]
    for setting, value, check, level in (
        ("synchronous_commit", "off", "store.durability", "warning"),
        ("default_transaction_read_only", "on", "store.privileges", "problem"),
    ):
        cluster.sql(_alter(name, f"SET {setting} = {value}"))
        try:
            found = doctor(tmp_path, "--store", postgresql_url, **nowhere)
        finally:
            cluster.sql(_alter(name, f"RESET {setting}"))
        assert wrong(found)[check] == level


def test_a_database_that_cannot_be_reached(tmp_path: Path, nowhere: dict[str, str], cluster: Any) -> None:
    for url in (f"postgresql://me:canary@127.0.0.1:{free_port()}/db", cluster.url("no_such_database")):
        ran = run_here(tmp_path, "doctor", "--json", "--store", url, **nowhere)
        found = findings(ran)
        assert wrong(found)["store.reachable"] == "problem"
        assert "canary" not in ran.out


async def test_a_scheduler_that_has_stopped(tmp_path: Path, store: Store, store_url: str) -> None:
    from contracts.world import World  # noqa: PLC0415 - shorthand for this test alone

    world = World(store)
    await store.sign_cycle("s1")
    unit = "600000000" if store_url.startswith("sqlite") else "interval '10 minutes'"
    await world.execute(f"UPDATE leases SET lease_until = lease_until - {unit}")  # noqa: S608 - a test's own words
    found = await _beside(doctor, tmp_path, "--store", store_url)
    assert wrong(found)["schedulers.alive"] == "problem"
    assert "no scheduler was seen for 10 min" in found["schedulers.alive"][0]["summary"]


async def _beside(work: Callable[..., Findings], *arguments: Any) -> Findings:
    import asyncio  # noqa: PLC0415 - so that the loop of this test goes on

    return await asyncio.to_thread(work, *arguments, HOURHAND_PORT=str(free_port()))


async def test_a_key_that_is_missing(tmp_path: Path, store: Store, store_url: str) -> None:
    assert await store.agree_on_key("0" * 64)
    found = await _beside(doctor, tmp_path, "--store", store_url)
    assert wrong(found)["secrets.key"] == "problem"
    assert "has no key of secrets" in found["secrets.key"][0]["summary"]


def test_every_check_is_described() -> None:
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "howto" / "doctor.md").read_text("utf-8")
    areas = "|".join(AREAS)
    names = {
        name
        for file in (root / "src" / "hourhand" / "rules").glob("doctor_*.py")
        for name in re.findall(rf'"((?:{areas})\.[a-z]+)"', file.read_text("utf-8"))
    }
    assert len(names) > 40
    assert {name for name in names if f"`{name}`" not in page} == set()
