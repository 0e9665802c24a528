"""Operations: archive_bulk_copy: move or copy rows to another table, of this data source or another, exactly once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Side, Step, Undo
from hourhand.operations.cleaning import guess
from hourhand.operations.kind import Kind
from hourhand.operations.quoting import literal, qualified
from hourhand.operations.transfer.moving import BEGUN, Mover
from hourhand.operations.transfer.moving_config import BulkCopyConfig
from hourhand.operations.transfer.moving_look import State, looked, preconditions
from hourhand.operations.transfer.moving_route import MARIA, Place, Route
from hourhand.operations.transfer.moving_tsql import tsql_plan
from hourhand.operations.transfer.target import create_sql, index_sql
from hourhand.operations.work import LiveWork

_CHANGES = {
    Dialect.POSTGRESQL: "ROW EXCLUSIVE on {}: reads and writes go on, but for the rows of the chunk",
    Dialect.MARIADB: "the rows of the chunk in {} and the gaps between them: other rows are read and written",
    Dialect.MYSQL: "the rows of the chunk in {} and the gaps between them: other rows are read and written",
    Dialect.SQLITE: "the file, for writers, chunk by chunk",
}


class ArchiveBulkCopy(Kind[BulkCopyConfig, State]):
    """Move or copy rows, chunk by chunk, each compared on both sides before it counts."""

    kind: ClassVar[str] = "archive_bulk_copy"
    number: ClassVar[int] = 32
    title: ClassVar[str] = "Move or copy rows to another table or server, exactly once"
    marks_destructive: ClassVar[bool] = True
    config = BulkCopyConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "orders",
        "target_data_source": "archive",
        "create_target": True,
        "where": "created_at < '2025-01-01'",
        "delete_source": True,
    }

    async def inspect(self, config: BulkCopyConfig, look: Look) -> State:
        """Both tables, the key, the condition."""
        return await looked(self.kind, config, look)

    def script_state(self, config: BulkCopyConfig) -> Any:  # noqa: ANN401, ARG002 - a script needs none
        """Nothing is known of a server that nothing connects to."""
        return None

    def plan(self, config: BulkCopyConfig, state: State | None) -> Plan:
        """Make what is missing, move, verify, clean up."""
        if state is None:
            return tsql_plan(self.kind, config)
        route = state.route
        lock = _CHANGES[route.source.dialect].format(state.source.shown)
        steps = [
            *_prepare(config, state),
            Step(
                name=f"{'move' if route.delete else 'copy'} the rows of {state.source.shown}",
                phase="move" if route.delete else "copy",
                sql=route.statements(),
                lock=lock if route.delete else None,
                duration=Duration.BY_SIZE,
                transaction=False,
                weight=90,
                action="move",
                values={"route": route.plain()},
                destructive=route.delete or route.replace,
            ),
            *_indexes(state),
            Step(name="verify", phase="verify", action="check", values={"route": route.plain()}),
            *_clean(route),
        ]
        return Plan(
            kind=self.kind,
            dialect=route.source.dialect,
            config=config.plain(),
            steps=tuple(steps),
            preconditions=tuple(preconditions(config, state)),
            notes=tuple(_notes(config, state)),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How many rows the database thinks there are."""
        steps = []
        for step in plan.steps:
            if step.action == "move":
                route = Route.read(step.values["route"])
                rows = await guess(look.source, route.source.sql, f"({route.where})" if route.where else "1 = 1")
                steps.append(replace(step, rows=rows))
            else:
                steps.append(step)
        return replace(plan, steps=tuple(steps))

    async def do_move(self, work: LiveWork, step: Step) -> None:
        """Chunk by chunk."""
        config = work.config
        assert isinstance(config, BulkCopyConfig)  # noqa: S101 - for type checkers
        route = Route.read(step.values["route"])
        target = work.source if route.same else await work.open(str(config.target_data_source))
        mover = Mover(work, step, route, target, chunk_rows=config.chunk_rows, chunk_target_ms=config.chunk_target_ms)
        noted = await mover.run()
        work.facts.update(rows=noted.moved, chunks=noted.chunk, rounds=noted.round)

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002 - as all have it
        """What the target counted, and what is left in the source."""
        return {name: value for name, value in work.facts.items() if name != BEGUN}

    async def do_check(self, work: LiveWork, step: Step) -> None:
        """What is left in the source; each chunk was compared before it counted."""
        route = Route.read(step.values["route"])
        if route.delete:
            where = f"({route.where})" if route.where else "1 = 1"
            rows = await work.source.fetch(f"SELECT count(*) AS n FROM {route.source.sql} WHERE {where}")  # noqa: S608
            left = int(rows[0]["n"])
            work.facts["left"] = left
            if left:
                work.log(f"{left} rows were inserted or came to match meanwhile, and stay in the source")

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """Move them back, where the target has no other rows."""
        made = any(step.phase == "prepare" and step.name.startswith("create the table") for step in plan.steps)
        moved = next((step for step in plan.steps if step.action == "move"), None)
        if not made or moved is None or not summary.get("rows"):
            return None
        route = Route.read(moved.values["route"])
        if not route.delete:
            return None
        config = plan.config
        return Undo(
            kind=self.kind,
            config={
                "data_source": config["target_data_source"] or config["data_source"],
                "schema": route.target.schema,
                "table": route.target.table,
                "target_data_source": config["data_source"],
                "target_schema": route.source.schema,
                "target_table": route.source.table,
                "key_columns": list(route.key),
                "delete_source": True,
            },
        )


