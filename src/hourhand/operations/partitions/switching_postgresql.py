"""Operations: switching partitions out on PostgreSQL: DETACH, then rename, or attach to an archive."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.failures import LockNotGained, NotVerified, OperationFailure, Refused, SourceUnreachable
from hourhand.operations.partitions.switching import (
    KIND,
    WRITTEN_MEANWHILE,
    Leaving,
    SwitchConfig,
    SwitchPlan,
    SwitchState,
    compared,
    measured,
)
from hourhand.operations.partitions.switching_postgresql_look import inspect
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

__all__ = ["ACTIONS", "inspect", "plan", "undo_steps"]
PG = Dialect.POSTGRESQL
_CONCURRENTLY_SINCE = (14,)


def plan(config: SwitchConfig, state: SwitchState) -> SwitchPlan:
    """Each is measured, detached and moved; then all are verified; and only then dropped."""
    concurrently = _concurrently(config, state)
    steps: list[Step] = []
    for one in state.leaving:
        before = state.table.partition_sql(one.partition)
        steps += [measure(one, before)] if config.verify != "none" else []
        steps.append(_detach(state.table, one, concurrently=concurrently))
        steps += _moved(state.table, one)
        if config.fk_policy == "drop" and config.after != "drop" and one.foreign_keys:
            steps.append(_without_keys(state.table, one))
        steps += [_attached(state.archive, one)] if state.archive is not None else []
    steps += [verification(config, state, one) for one in state.leaving]
    steps += [_dropped(one) for one in state.leaving if config.after == "drop"]
    return SwitchPlan(tuple(steps), _notes(config, state, concurrently=concurrently) if steps else ())


def _concurrently(config: SwitchConfig, state: SwitchState) -> bool:
    default = state.table.default_partition
    reason = None
    if default is not None:
        reason = f"{state.table.shown} has the default partition {default.name}, with which PostgreSQL refuses it"
    elif state.version < _CONCURRENTLY_SINCE:
        reason = "PostgreSQL does it from version 14 on"
    if config.concurrently == "always" and reason is not None:
        raise Refused(f"it cannot be detached concurrently: {reason}; use auto or never", field="concurrently")
    return config.concurrently != "never" and reason is None


def measure(one: Leaving, table: str) -> Step:
    """How much there is, and its hash."""
    return Step(
        name=f"measure {one.partition.name}",
        phase="measure",
        sql=(measure_sql(table),),
        action="measure",
        values={"partition": one.partition.name},
        lock=f"ACCESS SHARE on {one.partition.name}: reads and writes go on",
        duration=Duration.BY_SIZE,
        weight=5,
    )


def measure_sql(table: str) -> str:
    """Text is what every type has; json and xml have no hash of their own."""
    return (
        f"SELECT count(*) AS n, coalesce(sum(hashtextextended(ROW(hh.*)::text, 0)::numeric), 0)::text AS hash "  # noqa: S608
        f"FROM {table} AS hh"
    )


def attached_sql(parent: str, schema: str | None, name: str) -> str:
    """Whether a table is a partition of another; also while it is half detached."""
    return (
        "EXISTS (SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "  # noqa: S608
        f"JOIN pg_namespace n ON n.oid = c.relnamespace WHERE i.inhparent = to_regclass({literal(PG, parent)}) "
        f"AND n.nspname = {literal(PG, schema)} AND c.relname = {literal(PG, name)})"
    )


def _detach(table: Table, one: Leaving, *, concurrently: bool) -> Step:
    place = table.partition_sql(one.partition)
    detach = f"ALTER TABLE {table.sql} DETACH PARTITION {place}"
    values = {
        "partition": one.partition.name,
        "schema": one.partition.schema,
        "parent": table.sql,
        "bound": one.bound,
        "low": one.partition.low,
        "high": one.partition.high,
    }
    done = f"SELECT NOT {attached_sql(table.sql, one.partition.schema, one.partition.name)} AS done"
    if concurrently or one.partition.pending_detach:
        return Step(
            name=f"detach {one.partition.name}",
            phase="detach",
            sql=(f"{detach} CONCURRENTLY", f"{detach} FINALIZE"),
            action="detach",
            values=values,
            lock=f"SHARE UPDATE EXCLUSIVE on {table.shown}: reads and writes go on; waits until the transactions that "
            "have used it end",
            duration=Duration.UNKNOWN,
            transaction=False,
            cancellable=False,
            done_check=done,
        )
    return Step(
        name=f"detach {one.partition.name}",
        phase="detach",
        sql=(detach,),
        values=values,
        lock=f"ACCESS EXCLUSIVE on {table.shown}, the partition and the default partition: nobody reads or writes",
        done_check=done,
    )


def _moved(table: Table, one: Leaving) -> list[Step]:
    """Rename and change the schema; where it must do both, by a name between that nobody else has."""
    here, there = (one.partition.schema, one.partition.name), (one.schema, one.name)
    statements = moves(here, there)
    if not statements:
        return []
    return [
        Step(
            name=f"move {one.partition.name} to {one.shown}",
            phase="move",
            sql=tuple(sql for _, sql in statements),
            lock=f"ACCESS EXCLUSIVE on {one.partition.name}, which is no longer part of {table.shown}",
            done_check=f"SELECT to_regclass({literal(PG, qualified(PG, *here))}) IS NULL AS done",
        )
    ]


def moves(here: tuple[str | None, str], there: tuple[str | None, str]) -> list[tuple[str, str]]:
    """The statements that make one name of a table another, each with the name that is free once it is done."""
    if here == there:
        return []
    if here[0] == there[0]:
        return [_renamed(here, there[1])]
    if here[1] == there[1]:
        return [_in_schema(here, there[0])]
    between = temporary(KIND, here[1], "move")
    return [_renamed(here, between), _in_schema((here[0], between), there[0]), _renamed((there[0], between), there[1])]


def _renamed(here: tuple[str | None, str], name: str) -> tuple[str, str]:
    place = qualified(PG, *here)
    return place, f"ALTER TABLE {place} RENAME TO {quoted(PG, name)}"


def _in_schema(here: tuple[str | None, str], schema: str | None) -> tuple[str, str]:
    place = qualified(PG, *here)
    return place, f"ALTER TABLE {place} SET SCHEMA {quoted(PG, schema or 'public')}"


def _without_keys(table: Table, one: Leaving) -> Step:
    target = one.target_sql(PG)
    others = ", ".join(sorted({key.table for key in table.foreign_keys}))
    return Step(
        name=f"drop the foreign keys of {one.shown}",
        phase="move",
        sql=tuple(f"ALTER TABLE {target} DROP CONSTRAINT IF EXISTS {quoted(PG, key)}" for key in one.foreign_keys),
        lock=f"ACCESS EXCLUSIVE on {one.shown} and {others}, for a moment",
    )


def _attached(archive: Table, one: Leaving) -> Step:
    return Step(
        name=f"attach {one.partition.name} to {archive.shown}",
        phase="attach",
        sql=(f"ALTER TABLE {archive.sql} ATTACH PARTITION {one.target_sql(PG)} {one.bound}",),
        lock=f"SHARE UPDATE EXCLUSIVE on {archive.shown}; ACCESS EXCLUSIVE on its default partition, if it has one",
        duration=Duration.BY_SIZE,
        done_check=f"SELECT {attached_sql(archive.sql, one.schema, one.name)} AS done",
        weight=3,
    )


def verification(config: SwitchConfig, state: SwitchState, one: Leaving) -> Step:
    """The catalog, and what was measured."""
    return Step(
        name=f"verify {one.shown}",
        phase="verify",
        sql=(measure_sql(one.target_sql(PG)),) if config.verify != "none" else (),
        action="verify",
        values={
            "partition": one.partition.name,
            "schema": one.schema,
            "name": one.name,
            "shown": one.shown,
            "archive": state.archive.sql if state.archive is not None else None,
        },
        duration=Duration.BY_SIZE,
        weight=5,
    )


def _dropped(one: Leaving) -> Step:
    return Step(
        name=f"drop {one.shown}",
        phase="drop",
        sql=(f"DROP TABLE {one.target_sql(PG)}",),
        lock=f"ACCESS EXCLUSIVE on {one.shown}, and for a moment on the tables that its foreign keys name",
        done_check=f"SELECT to_regclass({literal(PG, one.target_sql(PG))}) IS NULL AS done",
        destructive=True,
    )


def _notes(config: SwitchConfig, state: SwitchState, *, concurrently: bool) -> tuple[str, ...]:
    rest = state.table.default_partition
    found = [
        f"rows in these ranges that are written afterwards go to {rest.name}" if rest is not None
        else "rows in these ranges that are written afterwards are refused: no partition takes them",
        WRITTEN_MEANWHILE,
    ]  # fmt: skip
    if concurrently:
        found.append("from the first moment of a concurrent detach new statements no longer see the rows")
    if config.after != "drop":
        found.append("the archived table has the partition's own privileges, not those of the table it was part of")
    return tuple(found)


async def do_detach(work: LiveWork, step: Step) -> None:
    """Detach concurrently; what an attempt before, or a time-out, has left half done is completed."""
    concurrently, finalize = step.sql

    async def body() -> None:
        match await _pending(work, step):
            case True:
                work.log(f"{step.name}: it is half detached; completing it")
                await work.change(step, finalize)
            case False:
                await work.change(step, concurrently)

    try:
        await work.climb(step, body)
    except SourceUnreachable:
        raise
    except OperationFailure as error:
        pending = None
        with suppress(OperationFailure):
            pending = await _pending(work, step)
        if not pending:
            raise
        # Retryable, whatever stopped it: half detached is no state to be left in.
        raise LockNotGained(
            f"{error}; the partition is half detached: new statements no longer see its rows, and the next attempt "
            f"completes it, or {finalize}"
        ) from error


async def _pending(work: LiveWork, step: Step) -> bool | None:
    """Whether it is half detached; None: it is no longer a partition."""
    rows = await work.source.fetch(
        "SELECT coalesce((to_jsonb(i) ->> 'inhdetachpending')::boolean, false) AS pending FROM pg_inherits i "
        "JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE i.inhparent = to_regclass($1) AND n.nspname = $2 AND c.relname = $3",
        step.values["parent"],
        step.values["schema"],
        step.values["partition"],
    )
    return bool(rows[0]["pending"]) if rows else None


async def do_verify(work: LiveWork, step: Step) -> None:
    """The archived table is where it should be, and holds what the partition held."""
    values = step.values
    place = qualified(PG, values["schema"], values["name"])
    inside = (
        attached_sql(values["archive"], values["schema"], values["name"]) if values["archive"] else "NOT relispartition"
    )
    rows = await work.source.fetch(f"SELECT {inside} AS ok FROM pg_class WHERE oid = to_regclass($1)", place)  # noqa: S608
    if not rows or not rows[0]["ok"]:
        where = f"a partition of {values['archive']}" if values["archive"] else "a table of its own"
        raise NotVerified(f"{place} should be {where}, and is {'not' if rows else 'not there'}: look at it by hand")
    await compared(work, step, place)


ACTIONS: Mapping[str, Callable[[LiveWork, Step], Awaitable[object]]] = {
    "measure": measured,
    "detach": do_detach,
    "verify": do_verify,
}


def undo_steps(plan: Plan) -> list[dict[str, Any]]:
    """The statements that attach the partitions again, each with the query that tells whether it is done."""
    detached = {step.values["partition"]: step.values for step in plan.steps if step.phase == "detach"}
    steps: list[dict[str, Any]] = []
    for verify in (step.values for step in plan.steps if step.phase == "verify"):
        was = detached[verify["partition"]]
        there, here = (verify["schema"], verify["name"]), (was["schema"], was["partition"])
        if verify["archive"]:
            steps.append(
                _taken_back(
                    f"ALTER TABLE {verify['archive']} DETACH PARTITION {qualified(PG, *there)}",
                    f"SELECT NOT {attached_sql(verify['archive'], *there)}",
                )
            )
        for place, sql in moves(there, here):
            steps.append(_taken_back(sql, f"SELECT to_regclass({literal(PG, place)}) IS NULL"))
        steps.append(
            _taken_back(
                f"ALTER TABLE {was['parent']} ATTACH PARTITION {qualified(PG, *here)} {was['bound']}",
                f"SELECT {attached_sql(was['parent'], *here)}",
            )
        )
    return [{"name": f"{number}. {one['name']}", **{k: v for k, v in one.items() if k != "name"}}
            for number, one in enumerate(steps, 1)]  # fmt: skip


def _taken_back(sql: str, check: str) -> dict[str, Any]:
    return {"name": sql[:80], "sql": sql, "check_sql": check}
