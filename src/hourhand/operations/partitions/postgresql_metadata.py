"""Operations: PostgreSQL's splits and merges by the catalog alone, where all rows stay in their table.

A CHECK that was validated beforehand, while others read and wrote, proves that the rows fit: so PostgreSQL need not
read them while the table is locked.
"""

from __future__ import annotations

from hourhand.model.operation import Duration, Step
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.postgresql_facts import (
    PG,
    beside,
    for_values,
    has_constraint,
    is_child,
    within,
)
from hourhand.operations.partitions.postgresql_look import PgFacts, Split
from hourhand.operations.partitions.postgresql_steps import (
    Ending,
    belongs,
    clearing,
    dollars,
    exclusion,
    moment,
    secured,
    verifying,
    with_options,
)
from hourhand.operations.partitions.shapes import MergeConfig, PartitionPlan, SplitConfig
from hourhand.operations.quoting import literal, quoted
from hourhand.rules.operations import temporary


def plan_metadata_split(config: SplitConfig, table: Table, facts: PgFacts, split: Split) -> PartitionPlan:
    """The partition keeps its rows and its name, and is narrowed; the empty side becomes a new one."""
    old, new = split.partition, beside(table, split.partition, split.name)
    narrow, other = (split.low, split.high) if "high" in facts.empty else (split.high, split.low)
    sql, check = table.partition_sql(old), temporary("bounds", old.name)
    swapped = is_child(table, old.schema or "", split.name)
    before, after = exclusion(table, (Cell(old.low, old.high),), swapped)
    like = f"(LIKE {table.sql} INCLUDING ALL EXCLUDING IDENTITY){with_options(facts.relations[0], None)}"
    swap = [
        moment(config.lock_timeout_ms),
        _locked(table, sql),
        f"CREATE TABLE {new} {like}",
        *belongs(facts.relations[0], new),
        f"ALTER TABLE {table.sql} DETACH PARTITION {sql}",
        f"ALTER TABLE {table.sql} ATTACH PARTITION {sql} {for_values(narrow)}",
        f"ALTER TABLE {table.sql} ATTACH PARTITION {new} {for_values(other)}",
        f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, check)}",
        *secured(facts.relations[0], new),
    ]
    ending = Ending(
        expected={old.name: narrow, split.name: other},
        undo=split.high.low,
        swapped=swapped,
        giving_up=[f"ALTER TABLE {sql} DROP CONSTRAINT IF EXISTS {quoted(PG, check)}"],
    )
    steps = (
        *clearing(table, facts),
        *_proof(table, old, narrow, swapped),
        *before,
        _swap(table, f"split {old.name}", swap, swapped),
        *after,
        verifying(table, ending, after),
    )
    note = f"from the first step until the swap, rows of {other.shown} are refused: where such are written, use online"
    return PartitionPlan(steps=steps, notes=(note,))


def plan_metadata_merge(
    config: MergeConfig, table: Table, facts: PgFacts, chosen: tuple[Partition, ...]
) -> PartitionPlan:
    """The one that has rows is widened; the others, which have none, are dropped."""
    stays = next((one for one in chosen if one.name not in facts.empty), chosen[0])
    gone = [one for one in chosen if one is not stays]
    whole = Cell(chosen[0].low, chosen[-1].high)
    sql, name = table.partition_sql(stays), config.name or stays.name
    check = temporary("bounds", stays.name)
    swapped = f"NOT {is_child(table, gone[0].schema or '', gone[0].name)}"
    before, after = exclusion(table, (whole,), swapped)
    swap = [
        moment(config.lock_timeout_ms),
        _locked(table, *(table.partition_sql(one) for one in chosen)),
        *(_must_be_empty(table, one) for one in gone),
        *(f"ALTER TABLE {table.sql} DETACH PARTITION {table.partition_sql(one)}" for one in chosen),
        f"ALTER TABLE {table.sql} ATTACH PARTITION {sql} {for_values(whole)}",
        f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, check)}",
        *(f"DROP TABLE {table.partition_sql(one)}" for one in gone),
        *([f"ALTER TABLE {sql} RENAME TO {quoted(PG, name)}"] if name != stays.name else []),
    ]
    ending = Ending(
        expected={name: whole},
        gone=[one.name for one in gone if one.name != name],
        undo=chosen[1].low if chosen[-1] is chosen[1] else None,
        swapped=swapped,
        giving_up=[f"ALTER TABLE {sql} DROP CONSTRAINT IF EXISTS {quoted(PG, check)}"],
    )
    steps = (
        *clearing(table, facts),
        *_proof(table, stays, whole, swapped),
        *before,
        _swap(table, f"merge into {name}", swap, swapped),
        *after,
        verifying(table, ending, after),
    )
    return PartitionPlan(steps=steps, notes=(f"dropped, since they are empty: {', '.join(one.name for one in gone)}",))


def _proof(table: Table, partition: Partition, cell: Cell, swapped: str) -> tuple[Step, Step]:
    """A CHECK of the new bounds, made in a moment and validated while others go on."""
    sql, name = table.partition_sql(partition), temporary("bounds", partition.name)
    return (
        Step(
            name=f"bound {partition.name}",
            phase="prepare",
            sql=(f"ALTER TABLE {sql} ADD CONSTRAINT {quoted(PG, name)} CHECK ({within(table, cell)}) NOT VALID",),
            lock=f"ACCESS EXCLUSIVE on {partition.name}, for a moment",
            done_check=f"SELECT {has_constraint(sql, name)} OR {swapped}",
        ),
        Step(
            name=f"read {partition.name}",
            phase="prepare",
            sql=(f"ALTER TABLE {sql} VALIDATE CONSTRAINT {quoted(PG, name)}",),
            lock=f"SHARE UPDATE EXCLUSIVE on {partition.name}: reads and writes go on",
            duration=Duration.BY_SIZE,
            done_check=f"SELECT {has_constraint(sql, name, valid=True)} OR {swapped}",
            values={"reads": partition.name},
            weight=5,
        ),
    )


def _locked(table: Table, *partitions: str) -> str:
    default = table.default_partition
    more = [table.partition_sql(default)] if default else []
    return f"LOCK TABLE ONLY {', '.join([table.sql, *partitions, *more])} IN ACCESS EXCLUSIVE MODE"


def _must_be_empty(table: Table, partition: Partition) -> str:
    """What was empty when it was planned may have been written to since."""
    message = f"{partition.name} has rows by now: preview and start again"
    body = (
        f"BEGIN IF EXISTS (SELECT FROM {table.partition_sql(partition)}) THEN "
        f"RAISE EXCEPTION USING MESSAGE = {literal(PG, message)}; END IF; END"
    )
    return f"DO {dollars(body)}"


def _swap(table: Table, name: str, statements: list[str], swapped: str) -> Step:
    return Step(
        name=name,
        phase="swap",
        sql=tuple(statements),
        lock=f"ACCESS EXCLUSIVE on {table.shown}, for a moment",
        cancellable=False,
        done_check=f"SELECT {swapped}",
    )
