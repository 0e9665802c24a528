"""Operations: sample: a table with many rows, to try the other kinds on."""

# ruff: noqa: S608 - names are quoted, and what rows hold is made of their numbers

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import pairwise
from typing import Any, ClassVar

from pydantic import Field

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.catalog import find_table
from hourhand.operations.config import Config, Name
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.work import LiveWork

_YEAR = 2025
_MONTHS = tuple(date(_YEAR + month // 12, month % 12 + 1, 1) for month in range(13))
"""The bounds of twelve partitions."""
_CHUNK = 10_000
_DIGITS = f"(SELECT 0 AS d{''.join(f' UNION ALL SELECT {digit}' for digit in range(1, 10))})"
_NUMBERS = (
    "SELECT {first} + a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n "
    f"FROM {_DIGITS} a CROSS JOIN {_DIGITS} b CROSS JOIN {_DIGITS} c CROSS JOIN {_DIGITS} e"
)
"""Ten thousand of them, on databases that have no series."""
_ROW_BYTES = 90


class SampleConfig(Config):
    """A table that is made and filled."""

    schema_name: Name | None = Field(default=None, alias="schema")
    """The schema or database to make it in; by default the usual one."""
    table: Name = Field(default="hourhand_sample_orders", max_length=50)
    """What it is called; there must be none of that name."""
    rows: int = Field(default=1_000_000, ge=1, le=100_000_000)
    """How many rows it gets: orders that spread evenly over the twelve months of 2025."""


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    schema: str | None


class Sample(Kind[SampleConfig, State]):
    """Make a table with many rows, partitioned by month where the database can, to try the other operations on."""

    kind: ClassVar[str] = "sample"
    number: ClassVar[int] = 99
    title: ClassVar[str] = "Make a sample table to try the other operations on"
    marks_destructive: ClassVar[bool] = True
    config = SampleConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "rows": 100_000}
    refused: ClassVar[Mapping[Dialect, str]] = {
        Dialect.SQLSERVER: "nothing connects to it; make the table on PostgreSQL, MariaDB, MySQL or SQLite"
    }

    async def inspect(self, config: SampleConfig, look: Look) -> State:
        """That there is no such table yet."""
        found = await find_table(look.source, config.schema_name, config.table)
        if found is not None:
            raise Refused(
                f"there is a table {found.shown} in {look.source.shown} already: give another name, or drop it",
                field="table",
            )
        schema = config.schema_name or ("public" if look.source.dialect is Dialect.POSTGRESQL else None)
        return State(look.source.dialect, schema)

    def plan(self, config: SampleConfig, state: State) -> Plan:
        """Make it, fill it, count it, and let the database look at it."""
        table = qualified(state.dialect, state.schema, config.table)
        transactional = state.dialect in (Dialect.POSTGRESQL, Dialect.SQLITE)
        steps = (
            Step(
                name=f"create {config.table}",
                phase="create",
                sql=tuple(_creation(config, state, table)),
                done_check=_exists(config, state),
                transaction=transactional,
            ),
            Step(
                name=f"fill {config.table}",
                phase="fill",
                sql=(_filling(state.dialect, table),),
                duration=Duration.BY_SIZE,
                action="fill",
                values={"rows": config.rows},
                weight=20.0,
            ),
            Step(
                name=f"count {config.table}",
                phase="verify",
                sql=(f"SELECT count(*) AS n FROM {table}",),
                duration=Duration.BY_SIZE,
                action="count",
                values={"rows": config.rows},
            ),
            Step(
                name=f"analyze {config.table}",
                phase="analyze",
                sql=(f"ANALYZE {'TABLE ' if state.dialect in (Dialect.MARIADB, Dialect.MYSQL) else ''}{table}",),
                duration=Duration.BY_SIZE,
                transaction=transactional,
            ),
        )
        return Plan(kind=self.kind, dialect=state.dialect, config=config.plain(), steps=steps)

    async def estimate(self, look: Look, plan: Plan) -> Plan:  # noqa: ARG002 - it is known beforehand
        """What the rows take."""
        rows = int(plan.config["rows"])
        size = rows * _ROW_BYTES
        return replace(
            plan,
            steps=tuple(
                replace(step, rows=rows, bytes=size, disk_bytes=size) if step.action == "fill" else step
                for step in plan.steps
            ),
        )

    async def do_fill(self, work: LiveWork, step: Step) -> None:
        """Chunk by chunk; a chunk that is written again leaves the rows that are there."""
        rows = int(step.values["rows"])
        begin = int(work.position.get("next", 1))
        for first in range(begin, rows + 1, _CHUNK):
            last = min(first + _CHUNK - 1, rows)
            await work.climb(step, lambda low=first, high=last: work.change(step, step.sql[0], low, high))  # type: ignore[misc]
            await work.save({"next": last + 1}, last / rows)
            await work.breathe()

    async def do_count(self, work: LiveWork, step: Step) -> None:
        """All of them must be there."""
        found = int((await work.source.fetch(step.sql[0]))[0]["n"])
        if found != step.values["rows"]:
            raise NotVerified(f"{work.config.plain()['table']} has {found} rows, and should have {step.values['rows']}")
        work.facts["rows"] = found


def _creation(config: SampleConfig, state: State, table: str) -> list[str]:
    dialect = state.dialect
    if dialect is Dialect.SQLITE:
        return [
            (
                f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, status TEXT NOT NULL, "
                "amount NUMERIC NOT NULL, note TEXT, created_at TEXT NOT NULL)"
            ),
            f"CREATE INDEX {quoted(dialect, f'{config.table}_created_at')} ON {table} (created_at)",
        ]
    columns = (
        "id bigint NOT NULL, customer_id bigint NOT NULL, status varchar(12) NOT NULL, amount numeric(12,2) NOT NULL, "
        "note text, created_at {moment} NOT NULL, PRIMARY KEY (id, created_at)"
    )
    bounds = [datetime(one.year, one.month, 1) for one in _MONTHS]  # noqa: DTZ001 - bounds without a zone
    if dialect is Dialect.POSTGRESQL:
        made = [f"CREATE TABLE {table} ({columns.format(moment='timestamp')}) PARTITION BY RANGE (created_at)"]
        for low, high in pairwise(bounds):
            partition = qualified(dialect, state.schema, f"{config.table}_{low:%Y_%m}")
            made.append(
                f"CREATE TABLE {partition} PARTITION OF {table} "
                f"FOR VALUES FROM ({literal(dialect, low)}) TO ({literal(dialect, high)})"
            )
        return [*made, f"CREATE INDEX ON {table} (customer_id)"]
    parts = ", ".join(
        f"PARTITION {quoted(dialect, f'p{low:%Y_%m}')} VALUES LESS THAN ({literal(dialect, high)})"
        for low, high in pairwise(bounds)
    )
    return [
        (
            f"CREATE TABLE {table} ({columns.format(moment='datetime')}, KEY customer_id (customer_id)) ENGINE=InnoDB "
            f"DEFAULT CHARSET=utf8mb4 PARTITION BY RANGE COLUMNS (created_at) ({parts})"
        )
    ]


def _exists(config: SampleConfig, state: State) -> str:
    name = literal(state.dialect, config.table)
    match state.dialect:
        case Dialect.SQLITE:
            return f"SELECT count(*) AS n FROM sqlite_master WHERE type = 'table' AND name = {name}"
        case Dialect.POSTGRESQL:
            schema = literal(state.dialect, state.schema)
        case _:
            schema = "DATABASE()" if state.schema is None else literal(state.dialect, state.schema)
    return f"SELECT count(*) AS n FROM information_schema.tables WHERE table_schema = {schema} AND table_name = {name}"


def _filling(dialect: Dialect, table: str) -> str:
    """Row n is the same whoever writes it: of minute 7919 * n of the year, so that few spread as evenly as many."""
    columns = "(id, customer_id, status, amount, note, created_at)"
    match dialect:
        case Dialect.POSTGRESQL:
            return (
                f"INSERT INTO {table} {columns} SELECT n, n % 9973, "
                "(ARRAY['new','paid','shipped','returned'])[n % 4 + 1], (n % 100000) / 100.0, 'order ' || n, "
                "timestamp '2025-01-01' + (n * 7919 % 525600) * interval '1 minute' "
                "FROM generate_series($1::bigint, $2::bigint) AS n ON CONFLICT DO NOTHING"
            )
        case Dialect.SQLITE:
            return (
                f"INSERT OR IGNORE INTO {table} {columns} SELECT n, n % 9973, "
                "CASE n % 4 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END, "
                "(n % 100000) / 100.0, 'order ' || n, "
                "datetime('2025-01-01', '+' || (n * 7919 % 525600) || ' minutes') "
                f"FROM ({_NUMBERS.format(first='?1')}) AS numbers WHERE n <= ?2"
            )
    return (
        f"INSERT IGNORE INTO {table.replace('%', '%%')} {columns} SELECT n, MOD(n, 9973), "
        "ELT(MOD(n, 4) + 1, 'new', 'paid', 'shipped', 'returned'), MOD(n, 100000) / 100, CONCAT('order ', n), "
        "TIMESTAMPADD(MINUTE, MOD(n * 7919, 525600), '2025-01-01') "
        f"FROM ({_NUMBERS.format(first='%s')}) AS numbers WHERE n <= %s"
    )
