"""Operations: backups of PostgreSQL: pg_dump in parallel, or pg_basebackup of the whole server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Precondition
from hourhand.operations.backups_found import Found
from hourhand.operations.failures import NotVerified
from hourhand.operations.programs import find_program, run, secret_file
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.sessions import open_session
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

_CLIENT, _SERVER = "postgresql-client", "postgresql"
_TLS = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"}
_FACTS = """
SELECT current_database() AS database, pg_encoding_to_char(d.encoding) AS encoding, d.datcollate, d.datctype,
       r.rolsuper OR r.rolcreatedb AS may_create, r.rolsuper OR r.rolreplication AS may_replicate,
       pg_database_size(d.oid) AS bytes
FROM pg_database d, pg_roles r WHERE d.datname = current_database() AND r.rolname = current_user
"""
_SERVER_BYTES = "SELECT sum(pg_database_size(oid))::bigint AS n FROM pg_database WHERE datallowconn"
_TABLES = """
SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = c.oid AND e.deptype = 'e') ORDER BY 1, 2
"""


async def look(config: Mapping[str, Any], looked: Look) -> Found:
    """The server's version, what may be done, and the programs of this machine."""
    session, physical = looked.source, config["method"] == "physical"
    row = (await session.fetch(_FACTS))[0]
    major = session.version[0]
    names = ["pg_basebackup", "pg_verifybackup"] if physical else ["pg_dump", "pg_restore"]
    programs = [
        await find_program(name, _SERVER if name == "pg_verifybackup" else _CLIENT, least=major) for name in names
    ]
    conditions = [one.precondition for one in programs]
    first = programs[0]
    if first.path is not None:
        new = first.version[:1] >= (major,)
        found = f"{first.name} {first.version[0] if first.version else '?'}, server {major}"
        help_ = "" if new else f": install {_CLIENT}-{major}"
        conditions.append(Precondition(name="version", ok=new, detail=f"{found}{help_}"))
    zstd = 16
    if config["compression"] == "zstd" and first.path is not None and first.version[:1] < (zstd,):
        detail = f"{first.name} {first.version[0]} does not write zstd: use gzip, or version {zstd}"
        conditions.append(Precondition(name="compression", ok=False, detail=detail))
    if physical:
        conditions.append(_may("REPLICATION", ok=bool(row["may_replicate"]), why="pg_basebackup"))
    elif config["verify_restore"]:
        conditions.append(_may("CREATEDB", ok=bool(row["may_create"]), why="verify_restore"))
    size = int((await session.fetch(_SERVER_BYTES))[0]["n"] or 0) if physical else int(row["bytes"])
    return Found(
        dialect=Dialect.POSTGRESQL,
        database=row["database"],
        conditions=tuple(conditions),
        bytes=size,
        creation=f"TEMPLATE template0 ENCODING {literal(Dialect.POSTGRESQL, row['encoding'])} LC_COLLATE "
        f"{literal(Dialect.POSTGRESQL, row['datcollate'])} LC_CTYPE {literal(Dialect.POSTGRESQL, row['datctype'])}",
        dropping=" WITH (FORCE)" if session.version >= (13,) else "",
        place=_place(await looked.address()),
        notes=("the whole server is copied, all its databases: it can only be restored whole",) if physical else (),
    )


def _may(right: str, *, ok: bool, why: str) -> Precondition:
    detail = "granted" if ok else f"the user has no right {right}, which {why} needs: ALTER ROLE … {right}"
    return Precondition(name=right, ok=ok, detail=detail)


def _place(address: Address) -> tuple[str, ...]:
    found = [f"--host={address.host or 'localhost'}", f"--port={address.port or 5432}"]
    return (*found, *([f"--username={address.username}"] if address.username else []), "--no-password")


def _named(database: str) -> str:
    """A name with `=` in it would be taken for a list of settings, so that it becomes one."""
    escaped = database.replace("\\", "\\\\").replace("'", "\\'")
    return f"--dbname={database}" if database.replace("_", "").isalnum() else f"--dbname=dbname='{escaped}'"


