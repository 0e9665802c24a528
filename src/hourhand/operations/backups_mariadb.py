"""Operations: backups of MariaDB and MySQL: mariadb-dump in one transaction, compressed on its way to the file."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Precondition
from hourhand.operations.backups_found import Found
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.programs import Program, find_program, pipe, run, secret_file
from hourhand.operations.quoting import quoted
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

_CLIENT = "mariadb-client"
_PACKERS = {"gzip": ("gzip", ".gz"), "zstd": ("zstd", ".zst"), "none": (None, "")}
_ENDED = b"-- Dump completed"
_TAIL = 4_096
_OTHERS = {"mariadb-dump": "mysqldump", "mariadb": "mysql"}
"""What the programs are called where only MySQL's are."""
_FACTS = "SELECT DATABASE() AS name, @@character_set_database AS charset, @@collation_database AS collation"
_SIZE = "SELECT coalesce(sum(DATA_LENGTH), 0) AS n FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s"
_EVENTS = """
SELECT count(*) AS n, @@event_scheduler AS scheduler FROM information_schema.EVENTS
WHERE EVENT_SCHEMA = %s AND STATUS = 'ENABLED'
"""
_TABLES = """
SELECT TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES
WHERE TABLE_SCHEMA = %s AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1
"""


async def look(config: Mapping[str, Any], looked: Look) -> Found:
    """The database, its size, and the programs of this machine."""
    if config["method"] == "physical":
        raise Refused(
            "a physical backup is made on the server's own machine by mariadb-backup: use logical, or a command task "
            "there",
            field="method",
        )
    session = looked.source
    row = (await session.fetch(_FACTS))[0]
    if row["name"] is None:
        raise Refused("the data source names no database: give it one", field="data_source")
    programs = [await _program(name) for name in ("mariadb-dump", "mariadb")]
    packer = _PACKERS[config["compression"]][0]
    if packer is not None:
        programs.append(await find_program(packer, packer))
    others = [
        one["name"] for one in await session.fetch(_TABLES, row["name"]) if str(one["engine"]).lower() != "innodb"
    ]
    notes = ["mariadb-dump writes one table after another: jobs is of no use here"] if config["jobs"] > 1 else []
    if others:
        notes.append(f"not InnoDB's, so that rows written meanwhile may be in it in part: {', '.join(others[:20])}")
    return Found(
        dialect=session.dialect,
        database=row["name"],
        conditions=(*(one.precondition for one in programs), *await _events(session, config, row["name"])),
        bytes=int((await session.fetch(_SIZE, row["name"]))[0]["n"]),
        creation=f"CHARACTER SET {row['charset']} COLLATE {row['collation']}",
        notes=tuple(notes),
    )


async def _events(session: Session, config: Mapping[str, Any], database: str) -> tuple[Precondition, ...]:
    """That none would run in the scratch database: they may change what lies outside of it."""
    if not config["verify_restore"]:
        return ()
    rows = await session.fetch(_EVENTS, database)
    running = rows[0]["scheduler"] == "ON" and int(rows[0]["n"]) > 0
    detail = (
        f"{rows[0]['n']} events are enabled, and would run in the scratch database, too: disable them or the "
        "event_scheduler, or leave verify_restore out"
        if running
        else "none would run in the scratch database"
    )
    return (Precondition(name="events", ok=not running, detail=detail),)


async def _program(name: str) -> Program:
    found = await find_program(name, _CLIENT)
    return found if found.path is not None else await find_program(_OTHERS[name], _CLIENT)


def dump_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:
    """What writes it; what packs it is said behind."""
    packer, ending = _PACKERS[config["compression"]]
    packing = ["|", packer, "-c"] if packer else []
    return [
        "mariadb-dump", "--defaults-file={credentials}", "--single-transaction", "--quick", "--routines", "--events",
        "--triggers", "--hex-blob", "--default-character-set=utf8mb4", "--", found.database,
        *packing, ">", f"{folder}/dump.sql{ending}",
    ]  # fmt: skip


def verify_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:  # noqa: ARG001
    """What reads it back."""
    packer, ending = _PACKERS[config["compression"]]
    file = f"{folder}/dump.sql{ending}"
    return [packer, "-dc", file] if packer else ["cat", file]


def restore_statements(config: Mapping[str, Any], found: Found, folder: str) -> tuple[list[str], list[str]]:
    """The statements around a restore for trial, and what restores."""
    scratch = temporary("database_backup", found.database, config["data_source"])
    name = quoted(Dialect.MARIADB, scratch)
    command = [
        *verify_command(config, found, folder), "|", "mariadb", "--defaults-file={credentials}",
        "--default-character-set=utf8mb4", "--", scratch,
    ]  # fmt: skip
    return [f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} {found.creation}"], command


