"""database_backup: what is kept can be restored; what is not whole is never taken for a backup."""

# ruff: noqa: ASYNC220, ASYNC221, ASYNC240 - a test may wait for programs and files

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.addresses import maria_address, postgres_address
from operations.asking import count, execute, fetch, postgres_connection, quoted
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run

if TYPE_CHECKING:
    from mariadb import MariaServer
    from postgres import Cluster

GOLDEN = Path(__file__).parent / "golden" / "database_backup.sql"
SQL_SERVER = Address(dialect=Dialect.SQLSERVER, host="db.example.com", database="shop")
HOSTILE = 'order "by" `%s` 中\'x'
KIND = "database_backup"


async def filled(source: Address, rows: int = 50) -> None:
    table = quoted(source.dialect, HOSTILE)
    values = ", ".join(f"({n}, 'it''s {n}')" for n in range(1, rows + 1))
    await execute(
        source,
        f"CREATE TABLE {table} (id integer PRIMARY KEY, note varchar(50))",
        f"INSERT INTO {table} VALUES {values}",
        "CREATE TABLE empty_one (id integer)",
    )


def backups(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture
def output(tmp_path: Path) -> Path:
    made = tmp_path / "back ups"
    made.mkdir()
    return made


async def test_it_is_written_read_back_restored_and_kept(source: Address, output: Path) -> None:
    await filled(source)
    config = {"output_dir": str(output), "verify_restore": True}
    shown = await preview(KIND, config, {"source": source})
    assert not shown.plan.unmet, shown.plan.unmet
    assert "{started}.tmp" in shown.script
    assert shown.plan_hash == (await preview(KIND, config, {"source": source})).plan_hash
    assert backups(output) == []
    ran = await run(KIND, config, {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.phases == ["plan", "prepare", "dump", "verify", "restore", "keep"]
    (name,) = backups(output)
    folder = output / name
    assert ran.summary["backup_reference"] == str(folder)
    assert ran.summary["restored"]["tables"] == 2
    assert ran.summary["restored"]["rows"] == 50
    manifest = json.loads((folder / "hourhand-backup.json").read_text())
    assert manifest["database"] == source.database
    assert sum(one["bytes"] for one in manifest["files"]) == ran.summary["bytes"] > 0
    assert folder.stat().st_mode & 0o077 == 0
    await assert_no_scratch(source)


async def assert_no_scratch(source: Address) -> None:
    query = {
        Dialect.POSTGRESQL: "SELECT datname FROM pg_database WHERE datname LIKE '\\_hh\\_%'",
        Dialect.MARIADB: "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE '\\_hh\\_%'",
    }.get(source.dialect)
    if query is not None:
        assert await fetch(source, query) == []


async def test_a_dump_of_postgresql_restores_by_hand(
    pg_source: Address, pg_target: Address, output: Path, postgres_server: Cluster
) -> None:
    await filled(pg_source)
    ran = await run(KIND, {"output_dir": str(output), "compression": "none"}, {"source": pg_source})
    dump = Path(ran.summary["backup_reference"]) / "dump"
    command = ["pg_restore", "-h", "127.0.0.1", "-p", str(postgres_server.port), "-U", "postgres", "-d"]
    subprocess.run([*command, str(pg_target.database), str(dump)], check=True)
    assert await count(pg_target, quoted(Dialect.POSTGRESQL, HOSTILE)) == 50


async def test_a_dump_of_mariadb_restores_by_hand(maria_source: Address, output: Path) -> None:
    await filled(maria_source)
    ran = await run(KIND, {"output_dir": str(output)}, {"source": maria_source})
    text = gzip.decompress((Path(ran.summary["backup_reference"]) / "dump.sql.gz").read_bytes()).decode()
    assert "INSERT INTO" in text
    assert "it\\'s 50" in text


async def test_a_copy_of_sqlite_is_a_database(sqlite_source: Address, output: Path) -> None:
    await filled(sqlite_source)
    ran = await run(KIND, {"output_dir": str(output)}, {"source": sqlite_source})
    copy = sqlite3.connect(Path(ran.summary["backup_reference"]) / "database.db")
    assert copy.execute("SELECT count(*) FROM " + quoted(Dialect.SQLITE, HOSTILE)).fetchone() == (50,)
    copy.close()


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
async def test_each_compression_of_mariadb(maria_source: Address, output: Path, compression: str) -> None:
    await filled(maria_source, rows=3)
    config = {"output_dir": str(output), "compression": compression, "verify_restore": True}
    ran = await run(KIND, config, {"source": maria_source})
    assert ran.summary["restored"] == {"tables": 2, "rows": 3, "not_compared": []}


async def test_a_whole_server(postgres_server: Cluster, pg_source: Address, output: Path) -> None:
    await filled(pg_source)
    others = [postgres_server.create_database() for _ in range(9)]  # more files than a checkpoint could name
    config = {"output_dir": str(output), "method": "physical"}
    ran = await run(KIND, config, {"source": pg_source})
    for other in others:
        postgres_server.drop_database(other)
    base = Path(ran.summary["backup_reference"]) / "base"
    assert (base / "backup_manifest").exists()
    files = json.loads((base.parent / "hourhand-backup.json").read_text())["files"]
    assert len(files) == ran.summary["files"] > 2_700
    assert (base / "PG_VERSION").read_text().strip() == postgres_server.bin.parent.name
    for more in ({"verify_restore": True}, {"compression": "gzip"}):
        with pytest.raises(InvalidInput, match=f"config.{next(iter(more))}: a physical backup"):
            await preview(KIND, {**config, **more}, {"source": pg_source})


@pytest.mark.parametrize("lose_last", [False, True])
async def test_what_is_interrupted_is_gone_on_with(source: Address, output: Path, *, lose_last: bool) -> None:
    await filled(source, rows=5)
    config = {"output_dir": str(output), "verify_restore": True}
    # After the write, the trial and the last rename; where it costs little, everywhere.
    for stop_at in range(1, 8) if source.dialect is Dialect.SQLITE else (4, 6, 7):
        with pytest.raises(Interrupted) as first:
            await run(KIND, config, {"source": source}, stop_at=stop_at, lose_last=lose_last)
        ran = await run(KIND, config, {"source": source}, checkpoint=first.value.checkpoint)
        whole = Path(ran.summary["backup_reference"])
        assert backups(output) == [whole.name]
        await assert_no_scratch(source)
        subprocess.run(["rm", "-r", str(whole)], check=True)


async def test_on_another_machine_it_begins_again(source: Address, output: Path) -> None:
    await filled(source, rows=5)
    config = {"output_dir": str(output)}
    with pytest.raises(Interrupted) as first:
        await run(KIND, config, {"source": source}, stop_at=5)
    (half,) = backups(output)
    subprocess.run(["rm", "-r", str(output / half)], check=True)
    ran = await run(KIND, config, {"source": source}, checkpoint=first.value.checkpoint)
    assert any("begins again" in line for line in ran.lines)
    assert backups(output) == [Path(ran.summary["backup_reference"]).name]


async def until_none_runs(output: Path) -> None:
    """The kernel ends it at once, and may take a moment to forget it."""
    async with asyncio.timeout(60):
        while subprocess.run(["pgrep", "-f", f"pg_dump.*{output}"], capture_output=True, check=False).stdout:
            await asyncio.sleep(0.05)


async def test_programs_die_with_the_executor(
    pg_source: Address, output: Path, tmp_path: Path, postgres_server: Cluster
) -> None:
    await filled(pg_source, rows=5)
    locked = quoted(Dialect.POSTGRESQL, HOSTILE)
    holder = subprocess.Popen(
        [
            "psql", "-h", "127.0.0.1", "-p", str(postgres_server.port), "-U", "postgres", str(pg_source.database),
            "-c", f"BEGIN; LOCK {locked}; SELECT pg_sleep(600)",
        ]
    )  # fmt: skip
    try:
        while not await fetch(pg_source, "SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"):
            await asyncio.sleep(0.05)
        config = {"output_dir": str(output)}
        waits = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock'"

        dead = asyncio.ensure_future(run_and_kill(KIND, config, {"source": pg_source}, tmp_path, when=lambda _: False))
        while not await fetch(pg_source, waits):
            assert not dead.done(), dead.result()
            await asyncio.sleep(0.05)
        dead.cancel()  # which kills the process
        with pytest.raises(asyncio.CancelledError):
            await dead
        await until_none_runs(output)
    finally:
        holder.kill()
        holder.wait()
    await execute(pg_source, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'")
    ran = await run(
        KIND, config, {"source": pg_source}, checkpoint=json.loads((tmp_path / "checkpoint.json").read_text())
    )
    assert backups(output) == [Path(ran.summary["backup_reference"]).name]


async def test_a_cancel_ends_the_program(pg_source: Address, output: Path) -> None:
    await filled(pg_source, rows=5)
    async with postgres_connection(pg_source) as other, other.transaction():
        await other.execute(f"LOCK {quoted(Dialect.POSTGRESQL, HOSTILE)}")
        running = asyncio.ensure_future(run(KIND, {"output_dir": str(output)}, {"source": pg_source}))
        while not await fetch(pg_source, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pg_dump'"):
            await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until_none_runs(output)
    assert all(name.endswith(".tmp") for name in backups(output))


async def test_only_its_own_old_ones_are_removed(source: Address, output: Path) -> None:
    await filled(source, rows=5)
    config = {"output_dir": str(output), "retain_count": 2}
    (output / "mine").mkdir()
    (output / "mine" / "file").write_text("not a backup")
    other = await run(KIND, {"output_dir": str(output)}, {"other": source})
    made = []
    for number in range(3):
        ran = await run(KIND, config, {"source": source})
        folder = Path(ran.summary["backup_reference"])
        # Each as if of another day.
        aged = folder.with_name(f"aged-{number}")
        folder.rename(aged)
        manifest = json.loads((aged / "hourhand-backup.json").read_text())
        manifest["started"] = f"2020010{number}T000000Z"
        (aged / "hourhand-backup.json").write_text(json.dumps(manifest))
        made.append(aged)
    last = await run(KIND, config, {"source": source})
    assert last.summary["removed"] == [str(made[1])]
    assert backups(output) == sorted(
        [Path(one.summary["backup_reference"]).name for one in (other, last)] + ["aged-2", "mine"]
    )


async def test_no_old_one_goes_before_the_new_one_is_whole(maria_source: Address, output: Path) -> None:
    await filled(maria_source, rows=5)
    config = {"output_dir": str(output), "retain_count": 1, "compression": "none"}
    first = await run(KIND, config, {"source": maria_source})
    await execute(
        maria_source, "CREATE VIEW broken AS SELECT id FROM empty_one", "ALTER TABLE empty_one DROP id, ADD other int"
    )
    ran = await run(KIND, config, {"source": maria_source})
    assert "mariadb-dump ended with" in ran.error
    assert Path(first.summary["backup_reference"]).name in backups(output)


async def test_what_is_missing_is_told_with_what_would_help(
    pg_source: Address, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(output))
    monkeypatch.setattr("hourhand.operations.programs._FOLDERS", "/nowhere/*")
    plan = (await preview(KIND, {"output_dir": str(output)}, {"source": pg_source})).plan
    assert "there is no program pg_dump on this machine: install the package postgresql-client" in plan.unmet[0].detail
    old = output / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.24'\n")
    old.chmod(0o755)
    plan = (await preview(KIND, {"output_dir": str(output)}, {"source": pg_source})).plan
    assert any("pg_dump 9, server" in one.detail and "install postgresql-client-" in one.detail for one in plan.unmet)


async def test_without_rights_it_is_told(pg_source: Address, output: Path) -> None:
    await execute(
        pg_source, "DO $$ BEGIN CREATE ROLE backup_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    reader = replace(pg_source, username="backup_reader", password=None)
    for more, right in (({"verify_restore": True}, "CREATEDB"), ({"method": "physical"}, "REPLICATION")):
        plan = (await preview(KIND, {"output_dir": str(output), **more}, {"source": reader})).plan
        assert [one.name for one in plan.unmet] == [right]


@pytest.mark.parametrize("folder", ["backups", "../backups", "/tmp/../etc"])  # noqa: S108
async def test_a_folder_must_be_absolute(sqlite_source: Address, folder: str) -> None:
    with pytest.raises(InvalidInput, match=r"config.output_dir: .* is not absolute: give the whole path"):
        await preview(KIND, {"output_dir": folder}, {"source": sqlite_source})


async def test_a_folder_must_be_there(source: Address, tmp_path: Path) -> None:
    plan = (await preview(KIND, {"output_dir": str(tmp_path / "none")}, {"source": source})).plan
    assert [one.name for one in plan.unmet] == ["output_dir"]
    assert "is no folder: make it" in plan.unmet[0].detail


@pytest.mark.parametrize(
    ("more", "field"), [({"method": "physical"}, "method"), ({"compression": "gzip"}, "compression")]
)
async def test_what_sqlite_does_not_do(sqlite_source: Address, output: Path, more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"config.{field}"):
        await preview(KIND, {"output_dir": str(output), **more}, {"source": sqlite_source})


async def test_mariadb_is_not_copied_physically(maria_source: Address, output: Path) -> None:
    with pytest.raises(InvalidInput, match=r"config.method: .*mariadb-backup"):
        await preview(KIND, {"output_dir": str(output), "method": "physical"}, {"source": maria_source})


async def test_a_database_by_any_name(maria_server: MariaServer, postgres_server: Cluster, output: Path) -> None:
    url = postgres_server.create_database(name="a=b 'x'")
    try:
        source = postgres_address(postgres_server, url)
        await filled(source, rows=2)
        ran = await run(KIND, {"output_dir": str(output), "verify_restore": True}, {"source": source})
        assert ran.summary["restored"]["rows"] == 2
    finally:
        postgres_server.drop_database(url)
    url = maria_server.create_database(name="-x 'y'")
    try:
        there = maria_address(maria_server, url)
        await filled(there, rows=2)
        ran = await run(KIND, {"output_dir": str(output), "verify_restore": True}, {"source": there})
        assert ran.summary["restored"]["rows"] == 2
    finally:
        maria_server.sql("DROP DATABASE `-x 'y'`")


async def test_no_password_is_on_a_command_line(maria_source: Address, output: Path, tmp_path: Path) -> None:
    """A program in place of mariadb-dump notes what it was given, and what mode its option file has."""
    await filled(maria_source, rows=1)
    folder = tmp_path / "bin"
    folder.mkdir()
    fake, noted = folder / "mariadb-dump", tmp_path / "noted"
    fake.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exec /usr/bin/mariadb-dump --version\n'
        f"echo \"$@\" > '{noted}'\nstat -c %a \"${{1#--defaults-file=}}\" >> '{noted}'\n"
        'exec /usr/bin/mariadb-dump "$@"\n'
    )
    fake.chmod(0o755)
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{folder}:{before}"
    try:
        await run(KIND, {"output_dir": str(output)}, {"source": maria_source})
    finally:
        os.environ["PATH"] = before
    arguments, mode = noted.read_text().splitlines()
    assert str(maria_source.password) not in arguments
    assert mode == "600"
    assert not Path(arguments.split()[0].removeprefix("--defaults-file=")).exists()


async def test_the_script_for_sql_server() -> None:
    config = {"data_source": "shop]s", "output_dir": "D:\\back'ups"}
    shown = await preview(KIND, config, {"shop]s": SQL_SERVER})
    assert shown.script == GOLDEN.read_text()
    unknown = ("BACKUP DATABASE", "RESTORE VERIFYONLY")  # which sqlglot does not read
    lines = [line for line in shown.script.splitlines() if not line.startswith(unknown)]
    assert len(lines) == len(shown.script.splitlines()) - 2
    assert [type(one) for one in sqlglot.parse("\n".join(lines), read="tsql") if one] == [exp.Declare]
    with pytest.raises(InvalidInput, match=r"config.verify_restore"):
        await preview(KIND, {**config, "verify_restore": True}, {"shop]s": SQL_SERVER})
