"""Operations: the catalog of MariaDB and MySQL."""

from __future__ import annotations

import re

from hourhand.contracts.operation import Row, Session
from hourhand.operations.catalog.table import Column, ForeignKey, Partition, Table, TableIndex

_TABLE = """
SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS name, ENGINE AS engine, coalesce(TABLE_ROWS, 0) AS n,
       coalesce(DATA_LENGTH, 0) + coalesce(INDEX_LENGTH, 0) AS bytes
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = coalesce(%s, DATABASE()) AND TABLE_NAME = %s AND TABLE_TYPE = 'BASE TABLE'
"""
_COLUMNS = """
SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE = 'YES' AS nullable, COLUMN_DEFAULT AS `default`,
       EXTRA AS extra FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
ORDER BY ORDINAL_POSITION
"""
_INDEXES = """
SELECT INDEX_NAME AS name, NON_UNIQUE = 0 AS uniq, COLUMN_NAME AS col, SUB_PART AS part
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY INDEX_NAME, SEQ_IN_INDEX
"""
_PARTITIONS = """
SELECT PARTITION_NAME AS name, PARTITION_METHOD AS method, PARTITION_EXPRESSION AS expression,
       PARTITION_DESCRIPTION AS high, coalesce(TABLE_ROWS, 0) AS n,
       coalesce(DATA_LENGTH, 0) + coalesce(INDEX_LENGTH, 0) AS bytes, SUBPARTITION_NAME IS NULL AS leaf
FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND PARTITION_NAME IS NOT NULL
ORDER BY PARTITION_ORDINAL_POSITION
"""
_FOREIGN_KEYS = """
SELECT DISTINCT CONSTRAINT_NAME AS name, TABLE_SCHEMA AS ts, TABLE_NAME AS tn,
       REFERENCED_TABLE_SCHEMA AS rs, REFERENCED_TABLE_NAME AS rn
FROM information_schema.KEY_COLUMN_USAGE
WHERE REFERENCED_TABLE_NAME IS NOT NULL
  AND ((TABLE_SCHEMA = %s AND TABLE_NAME = %s) OR (REFERENCED_TABLE_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s))
"""
_TRIGGERS = """
SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s ORDER BY TRIGGER_NAME
"""
_NAMES = """
SELECT TABLE_NAME AS name FROM information_schema.TABLES
WHERE TABLE_SCHEMA = coalesce(%s, DATABASE()) AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1 LIMIT 1000
"""
_QUOTED = re.compile(r"'((?:[^']|'')*)'", re.DOTALL)
_NAME = re.compile(r"`((?:[^`]|``)+)`")
_NAMES_ONLY = re.compile(r"`(?:[^`]|``)+`(?:,\s*`(?:[^`]|``)+`)*", re.DOTALL)


async def find_table(session: Session, schema: str | None, name: str) -> Table | None:
    """Everything the catalog tells of a table."""
    rows = await session.fetch(_TABLE, schema, name)
    if not rows:
        return None
    place = (rows[0]["schema"], rows[0]["name"])
    columns = [_column(row) for row in await session.fetch(_COLUMNS, *place)]
    partitions = await session.fetch(_PARTITIONS, *place)
    keys = await session.fetch(_FOREIGN_KEYS, *place, *place)
    method = str(partitions[0]["method"]) if partitions else ""
    expression = str(partitions[0]["expression"]) if partitions else ""
    key = _columns_of(expression)
    named = {column.name: column for column in columns}
    plain = all(one in named for one in key)
    return Table(
        dialect=session.dialect,
        schema=place[0],
        name=place[1],
        columns=tuple(columns),
        indexes=_indexes(await session.fetch(_INDEXES, *place)),
        strategy=method.split(" ")[0].lower() or None,
        partition_key=key if plain else (),
        partition_key_type=named[key[0]].type if key and plain else None,
        partition_expression=f"{method} ({expression})" if partitions else None,
        partitions=_partitions(partitions),
        foreign_keys=tuple(_key(row, "r") for row in keys if (row["ts"], row["tn"]) == place),
        referenced_by=tuple(_key(row, "t") for row in keys if (row["rs"], row["rn"]) == place),
        triggers=tuple(row["name"] for row in await session.fetch(_TRIGGERS, *place)),
        engine=rows[0]["engine"],
        rows=int(rows[0]["n"]),
        bytes=int(rows[0]["bytes"]),
    )


def _column(row: Row) -> Column:
    extra = str(row["extra"]).upper()
    return Column(
        name=row["name"],
        type=_text(row["type"]),
        nullable=bool(row["nullable"]),
        default=None if row["default"] is None else _text(row["default"]),
        generated="GENERATED" in extra and "DEFAULT_GENERATED" not in extra,
        identity="AUTO_INCREMENT" in extra,
    )


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _indexes(rows: list[Row]) -> tuple[TableIndex, ...]:
    names = list(dict.fromkeys(row["name"] for row in rows))
    found = []
    for name in names:
        parts = [row for row in rows if row["name"] == name]
        whole = all(row["col"] is not None and row["part"] is None for row in parts)
        found.append(
            TableIndex(
                name=name,
                columns=tuple(row["col"] for row in parts) if whole else (),
                unique=bool(parts[0]["uniq"]),
                primary=name == "PRIMARY",
            )
        )
    return tuple(found)


def _partitions(rows: list[Row]) -> tuple[Partition, ...]:
    """Each begins where the one before ends; the catalog tells the ends only."""
    found: list[Partition] = []
    for row in rows:
        if found and found[-1].name == row["name"]:
            continue  # another part of the same one
        text = _text(row["high"]) if row["high"] is not None else "MAXVALUE"
        high = None if text == "MAXVALUE" else _value(text)
        found.append(
            Partition(
                name=row["name"],
                low=found[-1].high if found else None,
                high=high,
                leaf=bool(row["leaf"]),
                rows=int(row["n"]),
                bytes=int(row["bytes"]),
            )
        )
    return tuple(found)


def _value(text: str) -> str:
    """A bound without its quotes; several at once stay as they are written."""
    quoted = _QUOTED.fullmatch(text)
    return quoted[1].replace("''", "'").replace("\\\\", "\\") if quoted else text


def _columns_of(expression: str) -> tuple[str, ...]:
    """The columns of a key, each in backticks or bare; what is no list of columns stays as it is."""
    if _NAMES_ONLY.fullmatch(expression):
        return tuple(one.replace("``", "`") for one in _NAME.findall(expression))
    return tuple(part.strip() for part in expression.split(",")) if expression else ()


def _key(row: Row, side: str) -> ForeignKey:
    return ForeignKey(name=row["name"], table=f"{row[f'{side}s']}.{row[f'{side}n']}")


async def table_names(session: Session, schema: str | None) -> list[str]:
    """Tables of the database."""
    return [row["name"] for row in await session.fetch(_NAMES, schema)]