def dump_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:
    """What writes it."""
    if config["method"] == "physical":
        return [
            "pg_basebackup", f"--pgdata={folder}/base", "--format=plain", "--wal-method=stream", "--checkpoint=fast",
            "--manifest-checksums=SHA256", *found.place,
        ]  # fmt: skip
    level = {"none": "0", "zstd": "zstd"}.get(config["compression"], "6")
    snapshot = ["--snapshot={snapshot}"] if config["verify_restore"] else []
    return [
        "pg_dump", "--format=directory", f"--jobs={config['jobs']}", f"--compress={level}", f"--file={folder}/dump",
        *snapshot, *found.place, _named(found.database),
    ]  # fmt: skip


def verify_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:  # noqa: ARG001
    """What reads it back."""
    if config["method"] == "physical":
        return ["pg_verifybackup", f"{folder}/base"]
    return ["pg_restore", "--list", f"{folder}/dump"]


def restore_statements(config: Mapping[str, Any], found: Found, folder: str) -> tuple[list[str], list[str]]:
    """The statements around a restore for trial, and what restores."""
    scratch = temporary("database_backup", found.database, config["data_source"])
    name = quoted(Dialect.POSTGRESQL, scratch)
    command = [
        "pg_restore", "--exit-on-error", f"--jobs={config['jobs']}", "--no-owner", "--no-privileges",
        "--no-publications", "--no-subscriptions", *found.place, _named(scratch), f"{folder}/dump",
    ]  # fmt: skip
    return [f"DROP DATABASE IF EXISTS {name}{found.dropping}", f"CREATE DATABASE {name} {found.creation}"], command


@contextmanager
def environment(address: Address) -> Iterator[dict[str, str]]:
    """The password in a file; TLS as the data source has it."""
    secret = (address.password or "").replace("\\", "\\\\").replace(":", "\\:")
    with secret_file(f"*:*:*:*:{secret}\n") as path:
        yield {"PGPASSFILE": path, **{_TLS[one]: str(value) for one, value in address.options.items() if one in _TLS}}


async def dump(work: LiveWork, command: list[str], folder: Path) -> None:  # noqa: ARG001
    """Write it; with a trial to come, of a snapshot in which its rows are counted meanwhile."""
    major = work.source.version[0]
    program = await find_program(command[0], _CLIENT, least=major)
    argv = [program.path or command[0], *command[1:]]
    address = await work.address()
    with environment(address) as variables:
        if "--snapshot={snapshot}" not in command:
            await run(argv, log=work.log, environment=variables)
            return
        beside = await work.open(work.config.data_source)
        async with beside.transaction(isolation="REPEATABLE READ"):
            snapshot = (await beside.fetch("SELECT pg_export_snapshot() AS id"))[0]["id"]
            work.facts["counts"] = await _counts(beside)
            await run([one.replace("{snapshot}", snapshot) for one in argv], log=work.log, environment=variables)


async def _counts(session: Session) -> dict[str, int]:
    found = {}
    for row in await session.fetch(_TABLES):
        name = qualified(Dialect.POSTGRESQL, row["schema"], row["name"])
        found[name] = int((await session.fetch(f"SELECT count(*) AS n FROM ONLY {name}"))[0]["n"])  # noqa: S608
    return found


async def verify(work: LiveWork, command: list[str], folder: Path) -> None:  # noqa: ARG001
    """Its table of contents, or each of its files, can be read."""
    package = _SERVER if command[0] == "pg_verifybackup" else _CLIENT
    program = await find_program(command[0], package, least=work.source.version[0])
    await run([program.path or command[0], *command[1:]], log=work.log)


async def restored(work: LiveWork, command: list[str], scratch: str, folder: Path) -> None:  # noqa: ARG001
    """Restore into the scratch database, and compare the rows with those of the snapshot."""
    program = await find_program(command[0], _CLIENT, least=work.source.version[0])
    address = await work.address()
    with environment(address) as variables:
        await run([program.path or command[0], *command[1:]], log=work.log, environment=variables)
    session = await open_session(replace(address, database=scratch))
    try:
        found = await _counts(session)
    finally:
        await session.close()
    expected = work.facts.get("counts", {})
    wrong = [
        f"{name}: {found.get(name, 'no table')} rows instead of {rows}"
        for name, rows in expected.items()
        if found.get(name) != rows
    ]
    if wrong:
        raise NotVerified(f"what was restored differs from what was dumped: {'; '.join(wrong[:10])}")
    work.facts["restored"] = {"tables": len(expected), "rows": sum(expected.values())}
