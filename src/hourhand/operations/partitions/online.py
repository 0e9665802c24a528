"""Operations: PostgreSQL's splits and merges while others read and write.

Shadows are made, a mirror lets them follow what is written from then on, what was there before is copied in chunks,
both are compared in one snapshot, and in one short transaction the shadows take the partitions' places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hourhand.model.operation import Duration, Step
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.online_mirror import (
    Piece,
    function_sql,
    mirror_function,
    mirror_triggers,
    must_mirror,
    truncate_trigger,
)
from hourhand.operations.partitions.postgresql_facts import (
    PG,
    Relation,
    beside,
    exists,
    for_values,
    has_constraint,
    is_child,
    within,
)
from hourhand.operations.partitions.postgresql_look import (
    ABOVE,
    PgFacts,
    Split,
    kept_mark,
    mirror_name,
    old_name,
    shadow_name,
)
from hourhand.operations.partitions.postgresql_steps import (
    belongs,
    clearing,
    comment_kept,
    create_index,
    exclusion,
    index_name,
    moment,
    secured,
    verifying,
    with_options,
)
from hourhand.operations.partitions.shapes import MergeConfig, MoveConfig, PartitionPlan, SplitConfig
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
    return _planned(config, table, facts, (old,), pieces, swapped, split.high.low)


def plan_online_merge(
    config: MergeConfig, table: Table, facts: PgFacts, chosen: tuple[Partition, ...]
) -> PartitionPlan:
    """The whole has the first one's name, unless it is given another."""
    first, last = chosen[0], chosen[-1]
    pieces = (
        _piece(table, first, shadow_name(first.name), config.name or first.name, Cell(first.low, last.high)),
    )
    lost = next(one for one in reversed(chosen) if one.name != pieces[0].name)
    swapped = f"NOT {is_child(table, lost.schema or '', lost.name)}"
    undo = last.low if len(chosen) == 2 else None  # noqa: PLR2004
    return _planned(config, table, facts, chosen, pieces, swapped, undo)


def _piece(table: Table, old: Partition, shadow: str, name: str, cell: Cell) -> Piece:
    return Piece(shadow, beside(table, old, shadow), name, cell)


def _planned(
    config: MoveConfig, table: Table, facts: PgFacts, olds: Sequence[Partition], pieces: Sequence[Piece],
    swapped: str, undo: str | None,
) -> PartitionPlan:  # fmt: skip
    key = _key(table, facts.relations)
    before, after = exclusion(table, (Cell(olds[0].low, olds[-1].high),), swapped)
    replaced = {one.name: old_name(one.name, pieces[-1].name) for one in olds}
    expected = {one.name: one.cell for one in pieces}
    gone = [one.name for one in olds if one.name not in expected]
    steps = (
        *clearing(table, facts),
        *[_shadow(table, facts, one, swapped) for one in pieces],
        _mirror(table, facts, olds, pieces, key, swapped),
        _copy(config, table, olds, pieces, key, swapped),
        *_foreign_keys(facts, pieces, swapped),
        *before,
        _analyze(pieces, swapped),
        _compare(config, table, olds, pieces, key, swapped),
        _swap(config, table, facts, olds, pieces, replaced, swapped),
        *after,
        *_dropped(config, table, olds, replaced),
        verifying(
            table, expected, gone=gone, undo=undo,
            kept=[replaced[one.name] for one in olds] if config.keep_old_hours else [],
            giving_up=_given_up(table, olds, pieces), swapped=swapped,
        ),
    )  # fmt: skip
    room = "until the swap the rows are there twice, and so is the room they take"
    if config.keep_old_hours:
        kept = ", ".join(replaced.values())
        room = (
            f"what is replaced is kept, detached, as {kept} for {config.keep_old_hours} hours, and takes room until "
            "the next boundary operation on this table drops it"
        )
    slower = f"until the swap every write to {', '.join(one.name for one in olds)} is done twice"
    return PartitionPlan(steps=steps, notes=(slower, room, "if it is cancelled, what it made for a while is dropped"))


