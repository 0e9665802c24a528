"""Operations: PostgreSQL's splits and merges while others read and write.

Shadows are made, a mirror lets them follow what is written from then on, what was there before is copied in chunks,
both are compared in one snapshot, and in one short transaction the shadows take the partitions' places.
"""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hourhand.model.operation import Duration, Step
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.online_mirror import (
    Change,
    Piece,
    function_sql,
    mirror_function,
    mirror_triggers,
)
from hourhand.operations.partitions.online_swap import dropped, given_up, index_names, swap
from hourhand.operations.partitions.postgresql_facts import (
    PG,
    Relation,
    beside,
    exists,
    has_constraint,
    is_child,
    within,
)
from hourhand.operations.partitions.postgresql_look import ABOVE, PgFacts, Split, mirror_name, shadow_name
from hourhand.operations.partitions.postgresql_steps import (
    Ending,
    belongs,
    clearing,
    create_index,
    exclusion,
    verifying,
    with_options,
)
from hourhand.operations.partitions.shapes import MergeConfig, PartitionPlan, SplitConfig
from hourhand.operations.quoting import literal, quoted
from hourhand.rules.operations import temporary

FILLED = "hourhand: filled"
"""The comment of a shadow that has all rows."""


def plan_online_split(config: SplitConfig, table: Table, facts: PgFacts, split: Split) -> PartitionPlan:
    """The lower part keeps the partition's name."""
    old = split.partition
    pieces = (
        _piece(table, old, shadow_name(old.name), old.name, split.low),
        _piece(table, old, shadow_name(old.name, ABOVE), split.name, split.high),
    )
    swapped = is_child(table, old.schema or "", split.name)
    return _planned(
        Change(config, table, facts, (old,), pieces, require_rows_key(table, facts.relations), swapped), split.high.low
    )


def plan_online_merge(
    config: MergeConfig, table: Table, facts: PgFacts, chosen: tuple[Partition, ...]
) -> PartitionPlan:
    """The whole has the first one's name, unless it is given another."""
    first, last = chosen[0], chosen[-1]
    pieces = (_piece(table, first, shadow_name(first.name), config.name or first.name, Cell(first.low, last.high)),)
    lost = next(one for one in reversed(chosen) if one.name != pieces[0].name)
    swapped = f"NOT {is_child(table, lost.schema or '', lost.name)}"
    undo = last.low if last is chosen[1] else None
    return _planned(
        Change(config, table, facts, chosen, pieces, require_rows_key(table, facts.relations), swapped), undo
    )


def _piece(table: Table, old: Partition, shadow: str, name: str, cell: Cell) -> Piece:
    return Piece(shadow, beside(table, old, shadow), name, cell)


def _planned(change: Change, undo: str | None) -> PartitionPlan:
    config, table, facts, olds, pieces, swapped = (
        change.config, change.table, change.facts, change.olds, change.pieces, change.swapped
    )  # fmt: skip
    before, after = exclusion(table, (Cell(olds[0].low, olds[-1].high),), swapped)
    expected = {one.name: one.cell for one in pieces}
    ending = Ending(
        expected=expected,
        gone=[one.name for one in olds if one.name not in expected],
        kept=list(change.replaced.values()) if config.keep_old_hours else [],
        undo=undo,
        swapped=swapped,
        giving_up=given_up(change),
    )
    steps = (
        *clearing(table, facts),
        *[_shadow(change, one) for one in pieces],
        _mirror(change),
        _copy(change),
        *_foreign_keys(change),
        *before,
        _analyze(change),
        _compare(change),
        swap(change),
        *after,
        *dropped(change),
        verifying(table, ending, after),
    )
    room = "until the swap the rows are there twice, and so is the room they take"
    if config.keep_old_hours:
        kept = ", ".join(change.replaced.values())
        room = (
            f"what is replaced is kept, detached, as {kept} for {config.keep_old_hours} hours, and takes room until "
            "the next boundary operation on this table drops it"
        )
    slower = f"until the swap every write to {', '.join(one.name for one in olds)} is done twice"
    return PartitionPlan(steps=steps, notes=(slower, room, "if it is cancelled, what it made for a while is dropped"))


def require_rows_key(table: Table, relations: Sequence[Relation]) -> tuple[str, ...]:
    """The columns by which rows are told apart while they are copied."""
    required = {column.name for column in table.columns if not column.nullable}
    for index in relations[0].indexes:
        everywhere = all(
            any(other.telling and other.columns == index.columns for other in one.indexes) for one in relations
        )
        if index.telling and everywhere and required.issuperset(index.columns):
            return index.columns
    raise Refused(
        f"{table.shown} has no key by which its rows can be told apart while they are copied: give it a primary key, "
        "or a unique index over columns that are NOT NULL",
        field="table",
    )


def _shadow(change: Change, piece: Piece) -> Step:
    model = change.facts.relations[0]
    # Indexes and statistics have names of their own, which must not be left; identities belong to the whole table.
    like = f"LIKE {model.sql} INCLUDING ALL EXCLUDING INDEXES EXCLUDING IDENTITY EXCLUDING STATISTICS"
    check = quoted(PG, temporary("bounds", piece.shadow))
    bounds = f"CONSTRAINT {check} CHECK ({within(change.table, piece.cell)})"
    made = [f"CREATE TABLE {piece.sql} ({like}, {bounds}){with_options(model, None)}", *belongs(model, piece.sql)]
    for index, (name, _) in zip(model.indexes, index_names(change.facts, piece), strict=True):
        made.append(create_index(index, name, piece.sql))
    return Step(
        name=f"make a shadow for {piece.name}",
        phase="prepare",
        sql=tuple(made),
        done_check=f"SELECT {exists(piece.sql)} OR {change.swapped}",
    )


