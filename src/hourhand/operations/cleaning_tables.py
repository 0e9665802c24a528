"""Operations: tables that somebody made for a while: how old they are, and who depends on them.

PostgreSQL and SQLite do not know when a table was made. There it is stamped when it is first seen, and judged by that
later: in its comment on PostgreSQL, in the table `hourhand_stamps` on SQLite. Stamps are whole hours, rounded up.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from hourhand.contracts.operation import Row, Session
from hourhand.model.data_source import Dialect
from hourhand.operations.quoting import literal, qualified
from hourhand.rules.operations import PREFIX

QUARANTINE = f"{PREFIX}q_"
STAMPS = "hourhand_stamps"
SEEN, QUARANTINED = "first seen", "quarantined"
_STAMP = re.compile(r"\n?\[hourhand: (first seen|quarantined) (\d{4}-\d\d-\d\dT\d\d)Z(?: as (\".*\"))?\]$", re.DOTALL)
_GONE = "name NOT IN (SELECT name FROM sqlite_master WHERE type = 'table')"
FORGET = f"DELETE FROM {STAMPS} WHERE {_GONE}"  # noqa: S608
"""SQLite's stamps are by name: that of a table which is gone must not pass to the next one of its name."""
_LONGEST = {Dialect.POSTGRESQL: 63, Dialect.MARIADB: 64, Dialect.MYSQL: 64}
_LONGEST_COMMENT = 2_048
_POSTGRESQL = """
SELECT c.oid, c.relname AS name, obj_description(c.oid, 'pg_class') AS comment, NULL AS born,
       pg_has_role(c.relowner, 'USAGE') AS owned, pg_total_relation_size(c.oid) AS bytes,
       ARRAY(SELECT DISTINCT v.oid::regclass::text FROM pg_depend d
             JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
             JOIN pg_class v ON v.oid = r.ev_class
             WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid AND v.oid <> c.oid ORDER BY 1) AS views,
       ARRAY(SELECT DISTINCT k.conrelid::regclass::text FROM pg_constraint k
             WHERE k.contype = 'f' AND k.confrelid = c.oid AND k.conrelid <> c.oid ORDER BY 1) AS referrers
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'r' AND NOT c.relispartition
  AND NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
  AND NOT EXISTS (SELECT 1 FROM pg_depend e
                  WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
ORDER BY c.relname
"""
_MARIADB = """
SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment, CREATE_TIME AS born, TRUE AS owned,
       coalesce(DATA_LENGTH, 0) + coalesce(INDEX_LENGTH, 0) AS bytes
FROM information_schema.TABLES WHERE TABLE_SCHEMA = coalesce(%s, DATABASE()) AND TABLE_TYPE = 'BASE TABLE'
ORDER BY TABLE_NAME
"""
_MARIADB_VIEWS = """
SELECT concat(TABLE_SCHEMA, '.', TABLE_NAME) AS name, VIEW_DEFINITION AS text FROM information_schema.VIEWS
"""
_MARIADB_KEYS = """
SELECT DISTINCT REFERENCED_TABLE_NAME AS name, concat(TABLE_SCHEMA, '.', TABLE_NAME) AS other
FROM information_schema.KEY_COLUMN_USAGE
WHERE REFERENCED_TABLE_SCHEMA = coalesce(%s, DATABASE())
  AND NOT (TABLE_SCHEMA = REFERENCED_TABLE_SCHEMA AND TABLE_NAME = REFERENCED_TABLE_NAME) ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What Hourhand wrote of a table."""

    what: str
    at: datetime
    original: str | None = None
    """The name of a quarantined table before."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table that may have been made for a while."""

    name: str
    oid: int | None = None
    comment: str = ""
    """Without the stamp."""
    stamp: Stamp | None = None
    born: datetime | None = None
    owned: bool = True
    views: tuple[str, ...] = ()
    referrers: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def known_since(self) -> datetime | None:
        """Since when it has certainly been there."""
        if self.born is not None:
            return self.born
        return self.stamp.at if self.stamp is not None and self.stamp.what == SEEN else None

    @property
    def original(self) -> str:
        """Its name before a quarantine."""
        return self.stamp.original or self.name if self.stamp is not None else self.name


