"""Operations: the indexes of a table as a rebuild sees them: how large, how bloated, and what was left of another one.

How bloated a B-tree of PostgreSQL is, is estimated without reading it, as monitoring tools commonly do (ioguix): the
pages that its rows would fill, by the average width of its columns in `pg_stats`, its fill factor and the sizes of
the headers, against those that it has. Deduplicated keys make it look less bloated than it is, never more; upper
levels are left out (about 1 %). A table that was never analyzed, and other sorts of indexes, have no estimate.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.operations.catalog.table import Table

_LONGEST = 63
_HEADER, _SPECIAL, _POINTER, _ALIGN = 24, 16, 4, 8
"""Of a page, of what a B-tree keeps at its end, of a row's place in it; and what rows are padded to."""
_LEFTOVER = re.compile(r"(.+)_cc(?:new|old)\d*", re.DOTALL)
_FIND = """
SELECT c.oid::bigint AS oid, n.nspname AS schema, c.relname AS name, t.relname AS owner, tn.nspname AS owner_schema,
       am.amname AS method, i.indisvalid AS valid, i.indisexclusion AS exclusion, r.relname AS root,
       coalesce(pg_relation_filenode(c.oid), 0)::bigint AS filenode, pg_relation_size(c.oid) AS bytes,
       current_setting('block_size')::int AS page, greatest(t.reltuples, 0)::float8 AS rows, c.relpages AS pages,
       coalesce((SELECT split_part(o, '=', 2)::int FROM unnest(c.reloptions) o WHERE o LIKE 'fillfactor=%'), 90)
       AS fill,
       i.indnatts AS columns, i.indpred IS NOT NULL AS partial,
       count(s.avg_width)::int AS known, max(s.null_frac)::float8 AS nulls,
       sum((1 - s.null_frac) * s.avg_width)::float8 AS width
FROM pg_index ri JOIN pg_class r ON r.oid = ri.indexrelid
JOIN LATERAL (SELECT relid AS id FROM pg_partition_tree(r.oid) WHERE isleaf
              UNION SELECT r.oid::regclass WHERE r.relkind = 'i') leaf ON true
JOIN pg_index i ON i.indexrelid = leaf.id JOIN pg_class c ON c.oid = leaf.id
JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am am ON am.oid = c.relam
JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
LEFT JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(n, place) ON true
LEFT JOIN pg_attribute a ON a.attrelid = CASE WHEN k.n = 0 THEN c.oid ELSE t.oid END
      AND a.attnum = CASE WHEN k.n = 0 THEN k.place ELSE k.n END
LEFT JOIN pg_stats s ON s.schemaname = tn.nspname AND s.attname = a.attname AND NOT s.inherited
      AND s.tablename = CASE WHEN k.n = 0 THEN c.relname ELSE t.relname END
WHERE ri.indrelid = to_regclass($1)
GROUP BY c.oid, n.nspname, c.relname, t.relname, tn.nspname, am.amname, i.indisvalid, i.indisexclusion, r.relname,
         t.reltuples, c.relpages, c.reloptions, i.indnatts, i.indpred
ORDER BY r.relname, tn.nspname, t.relname
"""
LEFTOVERS = """
SELECT n.nspname AS schema, c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE i.indrelid = to_regclass($1) AND NOT i.indisvalid ORDER BY c.relname
"""
_SPECIAL_KEYS = """
SELECT DISTINCT INDEX_NAME AS name FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND INDEX_TYPE IN ('FULLTEXT', 'SPATIAL') ORDER BY 1
"""
_FREE = """
SELECT coalesce(DATA_FREE, 0) AS free, coalesce(DATA_LENGTH, 0) + coalesce(INDEX_LENGTH, 0) AS used
FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundIndex:
    """One index, or one of a partition."""

    name: str
    schema: str | None = None
    root: str = ""
    """The index that it belongs to, by which it is asked for: itself, unless its table is a partition."""
    table_schema: str | None = None
    table: str = ""
    filenode: int = 0
    valid: bool = True
    exclusion: bool = False
    bloat_pct: float | None = None
    """None: nobody can tell."""
    bytes: int = 0
    leftovers: tuple[str, ...] = ()
    """Indexes that a rebuild which was interrupted left beside it: invalid, and of no use."""


async def find_indexes(session: Session, table: Table) -> tuple[FoundIndex, ...]:
    """Every index of the table that can be rebuilt; of a partitioned one those of its partitions."""
    if session.dialect is Dialect.POSTGRESQL:
        found = []
        for row in await session.fetch(_FIND, table.sql):
            one = _read(row)
            if one.valid or not is_leftover(one.name):
                found.append(await _with_leftovers(session, one))
        return tuple(found)
    names = [one.name for one in table.indexes if not (session.dialect is Dialect.SQLITE and one.primary)]
    return tuple(FoundIndex(name=name, root=name, table=table.name) for name in names)


def _read(row: Row) -> FoundIndex:
    return FoundIndex(
        name=row["name"],
        schema=row["schema"],
        root=row["root"],
        table_schema=row["owner_schema"],
        table=row["owner"],
        filenode=row["filenode"],
        valid=row["valid"],
        exclusion=row["exclusion"],
        bloat_pct=bloat_pct(row) if row["method"] == "btree" and not row["partial"] else None,
        bytes=row["bytes"],
    )


def bloat_pct(row: Row) -> float | None:
    """How much of it holds nothing; None without statistics of every column."""
    if row["known"] < row["columns"] or row["rows"] <= 0 or row["bytes"] <= row["page"]:
        return None
    header = 8 if not row["nulls"] else 8 + 4
    each = _POINTER + _padded(header) + _padded(row["width"])
    per_page = math.floor((row["page"] - _HEADER - _SPECIAL) * row["fill"] / 100 / each)
    if per_page < 1:
        return None
    needed: float = (math.ceil(row["rows"] / per_page) + 1) * row["page"] / row["bytes"]
    return max(0.0, 100 * (1 - needed))


def _padded(width: float) -> int:
    return math.ceil(width / _ALIGN) * _ALIGN


async def _with_leftovers(session: Session, index: FoundIndex) -> FoundIndex:
    rows = await session.fetch(LEFTOVERS, _of(index))
    names = [row["name"] for row in rows if is_leftover(row["name"], index.name)]
    return FoundIndex(**{one: getattr(index, one) for one in FoundIndex.__slots__} | {"leftovers": tuple(names)})


def _of(index: FoundIndex) -> str:
    return ".".join('"' + str(one).replace('"', '""') + '"' for one in (index.table_schema, index.table))


def is_leftover(name: str, of: str | None = None) -> bool:
    """Whether a name is one that REINDEX CONCURRENTLY makes for a while: of this index, if one is given."""
    made = _LEFTOVER.fullmatch(name)
    if made is None or of is None:
        return made is not None
    # A name that became too long is cut, but no further than it must be.
    cut = len(name.encode()) >= _LONGEST - 3 and of.startswith(made[1])
    return made[1] == of or cut


def made_beside(name: str) -> tuple[str, ...]:
    """What REINDEX CONCURRENTLY calls the index that it builds, and the one that it replaces."""
    room = _LONGEST - len("_ccnew")
    base = name.encode()[:room].decode(errors="ignore")
    return f"{base}_ccnew", f"{base}_ccold"


async def keys_that_lock(session: Session, table: Table) -> list[str]:
    """MariaDB, MySQL: keys that keep a rebuild from letting others write meanwhile."""
    return [row["name"] for row in await session.fetch(_SPECIAL_KEYS, table.schema, table.name)]


async def free_pct(session: Session, table: Table) -> float:
    """MariaDB, MySQL: how much of the table's file holds nothing, as the catalog tells."""
    row = (await session.fetch(_FREE, table.schema, table.name))[0]
    free, used = float(row["free"]), float(row["used"])
    return 100 * free / (free + used) if free + used else 0.0