def _mirror(change: Change) -> Step:
    table, relation = change.table, change.facts.relations[0]
    made = []
    for number, old in enumerate(change.olds):
        made.append(mirror_function(table, old, number, change.pieces, change.key))
        if relation.owner != relation.me:
            made.append(f"ALTER FUNCTION {function_sql(table, number)}() OWNER TO {quoted(PG, relation.owner)}")
    for number, old in enumerate(change.olds):
        made += mirror_triggers(table, old, number)
    last = len(change.olds) - 1
    relation_sql = literal(PG, table.partition_sql(change.olds[last]))
    there = (
        f"EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass({relation_sql}) "
        f"AND tgname = {literal(PG, mirror_name(table, last))})"
    )
    return Step(
        name="mirror what is written",
        phase="prepare",
        sql=tuple(made),
        lock=f"SHARE ROW EXCLUSIVE on {', '.join(one.name for one in change.olds)}, for a moment: reads go on",
        done_check=f"SELECT {there} OR {change.swapped}",
    )


def _copy(change: Change) -> Step:
    """The statements of a chunk: for each partition and piece, of the first chunk and of those that follow."""
    table, key = change.table, change.key
    types = [column.type for name in key for column in table.columns if column.name == name]
    columns = table.quoted(*(one.name for one in table.writable))
    keys = table.quoted(*key)
    lower, upper = (
        ", ".join(f"${first + number}::text::{one}" for number, one in enumerate(types)) for first in (1, len(key) + 1)
    )
    conditions = {"first": f"({keys}) <= ({lower})", "next": f"({keys}) > ({lower}) AND ({keys}) <= ({upper})"}
    statements: list[str] = []
    chunks: list[dict[str, Any]] = []
    for old in change.olds:
        chunk: dict[str, Any] = {"sql": table.partition_sql(old), "name": old.name, "first": [], "next": []}
        for piece in change.pieces:
            for when, condition in conditions.items():
                chunk[when].append(len(statements))
                # FOR SHARE: a row that is copied cannot be deleted until its copy can be seen, and deleted too.
                statements.append(
                    f"INSERT INTO {piece.sql} ({columns}) SELECT {columns} FROM {table.partition_sql(old)} "
                    f"WHERE {condition} AND {within(table, piece.cell)} FOR SHARE ON CONFLICT DO NOTHING"
                )
        chunks.append(chunk)
    filled = [f"COMMENT ON TABLE {one.sql} IS {literal(PG, FILLED)}" for one in change.pieces]
    full = " AND ".join(
        f"obj_description(to_regclass({literal(PG, one.sql)}), 'pg_class') IS NOT DISTINCT FROM {literal(PG, FILLED)}"
        for one in change.pieces
    )
    return Step(
        name="copy the rows",
        phase="copy",
        sql=(*statements, *filled),
        lock=f"ROW SHARE on {', '.join(one.name for one in change.olds)}, and its rows a chunk at a time: reads go on",
        duration=Duration.BY_SIZE,
        done_check=f"SELECT ({full}) OR {change.swapped}",
        action="backfill",
        values={
            "olds": chunks,
            "filled": list(range(len(statements), len(statements) + len(filled))),
            "key": list(change.key),
            "types": types,
            "chunk_rows": change.config.chunk_rows,
            "shadow": change.pieces[0].sql,
        },
        weight=60,
    )


def _foreign_keys(change: Change) -> list[Step]:
    """The same as the partition has, valid, so that ATTACH takes them over instead of reading every row."""
    steps = []
    for piece in change.pieces:
        for one in change.facts.relations[0].foreign_keys:
            name, late = quoted(PG, one.name), "" if one.definition.endswith("NOT VALID") else " NOT VALID"
            steps.append(
                Step(
                    name=f"foreign key {one.name} of {piece.name}",
                    phase="constrain",
                    sql=(f"ALTER TABLE {piece.sql} ADD CONSTRAINT {name} {one.definition}{late}",),
                    lock="SHARE ROW EXCLUSIVE on the table it refers to, for a moment: reads go on",
                    done_check=f"SELECT {has_constraint(piece.sql, one.name)} OR {change.swapped}",
                )
            )
            if late:
                steps.append(
                    Step(
                        name=f"check foreign key {one.name} of {piece.name}",
                        phase="constrain",
                        sql=(f"ALTER TABLE {piece.sql} VALIDATE CONSTRAINT {name}",),
                        lock="ROW SHARE on the table it refers to: reads and writes go on",
                        duration=Duration.BY_SIZE,
                        done_check=f"SELECT {has_constraint(piece.sql, one.name, valid=True)} OR {change.swapped}",
                        weight=4,
                    )
                )
    return steps


def _analyze(change: Change) -> Step:
    return Step(
        name="gather statistics",
        phase="analyze",
        sql=tuple(f"ANALYZE {one.sql}" for one in change.pieces),
        duration=Duration.BY_SIZE,
        done_check=f"SELECT {change.swapped}",
        weight=4,
    )


def _compare(change: Change) -> Step:
    table = change.table
    return Step(
        name="compare the rows",
        phase="verify",
        duration=Duration.BY_SIZE,
        done_check=f"SELECT {change.swapped}",
        action="compare",
        values={
            "verify": change.config.verify,
            "olds": [table.partition_sql(one) for one in change.olds],
            "pieces": {one.name: one.sql for one in change.pieces},
            "columns": [one.name for one in table.columns],
            "key": list(change.key),
        },
        weight=20,
    )