async def find_tables(session: Session, schema: str | None) -> list[FoundTable]:
    """Every plain table that is nobody's partition."""
    match session.dialect:
        case Dialect.POSTGRESQL:
            return [_read(row) for row in await session.fetch(_POSTGRESQL, schema or "public")]
        case Dialect.MARIADB | Dialect.MYSQL:
            return await _of_maria(session, schema)
    return await _of_sqlite(session)


async def _of_maria(session: Session, schema: str | None) -> list[FoundTable]:
    views = await session.fetch(_MARIADB_VIEWS)
    keys = await session.fetch(_MARIADB_KEYS, schema)
    found = []
    for row in await session.fetch(_MARIADB, schema):
        name = "`" + row["name"].replace("`", "``") + "`"
        more = {
            "views": [view["name"] for view in views if name in str(view["text"])],
            "referrers": [key["other"] for key in keys if key["name"] == row["name"]],
        }
        found.append(_read({**row, **more}))
    return found


async def has_stale_stamps(session: Session) -> bool:
    """Whether tables were stamped that are gone since: another one of the name would be taken for as old."""
    if session.dialect is not Dialect.SQLITE or not await session.fetch(
        f"SELECT 1 AS one FROM sqlite_master WHERE name = '{STAMPS}'"  # noqa: S608
    ):
        return False
    return bool(await session.fetch(f"SELECT 1 AS one FROM {STAMPS} WHERE {_GONE} LIMIT 1"))  # noqa: S608


async def _of_sqlite(session: Session) -> list[FoundTable]:
    rows = await session.fetch("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name")
    stamps = {}
    if any(row["name"] == STAMPS for row in rows):
        stamps = {row["name"]: row["stamp"] for row in await session.fetch(f"SELECT name, stamp FROM {STAMPS}")}  # noqa: S608
    found = []
    for row in rows:
        name = row["name"]
        if row["type"] != "table" or name == STAMPS or name.startswith("sqlite_"):
            continue
        keys = await session.fetch(
            "SELECT DISTINCT m.name AS other FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f "
            "WHERE m.type = 'table' AND m.name <> ? AND lower(f.\"table\") = lower(?) ORDER BY 1",
            name,
            name,
        )
        # By the text alone: rather one too many than a view that is broken.
        views = [
            one["name"]
            for one in rows
            if one["type"] in ("view", "trigger")
            and one["tbl_name"] != name
            and name.lower() in str(one["sql"]).lower()
        ]
        more = {"comment": stamps.get(name), "born": None, "owned": True, "bytes": 0}
        found.append(_read({"name": name, "views": views, "referrers": [key["other"] for key in keys], **more}))
    return found


def _read(row: Row) -> FoundTable:
    comment = row["comment"] or ""
    stamped = _STAMP.search(comment)
    stamp = None
    if stamped is not None:
        at = datetime.strptime(stamped[2], "%Y-%m-%dT%H").replace(tzinfo=UTC)
        stamp = Stamp(stamped[1], at, json.loads(stamped[3]) if stamped[3] else None)
    return FoundTable(
        name=row["name"],
        oid=row.get("oid"),
        comment=_STAMP.sub("", comment),
        stamp=stamp,
        born=row["born"] and row["born"].replace(tzinfo=UTC),
        owned=bool(row["owned"]),
        views=tuple(row["views"]),
        referrers=tuple(row["referrers"]),
        bytes=int(row["bytes"]),
    )


def quarantine_name(dialect: Dialect, name: str, at: datetime) -> str:
    """What a table is called in quarantine: since when, and what it was, as far as there is room."""
    made = f"{QUARANTINE}{at:%Y%m%d%H}_{name}"
    longest = _LONGEST.get(dialect)
    if longest is None or len(made.encode()) <= longest:
        return made
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return made.encode()[: longest - 9].decode(errors="ignore") + f"_{digest}"


def stamped(what: str, at: datetime, original: str | None = None, comment: str = "") -> str:
    """A comment with a stamp at its end."""
    name = "" if original is None else f" as {json.dumps(original, ensure_ascii=False)}"
    stamp = f"[hourhand: {what} {at:%Y-%m-%dT%H}Z{name}]"
    whole = f"{comment}\n{stamp}" if comment else stamp
    return whole if len(whole) <= _LONGEST_COMMENT else stamp


