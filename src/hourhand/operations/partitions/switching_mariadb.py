"""Operations: switching partitions out on MariaDB (CONVERT PARTITION) and MySQL (EXCHANGE PARTITION)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step
from hourhand.operations.catalog import find_table
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.failures import NotVerified, OperationFailure, Refused
from hourhand.operations.partitions.mariadb_keys import (
    Key,
    bound_sql,
    escaped,
    measure_sql,
    partition_gone,
    read_key,
    single_column,
)
from hourhand.operations.partitions.switching import (
    KIND,
    WRITTEN_MEANWHILE,
    Leaving,
    SwitchConfig,
    SwitchPlan,
    SwitchState,
    compared,
    kept_back,
    measured,
    named,
    nothing_qualifies,
    require_partitioned,
    schema_exists,
    target_name,
)
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import cutoff, temporary

_CONVERT_SINCE = (10, 7)
_NAME_CHARACTERS = 64


async def inspect(config: SwitchConfig, look: Look, table: Table) -> SwitchState:
    """Which partitions leave, and where to."""
    require_partitioned(table)
    if any(not one.leaf for one in table.partitions):
        raise Refused(f"{table.shown} has subpartitions, which cannot become a table of their own", field="table")
    session = look.source
    chosen, notes = await _chosen(config, look, table)
    if chosen and len(chosen) == len(table.partitions):
        raise Refused(
            f"these are all partitions of {table.shown}, and one must stay: rename the table itself, or leave one out",
            field="partitions" if config.partitions else "older_than",
        )
    schema = config.target_schema or table.schema
    if config.target_schema is not None and not await schema_exists(session, config.target_schema):
        raise Refused(
            f"there is no database {config.target_schema!r}: create it, or name another", field="target_schema"
        )
    leaving = [_leaving(config, table, one, schema, several=len(chosen) > 1) for one in chosen]
    return SwitchState(
        table=table,
        version=session.version,
        leaving=tuple(leaving),
        preconditions=(await _free(session, leaving),),
        notes=tuple(notes),
    )


def _leaving(config: SwitchConfig, table: Table, one: Partition, schema: str | None, *, several: bool) -> Leaving:
    """A partition is no table there, so that its name alone says little."""
    default = one.name if one.name.startswith(table.name) else f"{table.name}_{one.name}"
    if config.after == "drop":
        name = temporary(KIND, table.name, one.name)
    else:
        name = target_name(config, one, default, several=several)
    if len(name) > _NAME_CHARACTERS:
        raise Refused(f"{name!r} is longer than the {_NAME_CHARACTERS} characters of a name", field="target_table")
    return Leaving(partition=one, schema=schema, name=name)


async def _chosen(config: SwitchConfig, look: Look, table: Table) -> tuple[list[Partition], list[str]]:
    if config.older_than is None:
        return named(config, table), []
    if table.strategy != "range":
        raise Refused(f"{table.shown} is partitioned by {table.strategy}: name the partitions", field="older_than")
    key = read_key(table, field="older_than")
    if not key.temporal:
        raise Refused(
            f"{table.shown} is partitioned by {key.column} ({key.type}), which is no date or time: name the partitions",
            field="older_than",
        )
    before = cutoff(config.older_than, look.now)
    limit = before.replace(tzinfo=None)
    chosen, notes = [], []
    for one in table.partitions:
        high = key.point(one.high)
        if high is None or high > limit:  # type: ignore[operator]  # the key is temporal
            continue
        # The bounds' word alone is not enough: what is archived is what the rows say.
        row = (await look.source.fetch(_newest(table, one, key), limit))[0]
        if row["old"]:
            chosen.append(one)
        else:
            notes.append(kept_back(one, row["most"], before))
    return chosen, notes if chosen or notes else [nothing_qualifies(table, before)]


def _newest(table: Table, one: Partition, key: Key) -> str:
    column, place = escaped(table.quoted(key.column)), escaped(f"{table.sql} PARTITION ({table.quoted(one.name)})")
    return f"SELECT max({column}) AS most, coalesce(max({column}) < %s, 1) AS old FROM {place}"  # noqa: S608


async def _free(session: Session, leaving: list[Leaving]) -> Precondition:
    taken = [one.shown for one in leaving if await find_table(session, one.schema, one.name) is not None]
    return Precondition(
        name="target",
        ok=not taken,
        detail=f"{', '.join(taken)} is there already: rename it, or choose another target_schema or target_table"
        if taken else "the names are free",
    )  # fmt: skip


def plan(config: SwitchConfig, state: SwitchState) -> SwitchPlan:
    """Each is measured and made a table of its own; then all are verified; and only then dropped."""
    if config.concurrently == "always":
        raise Refused("only PostgreSQL detaches concurrently: use auto", field="concurrently")
    converts = state.table.dialect is Dialect.MARIADB and state.version >= _CONVERT_SINCE
    steps: list[Step] = []
    for one in state.leaving:
        steps += [_measure(state.table, one)] if config.verify != "none" else []
        steps += [_converted(state.table, one)] if converts else _exchanged(state.table, one)
    steps += [_verification(config, state.table, one) for one in state.leaving]
    steps += [_dropped(state.table.dialect, one) for one in state.leaving if config.after == "drop"]
    return SwitchPlan(tuple(steps), _notes(state) if steps else ())


def _measure(table: Table, one: Leaving) -> Step:
    return Step(
        name=f"measure {one.partition.name}",
        phase="measure",
        sql=(measure_sql(table, f"{table.sql} PARTITION ({table.quoted(one.partition.name)})"),),
        action="measure",
        values={"partition": one.partition.name},
        duration=Duration.BY_SIZE,
        weight=5,
    )


def _values(table: Table, one: Leaving) -> dict[str, Any]:
    names = [each.name for each in table.partitions]
    later = table.partitions[names.index(one.partition.name) + 1 :]
    return {
        "partition": one.partition.name,
        "schema": one.schema,
        "name": one.name,
        "shown": one.shown,
        "parent": table.sql,
        "parent_schema": table.schema,
        "parent_name": table.name,
        "columns": (table.partition_expression or "").startswith("RANGE COLUMNS"),
        "high": one.partition.high,
        "next": later[0].name if later else None,
        "next_high": later[0].high if later else None,
        "undone": single_column(table),
    }


def _converted(table: Table, one: Leaving) -> Step:
    part, target = table.quoted(one.partition.name), one.target_sql(table.dialect)
    return Step(
        name=f"convert {one.partition.name} to {one.shown}",
        phase="switch",
        sql=(f"ALTER TABLE {table.sql} CONVERT PARTITION {part} TO TABLE {target}",),
        lock=f"EXCLUSIVE metadata lock on {table.shown}, for a moment: nobody reads or writes",
        values=_values(table, one),
        transaction=False,
        cancellable=False,
        done_check=partition_gone(table, one.partition.name),
    )


def _exchanged(table: Table, one: Leaving) -> list[Step]:
    """Three steps, since DDL commits by itself, and an exchange that is repeated would put the rows back."""
    dialect, target = table.dialect, one.target_sql(table.dialect)
    part = table.quoted(one.partition.name)
    place = f"TABLE_SCHEMA = {literal(dialect, one.schema)} AND TABLE_NAME = {literal(dialect, one.name)}"
    gone = partition_gone(table, one.partition.name).removeprefix("SELECT ").removesuffix(" AS done")
    return [
        Step(
            name=f"create {one.shown}",
            phase="prepare",
            sql=(f"CREATE TABLE {target} LIKE {table.sql}",),
            transaction=False,
            done_check=f"SELECT {gone} OR EXISTS (SELECT 1 FROM information_schema.TABLES WHERE {place}) AS done",  # noqa: S608
        ),
        Step(
            name=f"make {one.shown} an ordinary table",
            phase="prepare",
            sql=(f"ALTER TABLE {target} REMOVE PARTITIONING",),
            transaction=False,
            done_check=f"SELECT {gone} OR NOT EXISTS (SELECT 1 FROM information_schema.PARTITIONS "  # noqa: S608
            f"WHERE {place} AND PARTITION_NAME IS NOT NULL) AS done",
        ),
        Step(
            name=f"exchange {one.partition.name} with {one.shown}",
            phase="switch",
            sql=(
                f"LOCK TABLES {table.sql} WRITE, {target} WRITE",
                f"ALTER TABLE {table.sql} EXCHANGE PARTITION {part} WITH TABLE {target}",
                f"ALTER TABLE {table.sql} DROP PARTITION {part}",
                "UNLOCK TABLES",
            ),
            action="exchange",
            lock=f"EXCLUSIVE metadata lock on {table.shown}, for a moment: nobody reads or writes",
            values=_values(table, one),
            transaction=False,
            cancellable=False,
            done_check=partition_gone(table, one.partition.name),
        ),
    ]


def _verification(config: SwitchConfig, table: Table, one: Leaving) -> Step:
    return Step(
        name=f"verify {one.shown}",
        phase="verify",
        sql=(measure_sql(table, one.target_sql(table.dialect)),) if config.verify != "none" else (),
        action="verify",
        values={"partition": one.partition.name, "schema": one.schema, "name": one.name, "shown": one.shown},
        duration=Duration.BY_SIZE,
        weight=5,
    )


def _dropped(dialect: Dialect, one: Leaving) -> Step:
    place = f"TABLE_SCHEMA = {literal(dialect, one.schema)} AND TABLE_NAME = {literal(dialect, one.name)}"
    return Step(
        name=f"drop {one.shown}",
        phase="drop",
        sql=(f"DROP TABLE {one.target_sql(dialect)}",),
        lock=f"EXCLUSIVE metadata lock on {one.shown}, which nobody else uses",
        transaction=False,
        done_check=f"SELECT NOT EXISTS (SELECT 1 FROM information_schema.TABLES WHERE {place}) AS done",  # noqa: S608
        destructive=True,
    )


def _notes(state: SwitchState) -> tuple[str, ...]:
    leaving = {one.partition.name for one in state.leaving}
    found = [WRITTEN_MEANWHILE]
    staying = [one for one in state.table.partitions if one.name not in leaving]
    if state.table.strategy == "range" and staying[-1] != state.table.partitions[-1]:
        found.append(
            f"afterwards {staying[-1].name} is the last partition: rows from {staying[-1].high} on are refused"
        )
    elif state.table.strategy == "range":
        found.append("rows in these ranges that are written afterwards go to the partition that comes next")
    return tuple(found)


async def do_exchange(work: LiveWork, step: Step) -> None:
    """Exchange and drop under one lock; which of the two tables has rows says how far an attempt before has come."""
    lock, exchange, drop, unlock = step.sql
    values = step.values
    dialect = work.plan.dialect
    part, target = quoted(dialect, values["partition"]), qualified(dialect, values["schema"], values["name"])
    sql = (
        f"SELECT EXISTS (SELECT 1 FROM {values['parent']} PARTITION ({part})) AS inside, "  # noqa: S608
        f"EXISTS (SELECT 1 FROM {target}) AS outside"
    )

    async def body() -> None:
        await work.change(step, lock)
        try:
            rows = (await work.source.fetch(sql))[0]
            if rows["inside"] and rows["outside"]:
                raise NotVerified(
                    f"partition {values['partition']} has been exchanged with {values['shown']}, and rows were written "
                    "to it since: move those by hand, then start again; nothing was dropped"
                )
            if rows["inside"]:
                await work.change(step, exchange)
            # Nobody could write meanwhile: what is dropped is empty.
            await work.change(step, drop)
        finally:
            with suppress(OperationFailure):
                await work.change(step, unlock)

    await work.climb(step, body)


async def do_verify(work: LiveWork, step: Step) -> None:
    """The archived table is there, and holds what the partition held."""
    values = step.values
    if await find_table(work.source, values["schema"], values["name"]) is None:
        raise NotVerified(f"the table {values['shown']} should be there, and is not: look for it by hand")
    await compared(work, step, values["shown"])


ACTIONS: Mapping[str, Callable[[LiveWork, Step], Awaitable[object]]] = {
    "measure": measured,
    "exchange": do_exchange,
    "verify": do_verify,
}


def undo_steps(plan: Plan) -> list[dict[str, Any]]:
    """Make the partition again, empty, and exchange it with the table; latest first, as each needs the next one.

    The archived table, empty then, is left to be dropped by hand: a drop that is repeated knows nothing of rows.
    """
    steps: list[dict[str, Any]] = []
    for step in reversed([one for one in plan.steps if one.phase == "switch"]):
        values, dialect = step.values, plan.dialect
        if not values["undone"]:
            return []
        parent, part = values["parent"], quoted(dialect, values["partition"])
        target = qualified(dialect, values["schema"], values["name"])
        made = f"PARTITION {part} VALUES LESS THAN {bound_sql(values['high'], columns=values['columns'])}"
        if values["next"] is None:
            sql = f"ALTER TABLE {parent} ADD PARTITION ({made})"
        else:
            following = quoted(dialect, values["next"])
            limit = bound_sql(values["next_high"], columns=values["columns"])
            sql = (
                f"ALTER TABLE {parent} REORGANIZE PARTITION {following} INTO "
                f"({made}, PARTITION {following} VALUES LESS THAN {limit})"
            )
        there = (
            "SELECT EXISTS (SELECT 1 FROM information_schema.PARTITIONS WHERE "  # noqa: S608
            f"TABLE_SCHEMA = {literal(dialect, values['parent_schema'])} AND "
            f"TABLE_NAME = {literal(dialect, values['parent_name'])} AND "
            f"PARTITION_NAME = {literal(dialect, values['partition'])})"
        )
        back = f"SELECT NOT EXISTS (SELECT 1 FROM {target})"  # noqa: S608
        name = values["partition"]
        steps += [
            {"name": f"make partition {name}", "sql": sql, "check_sql": there},
            {
                "name": f"put the rows back into {name}",
                "sql": f"ALTER TABLE {parent} EXCHANGE PARTITION {part} WITH TABLE {target}",
                "check_sql": back,
            },
        ]
    return steps
