"""log_cleanup: old rows of a log table, and old files: exactly those that were listed, and nothing by way of a link."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.asking import execute, fetch
from operations.running import Interrupted, preview, run

if TYPE_CHECKING:
    from collections.abc import Mapping

GOLDEN = Path(__file__).parent / "golden"
DAY = 86_400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of log files, half of them old."""
    made = tmp_path.resolve() / "logs"
    for name in ("a.log", "b.log", "sub/c.log", "sub/deep/d.log", "new.log", "a.txt", ".hidden.log", "new/line\n.log"):
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
        if "new.log" not in name:
            aged(file)
    return made


def aged(file: Path, days: int = 10) -> None:
    then = time.time() - days * DAY
    os.utime(file, (then, then), follow_symlinks=False)


def left(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*") if not one.is_dir() or one.is_symlink()}


def listed(shown: Any) -> list[str]:
    steps = [step for step in shown.plan.steps if step.phase == "remove"]
    return [f"{step.values['folder']}/{path}" for step in steps for path, _ in step.values["files"]]


async def test_rows_and_files_go(source: Address, folder: Path) -> None:
    times = {Dialect.POSTGRESQL: "timestamptz", Dialect.MARIADB: "DATETIME"}.get(source.dialect, "TEXT")
    await execute(
        source,
        f"CREATE TABLE log (id integer PRIMARY KEY, at {times} NOT NULL, line text)",
        "INSERT INTO log VALUES (1, '2001-01-01 00:00:00', 'x'), (2, '2199-01-01 00:00:00', 'y')",
    )
    told = {"table": "log", "time_column": "at", "older_than": "5d", "files_glob": f"{folder}/*.log"}
    shown = await preview("log_cleanup", told, {"source": source})
    assert sorted(listed(shown)) == [f"{folder}/a.log", f"{folder}/b.log"]
    assert f'-- remove "{folder}/a.log": 5 bytes, last written ' in shown.script
    assert shown.impact.bytes == 10
    assert shown.plan == (await preview("log_cleanup", told, {"source": source})).plan
    ran = await run("log_cleanup", told, {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["rows_deleted"] == 1
    assert (ran.summary["files_removed"], ran.summary["bytes_removed"], ran.summary["files_left"]) == (2, 10, 0)
    assert await fetch(source, "SELECT id FROM log") == [(2,)]
    assert {"new.log", "a.txt", ".hidden.log", "sub/c.log"} <= left(folder)
    assert not {"a.log", "b.log"} & left(folder)
    again = await run("log_cleanup", told, {"source": source})
    assert (again.summary["rows_deleted"], again.summary["files_removed"]) == (0, 0)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*.log", ["a.log", "b.log", "new/line\n.log", "sub/c.log", "sub/deep/d.log"]),
        ("sub/*.log", ["sub/c.log"]),
        ("s*/[a-d].log", ["sub/c.log"]),
        ("**/deep/?.log", ["sub/deep/d.log"]),
        ("a.log", ["a.log"]),
        (".h*", [".hidden.log"]),
        ("nothing*", []),
    ],
)
async def test_patterns(sqlite_source: Address, folder: Path, pattern: str, expected: list[str]) -> None:
    told = {"older_than": "5d", "files_glob": f"{folder}/{pattern}"}
    shown = await preview("log_cleanup", told, {"source": sqlite_source})
    assert sorted(listed(shown)) == [f"{folder}/{one}" for one in expected]
    before = left(folder)
    ran = await run("log_cleanup", told, {"source": sqlite_source})
    assert ran.summary["files_removed"] == len(expected)
    assert before - left(folder) == set(expected)


async def test_links_are_not_followed(sqlite_source: Address, folder: Path) -> None:
    precious = folder.parent / "precious"
    precious.mkdir()
    (precious / "keep.log").write_text("keep")
    aged(precious / "keep.log")
    (folder / "linked.log").symlink_to(precious / "keep.log")
    (folder / "linked").symlink_to(precious)
    aged(folder / "linked.log")
    told = {"older_than": "5d", "files_glob": f"{folder}/**/*.log"}
    shown = await preview("log_cleanup", told, {"source": sqlite_source})
    assert not [one for one in listed(shown) if "linked" in one]
    await run("log_cleanup", told, {"source": sqlite_source})
    assert (precious / "keep.log").read_text() == "keep"
    assert (folder / "linked.log").is_symlink()
    with pytest.raises(InvalidInput, match=f"goes through a link: give the real path, {precious}/"):
        await preview("log_cleanup", {**told, "files_glob": f"{folder}/linked/*.log"}, {"source": sqlite_source})


async def test_what_changed_since_it_was_listed_stays(sqlite_source: Address, folder: Path) -> None:
    precious = folder.parent / "precious"
    precious.mkdir()
    (precious / "c.log").write_text("keep")
    aged(precious / "c.log")
    told = {"older_than": "5d", "files_glob": f"{folder}/**/*.log"}
    with pytest.raises(Interrupted) as first:
        await run("log_cleanup", told, {"source": sqlite_source}, stop_at=1)
    (folder / "a.log").write_text("written again")
    (folder / "b.log").unlink()
    (folder / "b.log").symlink_to(precious / "c.log")
    (folder / "sub").rename(folder / "was")
    (folder / "sub").symlink_to(precious)
    late = folder / "late.log"
    late.write_text("not listed")
    aged(late)
    ran = await run("log_cleanup", told, {"source": sqlite_source}, checkpoint=first.value.checkpoint)
    assert ran.summary["files_removed"] == 1
    assert ran.summary["files_left"] == 4
    assert "a.log: left: written since" in ran.lines
    assert "b.log: left: no longer a regular file" in ran.lines
    assert (precious / "c.log").exists()
    assert late.exists()


async def test_removing_is_gone_on_with(sqlite_source: Address, tmp_path: Path) -> None:
    many = tmp_path.resolve() / "many"  # noqa: ASYNC240 - a moment
    told = {"older_than": "5d", "files_glob": f"{many}/*.log"}
    for stop_at in range(1, 5):
        for lose_last in (False, True):
            many.mkdir(exist_ok=True)
            for n in range(120):
                (many / f"{n}.log").write_text("x" * n)
                aged(many / f"{n}.log")
            with pytest.raises(Interrupted) as first:
                await run("log_cleanup", told, {"source": sqlite_source}, stop_at=stop_at, lose_last=lose_last)
            ran = await run("log_cleanup", told, {"source": sqlite_source}, checkpoint=first.value.checkpoint)
            assert left(many) == set()
            assert (ran.summary["files_removed"], ran.summary["bytes_removed"]) == (120, 120 * 119 // 2)


BAD: list[tuple[Mapping[str, Any], str]] = [
    ({}, "nothing says what goes: give `table`, `files_glob` or both"),
    ({"files_glob": "/var/log/*.log"}, "files go by their age: give `older_than`"),
    ({"table": "log"}, "nothing says which rows go"),
    ({"table": "log", "time_column": "at"}, "nothing says which rows go"),
    ({"table": "log", "where": "a = 1", "time_column": "at"}, "time_column needs `older_than`"),
    ({"where": "a = 1", "older_than": "5d", "files_glob": "/var/log/x/*"}, "are about rows: give `table`"),
    ({"table": "log", "where": "a = 1", "older_than": "5d"}, "older_than and time_column belong together"),
    ({"table": "nolog", "where": "a = 1"}, "there is no table"),
    *(
        ({"files_glob": given, "older_than": "5d"}, message)
        for given, message in (
            ("/", "begins at the root|has an empty part"),
            ("/*", "begins at the root"),
            ("/*/x.log", "begins at the root"),
            ("/etc", "begins at the root"),
            ("~/logs/*.log", "is no absolute path"),
            ("logs/*.log", "is no absolute path"),
            ("/var/log/../*.log", r"`\.\.`"),
            ("/var//log/*", "has an empty part"),
            ("/var/log/**", r"may have one `\*\*`"),
            ("/var/log/**/x/**/*.log", r"may have one `\*\*`"),
            ("/nosuch/folder/*.log", "there is no /nosuch/folder"),
        )
    ),
]


async def test_what_cannot_be_planned_is_refused(sqlite_source: Address) -> None:
    for told, message in BAD:
        with pytest.raises(InvalidInput, match=message):
            await preview("log_cleanup", told, {"source": sqlite_source})


async def test_the_script_for_sql_server() -> None:
    server = {"mssql": Address(dialect=Dialect.SQLSERVER, database="shop")}
    told = {"table": "access_log", "older_than": "2y", "time_column": "at"}
    shown = await preview("log_cleanup", told, server)
    assert shown.script == (GOLDEN / "log_cleanup.sql").read_text()
    parsed = sqlglot.parse(shown.script, read="tsql")
    assert [one.sql("tsql") for one in parsed if isinstance(one, exp.Command)] == []
    assert re.search(r"DATEDIFF\(month, 0, SYSUTCDATETIME\(\)\) - 24, 0", shown.script)
    with pytest.raises(InvalidInput, match="files are removed by an executor"):
        await preview("log_cleanup", {**told, "files_glob": "/var/log/shop/*.log"}, server)
