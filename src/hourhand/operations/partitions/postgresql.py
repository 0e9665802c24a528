"""Operations: boundaries of PostgreSQL's partitions: adding them; splits and merges are handed on.

A new partition is made and attached, not made by `CREATE TABLE … PARTITION OF`, which would lock the whole table
against readers: ATTACH lets reads and writes go on.
"""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from hourhand.model.operation import Duration, Precondition, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.partitions.bounds import Cell, missing
from hourhand.operations.partitions.online import plan_online_merge, plan_online_split
from hourhand.operations.partitions.online_work import backfill, compare
from hourhand.operations.partitions.postgresql_checks import notes, preconditions, told
from hourhand.operations.partitions.postgresql_estimate import estimate
from hourhand.operations.partitions.postgresql_facts import PG, for_values, is_child, within
from hourhand.operations.partitions.postgresql_look import PgFacts, add_names, chosen_merge, chosen_split, inspect
from hourhand.operations.partitions.postgresql_metadata import plan_metadata_merge, plan_metadata_split
from hourhand.operations.partitions.postgresql_steps import (
    Ending,
    belongs,
    clearing,
    exclusion,
    in_schema,
    moment,
    secured,
    verifying,
    with_options,
)
from hourhand.operations.partitions.postgresql_verify import give_up, verify
from hourhand.operations.partitions.shapes import AddConfig, BoundaryState, MergeConfig, PartitionPlan, SplitConfig
from hourhand.operations.quoting import quoted
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

__all__ = ["ACTIONS", "estimate", "give_up", "inspect", "plan_add", "plan_merge", "plan_split"]
ACTIONS: Mapping[str, Callable[[LiveWork, Step], Awaitable[object]]] = {
    "backfill": backfill,
    "compare": compare,
    "verify": verify,
}
LARGE_DEFAULT = 32 * 2**20
"""A default partition that is smaller is read faster, while it is locked, than a check on it would be made."""


def plan_add(config: AddConfig, state: BoundaryState) -> PartitionPlan:
    """Make each partition that is missing and attach it, in one short transaction."""
    table, facts = state.table, _facts(state)
    cells = missing(table.partitions, facts.wanted, facts.ranks) if facts.wanted else ()
    names = add_names(config, table, cells)
    clear = clearing(table, facts)
    checks = preconditions(table, facts, detaches=False)
    if not cells:
        nothing = "every boundary is there already: there is nothing to do"
        return PartitionPlan(steps=tuple(clear), preconditions=checks, notes=(nothing, *notes(table, facts)))
    moves = bool(facts.in_default) and config.default_policy == "move"
    default = table.default_partition
    guarded = default is not None and default.bytes > LARGE_DEFAULT and not facts.in_default
    done = " AND ".join(is_child(table, table.schema or "", name) for name in names)
    before, after = exclusion(table, cells if guarded else (), f"({done})")
    made = [
        _add(config, table, facts, name, cell, moves=moves and cell.shown in facts.in_default)
        for name, cell in zip(names, cells, strict=True)
    ]
    expected = dict(zip(names, cells, strict=True))
    return PartitionPlan(
        steps=(*clear, *before, *made, *after, verifying(table, Ending(expected=expected), after)),
        preconditions=(*checks, *_default_rows(config, table, facts)),
        notes=(*_add_notes(table, moves=moves, guarded=guarded), *notes(table, facts)),
    )


def _facts(state: BoundaryState) -> PgFacts:
    facts: PgFacts = state.facts
    return facts


def _add(config: AddConfig, table: Table, facts: PgFacts, name: str, cell: Cell, *, moves: bool) -> Step:
    sql = in_schema(table, name)
    model = facts.relations[0] if facts.relations else None
    # Not the identity: a partition must not have a sequence of its own.
    like = f"(LIKE {table.sql} INCLUDING ALL EXCLUDING IDENTITY)"
    made = [
        moment(config.lock_timeout_ms),
        f"LOCK TABLE ONLY {table.sql} IN SHARE UPDATE EXCLUSIVE MODE",
        f"CREATE TABLE {sql} {like}{with_options(model, config.tablespace)}",
        *belongs(facts.parent, sql),
    ]
    check = temporary("bounds", name)
    if moves:
        made += _moved(table, sql, cell, check)
    made.append(f"ALTER TABLE {table.sql} ATTACH PARTITION {sql} {for_values(cell)}")
    made += [f"ALTER TABLE {sql} DROP CONSTRAINT {quoted(PG, check)}", f"ANALYZE {sql}"] if moves else []
    made += secured(facts.parent, sql)
    default = table.default_partition
    held = f"SHARE UPDATE EXCLUSIVE on {table.shown}: reads and writes go on"
    if default is not None:
        how_long = "while rows are moved" if moves else "for a moment"
        held = f"ACCESS EXCLUSIVE on {default.name}, {how_long}; {held}"
    return Step(
        name=f"add {name}",
        phase="move" if moves else "add",
        sql=tuple(made),
        lock=held,
        duration=Duration.BY_SIZE if moves else Duration.MOMENT,
        done_check=f"SELECT {is_child(table, table.schema or '', name)}",
        values={"moves": cell.shown, "default": default.name} if moves and default else {},
        weight=5 if moves else 1,
    )


