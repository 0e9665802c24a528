"""Operations: the swap of an online split or merge: shadows take the partitions' places in one short transaction."""

from __future__ import annotations

from hourhand.model.operation import Step
from hourhand.operations.catalog.table import Partition
from hourhand.operations.partitions.online_mirror import (
    Change,
    Piece,
    function_sql,
    must_mirror,
    truncate_trigger,
)
from hourhand.operations.partitions.postgresql_facts import PG, Relation, beside, exists, for_values
from hourhand.operations.partitions.postgresql_look import PgFacts, kept_mark, mirror_name
from hourhand.operations.partitions.postgresql_steps import comment_kept, index_name, moment, secured
from hourhand.operations.quoting import quoted
from hourhand.rules.operations import temporary


def index_names(facts: PgFacts, piece: Piece) -> list[tuple[str, str]]:
    """What each index is called on the shadow, and from the swap on."""
    model = facts.relations[0]
    last = [index_name(one, model.name, piece.name) for one in model.indexes]
    return [(temporary("index", piece.shadow, name), name) for name in last]


def swap(change: Change) -> Step:
    """Take out, put in."""
    table, default = change.table, change.table.default_partition
    locked = [table.sql, *map(table.partition_sql, change.olds), *([table.partition_sql(default)] if default else [])]
    made = [moment(change.config.lock_timeout_ms), f"LOCK TABLE ONLY {', '.join(locked)} IN ACCESS EXCLUSIVE MODE"]
    made += [must_mirror(table, old, number) for number, old in enumerate(change.olds)]
    for number, (old, relation) in enumerate(zip(change.olds, change.facts.relations, strict=True)):
        made += _taken_out(change, old, number, relation)
    for piece in change.pieces:
        made += _put_in(change, piece)
    return Step(
        name=f"swap in {', '.join(one.name for one in change.pieces)}",
        phase="swap",
        sql=tuple(made),
        lock=f"ACCESS EXCLUSIVE on {table.shown}, for a moment",
        cancellable=False,
        done_check=f"SELECT {change.swapped}",
    )


def _taken_out(change: Change, old: Partition, number: int, relation: Relation) -> list[str]:
    config, table, name = change.config, change.table, change.replaced[old.name]
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
        hidden = quoted(PG, temporary("old index", name, index.name))
        made.append(f"ALTER INDEX {beside(table, old, index.name)} RENAME TO {hidden}")
    made += [comment_kept(kept, kept_mark(table), config.keep_old_hours)] if config.keep_old_hours else []
    return made


def _put_in(change: Change, piece: Piece) -> list[str]:
    table, old = change.table, change.olds[0]
    sql = beside(table, old, piece.name)
    model, names = change.facts.relations[0], index_names(change.facts, piece)
    made = [
        f"ALTER TABLE {piece.sql} RENAME TO {quoted(PG, piece.name)}",
        *(f"ALTER INDEX {beside(table, old, first)} RENAME TO {quoted(PG, last)}" for first, last in names),
        f"ALTER TABLE {table.sql} ATTACH PARTITION {sql} {for_values(piece.cell)}",
        f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, temporary('bounds', piece.shadow))}",
        f"COMMENT ON TABLE {sql} IS NULL",
    ]
    places = {one.name: last for one, (_, last) in zip(model.indexes, names, strict=True)}
    return made + secured(model, sql, places.get(model.identity_index or ""))


def dropped(change: Change) -> list[Step]:
    """What was replaced goes at once, if it is not to be kept."""
    if change.config.keep_old_hours:
        return []
    names = [beside(change.table, one, change.replaced[one.name]) for one in change.olds]
    gone = " AND ".join(f"NOT ({exists(one)})" for one in names)
    return [
        Step(
            name="drop what was replaced",
            phase="clean",
            sql=tuple(f"DROP TABLE IF EXISTS {one}" for one in names),
            done_check=f"SELECT {gone}",
        )
    ]


def given_up(change: Change) -> list[str]:
    """What takes everything back, as long as there was no swap."""
    made = []
    for number, old in enumerate(change.olds):
        sql = change.table.partition_sql(old)
        made.append(f"DROP TRIGGER IF EXISTS {quoted(PG, mirror_name(change.table, number))} ON {sql}")
        made.append(f"DROP TRIGGER IF EXISTS {quoted(PG, truncate_trigger(change.table, number))} ON {sql}")
        made.append(f"DROP FUNCTION IF EXISTS {function_sql(change.table, number)}()")
    return made + [f"DROP TABLE IF EXISTS {one.sql}" for one in change.pieces]