def _prepare(config: BulkCopyConfig, state: State) -> list[Step]:
    route, steps = state.route, []
    target = route.target
    if state.target is None and config.create_target:
        made = create_sql(state.source, (target.dialect, target.schema, target.table), route.key, state.sorted_by)
        shown = f"{target.schema}.{target.table}" if target.schema else target.table
        steps.append(
            Step(
                name=f"create the table {shown}",
                phase="prepare",
                sql=(made,),
                side=Side.TARGET,
                transaction=target.dialect not in MARIA,
                done_check=_there(target, target.table),
            )
        )
    steps.append(
        Step(
            name="create the notes of the target",
            phase="prepare",
            sql=_notes_sql(target),
            side=Side.TARGET,
            transaction=target.dialect not in MARIA,
        )
    )
    if route.delete and not route.same:
        source = route.source
        table = source.notes_sql
        sql = (
            f"CREATE TABLE IF NOT EXISTS {table} (instance_id BIGINT NOT NULL, chunk BIGINT NOT NULL)",
            f"INSERT INTO {table} SELECT 0, 0{_dual(source.dialect)} WHERE NOT EXISTS (SELECT 1 FROM {table})",  # noqa: S608
        )
        steps.append(
            Step(
                name="create the notes of the source",
                phase="prepare",
                sql=sql,
                transaction=source.dialect not in MARIA,
            )
        )
    return steps


def _notes_sql(place: Place) -> tuple[str, ...]:
    long = "LONGTEXT" if place.dialect in MARIA else "TEXT"
    table = place.notes_sql
    return (
        (
            f"CREATE TABLE IF NOT EXISTS {table} (instance_id BIGINT NOT NULL, chunk BIGINT NOT NULL, lo {long}, "
            f"hi {long}, written {long}, top {long}, round BIGINT NOT NULL, moved BIGINT NOT NULL, "
            "expected BIGINT NOT NULL)"
        ),
        (
            f"INSERT INTO {table} (instance_id, chunk, round, moved, expected) "  # noqa: S608
            f"SELECT 0, 0, 1, 0, 0{_dual(place.dialect)} WHERE NOT EXISTS (SELECT 1 FROM {table})"
        ),
    )


def _dual(dialect: Dialect) -> str:
    return " FROM DUAL" if dialect in MARIA else ""


