"""Operations: backups of SQLite: a copy by SQLite itself, while others read and write."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.operations.backups_found import Found
from hourhand.operations.failures import NotVerified, Refused, StatementFailed
from hourhand.operations.quoting import quoted
from hourhand.operations.work import LiveWork

_PAGES = 2_000
_SIZE = "SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()"
FILE = "database.db"


async def look(config: Mapping[str, Any], looked: Look) -> Found:
    """The file."""
    if config["method"] == "physical":
        raise Refused("a copy of an SQLite file is both: use logical", field="method")
    if config["compression"] != "none":
        raise Refused("a copy of an SQLite file is not compressed: use none", field="compression")
    address = await looked.address()
    size = int((await looked.source.fetch(_SIZE))[0]["n"])
    return Found(dialect=Dialect.SQLITE, database=str(address.database), bytes=size)


def dump_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:  # noqa: ARG001
    """What SQLite's own program would be told."""
    return ["sqlite3", found.database, f".backup {folder}/{FILE}"]


def verify_command(config: Mapping[str, Any], found: Found, folder: str) -> list[str]:  # noqa: ARG001
    """The check of the whole copy."""
    return ["sqlite3", f"{folder}/{FILE}", "PRAGMA integrity_check"]


def restore_statements(config: Mapping[str, Any], found: Found, folder: str) -> tuple[list[str], list[str]]:  # noqa: ARG001
    """Nothing is made for a trial: the copy is a database as it is."""
    return [], ["sqlite3", f"{folder}/{FILE}", "PRAGMA foreign_key_check"]


async def dump(work: LiveWork, command: list[str], folder: Path) -> None:
    """Copy it, some pages at a time; a cancel ends it between them."""
    cancelled = threading.Event()
    copying = asyncio.ensure_future(asyncio.to_thread(_copied, command[1], folder / FILE, cancelled))
    try:
        await asyncio.shield(copying)
    except asyncio.CancelledError:
        cancelled.set()
        with suppress(sqlite3.Error, StatementFailed):
            await copying
        raise
    except sqlite3.Error as error:
        raise StatementFailed(f"{command[1]} cannot be copied: {error}") from error
    work.log(f"copied {(folder / FILE).stat().st_size:,} bytes")


def _copied(source: str, target: Path, cancelled: threading.Event) -> None:
    def look_up(_status: int, _left: int, _total: int) -> None:
        if cancelled.is_set():
            raise StatementFailed("cancelled")

    with closing(sqlite3.connect(source, timeout=30)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other, pages=_PAGES, progress=look_up)
        other.execute("PRAGMA journal_mode = DELETE")  # one file, whatever the source has


async def verify(work: LiveWork, command: list[str], folder: Path) -> None:  # noqa: ARG001
    """SQLite finds it whole."""
    said = await asyncio.to_thread(_asked, folder / FILE, command[2])
    if said != [("ok",)]:
        raise NotVerified(f"the copy is not whole: {'; '.join(str(row[0]) for row in said[:5])}")


async def restored(work: LiveWork, command: list[str], scratch: str, folder: Path) -> None:  # noqa: ARG001
    """Every table of the copy can be read to its end."""
    await asyncio.to_thread(_asked, folder / FILE, command[2])
    names = await asyncio.to_thread(
        _asked, folder / FILE, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    rows = 0
    for (name,) in names:
        query = f"SELECT count(*) FROM {quoted(Dialect.SQLITE, name)}"  # noqa: S608
        rows += (await asyncio.to_thread(_asked, folder / FILE, query))[0][0]
    work.facts["restored"] = {"tables": len(names), "rows": rows}


def _asked(path: Path, query: str) -> list[tuple[Any, ...]]:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as copy:
            return copy.execute(query).fetchall()
    except sqlite3.Error as error:
        raise NotVerified(f"the copy cannot be read: {error}") from error
