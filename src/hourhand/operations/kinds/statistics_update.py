"""Operations: statistics_update: let the database look at its rows again, so that it plans queries well."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import Field

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.config import Config, Name
from hourhand.operations.failures import Refused, StatementFailed
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork

_ANSWERING = (Dialect.MARIADB, Dialect.MYSQL)
_LOCKS = {
    Dialect.POSTGRESQL: "SHARE UPDATE EXCLUSIVE on {}: reads and writes go on",
    Dialect.MARIADB: "a metadata lock on {}: reads and writes go on",
    Dialect.MYSQL: "a metadata lock on {}: reads and writes go on",
    Dialect.SQLITE: "the file, for writers, while the figures are written",
    Dialect.SQLSERVER: "Sch-S on {}: reads and writes go on",
}


class StatisticsConfig(Config):
    """The tables whose statistics are brought up to date."""

    schema_name: Name | None = Field(default=None, alias="schema")
    """The tables' schema or database; by default the usual one."""
    tables: tuple[Name, ...] = Field(min_length=1, max_length=500)
    """The tables, by name."""
    partitions: tuple[Name, ...] = ()
    """Of a partitioned table, only these partitions; by default all."""
    sample_pct: float | None = Field(default=None, gt=0, le=100)
    """SQL Server: how much of each table is read; elsewhere the database decides."""
    include_parents: bool = True
    """Also the partitioned tables themselves, which PostgreSQL's autovacuum never looks at."""


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    tables: tuple[Table, ...]


class StatisticsUpdate(Kind[StatisticsConfig, State]):
    """Bring the statistics of tables up to date (ANALYZE), partitioned parents included."""

    kind: ClassVar[str] = "statistics_update"
    number: ClassVar[int] = 71
    title: ClassVar[str] = "Bring the statistics of tables up to date"
    marks_destructive: ClassVar[bool] = True
    config = StatisticsConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "tables": ["orders"]}

    async def inspect(self, config: StatisticsConfig, look: Look) -> State:
        """The tables, with their partitions."""
        found = [await read_table(look.source, config.schema_name, name, field="tables") for name in config.tables]
        return State(look.source.dialect, tuple(found))

    def script_state(self, config: StatisticsConfig) -> State:
        """The tables as they are named."""
        named = [Table(dialect=Dialect.SQLSERVER, schema=config.schema_name or "dbo", name=name, columns=())
                 for name in config.tables]  # fmt: skip
        return State(Dialect.SQLSERVER, tuple(named))

    def plan(self, config: StatisticsConfig, state: State) -> Plan:
        """One step for each table or partition, the parents last: theirs are gathered from what is below."""
        _check_partitions(config, state)
        steps = []
        for table in state.tables:
            chosen = [one for one in table.partitions if not config.partitions or one.name in config.partitions]
            if state.dialect is Dialect.POSTGRESQL and table.partitions:
                steps += [_step(state.dialect, table.partition_sql(one), one.name, config) for one in chosen]
            if not table.partitions or config.include_parents or state.dialect is not Dialect.POSTGRESQL:
                steps.append(_step(state.dialect, table.sql, table.shown, config))
        owned = [table.shown for table in state.tables if not table.owned]
        return Plan(
            kind=self.kind,
            dialect=state.dialect,
            config=config.plain(),
            steps=tuple(steps),
            preconditions=(
                Precondition(
                    name="ownership",
                    ok=not owned,
                    detail=f"{', '.join(owned)} belong to another role: sign in as their owner" if owned else "owned",
                ),
            ),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """What the catalog says of the tables: which of their rows are read is the database's choice."""
        sizes: dict[str, tuple[int, int]] = {}
        for name in plan.config["tables"]:
            table = await read_table(look.source, plan.config["schema"], name, field="tables")
            sizes[table.shown] = (table.rows, table.bytes)
            sizes |= {one.name: (one.rows, one.bytes) for one in table.partitions}
        steps = []
        for step in plan.steps:
            rows, size = sizes.get(step.values["table"], (0, 0))
            steps.append(replace(step, rows=rows or None, bytes=size or None))
        return replace(plan, steps=tuple(steps))

    async def do_analyze(self, work: LiveWork, step: Step) -> None:
        """One table; MariaDB and MySQL answer with rows, of which one may be an error."""
        await work.breathe()
        began = time.monotonic()
        if work.source.dialect in _ANSWERING:
            await work.climb(step, lambda: self._answered(work, step))
        else:
            await work.execute(step)
        work.facts.setdefault("tables", {})[step.values["table"]] = round(time.monotonic() - began, 3)

    async def _answered(self, work: LiveWork, step: Step) -> None:
        for row in await work.source.fetch(step.sql[0]):
            if str(row["Msg_type"]).lower() == "error":
                raise StatementFailed(f"{row['Msg_text']}: {step.sql[0]}")

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """The tables and partitions whose statistics are fresh, and how long each took."""
        seconds = work.facts.get("tables", {})
        names = [step.values["table"] for step in plan.steps]
        return {"analyzed": names, "seconds": {name: seconds.get(name) for name in names}}


def _step(dialect: Dialect, sql: str, name: str, config: StatisticsConfig) -> Step:
    match dialect:
        case Dialect.MARIADB | Dialect.MYSQL:
            statement = f"ANALYZE TABLE {sql}"
        case Dialect.SQLSERVER:
            sample = f"SAMPLE {config.sample_pct:g} PERCENT" if config.sample_pct else "FULLSCAN"
            statement = f"UPDATE STATISTICS {sql} WITH {sample}"
        case _:
            statement = f"ANALYZE {sql}"
    return Step(
        name=f"analyze {name}",
        phase="analyze",
        sql=(statement,),
        lock=_LOCKS[dialect].format(name),
        duration=Duration.BY_SIZE,
        transaction=dialect in (Dialect.POSTGRESQL, Dialect.SQLITE),
        action=None if dialect is Dialect.SQLSERVER else "analyze",
        values={} if dialect is Dialect.SQLSERVER else {"table": name},
    )


def _check_partitions(config: StatisticsConfig, state: State) -> None:
    known: list[Partition] = [one for table in state.tables for one in table.partitions]
    for name in config.partitions:
        if all(one.name != name for one in known):
            there = ", ".join(one.name for one in known[:10]) or "none: the tables are not partitioned"
            raise Refused(f"there is no partition {name!r}; there are {there}", field="partitions")