def _key(table: Table, relations: Sequence[Relation]) -> tuple[str, ...]:
    required = {column.name for column in table.columns if not column.nullable}
    for index in relations[0].indexes:
        everywhere = all(
            any(other.telling and other.columns == index.columns for other in one.indexes) for one in relations
        )
        if index.telling and everywhere and required.issuperset(index.columns):
            return index.columns
    raise Refused(
        f"{table.shown} has no key by which its rows can be told apart while they are copied: give it a primary key, or "
        "a unique index over columns that are NOT NULL",
        field="table",
    )


def _index_names(facts: PgFacts, piece: Piece) -> list[tuple[str, str]]:
    """What each index is called on the shadow, and from the swap on."""
    model = facts.relations[0]
    last = [index_name(one, model.name, piece.name) for one in model.indexes]
    return [(temporary("index", piece.shadow, name), name) for name in last]


def _shadow(table: Table, facts: PgFacts, piece: Piece, swapped: str) -> Step:
    model = facts.relations[0]
    # Indexes and statistics have names of their own, which must not be left; identities belong to the whole table.
    like = f"LIKE {model.sql} INCLUDING ALL EXCLUDING INDEXES EXCLUDING IDENTITY EXCLUDING STATISTICS"
    check = quoted(PG, temporary("bounds", piece.shadow))
    made = [
        f"CREATE TABLE {piece.sql} ({like}, CONSTRAINT {check} CHECK ({within(table, piece.cell)}))"
        f"{with_options(model, None)}",
        *belongs(model, piece.sql),
    ]
    for index, (name, _) in zip(model.indexes, _index_names(facts, piece), strict=True):
        made.append(create_index(index, name, piece.sql))
    return Step(
        name=f"make a shadow for {piece.name}",
        phase="prepare",
        sql=tuple(made),
        done_check=f"SELECT {exists(piece.sql)} OR {swapped}",
    )


def _mirror(
    table: Table, facts: PgFacts, olds: Sequence[Partition], pieces: Sequence[Piece], key: Sequence[str], swapped: str
) -> Step:
    made = []
    relation = facts.relations[0]
    for number, old in enumerate(olds):
        made.append(mirror_function(table, old, number, pieces, key))
        if relation.owner != relation.me:
            made.append(f"ALTER FUNCTION {function_sql(table, number)}() OWNER TO {quoted(PG, relation.owner)}")
    for number, old in enumerate(olds):
        made += mirror_triggers(table, old, number)
    last = len(olds) - 1
    there = (
        f"EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass({literal(PG, table.partition_sql(olds[last]))}) "
        f"AND tgname = {literal(PG, mirror_name(table, last))})"
    )
    return Step(
        name="mirror what is written",
        phase="prepare",
        sql=tuple(made),
        lock=f"SHARE ROW EXCLUSIVE on {', '.join(one.name for one in olds)}, for a moment: reads go on",
        done_check=f"SELECT {there} OR {swapped}",
    )


