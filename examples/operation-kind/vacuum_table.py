"""A kind of operation of one's own: vacuum a table, and tell how much smaller it became."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.config import TableConfig
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork

_ELSEWHERE = "it has no VACUUM; use index_rebuild, which rebuilds the table"


class VacuumConfig(TableConfig):
    """The table that is vacuumed."""

    full: bool = False
    """PostgreSQL: write the table anew, so that its file becomes smaller; nobody can use it meanwhile."""


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    table: Table


class VacuumTable(Kind[VacuumConfig, State]):
    """Give the room of deleted rows back."""

    kind: ClassVar[str] = "vacuum_table"
    number: ClassVar[int] = 170
    title: ClassVar[str] = "Give the room of deleted rows back"
    marks_destructive: ClassVar[bool] = True  # none of its steps is
    config = VacuumConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "table": "orders"}
    refused: ClassVar[Mapping[Dialect, str]] = dict.fromkeys(
        (Dialect.MARIADB, Dialect.MYSQL, Dialect.SQLSERVER), _ELSEWHERE
    )

    async def inspect(self, config: VacuumConfig, look: Look) -> State:
        """Look, and change nothing."""
        return State(await read_table(look.source, config.schema_name, config.table))

    def plan(self, config: VacuumConfig, state: State) -> Plan:
        """Decide by these two alone: no clock, no chance, no database."""
        table = state.table
        whole_file = table.dialect is Dialect.SQLITE
        if whole_file:
            sql, lock = "VACUUM", "the file, for writers"
        else:
            sql = f"VACUUM ({'FULL, ' if config.full else ''}ANALYZE) {table.sql}"
            mode = "ACCESS EXCLUSIVE on {}" if config.full else "SHARE UPDATE EXCLUSIVE on {}: reads and writes go on"
            lock = mode.format(table.shown)
        detail = "owned" if table.owned else f"{table.shown} belongs to {table.owner}: sign in as its owner"
        step = Step(
            name=f"vacuum {table.shown}",
            phase="vacuum",
            sql=(sql,),
            lock=lock,
            duration=Duration.BY_SIZE,
            transaction=False,
            action="vacuum",
            values={"table": table.sql},
        )
        return Plan(
            kind=self.kind,
            dialect=table.dialect,
            config=config.plain(),
            steps=(step,),
            preconditions=(Precondition(name="ownership", ok=table.owned, detail=detail),),
            notes=("SQLite vacuums the whole file",) if whole_file else (),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How much is read; no part of what is approved."""
        size = await _size(look.source, plan.steps[0].values["table"])
        return replace(plan, steps=(replace(plan.steps[0], bytes=size),))

    async def do_vacuum(self, work: LiveWork, step: Step) -> None:
        """Note the size before, for an attempt that takes over; a vacuum that is done twice does no harm."""
        work.facts.setdefault("bytes_before", await _size(work.source, step.values["table"]))
        await work.save({})
        await work.climb(step, lambda: work.change(step, step.sql[0]))
        work.facts["bytes_after"] = await _size(work.source, step.values["table"])


async def _size(session: Session, table: str) -> int:
    if session.dialect is Dialect.SQLITE:
        rows = await session.fetch("SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()")
    else:
        rows = await session.fetch("SELECT pg_table_size(to_regclass($1)) AS n", table)
    return int(rows[0]["n"])
