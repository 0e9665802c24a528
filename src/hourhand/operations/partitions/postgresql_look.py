"""Operations: PostgreSQL's facts for a boundary, and what is chosen by them."""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hourhand.contracts.operation import Look, Session
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.config import TableConfig
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.bounds import Cell, beginning, grid, holder, lying_ahead, missing, named
from hourhand.operations.partitions.postgresql_facts import (
    PG,
    Relation,
    beside,
    normal,
    ranked,
    read_relation,
    require_key,
    within,
)
from hourhand.operations.partitions.shapes import AddConfig, MergeConfig, SplitConfig
from hourhand.operations.quoting import quoted
from hourhand.rules.operations import PREFIX, temporary

LONGEST_NAME = 63
ABOVE = "above"
_AROUND = """
SELECT has_schema_privilege(to_regnamespace(quote_ident($2)), 'CREATE') AS may_create,
       (SELECT coalesce(max(extract(epoch FROM now() - xact_start)), 0)::int FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database()) AS oldest,
       (SELECT count(*) FROM pg_stat_replication) AS replicas,
       ARRAY(SELECT pubname::text FROM pg_publication_tables WHERE schemaname = $2 AND tablename = $3
             UNION SELECT pubname::text FROM pg_publication WHERE puballtables ORDER BY 1) AS publications,
       ARRAY(SELECT c.relname::text FROM pg_class c
             WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relname ^@ $4
             AND obj_description(c.oid, 'pg_class') ^@ $1) AS kept,
       ARRAY(SELECT c.oid::regclass::text FROM pg_class c
             WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relname ^@ $4
             AND obj_description(c.oid, 'pg_class') ^@ $1
             AND substr(obj_description(c.oid, 'pg_class'), length($1) + 1)::timestamptz <= now() ORDER BY 1) AS expired
"""
_LEFT = """
WITH parts AS (SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = to_regclass($1))
SELECT 'trigger' AS what, g.tgrelid::regclass::text AS relation, quote_ident(g.tgname) AS name,
       g.tgfoid::regprocedure::text AS function
FROM pg_trigger g JOIN parts ON parts.oid = g.tgrelid WHERE g.tgname ^@ $2
UNION ALL
SELECT 'check', k.conrelid::regclass::text, quote_ident(k.conname), NULL
FROM pg_constraint k JOIN parts ON parts.oid = k.conrelid WHERE k.contype = 'c' AND k.conname ^@ $2 ORDER BY 1, 2, 3
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PgFacts:
    """What was found beside the table."""

    version: tuple[int, ...]
    wanted: tuple[str, ...]
    """The boundaries of the configuration, as PostgreSQL writes them."""
    ranks: Mapping[str, int]
    parent: Relation
    relations: tuple[Relation, ...]
    """The partitions concerned; of an add, the one that the new ones are to be like."""
    empty: frozenset[str] = frozenset()
    """Of a split `low` and `high`; of a merge the partitions' names."""
    in_default: tuple[str, ...] = ()
    """New ranges that the default partition has rows of."""
    default: Relation | None = None
    taken: frozenset[str] = frozenset()
    """Names that the new partitions would have, and others have already."""
    leftovers: tuple[str, ...] = ()
    """Statements that take away what an operation that was given up has left."""
    kept: frozenset[str] = frozenset()
    """Names of what earlier operations replaced."""
    expired: tuple[str, ...] = ()
    """What earlier operations replaced, and need not be kept any longer."""
    may_create: bool = True
    oldest: int = 0
    """Seconds for which the longest transaction has been open."""
    replicas: int = 0
    publications: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """One partition to become two."""

    partition: Partition
    low: Cell
    high: Cell
    name: str
    """Of the new one."""


def kept_mark(table: Table) -> str:
    """How the comment begins of what an operation on this table has replaced; a moment follows."""
    return f"hourhand: replaced partition of {table.shown}, kept until "


def mirror_name(table: Table, number: int) -> str:
    """The trigger that mirrors writes to the so-manieth partition that is replaced, and its function."""
    return temporary("mirror", table.name, str(number))


def shadow_name(partition: str, what: str = "") -> str:
    """What takes a partition's place, as long as it is not in it; `above` for what lies above a new boundary."""
    return temporary("shadow", partition, what)


def old_name(partition: str, into: str, kept: frozenset[str]) -> str:
    """What was replaced; the like may have been before."""
    names = (temporary("old", partition, f"{into} {number}") for number in range(len(kept) + 1))
    return next(name for name in names if name not in kept)


