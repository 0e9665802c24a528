"""What a data source was really asked to execute, as its server tells.

That is the log of PostgreSQL, the general log of MariaDB, the trace of SQLite.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.data_source import Dialect
from hourhand.operations.sessions import sqlite
from hourhand.operations.statements import Statement
from operations.asking import execute, maria_connection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hourhand.model.data_source import Address
    from hourhand.model.operation import Plan
    from operations.contract_ground import Ground

_HOUSEKEEPING = (
    *("BEGIN", "START", "COMMIT", "ROLLBACK", "END", "SAVEPOINT", "RELEASE", "SET", "RESET", "DISCARD", "DEALLOCATE"),
    *("CLOSE", "DECLARE", "FETCH", "KILL", "USE", "LOCK", "UNLOCK", "PRAGMA", "SHOW", "EXPLAIN", "DESCRIBE"),
    *("FLUSH", "EXECUTE"),  # as the programs that write backups do; what is executed was prepared by PREPARE
)
"""Change no rows and no definitions; nobody approves them."""
_READING = frozenset({"PREPARE", "SELECT", "WITH", "VALUES", "TABLE", "COPY"})
_CHANGING = frozenset({"INSERT", "UPDATE", "DELETE", "TRUNCATE", "MERGE"})
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] (?P<database>\S+) (?P<what>[A-Z]+):  ")
_SAID = re.compile(r"^(?:statement|execute [^:]*): ")
_VALUE = r"(?:[_a-zA-Z0-9]*'(?:[^'\\]|\\.|'')*'|[-+.\w]+)"
"""A parameter, once the driver has written it into the statement."""


def changes(dialect: Dialect, statement: str) -> bool:
    """Whether a statement changes something, as far as its words tell."""
    words = Statement(dialect, statement).words
    first = next((word for word in words if word != ";"), "")
    if not first or first in _HOUSEKEEPING:
        return False
    if first not in _READING:
        return True
    pairs = list(zip(["", *words], words, strict=False))
    return ("FROM", "STDIN") in pairs or any(word in _CHANGING and before != "FOR" for before, word in pairs)


def unplanned(plan: Plan, heard: list[str], dialect: Dialect) -> list[str]:
    """Which of the statements that change something are none of the plan's."""
    known = [_pattern(sql, dialect) for step in plan.steps for sql in step.sql]
    asked = dict.fromkeys(_plain(one) for one in heard if changes(dialect, one))
    return [one for one in asked if not any(pattern.fullmatch(one) for pattern in known)]


def _pattern(sql: str, dialect: Dialect) -> re.Pattern[str]:
    """PostgreSQL's log has the marks; the others' have the values in their place."""
    text = _plain(sql)
    match dialect:
        case Dialect.POSTGRESQL:
            # COPY takes no parameters: the driver writes the values.
            parts = re.split(r"\$\d+", text) if text.startswith("COPY ") else [text]
            return re.compile(_VALUE.join(map(re.escape, parts)), re.DOTALL)
        case Dialect.SQLITE:
            return re.compile(_VALUE.join(re.escape(part) for part in re.split(r"\?\d*", text)), re.DOTALL)
    marked = _VALUE.join(re.escape(part.replace("%%", "%")) for part in text.split("%s"))
    return re.compile(f"(?:{re.escape(text)}|{marked})", re.DOTALL)


def _plain(sql: str) -> str:
    """Without what is a matter of writing; the driver puts some COPY together by itself."""
    text = " ".join(sql.split()).rstrip("; ")
    return re.sub(r"FORMAT '(\w+)'", r"FORMAT \1", text).replace('"(', '" (') if text.startswith("COPY ") else text


@asynccontextmanager
async def listening(ground: Ground, log: Path) -> AsyncIterator[list[str]]:
    """Gather the statements that the data sources are asked for; they are there at the end.

    Args:
        ground: The data sources.
        log: Of PostgreSQL: the server's log.
    """
    heard: list[str] = []
    match ground.dialect:
        case Dialect.POSTGRESQL:
            for source in ground.sources.values():
                await execute(source, f"ALTER DATABASE \"{source.database}\" SET log_statement = 'all'")
            known = await asyncio.to_thread(log.read_bytes)
            yield heard
            text = (await asyncio.to_thread(log.read_bytes))[len(known) :].decode()
            heard += _entries(text, {str(source.database) for source in ground.sources.values()})
        case Dialect.MARIADB:
            async with _general_log(ground.source, heard):
                yield heard
        case _:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sqlite, "connect", _traced(heard))
                yield heard


def _entries(text: str, databases: set[str]) -> list[str]:
    found: list[str] = []
    ours = False
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if entry is None:
            if ours:
                found[-1] += "\n" + line.removeprefix("\t")
            continue
        said = line[entry.end() :]
        ours = entry["what"] == "LOG" and entry["database"] in databases and _SAID.match(said) is not None
        if ours:
            found.append(_SAID.sub("", said))
    return found


@asynccontextmanager
async def _general_log(source: Address, heard: list[str]) -> AsyncIterator[None]:
    async with maria_connection(source) as connection, connection.cursor() as cursor:
        for statement in (
            "SET GLOBAL log_output = 'TABLE'",
            "TRUNCATE mysql.general_log",
            "SET GLOBAL general_log = ON",
        ):
            await cursor.execute(statement)
        try:
            yield
        finally:
            await cursor.execute("SET GLOBAL general_log = OFF")
        await cursor.execute(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log "
            "WHERE command_type IN ('Query', 'Execute') AND thread_id <> CONNECTION_ID()"
        )
        heard += [row[0] for row in await cursor.fetchall()]


def _traced(heard: list[str]) -> Any:
    connect = sqlite.connect

    async def traced(address: Address, seconds: float) -> sqlite.SqliteSession:
        session = await connect(address, seconds)
        await session.threaded(lambda: session.driver.set_trace_callback(heard.append))
        return session

    return traced
