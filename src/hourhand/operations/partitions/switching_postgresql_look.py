"""Operations: switching partitions out on PostgreSQL: what is found."""

from __future__ import annotations

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition
from hourhand.operations.catalog import find_table
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.switching import (
    Leaving,
    SwitchConfig,
    SwitchState,
    cutoff_text,
    kept_back,
    named,
    nothing_qualifies,
    require_partitioned,
    schema_exists,
    target_name,
)
from hourhand.operations.quoting import literal, quoted
from hourhand.rules.operations import cutoff

PG = Dialect.POSTGRESQL
_NAME_BYTES = 63
_OF_PARTITION = """
SELECT pg_get_expr(c.relpartbound, c.oid) AS bound,
       ARRAY(SELECT k.conname::text FROM pg_constraint k
             WHERE k.conrelid = c.oid AND k.contype = 'f' ORDER BY 1) AS keys,
       ARRAY(SELECT x.relname::text FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
             WHERE i.indrelid = c.oid ORDER BY 1) AS indexes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""
_TAKEN = """
SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = ANY($2::text[]) ORDER BY 1
"""
_OVERLAPS = """
SELECT a.name AS leaving, b.name AS there
FROM unnest($1::text[], $2::text[], $3::text[]) AS a(name, low, high),
     unnest($4::text[], $5::text[], $6::text[]) AS b(name, low, high)
WHERE (a.low IS NULL OR b.high IS NULL OR a.low::{type} < b.high::{type})
  AND (b.low IS NULL OR a.high IS NULL OR b.low::{type} < a.high::{type}) ORDER BY 1, 2