async def inspect(config: TableConfig, look: Look, table: Table) -> PgFacts:
    """Look at what the boundary concerns."""
    session = look.source
    _, type_ = require_key(table)
    given = await _given(config, look, table)
    wanted = tuple([await normal(session, type_, value, field=field) for field, value in given])
    bounds = [bound for one in table.partitions for bound in (one.low, one.high) if bound is not None]
    ranks = await ranked(session, table, [*bounds, *wanted])
    if isinstance(config, AddConfig) and config.interval:
        top = max((ranks[one.high] for one in table.partitions if one.high is not None), default=None)
        wanted = tuple(one for one in wanted if top is None or ranks[one] > top)
    concerned, cells, names, empty = await _concerned(config, session, table, wanted, ranks)
    around = (await session.fetch(_AROUND, kept_mark(table), table.schema, table.name, PREFIX))[0]
    default = table.default_partition
    return PgFacts(
        version=session.version,
        wanted=wanted,
        ranks=ranks,
        parent=await read_relation(session, table.sql, table.name),
        relations=tuple([await read_relation(session, table.partition_sql(one), one.name) for one in concerned]),
        empty=empty,
        in_default=await _in_default(session, table, cells),
        default=await read_relation(session, table.partition_sql(default), default.name) if default else None,
        taken=await _taken(session, table, names),
        leftovers=await _leftovers(session, table),
        kept=frozenset(around["kept"]),
        expired=tuple(around["expired"]),
        may_create=around["may_create"],
        oldest=around["oldest"],
        replicas=around["replicas"],
        publications=tuple(around["publications"]),
    )


async def _given(config: TableConfig, look: Look, table: Table) -> list[tuple[str, str]]:
    match config:
        case AddConfig(interval=None):
            return [("boundaries", value) for value in config.boundaries]
        case AddConfig(interval=str(interval)):
            return [("interval", one) for one in await _grid(config, interval, look, table)]
        case SplitConfig():
            return [("boundary", config.boundary)]
        case MergeConfig(boundary=str(boundary)):
            return [("boundary", boundary)]
    return []


async def _grid(config: AddConfig, interval: str, look: Look, table: Table) -> list[str]:
    """From where the last partition ends, or from `start`, to beyond the present: now, or the greatest number."""
    column, type_ = require_key(table)
    ranged = [one for one in table.partitions if not one.default]
    if ranged and ranged[-1].high is None:
        raise Refused(
            f"the partition {ranged[-1].name} of {table.shown} has no upper bound, so that nothing comes after it: "
            "use split_boundary to divide it",
            field="interval",
        )
    timed = type_.startswith(("date", "timestamp"))
    start = config.start or (ranged[-1].high if ranged else beginning(interval, look.now) if timed else None)
    if start is None:
        raise Refused(f"{table.shown} has no partition yet: say where the first one starts", field="start")
    reached = look.now.isoformat()
    if not timed:
        sql = f"SELECT coalesce(max({quoted(PG, column)})::text, $1) AS v FROM {table.sql}"
        lowest = ranged[0].low if ranged and ranged[0].low is not None else start
        reached = (await look.source.fetch(sql, lowest))[0]["v"]
    there = lying_ahead([one.high for one in ranged if one.high is not None], reached, type_=type_)
    if config.start is None and there:
        # One of these holds the present; of the others some are there, and only the rest is made.
        more = config.premake_count + 1 - there
        return grid(interval, more - 1, start, start, type_=type_) if more > 0 else []
    return grid(interval, config.premake_count, start, reached, type_=type_)


async def _concerned(
    config: TableConfig, session: Session, table: Table, wanted: tuple[str, ...], ranks: Mapping[str, int]
) -> tuple[list[Partition], Sequence[Cell], list[str], frozenset[str]]:
    """The partitions, new ranges and new names; and which of them are empty."""
    match config:
        case AddConfig():
            cells = missing(table.partitions, wanted, ranks) if wanted else ()
            ranged = [one for one in table.partitions if not one.default and one.leaf]
            return ranged[-1:], cells, add_names(config, table, cells), frozenset()
        case SplitConfig():
            split = chosen_split(config, table, wanted[0], ranks)
            if split is None:
                return [], (), [], frozenset()
            sql = table.partition_sql(split.partition)
            sides = {"low": split.low, "high": split.high}
            found = {side for side, cell in sides.items() if not await _any(session, sql, within(table, cell))}
            return [split.partition], (), [split.name], frozenset(found)
        case MergeConfig():
            chosen = chosen_merge(config, table, wanted, ranks)
            found = {one.name for one in chosen if not await _any(session, table.partition_sql(one), "TRUE")}
            names = [config.name] if config.name and all(one.name != config.name for one in chosen) else []
            return list(chosen), (), names, frozenset(found)
    raise TypeError(f"{type(config).__name__} is no configuration of a boundary")


async def _any(session: Session, sql: str, condition: str) -> bool:
    rows = await session.fetch(f"SELECT EXISTS (SELECT FROM {sql} WHERE {condition}) AS found")
    return bool(rows[0]["found"])


async def _in_default(session: Session, table: Table, cells: Sequence[Cell]) -> tuple[str, ...]:
    if table.default_partition is None:
        return ()
    sql = table.partition_sql(table.default_partition)
    return tuple([one.shown for one in cells if await _any(session, sql, within(table, one))])