def _copy(
    config: MoveConfig, table: Table, olds: Sequence[Partition], pieces: Sequence[Piece], key: Sequence[str],
    swapped: str,
) -> Step:  # fmt: skip
    """The statements of a chunk: for each partition and piece, of the first chunk and of those that follow."""
    types = [column.type for name in key for column in table.columns if column.name == name]
    columns = table.quoted(*(one.name for one in table.writable))
    keys = table.quoted(*key)
    lower, upper = (
        ", ".join(f"${first + number}::text::{one}" for number, one in enumerate(types)) for first in (1, len(key) + 1)
    )
    statements: list[str] = []
    chunks: list[dict[str, Any]] = []
    for old in olds:
        chunk: dict[str, Any] = {"sql": table.partition_sql(old), "name": old.name, "first": [], "next": []}
        for piece in pieces:
            for when, condition in (("first", f"({keys}) <= ({lower})"), ("next", f"({keys}) > ({lower}) AND ({keys}) <= ({upper})")):
                chunk[when].append(len(statements))
                # FOR SHARE: a row that is copied cannot be deleted until its copy can be seen, and deleted too.
                statements.append(
                    f"INSERT INTO {piece.sql} ({columns}) SELECT {columns} FROM {table.partition_sql(old)} "  # noqa: S608
                    f"WHERE {condition} AND {within(table, piece.cell)} FOR SHARE ON CONFLICT DO NOTHING"
                )
        chunks.append(chunk)
    filled = [f"COMMENT ON TABLE {one.sql} IS {literal(PG, FILLED)}" for one in pieces]
    full = " AND ".join(
        f"obj_description(to_regclass({literal(PG, one.sql)}), 'pg_class') IS NOT DISTINCT FROM {literal(PG, FILLED)}"
        for one in pieces
    )
    return Step(
        name="copy the rows",
        phase="copy",
        sql=(*statements, *filled),
        lock=f"ROW SHARE on {', '.join(one.name for one in olds)}, and its rows a chunk at a time: reads go on",
        duration=Duration.BY_SIZE,
        done_check=f"SELECT ({full}) OR {swapped}",
        action="backfill",
        values={
            "olds": chunks,
            "filled": list(range(len(statements), len(statements) + len(filled))),
            "key": list(key),
            "types": types,
            "chunk_rows": config.chunk_rows,
            "shadow": pieces[0].sql,
        },
        weight=60,
    )


def _foreign_keys(facts: PgFacts, pieces: Sequence[Piece], swapped: str) -> list[Step]:
    """The same as the partition has, valid, so that ATTACH takes them over instead of reading every row."""
    steps = []
    for piece in pieces:
        for one in facts.relations[0].foreign_keys:
            name, late = quoted(PG, one.name), "" if one.definition.endswith("NOT VALID") else " NOT VALID"
            steps.append(
                Step(
                    name=f"foreign key {one.name} of {piece.name}",
                    phase="constrain",
                    sql=(f"ALTER TABLE {piece.sql} ADD CONSTRAINT {name} {one.definition}{late}",),
                    lock="SHARE ROW EXCLUSIVE on the table it refers to, for a moment: reads go on",
                    done_check=f"SELECT {has_constraint(piece.sql, one.name)} OR {swapped}",
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
                        done_check=f"SELECT {has_constraint(piece.sql, one.name, valid=True)} OR {swapped}",
                        weight=4,
                    )
                )
    return steps


def _analyze(pieces: Sequence[Piece], swapped: str) -> Step:
    return Step(
        name="gather statistics",
        phase="analyze",
        sql=tuple(f"ANALYZE {one.sql}" for one in pieces),
        duration=Duration.BY_SIZE,
        done_check=f"SELECT {swapped}",
        weight=4,
    )


def _compare(
    config: MoveConfig, table: Table, olds: Sequence[Partition], pieces: Sequence[Piece], key: Sequence[str],
    swapped: str,
) -> Step:  # fmt: skip
    return Step(
        name="compare the rows",
        phase="verify",
        duration=Duration.BY_SIZE,
        done_check=f"SELECT {swapped}",
        action="compare",
        values={
            "verify": config.verify,
            "olds": [table.partition_sql(one) for one in olds],
            "pieces": {one.name: one.sql for one in pieces},
            "columns": [one.name for one in table.columns],
            "key": list(key),
        },
        weight=20,
    )


