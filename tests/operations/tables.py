"""Sample tables, the same in every dialect as far as it goes: `orders`, by months, with columns of many types.

Row number `n` has the same values in every dialect, so that what is copied from one to another can be compared.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import closing
from dataclasses import dataclass

from hourhand.model.data_source import Address, Dialect
from operations.asking import execute, file_connection, literal, quoted

START = dt.date(2026, 1, 1)
NOTES = (
    None,
    'it\'s "quoted"',
    "tab\tnewline\nreturn\r\nbackslash\\n",
    "中文 naïve 🕰",
    "",
    "\\N",
    "NULL, \\. ; --",
)
"""What gives trouble where text is written and read again; row `n` has the one at `n % 7`."""
COLUMNS: dict[str, tuple[str, str, str]] = {
    "id": ("bigint NOT NULL", "BIGINT NOT NULL", "INTEGER NOT NULL"),
    "created_at": ("timestamptz NOT NULL", "DATETIME(6) NOT NULL", "TEXT NOT NULL"),
    "customer": ("text NOT NULL", "VARCHAR(100) NOT NULL", "TEXT NOT NULL"),
    "note": ("text", "TEXT", "TEXT"),
    "group": ("varchar(20) NOT NULL", "VARCHAR(20) NOT NULL", "VARCHAR(20) NOT NULL"),
    "quantity": ("smallint NOT NULL", "SMALLINT NOT NULL", "SMALLINT NOT NULL"),
    "ticket": ("bigint", "BIGINT", "BIGINT"),
    "amount": ("numeric(20,6)", "DECIMAL(20,6)", "NUMERIC(20,6)"),
    "ratio": ("double precision", "DOUBLE", "REAL"),
    "paid": ("boolean", "BOOLEAN", "BOOLEAN"),
    "due": ("date", "DATE", "DATE"),
    "picture": ("bytea", "BLOB", "BLOB"),
    "detail": ("jsonb", "JSON", "JSON"),
    "raw": ("json", "JSON", "JSON"),
    "token": ("uuid NOT NULL", "UUID NOT NULL", "TEXT NOT NULL"),
}
"""Each column's type in PostgreSQL, MariaDB and SQLite; `group` is a word of SQL, and must be quoted."""
_ORDER = (Dialect.POSTGRESQL, Dialect.MARIADB, Dialect.SQLITE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample table, as it was made."""

    dialect: Dialect
    schema: str | None
    """Of PostgreSQL."""
    table: str
    rows: int
    bounds: tuple[dt.date, ...]
    """The first days of its months, and the day after the last."""
    partitions: tuple[str, ...] = ()
    """Their names, one for each month; empty where the table has none. The last one for all else is not among them."""
    rest: str | None = None
    """The name of the partition for all else."""

    @property
    def name(self) -> str:
        """As it is written in SQL."""
        return self.named(self.table)

    def named(self, relation: str) -> str:
        """Return the name of a relation beside it, such as a partition, as it is written in SQL."""
        names = (self.schema, relation) if self.schema else (relation,)
        return ".".join(quoted(self.dialect, one) for one in names)

    def moment(self, n: int) -> dt.datetime:
        """Return when row `n` was created, in UTC."""
        first = dt.datetime.combine(self.bounds[0], dt.time(), dt.UTC)
        return first + dt.timedelta(microseconds=(n - 1) * self.step)

    @property
    def step(self) -> int:
        """The microseconds between a row and the next."""
        return (self.bounds[-1] - self.bounds[0]) // dt.timedelta(microseconds=1) // max(self.rows, 1)


async def make_orders(
    source: Address,
    *,
    rows: int = 1_000,
    months: int = 4,
    start: dt.date = START,
    partitioned: bool = True,
    rest: bool = False,
    by_days: bool = False,
    table: str = "orders",
    schema: str = "public",
    indexes: bool = True,
) -> Sample:
    """Make the table and fill it, rows spread evenly over the months; the first lies on the first bound.

    Args:
        source: Where.
        rows: How many; their numbers are 1 to this.
        months: How many months, each of them a partition where there are such.
        start: The first day of the first month.
        partitioned: Whether it has partitions; a table of SQLite never has.
        rest: Whether there is a partition for all else: PostgreSQL's default, MariaDB's MAXVALUE.
        by_days: Of MariaDB: whether it is partitioned by TO_DAYS(created_at) instead of the column itself.
        table: Its name.
        schema: Of PostgreSQL; made where it is missing.
        indexes: Whether it has indexes beside the primary key.
    """
    dialect = source.dialect
    bounds = tuple(_month(start, number) for number in range(months + 1))
    parted = partitioned and dialect is not Dialect.SQLITE
    sample = Sample(
        dialect=dialect,
        schema=schema if dialect is Dialect.POSTGRESQL else None,
        table=table,
        rows=rows,
        bounds=bounds,
        partitions=tuple(f"{table}_{day:%Y_%m}" for day in bounds[:-1]) if parted else (),
        rest=f"{table}_rest" if parted and rest else None,
    )
    match dialect:
        case Dialect.POSTGRESQL:
            # The keys come last: building them is faster than keeping them up to date.
            await execute(source, *_postgres_table(sample), *_postgres_fill(sample), *_postgres_keys(sample))
        case Dialect.MARIADB:
            await execute(source, _maria_table(sample, by_days=by_days), *_maria_fill(sample))
        case _:
            await asyncio.to_thread(_sqlite_table, source, sample)
    if indexes:
        await execute(source, *_indexes(sample))
    return sample


def columns(dialect: Dialect) -> str:
    """Return the columns' definitions, such as for an archive table of one's own."""
    place = _ORDER.index(dialect)
    return ", ".join(f"{quoted(dialect, name)} {types[place]}" for name, types in COLUMNS.items())


def _month(start: dt.date, number: int) -> dt.date:
    months = start.year * 12 + start.month - 1 + number
    return dt.date(months // 12, months % 12 + 1, 1)


def _postgres_table(sample: Sample) -> list[str]:
    by = " PARTITION BY RANGE (created_at)" if sample.partitions else ""
    made = [
        f"CREATE SCHEMA IF NOT EXISTS {quoted(sample.dialect, sample.schema or 'public')}",
        f"CREATE TABLE {sample.name} ({columns(sample.dialect)}){by}",
    ]
    for name, lower, upper in zip(sample.partitions, sample.bounds, sample.bounds[1:], strict=False):
        made.append(
            f"CREATE TABLE {sample.named(name)} PARTITION OF {sample.name} "
            f"FOR VALUES FROM ('{lower} 00:00:00+00') TO ('{upper} 00:00:00+00')"
        )
    if sample.rest:
        made.append(f"CREATE TABLE {sample.named(sample.rest)} PARTITION OF {sample.name} DEFAULT")
    return made


def _postgres_keys(sample: Sample) -> list[str]:
    return [f"ALTER TABLE {sample.name} ADD PRIMARY KEY (id, created_at)", f"ANALYZE {sample.name}"]


def _indexes(sample: Sample) -> list[str]:
    return [
        f"CREATE INDEX {quoted(sample.dialect, f'{sample.table}_{name}_idx')} ON {sample.name} ({keys})"
        for name, keys in (("customer", "customer"), ("created_at", "created_at"))
    ]


def _maria_table(sample: Sample, *, by_days: bool) -> str:
    made = f"CREATE TABLE {sample.name} ({columns(sample.dialect)}, PRIMARY KEY (id, created_at)) ENGINE = InnoDB"
    if not sample.partitions:
        return made
    names = [quoted(sample.dialect, name) for name in sample.partitions]
    parts = [
        f"PARTITION {name} VALUES LESS THAN " + (f"(TO_DAYS('{upper}'))" if by_days else f"('{upper}')")
        for name, upper in zip(names, sample.bounds[1:], strict=True)
    ]
    if sample.rest:
        most = "MAXVALUE" if by_days else "(MAXVALUE)"
        parts.append(f"PARTITION {quoted(sample.dialect, sample.rest)} VALUES LESS THAN {most}")
    by = "RANGE (TO_DAYS(created_at))" if by_days else "RANGE COLUMNS (created_at)"
    return f"{made} PARTITION BY {by} ({', '.join(parts)})"


def _sqlite_table(source: Address, sample: Sample) -> None:
    first, step = dt.datetime.combine(sample.bounds[0], dt.time()), sample.step

    def moment(n: int) -> str:
        return (first + dt.timedelta(microseconds=(n - 1) * step)).isoformat(" ", "microseconds")

    with closing(file_connection(source)) as connection:
        connection.create_function("unhex", 1, bytes.fromhex, deterministic=True)
        connection.create_function("moment", 1, moment, deterministic=True)
        connection.execute(f"CREATE TABLE {sample.name} ({columns(sample.dialect)}, PRIMARY KEY (id, created_at))")
        connection.execute(_sqlite_fill(sample))


def _notes(dialect: Dialect) -> str:
    cases = " ".join(
        f"WHEN {number} THEN {'NULL' if text is None else literal(dialect, text)}" for number, text in enumerate(NOTES)
    )
    return f"CASE n % {len(NOTES)} {cases} END"


def _postgres_fill(sample: Sample) -> list[str]:
    values = f"""
        n,
        timestamptz '{sample.bounds[0]} 00:00:00+00' + (n - 1) * {sample.step} * interval '1 microsecond',
        'customer ' || (n % 97),
        {_notes(sample.dialect)},
        CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END,
        n % 1000 - 500,
        CASE WHEN n % 13 > 0 THEN 9007199254740993 + n END,
        ((n * 1234567) % 1000000000000 - 500000000000)::numeric * 0.000001,
        n::double precision / 7,
        CASE WHEN n % 11 > 0 THEN n % 3 = 0 END,
        date '2020-01-01' + (n % 4000)::int,
        decode('00095c0aff' || lpad(to_hex(n), 8, '0'), 'hex'),
        ('{{"n": ' || n || ', "none": null, "tags": ["a\\"b", "中文"]}}')::jsonb,
        ('{{"b":' || n || ',  "a":1.50}}')::json,
        (lpad(to_hex(n), 8, '0') || '-0000-4000-8000-' || lpad(to_hex(n * 3), 12, '0'))::uuid
    """
    return [f"INSERT INTO {sample.name} SELECT {values} FROM generate_series(1::bigint, {sample.rows}) AS s(n)"]


def _maria_fill(sample: Sample) -> list[str]:
    if not sample.rows:
        return []
    values = f"""
        n,
        TIMESTAMP '{sample.bounds[0]} 00:00:00' + INTERVAL (n - 1) * {sample.step} MICROSECOND,
        CONCAT('customer ', n % 97),
        {_notes(sample.dialect)},
        IF(n % 2 = 0, 'even', 'odd'),
        CAST(n % 1000 AS SIGNED) - 500,
        IF(n % 13 > 0, 9007199254740993 + n, NULL),
        CAST(CAST(n * 1234567 % 1000000000000 AS SIGNED) - 500000000000 AS DECIMAL(20,0)) * 0.000001,
        CAST(n AS DOUBLE) / 7,
        IF(n % 11 > 0, n % 3 = 0, NULL),
        DATE '2020-01-01' + INTERVAL n % 4000 DAY,
        UNHEX(CONCAT('00095C0AFF', LPAD(HEX(n), 8, '0'))),
        CONCAT('{{"n": ', n, ', "none": null, "tags": ["a\\\\"b", "中文"]}}'),
        CONCAT('{{"b":', n, ',  "a":1.50}}'),
        CONCAT(LPAD(HEX(n), 8, '0'), '-0000-4000-8000-', LPAD(HEX(n * 3), 12, '0'))
    """
    return [
        f"INSERT INTO {sample.name} SELECT {values} FROM (SELECT seq AS n FROM seq_1_to_{sample.rows}) AS s",
        f"ANALYZE TABLE {sample.name}",
    ]


def _sqlite_fill(sample: Sample) -> str:
    values = f"""
        n, moment(n), 'customer ' || (n % 97), {_notes(sample.dialect)},
        CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END,
        n % 1000 - 500,
        CASE WHEN n % 13 > 0 THEN 9007199254740993 + n END,
        (n * 1234567 % 1000000000000 - 500000000000) / 1000000.0,
        n / 7.0,
        CASE WHEN n % 11 > 0 THEN n % 3 = 0 END,
        date('2020-01-01', (n % 4000) || ' days'),
        unhex('00095c0aff' || printf('%08x', n)),
        '{{"n": ' || n || ', "none": null, "tags": ["a\\"b", "中文"]}}',
        '{{"b":' || n || ',  "a":1.50}}',
        printf('%08x', n) || '-0000-4000-8000-' || printf('%012x', n * 3)
    """
    numbers = f"WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {sample.rows})"
    return f"INSERT INTO {sample.name} {numbers} SELECT {values} FROM s WHERE {sample.rows} > 0"
