"""What the contract suite stands on: data sources that are made anew for each run, and pictures of all that is in them.

A picture tells two states of a data source apart: definitions, comments and rights from the catalog, and every row.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hourhand.model.data_source import Address, Dialect
from operations.addresses import sqlite_address
from operations.asking import execute, fetch, maria_connection, postgres_connection, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+(?:[+-]\d\d)?")
"""What a comment says of the server's own clock, with its fractions of a second."""
_DUMPED = re.compile(r"\d+(?=\.dat)")
"""The numbers that pg_dump gives to tables."""
_OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
_POSTGRES = {
    "relations": "SELECT n.nspname, c.relname, c.relkind::text, pg_get_expr(c.relpartbound, c.oid), "
    "(SELECT i.inhparent::regclass::text FROM pg_inherits i WHERE i.inhrelid = c.oid AND NOT i.inhdetachpending), "
    "obj_description(c.oid, 'pg_class'), c.relacl::text, c.reloptions::text, c.relrowsecurity, c.relreplident::text "
    f"FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OWN} AND c.relkind <> 't'",
    "columns": "SELECT a.attrelid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
    "a.attidentity::text, a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a "
    "JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
    f"WHERE {_OWN} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped",
    "constraints": "SELECT k.conrelid::regclass::text, k.conname, pg_get_constraintdef(k.oid), k.convalidated "
    f"FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE {_OWN}",
    "indexes": "SELECT pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisready FROM pg_index i "
    f"JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {_OWN}",
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "functions": f"SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {_OWN}",
}
_PARENTS = {
    Dialect.POSTGRESQL: "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    f"WHERE {_OWN} AND c.relkind = 'r'",
    Dialect.MARIADB: "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'",
    Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
}


@dataclass(slots=True, kw_only=True)
class Ground:
    """The data sources of one cell, and a folder on the executor's machine."""

    source: Address
    target: Address | None = None
    """Of a cell that copies to another data source."""
    folder: Path
    config: dict[str, Any] = field(default_factory=dict)
    """What the cell's `make` has to say about the configuration, such as the path of a file."""

    @property
    def dialect(self) -> Dialect:
        """What both speak."""
        return self.source.dialect

    @property
    def sources(self) -> dict[str, Address]:
        """By the names that configurations have for them."""
        return {"source": self.source} | ({"target": self.target} if self.target is not None else {})

    async def wipe(self) -> None:
        """As empty as at first."""
        self.config.clear()
        for source in self.sources.values():
            await _wiped(source)
        await asyncio.to_thread(_emptied, self.folder)


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is in the data sources of a cell."""

    catalog: tuple[tuple[str, Any], ...]
    """Definitions, sorted."""
    rows: Mapping[str, Counter[str]]
    """Of each table that has rows of its own, by data source and name."""
    files: tuple[str, ...]

    @property
    def all_rows(self) -> set[str]:
        """Every row, wherever it lies; what operations note for themselves left out."""
        return {row for table, rows in self.rows.items() if "_hh_" not in table or "_hh_q_" in table for row in rows}

    @property
    def leftovers(self) -> list[str]:
        """What operations made for a while."""
        return sorted({text for _, one in self.catalog for text in _names(one) if text.startswith("_hh_")})


def _names(one: object) -> list[str]:
    return [str(value).strip('"`') for value in one] if isinstance(one, tuple) else [str(one)]


async def picture(ground: Ground) -> Picture:
    """Look at everything, by the drivers alone."""
    catalog: list[tuple[str, Any]] = []
    rows: dict[str, Counter[str]] = {}
    for name, source in ground.sources.items():
        match source.dialect:
            case Dialect.POSTGRESQL:
                found, held = await _of_postgres(source)
            case Dialect.MARIADB:
                found, held = await _of_maria(source)
            case _:
                found, held = await _of_file(source)
        catalog += [(name, one) for one in found]
        rows |= {f"{name} {table}": kept for table, kept in held.items()}
    files = [str(path.relative_to(ground.folder)) for path in ground.folder.rglob("*") if path.is_file()]
    named = sorted(_DUMPED.sub("<number>", name) for name in files)
    return Picture(tuple(sorted(catalog, key=repr)), rows, tuple(named))


async def logical(ground: Ground, table: str) -> Counter[str]:
    """Return the rows that whoever reads the table sees; none where there is no such table."""
    name = quoted(ground.dialect, table)
    return Counter(map(repr, await fetch(ground.source, f"SELECT * FROM {name}")))


async def _of_postgres(source: Address) -> tuple[list[Any], dict[str, Counter[str]]]:
    async with postgres_connection(source) as connection:
        found = [
            (what, *(_MOMENT.sub("<moment>", one) if isinstance(one, str) else one for one in row))
            for what, query in _POSTGRES.items()
            for row in await connection.fetch(query)
        ]
        tables = [row[0] for row in await connection.fetch(_PARENTS[Dialect.POSTGRESQL])]
        return found, {
            table: Counter(row[0] for row in await connection.fetch(f"SELECT t::text FROM ONLY {table} AS t"))
            for table in tables
        }


async def _of_maria(source: Address) -> tuple[list[Any], dict[str, Counter[str]]]:
    found: list[Any] = []
    rows: dict[str, Counter[str]] = {}
    async with maria_connection(source) as connection, connection.cursor() as cursor:
        await cursor.execute(_PARENTS[Dialect.MARIADB])
        for (table,) in await cursor.fetchall():
            name = quoted(source.dialect, table)
            await cursor.execute(f"SHOW CREATE TABLE {name}")
            found.append((table, *(await cursor.fetchall())[0][1:]))
            await cursor.execute(f"SELECT * FROM {name}")
            rows[table] = Counter(map(repr, await cursor.fetchall()))
        await cursor.execute("SELECT trigger_name, action_statement FROM information_schema.triggers "
                             "WHERE trigger_schema = DATABASE()")  # fmt: skip
        found += await cursor.fetchall()
    return found, rows


async def _of_file(source: Address) -> tuple[list[Any], dict[str, Counter[str]]]:
    found = await fetch(source, "SELECT name, type, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    names = [row[0] for row in await fetch(source, _PARENTS[Dialect.SQLITE])]
    rows = {
        name: Counter(map(repr, await fetch(source, f"SELECT * FROM {quoted(source.dialect, name)}"))) for name in names
    }
    return list(found), rows


async def _wiped(source: Address) -> None:
    match source.dialect:
        case Dialect.POSTGRESQL:
            # No server is crashed here; those that wait for its disk would be the slowest of all.
            quick = f'ALTER DATABASE "{source.database}" SET synchronous_commit = off'
            await execute(source, quick, "DROP SCHEMA IF EXISTS public CASCADE", "CREATE SCHEMA public")
        case Dialect.MARIADB:
            names = [quoted(source.dialect, row[0]) for row in await fetch(source, _PARENTS[Dialect.MARIADB])]
            await execute(source, *([f"DROP TABLE {', '.join(names)}"] if names else []))
        case _:
            await asyncio.to_thread(_new_file, Path(str(source.database)))


def _new_file(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    sqlite_address(path)


def _emptied(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
