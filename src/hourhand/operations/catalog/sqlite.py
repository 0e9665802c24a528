"""Operations: SQLite's catalog."""

from __future__ import annotations

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Column, ForeignKey, Table, TableIndex

_GENERATED = (2, 3)


async def find_table(session: Session, name: str) -> Table | None:
    """Everything the catalog tells of a table; it has no partitions."""
    rows = await session.fetch("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", name)
    if not rows:
        return None
    columns = await session.fetch("SELECT * FROM pragma_table_xinfo(?)", name)
    key = [row["name"] for row in sorted(columns, key=lambda one: one["pk"]) if row["pk"]]
    # A single INTEGER PRIMARY KEY is the rowid, which is never NULL though the catalog says it may be.
    indexes = [TableIndex(name="PRIMARY KEY", columns=tuple(key), unique=True, primary=True)] if key else []
    for row in await session.fetch("SELECT * FROM pragma_index_list(?)", name):
        if row["origin"] == "pk":
            continue
        parts = await session.fetch("SELECT name FROM pragma_index_info(?) ORDER BY seqno", row["name"])
        whole = all(part["name"] is not None for part in parts)
        indexes.append(
            TableIndex(
                name=row["name"],
                columns=tuple(part["name"] for part in parts) if whole else (),
                unique=bool(row["unique"]),
                partial=bool(row["partial"]),
            )
        )
    keys = await session.fetch('SELECT DISTINCT id, "table" AS other FROM pragma_foreign_key_list(?)', name)
    return Table(
        dialect=Dialect.SQLITE,
        schema=None,
        name=name,
        columns=tuple(
            Column(
                name=row["name"],
                type=row["type"],
                nullable=not row["notnull"] and not row["pk"],
                default=row["dflt_value"],
                generated=row["hidden"] in _GENERATED,
                identity=row["type"].upper() == "INTEGER" and key == [row["name"]],
            )
            for row in columns
            if row["hidden"] != 1
        ),
        indexes=tuple(indexes),
        foreign_keys=tuple(ForeignKey(name=f"foreign key {row['id']}", table=row["other"]) for row in keys),
        referenced_by=await _referenced_by(session, name),
        triggers=tuple(
            row["name"]
            for row in await session.fetch(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? ORDER BY name", name
            )
        ),
    )


async def _referenced_by(session: Session, name: str) -> tuple[ForeignKey, ...]:
    rows = await session.fetch(
        "SELECT DISTINCT m.name AS other, f.id FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f "
        "WHERE m.type = 'table' AND lower(f.\"table\") = lower(?)",
        name,
    )
    return tuple(ForeignKey(name=f"foreign key {row['id']}", table=row["other"]) for row in rows)


async def table_names(session: Session) -> list[str]:
    """Tables of the file."""
    rows = await session.fetch(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 1000"
    )
    return [row["name"] for row in rows]