@dataclass(frozen=True, slots=True)
class Statements:
    """How a dialect says it."""

    dialect: Dialect
    schema: str | None

    def named(self, name: str) -> str:
        """A table as it is written in statements."""
        return qualified(self.dialect, self.schema, name)

    def stamp(self, table: FoundTable, at: datetime) -> tuple[str, ...]:
        """Note that it was seen."""
        if self.dialect is Dialect.POSTGRESQL:
            return (self._comment(table.name, stamped(SEEN, at, comment=table.comment)),)
        return (
            f"CREATE TABLE IF NOT EXISTS {STAMPS} (name TEXT PRIMARY KEY, stamp TEXT NOT NULL)",
            self._noted(table.name, stamped(SEEN, at)),
        )

    def quarantine(self, table: FoundTable, to: str, at: datetime) -> tuple[str, ...]:
        """Rename it, and note since when and what it was."""
        note = stamped(QUARANTINED, at, table.name, table.comment)
        return self._renamed(table.name, to, note, forget=True)

    def restore(self, table: FoundTable, quarantined: str) -> tuple[str, ...]:
        """Give it back its name and its comment."""
        return self._renamed(quarantined, table.name, table.comment, forget=True)

    def drop(self, name: str) -> tuple[str, ...]:
        """Away for good; nothing goes along that depends on it."""
        return (f"DROP TABLE {self.named(name)}", *([self._forgotten(name)] if self.dialect is Dialect.SQLITE else []))

    def _renamed(self, name: str, to: str, comment: str, *, forget: bool) -> tuple[str, ...]:
        match self.dialect:
            case Dialect.POSTGRESQL:
                new = qualified(self.dialect, None, to)
                return (f"ALTER TABLE {self.named(name)} RENAME TO {new}", self._comment(to, comment))
            case Dialect.MARIADB | Dialect.MYSQL:
                note = literal(self.dialect, comment)
                return (f"ALTER TABLE {self.named(name)} RENAME TO {self.named(to)}, COMMENT = {note}",)
        told = [self._noted(to, comment)] if comment else []
        return (
            f"ALTER TABLE {self.named(name)} RENAME TO {self.named(to)}",
            *([self._forgotten(name)] if forget else []),
            *told,
        )

    def _comment(self, name: str, comment: str) -> str:
        return f"COMMENT ON TABLE {self.named(name)} IS {literal(self.dialect, comment or None)}"

    def _noted(self, name: str, stamp: str) -> str:
        values = f"{literal(self.dialect, name)}, {literal(self.dialect, stamp)}"
        return f"INSERT OR REPLACE INTO {STAMPS} VALUES ({values})"  # noqa: S608

    def _forgotten(self, name: str) -> str:
        return f"DELETE FROM {STAMPS} WHERE name = {literal(self.dialect, name)}"  # noqa: S608

    def exists(self, name: str, oid: int | None = None) -> str:
        """The query whether a table of that name is there: on PostgreSQL that very one."""
        match self.dialect:
            case Dialect.POSTGRESQL:
                where = f"oid = {oid} AND relname = {literal(self.dialect, name)}"
                return f"SELECT EXISTS (SELECT 1 FROM pg_class WHERE {where}) AS there"  # noqa: S608
            case Dialect.MARIADB | Dialect.MYSQL:
                schema = literal(self.dialect, self.schema) if self.schema else "DATABASE()"
                where = f"TABLE_SCHEMA = {schema} AND TABLE_NAME = {literal(self.dialect, name)}"
                return f"SELECT EXISTS (SELECT 1 FROM information_schema.TABLES WHERE {where}) AS there"  # noqa: S608
        where = f"type = 'table' AND name = {literal(self.dialect, name)}"
        return f"SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE {where}) AS there"  # noqa: S608

    def gone(self, name: str, oid: int | None = None) -> str:
        """The query whether it is not."""
        return self.exists(name, oid).replace("SELECT EXISTS", "SELECT NOT EXISTS", 1)