"""


async def inspect(config: SwitchConfig, look: Look, table: Table) -> SwitchState:
    """Which partitions leave, where to, and what stands in their way."""
    require_partitioned(table)
    session = look.source
    chosen, notes = await _chosen(config, look, table)
    schema = config.target_schema or table.schema
    if config.target_schema is not None and not await schema_exists(session, config.target_schema):
        raise Refused(
            f"there is no schema {config.target_schema!r}: create it (CREATE SCHEMA "
            f"{quoted(PG, config.target_schema)}), or name another",
            field="target_schema",
        )
    archive = await _archive(config, session, table, schema)
    leaving = []
    names: list[str] = []
    for one in chosen:
        row = (await session.fetch(_OF_PARTITION, one.schema, one.name))[0]
        name = one.name
        if archive is None:
            name = target_name(config, one, one.name, several=len(chosen) > 1)
        _short(name)
        place = schema if config.target_schema is not None or archive is not None else one.schema
        leaving.append(
            Leaving(partition=one, bound=row["bound"], foreign_keys=tuple(row["keys"]), schema=place, name=name)
        )
        names += [name] if (place, name) != (one.schema, one.name) else []
        names += row["indexes"] if place != one.schema else []
    conditions = _conditions(table, chosen)
    conditions.append(await _free(session, schema or "public", names))
    if archive is not None:
        conditions += await _fits(session, table, archive, chosen)
    return SwitchState(
        table=table,
        version=session.version,
        leaving=tuple(leaving),
        archive=archive,
        preconditions=tuple(conditions),
        notes=tuple(notes),
    )


async def _chosen(config: SwitchConfig, look: Look, table: Table) -> tuple[list[Partition], list[str]]:
    if config.older_than is None:
        return named(config, table), []
    type_ = table.partition_key_type or ""
    if table.strategy != "range" or not table.partition_key or not type_.startswith(("date", "timestamp")):
        raise Refused(
            f"{table.shown} is partitioned by {table.partition_expression}, which is no range of dates or times: "
            "name the partitions instead",
            field="older_than",
        )
    before = cutoff(config.older_than, look.now)
    given = cutoff_text(before, type_)
    old = f"SELECT $1::text::{type_} <= $2::text::{type_} AS old"
    key = quoted(PG, table.partition_key[0])
    chosen, notes = [], []
    for one in table.partitions:
        if one.high is None or not (await look.source.fetch(old, one.high, given))[0]["old"]:
            continue
        # The bounds' word alone is not enough: what is archived is what the rows say.
        most = (
            await look.source.fetch(
                f"SELECT max({key})::text AS most, coalesce(max({key}) < $1::text::{type_}, true) AS old "  # noqa: S608
                f"FROM {table.partition_sql(one)}",
                given,
            )
        )[0]
        if most["old"]:
            chosen.append(one)
        else:
            notes.append(kept_back(one, most["most"], before))
    return chosen, notes if chosen or notes else [nothing_qualifies(table, before)]


def _short(name: str) -> None:
    if len(name.encode()) > _NAME_BYTES:
        raise Refused(f"{name!r} is longer than the {_NAME_BYTES} bytes of a name", field="target_table")


async def _archive(config: SwitchConfig, session: Session, table: Table, schema: str | None) -> Table | None:
    """The partitioned table that takes them over, if the target is one."""
    if config.target_table is None or "{partition}" in config.target_table:
        return None
    _short(config.target_table)
    found = await find_table(session, schema, config.target_table)
    if found is None or found.strategy is None:
        return None
    if (found.schema, found.name) == (table.schema, table.name):
        raise Refused(f"{found.shown} is the table itself: name another", field="target_table")
    if found.partition_expression != table.partition_expression:
        raise Refused(
            f"{found.shown} is partitioned by {found.partition_expression}, and {table.shown} by "
            f"{table.partition_expression}: only a table that is partitioned alike can take its partitions over",
            field="target_table",
        )
    return found


def _conditions(table: Table, chosen: list[Partition]) -> list[Precondition]:
    incoming = ", ".join(f"{key.table} ({key.name})" for key in table.referenced_by)
    pending = [one.name for one in table.partitions if one.pending_detach and one not in chosen]
    return [
        Precondition(
            name="ownership",
            ok=table.owned,
            detail="owned" if table.owned else f"{table.shown} belongs to {table.owner}: sign in as its owner",
        ),
        Precondition(
            name="incoming foreign keys",
            ok=not incoming,
            detail=f"{incoming} refer to {table.shown}, whose rows must stay for them: drop the foreign keys, or "
            "delete the rows by data_cleanup" if incoming else "none",
        ),
        Precondition(
            name="pending detach",
            ok=not pending,
            detail=f"{', '.join(pending)} is half detached, and no other can be: complete it by ALTER TABLE "
            f"{table.sql} DETACH PARTITION {quoted(PG, pending[0])} FINALIZE" if pending else "none",
        ),
    ]  # fmt: skip


async def _free(session: Session, schema: str, names: list[str]) -> Precondition:
    """Tables and indexes share one space of names."""
    taken = [row["name"] for row in await session.fetch(_TAKEN, schema, names)]
    allowed = (await session.fetch("SELECT has_schema_privilege($1, 'CREATE') AS may", schema))[0]["may"]
    if not allowed:
        return Precondition(name="target", ok=False, detail=f"this user may not create in {schema}: GRANT CREATE on it")
    return Precondition(
        name="target",
        ok=not taken,
        detail=f"{schema} has {', '.join(taken)} already: rename those, or choose another target_schema or target_table"
        if taken else f"the names are free in {schema}",
    )  # fmt: skip


async def _fits(session: Session, table: Table, archive: Table, chosen: list[Partition]) -> list[Precondition]:
    """What ATTACH would refuse, found before anything is detached."""
    differing = [
        name
        for name in sorted({column.name for column in (*table.columns, *archive.columns)})
        if (one := table.column(name)) is None
        or (other := archive.column(name)) is None
        or (one.type, one.nullable, one.generated) != (other.type, other.nullable, other.generated)
    ]
    found = [
        Precondition(
            name="matching definitions",
            ok=not differing,
            detail=f"{archive.shown} differs from {table.shown} in {', '.join(differing)}: make them alike"
            if differing else "alike",
        ),
        Precondition(
            name="ownership of the archive",
            ok=archive.owned,
            detail="owned" if archive.owned else f"{archive.shown} belongs to {archive.owner}: sign in as its owner",
        ),
    ]  # fmt: skip
    if table.strategy == "range" and len(table.partition_key) == 1:
        found += await _room(session, archive, chosen)
    return found


async def _room(session: Session, archive: Table, chosen: list[Partition]) -> list[Precondition]:
    there = [one for one in archive.partitions if not one.default]
    columns = [[getattr(one, name) for one in some] for some in (chosen, there) for name in ("name", "low", "high")]
    rows = await session.fetch(_OVERLAPS.format(type=archive.partition_key_type), *columns)
    pairs = ", ".join(f"{row['leaving']} with {row['there']}" for row in rows)
    filled = []
    if archive.default_partition is not None:
        for one in chosen:
            place = archive.partition_sql(archive.default_partition)
            sql = f"SELECT EXISTS (SELECT 1 FROM {place} WHERE {in_range(archive, one)}) AS n"  # noqa: S608
            filled += [one.name] if (await session.fetch(sql))[0]["n"] else []
    return [
        Precondition(
            name="room in the archive",
            ok=not pairs and not filled,
            detail=f"in {archive.shown} these overlap: {pairs}" if pairs
            else f"the default partition of {archive.shown} has rows in the range of {', '.join(filled)}: move them out"
            if filled else "no partition overlaps",
        )
    ]  # fmt: skip


def in_range(table: Table, partition: Partition) -> str:
    """The condition of the rows that belong to a partition."""
    key, type_ = quoted(PG, table.partition_key[0]), table.partition_key_type
    parts = [f"{key} IS NOT NULL"]
    parts += [] if partition.low is None else [f"{key} >= {literal(PG, partition.low)}::{type_}"]
    parts += [] if partition.high is None else [f"{key} < {literal(PG, partition.high)}::{type_}"]
    return " AND ".join(parts)