def _moved(table: Table, sql: str, cell: Cell, check: str) -> list[str]:
    """Rows go from the default partition to the new one within the transaction: nobody ever misses or doubles one."""
    default = table.default_partition
    if default is None:
        return []
    source = table.partition_sql(default)
    columns = table.quoted(*(one.name for one in table.writable))
    moved = f"WITH moved AS (DELETE FROM {source} WHERE {within(table, cell)} RETURNING {columns})"
    return [
        f"LOCK TABLE {source} IN ACCESS EXCLUSIVE MODE",
        f"ALTER TABLE {sql} ADD CONSTRAINT {quoted(PG, check)} CHECK ({within(table, cell)})",
        f"{moved} INSERT INTO {sql} ({columns}) SELECT {columns} FROM moved",
    ]


def _default_rows(config: AddConfig, table: Table, facts: PgFacts) -> Sequence[Precondition]:
    default = table.default_partition
    if default is None:
        return ()
    shown = ", ".join(facts.in_default)
    wrong = ""
    if facts.in_default and config.default_policy == "fail":
        wrong = f"{default.name} has rows of {shown}: set default_policy to move, so that they go along"
    elif facts.in_default and table.referenced_by:
        references = ", ".join(f"{one.table} ({one.name})" for one in table.referenced_by)
        wrong = f"{default.name} has rows of {shown}, which cannot be moved: {references} may refer to them"
    return (told("default partition", wrong, f"{default.name} has no row that must stay out of a new partition"),)


def _add_notes(table: Table, *, moves: bool, guarded: bool) -> list[str]:
    default = table.default_partition
    found = []
    if moves and default is not None:
        found.append(f"{default.name} is locked while its rows are moved, and its DELETE triggers fire")
    if guarded and default is not None:
        found.append(f"until they are attached, {default.name} refuses rows of the new partitions' ranges")
    return found


def plan_split(config: SplitConfig, state: BoundaryState) -> PartitionPlan:
    """By the catalog alone where one side is empty, else online."""
    table, facts = state.table, _facts(state)
    split = chosen_split(config, table, facts.wanted[0], facts.ranks)
    checks = preconditions(table, facts, detaches=True)
    told_of = notes(table, facts)
    if split is None:
        nothing = f"{facts.wanted[0]} is a boundary already: there is nothing to do"
        return PartitionPlan(steps=tuple(clearing(table, facts)), preconditions=checks, notes=(nothing, *told_of))
    sides = {"low": "below it", "high": "from it on"}
    rows = " and ".join(words for side, words in sides.items() if side not in facts.empty)
    checks += (_native(config), _strategy(config, f"{split.partition.name} has rows {rows}", empty=bool(facts.empty)))
    plan = plan_metadata_split if facts.empty and config.strategy != "online" else plan_online_split
    made = plan(config, table, facts, split)
    return PartitionPlan(steps=made.steps, preconditions=(*checks, *made.preconditions), notes=(*made.notes, *told_of))


def plan_merge(config: MergeConfig, state: BoundaryState) -> PartitionPlan:
    """By the catalog alone where at most one of them has rows, else online."""
    table, facts = state.table, _facts(state)
    chosen = chosen_merge(config, table, facts.wanted, facts.ranks)
    checks = preconditions(table, facts, detaches=True)
    filled = [one.name for one in chosen if one.name not in facts.empty]
    short = not filled[1:]
    checks += (_native(config), _strategy(config, f"{', '.join(filled)} have rows", empty=short))
    plan = plan_metadata_merge if short and config.strategy != "online" else plan_online_merge
    made = plan(config, table, facts, chosen)
    return PartitionPlan(
        steps=made.steps,
        preconditions=(*checks, *made.preconditions),
        notes=(*made.notes, *notes(table, facts)),
    )


def _native(config: SplitConfig | MergeConfig) -> Precondition:
    wrong = "PostgreSQL 15 has no command of its own for it: use auto, metadata or online"
    return told("strategy", wrong if config.strategy == "native" else "", config.strategy)


def _strategy(config: SplitConfig | MergeConfig, what: str, *, empty: bool) -> Precondition:
    wrong = f"{what}: the catalog alone does not do; use strategy online"
    return told("empty side", wrong if config.strategy == "metadata" and not empty else "", what)