@contextmanager
def credentials(address: Address) -> Iterator[str]:
    """An option file: where the server is and how to sign in."""
    options = {"user": address.username, "password": address.password}
    socket = address.options.get("unix_socket")
    if socket:
        options |= {"socket": str(socket), "protocol": "socket"}
    else:
        options |= {"host": address.host or "localhost", "port": str(address.port or 3306), "protocol": "tcp"}
    if address.options.get("ssl_ca"):
        options["ssl-ca"] = str(address.options["ssl_ca"])
    lines = [f'{name}="{_escaped(value)}"' for name, value in options.items() if value]
    with secret_file("\n".join(["[client]", *lines, ""])) as path:
        yield path


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


async def dump(work: LiveWork, command: list[str], folder: Path) -> None:  # noqa: ARG001
    """Write it through what packs it; rows are counted before and after where a trial is to come."""
    trial = bool(work.plan.config["verify_restore"])
    database = command[command.index("--") + 1]
    before = await _counts(work.source, database) if trial else {}
    *writing, _, target = command
    first, packing = _split(writing)
    program = await _program(first[0])
    with credentials(await work.address()) as path, await asyncio.to_thread(Path(target).open, "wb") as file:
        argv = [program.path or first[0], *(one.replace("{credentials}", path) for one in first[1:])]
        if packing:
            await _piped(work, argv, packing, output=file.fileno())
        else:
            await run(argv, log=work.log, output=file)
    if trial:
        after = await _counts(work.source, database)
        # What was written to meanwhile has no count that the dump must have.
        work.facts["counts"] = {name: rows if after.get(name) == rows else None for name, rows in before.items()}


def _split(command: list[str]) -> tuple[list[str], list[str]]:
    if "|" not in command:
        return command, []
    middle = command.index("|")
    return command[:middle], command[middle + 1 :]


async def _piped(work: LiveWork, first: list[str], second: list[str], *, output: int | None = None) -> None:
    """Two programs, the one into the other; if either fails, both end."""
    with pipe() as (reading, writing):
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_into(work, first, writing))
                group.create_task(run(second, log=work.log, source=reading, output=output))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None


async def _into(work: LiveWork, command: list[str], writing: IO[bytes]) -> None:
    with writing:  # or who reads would wait for more
        await run(command, log=work.log, output=writing)


async def _counts(session: Session, database: str) -> dict[str, int]:
    found = {}
    for row in await session.fetch(_TABLES, database):
        name = f"{quoted(Dialect.MARIADB, database)}.{quoted(Dialect.MARIADB, row['name'])}"
        found[row["name"]] = int((await session.fetch(f"SELECT count(*) AS n FROM {name}"))[0]["n"])  # noqa: S608
    return found


async def verify(work: LiveWork, command: list[str], folder: Path) -> None:  # noqa: ARG001
    """It can be unpacked to the end, and its last line says that it is whole."""
    with pipe() as (reading, writing):
        ended = asyncio.ensure_future(asyncio.to_thread(_tail, reading))
        try:
            await _into(work, command, writing)
        finally:
            last = await ended  # which it does once nobody writes
    if _ENDED not in last:
        raise NotVerified(f"{command[-1]} does not end with {_ENDED.decode()!r}: it is not whole")


def _tail(reading: IO[bytes]) -> bytes:
    last = b""
    while block := reading.read(1 << 16):
        last = (last + block)[-_TAIL:]
    return last


async def restored(work: LiveWork, command: list[str], scratch: str, folder: Path) -> None:  # noqa: ARG001
    """Restore into the scratch database, and compare the rows of all tables that nobody wrote to meanwhile."""
    first, second = _split(command)
    program = await _program(second[0])
    with credentials(await work.address()) as path:
        argv = [program.path or second[0], *(one.replace("{credentials}", path) for one in second[1:])]
        await _piped(work, first, argv, output=subprocess.DEVNULL)
    found = await _counts(work.source, scratch)
    expected: dict[str, int | None] = work.facts.get("counts", {})
    wrong = [
        f"{name}: {found.get(name, 'no table')} rows instead of {'some' if rows is None else rows}"
        for name, rows in expected.items()
        if name not in found or (rows is not None and found[name] != rows)
    ]
    if wrong:
        raise NotVerified(f"what was restored differs from what was dumped: {'; '.join(wrong[:10])}")
    work.facts["restored"] = {
        "tables": len(found),
        "rows": sum(found.values()),
        "not_compared": sorted(name for name, rows in expected.items() if rows is None),
    }
