"""Doctor as a whole, and how it puts things: settings, the machine, and the order of it all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hourhand.model.checkup import DiskSeen, Given, PathSeen, SettingsSeen
from hourhand.model.diagnosis import Examined, Level, Program
from hourhand.rules import doctor, doctor_machine, doctor_settings, doctor_store
from hourhand.rules.doctor_words import length, named, plural, size
from unit.rules.checkups import AT, MACHINE, PROCESS, executor, found, one, sight, told


def test_nothing_seen_of_server_or_store_leaves_the_machine_and_the_settings() -> None:
    findings = doctor.examine(sight())
    assert {one.check.partition(".")[0] for one in findings} == {"settings", "clock", "tools", "machine"}
    assert {one.level for one in findings} == {Level.OK}


def test_what_could_not_be_looked_at_is_said() -> None:
    last = doctor.examine(sight(unread=(("store", "it took longer than 20 s"),)))
    (said,) = [one for one in last if one.check == "store.unread"]
    assert said.level is Level.WARNING
    assert "longer than 20 s" in said.summary


def test_findings_come_area_by_area_and_every_area_has_a_title() -> None:
    areas = [one.check.partition(".")[0] for one in doctor.examine(told(store=Examined(looked_at=AT)))]
    assert areas == sorted(areas, key=list(doctor.AREAS).index)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.25, "0.2 s"), (59, "59 s"), (600, "10 min"), (7_300, "2 h"), (200_000, "2 d")]
)
def test_lengths_of_time(seconds: float, words: str) -> None:
    assert length(seconds) == words


def test_numbers_and_names() -> None:
    assert (plural(1, "task"), plural(2_000, "task")) == ("1 task", "2,000 tasks")
    assert (size(3 * 2**30), size(5 * 2**20)) == ("3.0 GB", "5 MB")
    assert named("abc") == "a, b, c"
    assert named("abcdefg") == "a, b, c, d, e and 2 more"


def test_settings_are_told_with_where_they_come_from() -> None:
    given = (
        Given(name="port", source="HOURHAND_PORT", shown="9000", over="hourhand.toml"),
        Given(name="group", source="hourhand.toml", shown="billing"),
    )
    said = one(doctor_settings.sources, sight(settings=SettingsSeen(given=given)))
    assert "port = 9000  (HOURHAND_PORT, over hourhand.toml)" in said.summary
    assert "group = billing  (hourhand.toml)" in said.summary
    assert one(doctor_settings.sources, sight()).summary == "all settings are the defaults"


def test_wrong_settings_are_problems_and_useless_ones_warnings() -> None:
    settings = SettingsSeen(
        refused=("HOURHAND_PORT: 'x' is refused",),
        unknown=(("HOURHAND_PROT", "HOURHAND_PORT"), ("HOURHAND_ZZZ", None)),
        ignored=("url says this, and port says that",),
        open_file="hourhand.toml",
        plain_token=True,
    )
    seen = sight(settings=settings)
    assert one(doctor_settings.refused, seen).level is Level.PROBLEM
    misspelt, strange = found(doctor_settings.unknown, seen)
    assert misspelt.remedy == 'export HOURHAND_PORT="$HOURHAND_PROT"; unset HOURHAND_PROT'
    assert strange.remedy == "unset HOURHAND_ZZZ"
    assert one(doctor_settings.ignored, seen).level is Level.WARNING
    opened, plain = found(doctor_settings.kept_secret, seen)
    assert opened.remedy == "chmod 600 hourhand.toml"
    assert "plain text" in plain.summary
    assert found(doctor_settings.kept_secret, sight()) == []


@pytest.mark.parametrize(
    ("check", "changes", "level", "words"),
    [
        (doctor_machine.python, {}, "ok", "Python 3.12.1"),
        (doctor_machine.python, {"python": "3.10.2"}, "problem", "3.11 is the oldest"),
        (doctor_machine.account, {"root": True}, "warning", "root"),
        (doctor_machine.limits, {}, "ok", "65,536"),
        (doctor_machine.limits, {"open_files": 256}, "warning", "256 files"),
        (doctor_machine.zones, {}, "ok", "2026a"),
        (doctor_machine.zones, {"zones": "of an unknown version"}, "ok", "unknown"),
        (doctor_machine.zones, {"zones": "2019c"}, "warning", "2019c"),
        (doctor_machine.zones, {"zones": None}, "problem", "no time zone data"),
        (doctor_machine.synchronised, {}, "ok", "NTP"),
        (doctor_machine.synchronised, {"synchronised": False}, "warning", "clock"),
    ],
)
def test_the_machine(check: doctor.Check, changes: dict[str, object], level: str, words: str) -> None:
    said = one(check, sight(machine=replace(MACHINE, **changes)))  # type: ignore[arg-type]
    assert said.level == level
    assert words in said.summary


def test_of_what_is_not_known_of_the_machine_nothing_is_said() -> None:
    seen = sight(machine=replace(MACHINE, synchronised=None, memory_available=None))
    assert found(doctor_machine.synchronised, seen) == []
    assert [one.check for one in found(doctor_machine.room, seen)] == ["machine.temporary"]
    assert found(doctor_machine.account, sight()) == []


def test_a_server_with_few_files_is_told_of_too() -> None:
    assert "100 files" in one(doctor_machine.limits, told(replace(PROCESS, open_files=100))).summary


def test_memory_and_temporary_files() -> None:
    fine = found(doctor_machine.room, sight())
    assert [one.level for one in fine] == [Level.OK, Level.OK]
    narrow = replace(MACHINE, temporary_writable=False, memory_available=2**20)
    assert [one.level for one in found(doctor_machine.room, sight(machine=narrow))] == [Level.PROBLEM, Level.WARNING]


@pytest.mark.parametrize(
    ("free", "level", "words"),
    [
        (2**31, "ok", ", where 2.0 GB are free"),
        (2**29, "warning", "512 MB of 10.0 GB are free"),
        (2**26, "problem", "64 MB of 10.0 GB are free"),
    ],
)
def test_room_for_temporary_files(free: int, level: str, words: str) -> None:
    disk = DiskSeen(folder="/tmp", kind="ext4", free_bytes=free, total_bytes=10 * 2**30)  # noqa: S108 - nothing is written
    said = found(doctor_machine.room, sight(machine=replace(MACHINE, temporary_disk=disk)))[0]
    assert (said.check, said.level) == ("machine.temporary", level)
    assert words in said.summary
    assert bool(said.remedy) == (level != "ok")


@pytest.mark.parametrize(
    ("dump", "restore", "level", "words"),
    [
        ("15.18", "15.18", "ok", "backups of PostgreSQL by pg_dump 15.18, pg_restore 15.18"),
        ("15.18", None, "warning", "pg_restore is not on this machine, though pg_dump 15.18 is"),
        (None, "15.18", "warning", "pg_dump is not on this machine"),
        (None, None, "ok", "there is no pg_dump and no pg_restore"),
    ],
)
def test_programs_for_backups(dump: str | None, restore: str | None, level: str, words: str) -> None:
    tools = {"PostgreSQL": {"pg_dump": dump, "pg_restore": restore}}
    said = one(doctor_machine.backup_tools, sight(machine=replace(MACHINE, backup_tools=tools)))
    assert (said.check, said.level) == ("tools.backup", level)
    assert words in said.summary
    assert found(doctor_machine.backup_tools, sight()) == []


def test_programs_that_tasks_name_are_looked_for_where_an_executor_is() -> None:
    programs = (
        Program(group="default", name="backup", tasks=2, example="nightly"),
        Program(group="default", name="ls", tasks=1, example="list"),
        Program(group="default", name=None, tasks=1, example="shell"),
        Program(group="elsewhere", name="other", tasks=1, example="far"),
    )
    seen = told(store=Examined(looked_at=AT, programs=programs, executors=(executor(),)))
    seen = replace(seen, machine=replace(MACHINE, programs={"backup": False, "ls": True}))
    said = one(doctor_machine.tools, seen)
    assert "backup is not found" in said.summary
    assert "2 tasks" in said.summary
    assert said.remedy.startswith("hourhand task edit nightly")
    there = replace(seen, machine=replace(MACHINE, programs={"backup": True, "ls": True}))
    assert "2 programs that tasks name" in one(doctor_machine.tools, there).summary
    assert one(doctor_machine.tools, sight()).summary == "sh found"
    assert one(doctor_machine.tools, sight(machine=replace(MACHINE, tools={"sh": False}))).level is Level.PROBLEM


@pytest.mark.parametrize(("mode", "level"), [(0o700, "ok"), (0o750, "warning"), (0o777, "problem")])
def test_the_data_folder(mode: int, level: str) -> None:
    folder = PathSeen(path="/data dir", mode=mode, owner="ada", mine=True)
    said = one(doctor_store.folder, sight(machine=replace(MACHINE, data_dir=folder)))
    assert said.level == level
    assert said.remedy == ("" if level == "ok" else "chmod 700 '/data dir'")


@pytest.mark.parametrize("name", ["admin_token", "secret_key"])
def test_secret_files(name: str) -> None:
    for mode, level in ((0o600, "ok"), (0o640, "problem")):
        file = PathSeen(path="/data/it", mode=mode, owner="ada", mine=True)
        assert one(doctor_store.folder, sight(machine=replace(MACHINE, **{name: file}))).level == level  # type: ignore[arg-type]
