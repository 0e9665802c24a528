"""What doctor makes of a store: its file, its schema, its database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hourhand.model.checkup import DiskSeen
from hourhand.model.diagnosis import Idle, Level
from hourhand.rules import doctor_store
from unit.rules.checkups import (
    FILE,
    MACHINE,
    ON_POSTGRESQL,
    ON_SQLITE,
    POSTGRESQL,
    SQLITE,
    database,
    found,
    one,
    sight,
    told,
)

GIGABYTE = 2**30


def on(store: Any = ON_SQLITE, **changes: Any) -> Any:
    return sight(store=replace(store, **changes))


def test_whether_it_can_be_read() -> None:
    assert found(doctor_store.reach, sight()) == []
    assert found(doctor_store.reach, on(left_out=True)) == []
    assert found(doctor_store.reach, on()) == []
    assert one(doctor_store.reach, on(file=FILE)).level is Level.OK
    assert "owned by serve, which was asked" in one(doctor_store.reach, on(file=FILE, owner="serve")).summary
    wrong = one(doctor_store.reach, on(file=FILE, error="no such file"))
    assert (wrong.level, wrong.remedy) == (Level.PROBLEM, "ls -l /data/hourhand.db")
    far = one(doctor_store.reach, on(ON_POSTGRESQL, error="refused"))
    assert far.remedy.startswith("psql postgresql://host/db ")


@pytest.mark.parametrize(
    ("changes", "level", "remedy"),
    [
        ({"revision": "0004"}, "ok", ""),
        ({"revision": "0002"}, "problem", "hourhand db upgrade --store postgresql://host/db"),
        ({"revision": "9999", "known": False}, "problem", "pip install --upgrade hourhand"),
        ({"revision": None}, "warning", "hourhand db upgrade --store postgresql://host/db"),
        ({"revision": None, "sqlite": True}, "warning", "hourhand serve"),
    ],
)
def test_the_schema(changes: dict[str, Any], level: str, remedy: str) -> None:
    said = one(doctor_store.schema, on(ON_POSTGRESQL, database=POSTGRESQL, newest="0004", **changes))
    assert (said.level, said.remedy) == (level, remedy)
    assert found(doctor_store.schema, sight()) == []


def test_who_may_read_the_file() -> None:
    assert found(doctor_store.file, on()) == []
    assert one(doctor_store.file, on(file=FILE)).level is Level.OK
    opened = one(doctor_store.file, on(file=replace(FILE, mode=0o644)))
    assert opened.remedy == "chmod 600 /data/hourhand.db /data/hourhand.db-*"
    foreign = one(doctor_store.file, on(file=replace(FILE, mine=False)))
    assert foreign.level is Level.PROBLEM
    assert "belongs to ada" in foreign.summary
    root = sight(store=replace(ON_SQLITE, file=replace(FILE, mine=False)), machine=replace(MACHINE, root=True))
    assert one(doctor_store.file, root).level is Level.OK
    shut = one(doctor_store.file, on(file=FILE, folder_writable=False))
    assert (shut.level, shut.remedy) == (Level.PROBLEM, "ls -ld /data")


def test_whether_the_file_is_whole() -> None:
    assert found(doctor_store.damage, on()) == []
    assert "too large" in one(doctor_store.damage, on(file=FILE)).summary
    assert one(doctor_store.damage, on(file=FILE, damage=())).level is Level.OK
    broken = one(doctor_store.damage, on(file=FILE, damage=("page 3 is never used", "and more")))
    assert (broken.level, broken.detail) == (Level.PROBLEM, "and more")
    assert "cannot be read" in one(doctor_store.damage, on(file=FILE, damage=("page 3",))).detail


@pytest.mark.parametrize(
    ("free", "kind", "levels"),
    [
        (50 * GIGABYTE, "ext4", ["ok"]),
        (GIGABYTE // 2, "ext4", ["warning"]),
        (GIGABYTE // 20, "ext4", ["problem"]),
        (50 * GIGABYTE, "nfs4", ["ok", "problem"]),
    ],
)
def test_the_disk(free: int, kind: str, levels: list[str]) -> None:
    disk = DiskSeen(folder="/data", kind=kind, free_bytes=free, total_bytes=100 * GIGABYTE)
    seen = sight(store=ON_SQLITE, machine=replace(MACHINE, disk=disk))
    assert [one.level for one in found(doctor_store.disk, seen)] == levels
    elsewhere = replace(seen, store=ON_POSTGRESQL)
    assert [one.level for one in found(doctor_store.disk, elsewhere)] == levels[:1]
    assert found(doctor_store.disk, sight()) == []


@pytest.mark.parametrize(
    ("facts", "changes", "level"),
    [
        (SQLITE, {}, "ok"),
        (SQLITE, {"version": "3.34.1"}, "problem"),
        (POSTGRESQL, {}, "ok"),
        (POSTGRESQL, {"version": "13.9", "major": 13}, "problem"),
    ],
)
def test_the_databases_version(facts: Any, changes: dict[str, Any], level: str) -> None:
    assert one(doctor_store.database_version, database(facts, **changes)).level == level
    assert found(doctor_store.database_version, sight()) == []


@pytest.mark.parametrize(
    ("setting", "value", "level"),
    [
        ("fsync", "on", "ok"),
        ("fsync", "off", "problem"),
        ("full_page_writes", "off", "problem"),
        ("synchronous_commit", "off", "warning"),
        ("synchronous_commit", "remote_apply", "ok"),
    ],
)
def test_durability_of_postgresql(setting: str, value: str, level: str) -> None:
    seen = database(POSTGRESQL, settings={**POSTGRESQL.settings, setting: value})
    assert one(doctor_store.durability, seen).level == level


def test_durability_of_sqlite() -> None:
    assert one(doctor_store.durability, told()).level is Level.OK
    seen = database(SQLITE, settings={"journal_mode": "delete"})
    assert "journal mode is delete" in one(doctor_store.durability, seen).summary
    assert found(doctor_store.durability, sight()) == []


def test_privileges() -> None:
    assert found(doctor_store.privileges, told()) == []
    assert one(doctor_store.privileges, database(POSTGRESQL)).level is Level.OK
    seen = database(POSTGRESQL, read_only=True, tables_lacking=("tasks",), may_create=False)
    said = found(doctor_store.privileges, seen)
    assert [one.level for one in said] == [Level.PROBLEM] * 3
    assert "tasks" in said[1].summary


def test_connections() -> None:
    assert found(doctor_store.sessions, told()) == []
    fine = one(doctor_store.sessions, database(POSTGRESQL, connections=20, connections_of_ours=13))
    assert "20 of 97 connections are in use, 13 by Hourhand; there is room for 5 more processes" in fine.summary
    full = one(doctor_store.sessions, database(POSTGRESQL, connections=90))
    assert full.level is Level.WARNING
    idle = (Idle(pid=7, application="", seconds=900), Idle(pid=8, application="psql", seconds=400))
    said = found(doctor_store.sessions, database(POSTGRESQL, idle=idle))[1:]
    assert [one.remedy for one in said] == [f"psql -c 'SELECT pg_terminate_backend({pid})'" for pid in (7, 8)]
    assert "(nameless)" in said[0].summary


def test_vacuum() -> None:
    assert found(doctor_store.vacuum, told()) == []
    assert one(doctor_store.vacuum, database(POSTGRESQL)).level is Level.OK
    off = database(POSTGRESQL, settings={**POSTGRESQL.settings, "autovacuum": "off"})
    assert one(doctor_store.vacuum, off).level is Level.PROBLEM
    behind = one(doctor_store.vacuum, database(POSTGRESQL, dead_rows=1_000_000, live_rows=10))
    assert behind.level is Level.WARNING
    busy = one(doctor_store.vacuum, database(POSTGRESQL, dead_rows=1_000_000, live_rows=900_000))
    assert busy.level is Level.OK