def _swap(
    config: MoveConfig, table: Table, facts: PgFacts, olds: Sequence[Partition], pieces: Sequence[Piece],
    replaced: dict[str, str], swapped: str,
) -> Step:  # fmt: skip
    default = table.default_partition
    locked = [table.sql, *map(table.partition_sql, olds), *([table.partition_sql(default)] if default else [])]
    made = [moment(config.lock_timeout_ms), f"LOCK TABLE ONLY {', '.join(locked)} IN ACCESS EXCLUSIVE MODE"]
    made += [must_mirror(table, old, number) for number, old in enumerate(olds)]
    for number, (old, relation) in enumerate(zip(olds, facts.relations, strict=True)):
        made += _taken_out(config, table, old, number, relation, replaced[old.name])
    for piece in pieces:
        made += _put_in(table, olds[0], facts, piece)
    return Step(
        name=f"swap in {', '.join(one.name for one in pieces)}",
        phase="swap",
        sql=tuple(made),
        lock=f"ACCESS EXCLUSIVE on {table.shown}, for a moment",
        cancellable=False,
        done_check=f"SELECT {swapped}",
    )


def _taken_out(
    config: MoveConfig, table: Table, old: Partition, number: int, relation: Relation, name: str
) -> list[str]:
    sql, kept = table.partition_sql(old), beside(table, old, name)
    made = [
        f"ALTER TABLE {table.sql} DETACH PARTITION {sql}",
        f"DROP TRIGGER {quoted(PG, mirror_name(table, number))} ON {sql}",
        f"DROP TRIGGER {quoted(PG, truncate_trigger(table, number))} ON {sql}",
        f"DROP FUNCTION {function_sql(table, number)}()",
        # What is kept must not hold on to rows of other tables.
        *(f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, one.name)}" for one in relation.foreign_keys),
        f"ALTER TABLE {sql} RENAME TO {quoted(PG, name)}",
    ]
    for index in relation.indexes:
        hidden = quoted(PG, temporary("old index", old.name, index.name))
        made.append(f"ALTER INDEX {beside(table, old, index.name)} RENAME TO {hidden}")
    made += [comment_kept(kept, kept_mark(table), config.keep_old_hours)] if config.keep_old_hours else []
    return made


def _put_in(table: Table, old: Partition, facts: PgFacts, piece: Piece) -> list[str]:
    sql = beside(table, old, piece.name)
    model, names = facts.relations[0], _index_names(facts, piece)
    made = [
        f"ALTER TABLE {piece.sql} RENAME TO {quoted(PG, piece.name)}",
        *(f"ALTER INDEX {beside(table, old, first)} RENAME TO {quoted(PG, last)}" for first, last in names),
        f"ALTER TABLE {table.sql} ATTACH PARTITION {sql} {for_values(piece.cell)}",
        f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, temporary('bounds', piece.shadow))}",
        f"COMMENT ON TABLE {sql} IS NULL",
    ]
    places = {one.name: last for one, (_, last) in zip(model.indexes, names, strict=True)}
    return made + secured(model, sql, places.get(model.identity_index or ""))


def _dropped(
    config: MoveConfig, table: Table, olds: Sequence[Partition], replaced: dict[str, str]
) -> list[Step]:
    if config.keep_old_hours:
        return []
    names = [beside(table, one, replaced[one.name]) for one in olds]
    gone = " AND ".join(f"NOT ({exists(one)})" for one in names)
    return [
        Step(
            name="drop what was replaced",
            phase="clean",
            sql=tuple(f"DROP TABLE IF EXISTS {one}" for one in names),
            done_check=f"SELECT {gone}",
        )
    ]


def _given_up(table: Table, olds: Sequence[Partition], pieces: Sequence[Piece]) -> list[str]:
    made = []
    for number, old in enumerate(olds):
        sql = table.partition_sql(old)
        made.append(f"DROP TRIGGER IF EXISTS {quoted(PG, mirror_name(table, number))} ON {sql}")
        made.append(f"DROP TRIGGER IF EXISTS {quoted(PG, truncate_trigger(table, number))} ON {sql}")
        made.append(f"DROP FUNCTION IF EXISTS {function_sql(table, number)}()")
    return made + [f"DROP TABLE IF EXISTS {one.sql}" for one in pieces]
