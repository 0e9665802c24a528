"""Operations: statements that PostgreSQL's boundary kinds share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hourhand.model.operation import Duration, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.postgresql_facts import (
    PG,
    PLACE,
    Index,
    Relation,
    exists,
    has_constraint,
    within,
)
from hourhand.operations.partitions.postgresql_look import LONGEST_NAME, PgFacts
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.rules.operations import temporary

_IDENTITIES = {"n": "NOTHING", "f": "FULL"}
MOMENT_MS = 500
"""How long a step that takes several locks waits for each: shorter than PostgreSQL's deadlock_timeout, so that where
two wait for each other it is the operation that gives way, and never an application."""


def with_options(relation: Relation | None, tablespace: str | None) -> str:
    """The storage of a new table: as that of another."""
    options = ", ".join(relation.options) if relation else ""
    place = tablespace or (relation.tablespace if relation else None)
    return (f" WITH ({options})" if options else "") + (f" TABLESPACE {quoted(PG, place)}" if place else "")


def belongs(relation: Relation, sql: str) -> list[str]:
    """A new table is its owner's, if that is not who makes it."""
    return [f"ALTER TABLE {sql} OWNER TO {quoted(PG, relation.owner)}"] if relation.owner != relation.me else []


def secured(relation: Relation, sql: str, index: str | None = None) -> list[str]:
    """What LIKE leaves out: grants, row security, replica identity (`index`: what the identity's is called there)."""
    made = [one.replace(PLACE, sql) for one in relation.grants]
    made += [one.replace(PLACE, sql) for one in relation.policies]
    made += [f"ALTER TABLE {sql} ENABLE ROW LEVEL SECURITY"] if relation.secured else []
    made += [f"ALTER TABLE {sql} FORCE ROW LEVEL SECURITY"] if relation.forced else []
    if relation.identity in _IDENTITIES:
        made.append(f"ALTER TABLE {sql} REPLICA IDENTITY {_IDENTITIES[relation.identity]}")
    if relation.identity == "i" and index is not None:
        made.append(f"ALTER TABLE {sql} REPLICA IDENTITY USING INDEX {quoted(PG, index)}")
    return made


def moment(milliseconds: int) -> str:
    """The first statement of a step that takes several locks."""
    return f"SET LOCAL lock_timeout = '{min(milliseconds, MOMENT_MS)}ms'"


def index_name(index: Index, old: str, new: str) -> str:
    """What an index of a partition is called on another."""
    tail = index.name.removeprefix(old).lstrip("_") or "idx"
    name = f"{new}_{tail}"
    if len(name.encode()) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name.encode()[: LONGEST_NAME - 9].decode(errors='ignore')}_{digest}"


def create_index(index: Index, name: str, sql: str) -> str:
    """The same index on another table."""
    if index.constraint is not None:
        return f"ALTER TABLE {sql} ADD CONSTRAINT {quoted(PG, name)} {index.constraint}"
    return f"CREATE {index.unique}INDEX {quoted(PG, name)} ON {sql} {index.tail}"


def exclusion(table: Table, cells: Sequence[Cell], later: str) -> tuple[list[Step], list[Step]]:
    """Steps before and after: a CHECK by which the default partition need not be read while it is locked.

    `later` is an expression that is true once the check has served its purpose.
    """
    default = table.default_partition
    if default is None or not cells:
        return [], []
    sql = table.partition_sql(default)
    names = [temporary("excludes", default.name, cell.shown) for cell in cells]
    there = " AND ".join(has_constraint(sql, name) for name in names)
    valid = " AND ".join(has_constraint(sql, name, valid=True) for name in names)
    made = [
        f"ALTER TABLE {sql} ADD CONSTRAINT {quoted(PG, name)} CHECK (NOT ({within(table, cell)})) NOT VALID"
        for name, cell in zip(names, cells, strict=True)
    ]
    before = [
        Step(
            name=f"keep {default.name} free",
            phase="prepare",
            sql=tuple(made),
            lock=f"ACCESS EXCLUSIVE on {default.name}, for a moment",
            done_check=f"SELECT ({there}) OR {later}",
        ),
        Step(
            name=f"read {default.name}",
            phase="prepare",
            sql=tuple(f"ALTER TABLE {sql} VALIDATE CONSTRAINT {quoted(PG, name)}" for name in names),
            lock=f"SHARE UPDATE EXCLUSIVE on {default.name}: reads and writes go on",
            duration=Duration.BY_SIZE,
            done_check=f"SELECT ({valid}) OR {later}",
            weight=3,
        ),
    ]
    after = Step(
        name=f"let {default.name} be",
        phase="clean",
        sql=tuple(f"ALTER TABLE {sql} DROP CONSTRAINT IF EXISTS {quoted(PG, name)}" for name in names),
        lock=f"ACCESS EXCLUSIVE on {default.name}, for a moment",
        done_check=f"SELECT NOT ({' OR '.join(has_constraint(sql, name) for name in names)})",
    )
    return before, [after]


def clearing(table: Table, facts: PgFacts) -> list[Step]:
    """What was left by an operation that was given up, and what need not be kept any longer."""
    steps = []
    if facts.leftovers:
        steps.append(
            Step(
                name="clear away what was left",
                phase="prepare",
                sql=facts.leftovers,
                lock=f"ACCESS EXCLUSIVE on partitions of {table.shown} that have a trigger of Hourhand's, for a moment",
            )
        )
    if facts.expired:
        gone = " AND ".join(f"NOT ({exists(one)})" for one in facts.expired)
        steps.append(
            Step(
                name="drop what is no longer kept",
                phase="prepare",
                sql=tuple(f"DROP TABLE {one}" for one in facts.expired),
                done_check=f"SELECT {gone}",
            )
        )
    return steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What should be there in the end, and what is taken away if it never comes to that."""

    expected: Mapping[str, Cell]
    gone: Sequence[str] = ()
    """Partitions that should be there no longer."""
    kept: Sequence[str] = ()
    """What was replaced, and is kept for a while."""
    undo: str | None = None
    """The boundary that the opposite would be done at."""
    swapped: str = "FALSE"
    """An expression: whether it is too late to give up."""
    giving_up: Sequence[str] = ()
    """Statements that then take away what was made for a while; each may be executed again."""


def verifying(table: Table, ending: Ending, after: Sequence[Step]) -> Step:
    """The last step: is it all as it should be."""
    values = {
        "schema": table.schema,
        "table": table.name,
        "expected": {name: [cell.low, cell.high] for name, cell in ending.expected.items()},
        "gone": list(ending.gone),
        "kept": list(ending.kept),
        "undo": ending.undo,
        "swapped": ending.swapped,
        "giving_up": list(ending.giving_up),
        "always": [sql for step in after for sql in step.sql],
    }
    return Step(name="verify the partitions", phase="verify", action="verify", values=values)


def comment_kept(table_sql: str, mark: str, hours: int) -> str:
    """Stamp a table with the moment until which it is kept."""
    text = f"COMMENT ON TABLE {table_sql.replace('%', '%%')} IS %L"
    body = f"BEGIN EXECUTE format({literal(PG, text)}, "
    body += f"{literal(PG, mark)} || (now() + interval '{hours} hours')::text); END"
    return f"DO {dollars(body)}"


def dollars(body: str) -> str:
    """A text between dollar signs that do not occur in it."""
    mark, number = "$hourhand$", 0
    while mark in body:
        number += 1
        mark = f"$hourhand{number}$"
    return f"{mark}{body}{mark}"


def in_schema(table: Table, name: str) -> str:
    """A name in the table's schema."""
    return qualified(PG, table.schema, name)
