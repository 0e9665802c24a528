"""Operations: how SQL Server rebuilds indexes, as a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.quoting import literal, quoted

_WAITS = "WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)"


def script_steps(config: Mapping[str, Any], table: Table, indexes: Sequence[str]) -> list[Step]:
    """A statement for each index, or a query that writes them for those that are fragmented."""
    options = _options(config)
    online = "Sch-M on {} for a moment, at low priority: reads and writes go on (ONLINE needs the Enterprise edition)"
    lock = (online if config["concurrently"] else "Sch-M on {}: nobody reads or writes").format(table.shown)
    if indexes:
        return [
            Step(
                name=f"rebuild {name}",
                phase="rebuild",
                sql=(f"ALTER INDEX {quoted(Dialect.SQLSERVER, name)} ON {table.sql} REBUILD WITH ({options});",),
                lock=lock,
                duration=Duration.BY_SIZE,
            )
            for name in indexes
        ]
    least = config["min_bloat_pct"]
    place = literal(Dialect.SQLSERVER, table.sql)
    rest = literal(Dialect.SQLSERVER, f" ON {table.sql} REBUILD WITH ({options});")
    query = (
        f"SELECT N'ALTER INDEX ' + QUOTENAME(i.name) + {rest} AS statement, s.avg_fragmentation_in_percent\n"
        f"FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID({place}), NULL, NULL, 'LIMITED') AS s\n"
        "JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id\n"
        f"WHERE i.index_id > 0 AND s.avg_fragmentation_in_percent >= {least:g}\n"
        "ORDER BY s.page_count;"
    )
    name = f"write the statements for indexes that are fragmented by {least:g} % or more; run what it returns"
    return [Step(name=name, phase="rebuild", sql=(query,), lock=lock, duration=Duration.BY_SIZE)]


def _options(config: Mapping[str, Any]) -> str:
    if not config["concurrently"]:
        return "ONLINE = OFF"
    minutes = config["max_duration_minutes"]
    longest = f", MAX_DURATION = {minutes} MINUTES" if minutes else ""
    return f"ONLINE = ON ({_WAITS}), RESUMABLE = ON{longest}"