async def _taken(session: Session, table: Table, names: list[str]) -> frozenset[str]:
    rows = await session.fetch(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relname = ANY($2::text[])",
        table.schema,
        names,
    )
    return frozenset(row["relname"] for row in rows)


async def _leftovers(session: Session, table: Table) -> tuple[str, ...]:
    """Mirrors, checks and shadows, which nobody works at: this operation has the table for itself."""
    rows = await session.fetch(_LEFT, table.sql, PREFIX)
    found = [f"DROP TRIGGER {row['name']} ON {row['relation']}" for row in rows if row["what"] == "trigger"]
    found += [f"ALTER TABLE {row['relation']} DROP CONSTRAINT {row['name']}" for row in rows if row["what"] == "check"]
    found += [f"DROP FUNCTION {one}" for one in sorted({row["function"] for row in rows if row["function"]})]
    for shadow in [beside(table, one, shadow_name(one.name, what)) for one in table.partitions for what in ("", ABOVE)]:
        rows = await session.fetch("SELECT to_regclass($1) IS NOT NULL AS found", shadow)
        found += [f"DROP TABLE {shadow}"] if rows[0]["found"] else []
    return tuple(found)


def add_names(config: AddConfig, table: Table, cells: Sequence[Cell]) -> list[str]:
    """What the new partitions are called."""
    names = named(config.name_template, table.name, cells, type_=require_key(table)[1])
    double = next((one for one in names if names.count(one) > 1), None)
    if double is not None:
        raise Refused(
            f"two partitions would both be called {double}: let the template say more, such as {{table}}_{{low}}",
            field="name_template",
        )
    for one in names:
        require_short(one, field="name_template")
    return names


def require_short(name: str, *, field: str) -> None:
    """Refuse a name that PostgreSQL would cut off."""
    if len(name.encode()) > LONGEST_NAME:
        raise Refused(f"{name!r} is longer than the {LONGEST_NAME} bytes of a name: give a shorter one", field=field)


def chosen_split(config: SplitConfig, table: Table, boundary: str, ranks: Mapping[str, int]) -> Split | None:
    """The partition that holds the boundary; None if the boundary is there already."""
    found = holder(table.partitions, boundary, ranks)
    bounds = [bound for one in table.partitions for bound in (one.low, one.high) if bound is not None]
    if any(ranks[bound] == ranks[boundary] for bound in bounds):
        return None
    if found is None:
        there = ", ".join(
            f"{one.name} ({Cell(one.low, one.high).shown})" for one in table.partitions if not one.default
        )
        raise Refused(
            f"no partition of {table.shown} holds {boundary}: use add_boundary; there are {there or 'none'}",
            field="boundary",
        )
    if not found.leaf:
        raise Refused(f"{found.name} is partitioned itself: split its own partitions", field="boundary")
    low, high = Cell(found.low, boundary), Cell(boundary, found.high)
    name = config.name or named(None, table.name, [Cell(boundary, None)], type_=require_key(table)[1])[0]
    require_short(name, field="name")
    return Split(found, low, high, name)


def chosen_merge(
    config: MergeConfig, table: Table, wanted: tuple[str, ...], ranks: Mapping[str, int]
) -> tuple[Partition, ...]:
    """The partitions to merge, in their order, side by side."""
    ranged = [one for one in table.partitions if not one.default]
    there = ", ".join(f"{one.name} ({Cell(one.low, one.high).shown})" for one in ranged)
    if wanted:
        at = ranks[wanted[0]]
        chosen = [one for one in ranged if at in {ranks.get(one.low or ""), ranks.get(one.high or "")}]
        if len(chosen) != 2:  # noqa: PLR2004
            raise Refused(
                f"{wanted[0]} is no boundary between two partitions of {table.shown}; there are {there}",
                field="boundary",
            )
    else:
        unknown = next((one for one in config.partitions if all(one != each.name for each in ranged)), None)
        if unknown is not None:
            raise Refused(f"{table.shown} has no partition {unknown!r} by range; there are {there}", field="partitions")
        chosen = [one for one in ranged if one.name in config.partitions]
    for one, following in itertools.pairwise(chosen):
        if one.high is None or following.low is None or ranks[one.high] != ranks[following.low]:
            between = [each.name for each in ranged[ranged.index(one) + 1 : ranged.index(following)]]
            why = (
                f"between them {'is' if len(between) == 1 else 'are'} {', '.join(between)}"
                if between
                else "a gap is there"
            )
            raise Refused(f"{one.name} and {following.name} do not lie side by side: {why}", field="partitions")
    parted = next((one for one in chosen if not one.leaf), None)
    if parted is not None:
        raise Refused(f"{parted.name} is partitioned itself: merge its own partitions", field="partitions")
    return tuple(chosen)
