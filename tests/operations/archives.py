"""What the tests of archives share: configurations, the rows of a table, and what is in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hourhand.model.data_source import Dialect
from operations.asking import fetch
from operations.running import run

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

ARCHIVE, RESTORE = "archive_bcp", "archive_restore"
_LEFTOVERS = {
    Dialect.POSTGRESQL: "SELECT relname FROM pg_class WHERE relname LIKE '\\_hh\\_%'",
    Dialect.MARIADB: "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_name LIKE '\\_hh\\_%'",
    Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE name LIKE '\\_hh\\_%' ESCAPE '\\'",
}


def config(folder: Path, **more: Any) -> dict[str, Any]:
    """Archive the orders, and delete them; the folder is made."""
    folder.mkdir(exist_ok=True)
    return {"table": "orders", "output_dir": str(folder), "rows_per_file": 100, "delete_after_verify": True, **more}


async def rows(source: Address, table: str = "orders", order: str = "id") -> list[tuple[Any, ...]]:
    """Return every row, in order."""
    return await fetch(source, f"SELECT * FROM {table} ORDER BY {order}")


def manifest_of(folder: Path) -> Path:
    """Return the only manifest below."""
    (found,) = folder.glob("*/manifest.jsonl")
    return found


def lines(manifest: Path) -> list[dict[str, Any]]:
    """Return what a manifest says."""
    return [json.loads(line) for line in manifest.read_text().splitlines()]


def files(manifest: Path) -> list[str]:
    """Return the names of what lies beside a manifest."""
    return sorted(one.name for one in manifest.parent.iterdir() if one != manifest)


async def leftovers(source: Address) -> list[str]:
    """Return the tables that operations made for a while."""
    return [row[0] for row in await fetch(source, _LEFTOVERS[source.dialect])]


async def restored(source: Address, folder: Path) -> int:
    """Bring everything back, and return how many rows that was."""
    ran = await run(RESTORE, {"manifest": str(manifest_of(folder))}, {"source": source})
    return int(ran.summary["rows"])