def _there(place: Place, name: str) -> str:
    """Whether a table is there."""
    match place.dialect:
        case Dialect.POSTGRESQL:
            shown = literal(place.dialect, qualified(place.dialect, place.schema, name))
            return f"SELECT to_regclass({shown}) IS NOT NULL"
        case Dialect.SQLITE:
            return f"SELECT 1 FROM sqlite_master WHERE name = {literal(place.dialect, name)}"  # noqa: S608
    schema = literal(place.dialect, place.schema) if place.schema else "DATABASE()"
    return (
        f"SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} "  # noqa: S608
        f"AND TABLE_NAME = {literal(place.dialect, name)}"
    )


def _indexes(state: State) -> list[Step]:
    """Of a target that was made: after the rows, which takes half the time."""
    route, steps = state.route, []
    place = route.target
    for index in state.source.indexes if state.target is None else ():
        if index.primary or not index.columns or index.partial or index.columns == route.key:
            continue
        name, sql = index_sql(place.dialect, place.schema, place.table, index)
        check = _there(place, name)
        if place.dialect in MARIA:
            schema = literal(place.dialect, place.schema) if place.schema else "DATABASE()"
            check = (
                f"SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = {schema} AND "  # noqa: S608
                f"TABLE_NAME = {literal(place.dialect, place.table)} AND INDEX_NAME = {literal(place.dialect, name)}"
            )
        steps.append(
            Step(
                name=f"create the index {name}",
                phase="index",
                sql=(sql,),
                side=Side.TARGET,
                lock=f"SHARE on {place.table} of the target: reads go on",
                duration=Duration.BY_SIZE,
                transaction=place.dialect not in MARIA,
                done_check=check,
                weight=5,
            )
        )
    analyze = f"ANALYZE TABLE {place.sql}" if place.dialect in MARIA else f"ANALYZE {place.sql}"
    steps.append(
        Step(
            name=f"analyze {place.table}",
            phase="index",
            sql=(analyze,),
            side=Side.TARGET,
            duration=Duration.BY_SIZE,
            transaction=place.dialect not in MARIA,
        )
    )
    return steps


def _clean(route: Route) -> list[Step]:
    """The target's notes first: the source's alone say nothing, the target's alone could be taken for unfinished."""
    steps = [
        Step(
            name="drop the notes of the target",
            phase="clean",
            side=Side.TARGET,
            cancellable=False,
            sql=(f"DROP TABLE IF EXISTS {route.target.notes_sql}",),
            transaction=route.target.dialect not in MARIA,
        )
    ]
    if route.delete and not route.same:
        steps.append(
            Step(
                name="drop the notes of the source",
                phase="clean",
                cancellable=False,
                sql=(f"DROP TABLE IF EXISTS {route.source.notes_sql}",),
                transaction=route.source.dialect not in MARIA,
            )
        )
    return steps


def _notes(config: BulkCopyConfig, state: State) -> list[str]:
    route, found = state.route, []
    if state.source.triggers and route.delete:
        found.append(
            f"{state.source.shown} has triggers, which fire for each row deleted: {', '.join(state.source.triggers)}"
        )
    if state.target is not None and state.target.triggers:
        found.append(f"the target has triggers, which fire for each row written: {', '.join(state.target.triggers)}")
    left = [column.name for column in state.source.columns if column.generated]
    if left:
        found.append(f"computed columns are not written: {', '.join(left)}")
    if not route.delete:
        found.append(
            "rows that are inserted behind the place where copying is are not copied; changed ones as they were"
        )
    if config.verify != "hash":
        found.append(f"what is written is compared by {config.verify} only, not by its values")
    others = [index.name for index in state.source.indexes if not index.columns or index.partial]
    if state.target is None and others:
        found.append(f"indexes on expressions, or on part of the rows, are not made: {', '.join(others)}")
    if state.source.foreign_keys and state.target is None:
        found.append("the target is made without foreign keys")
    return found
