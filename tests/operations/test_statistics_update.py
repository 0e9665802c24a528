"""statistics_update: the database knows its rows again, those of partitioned tables included."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.asking import execute, fetch, value
from operations.running import Interrupted, preview, run
from operations.tables import make_orders

GOLDEN = Path(__file__).parent / "golden" / "statistics_update_sampled.sql"
SQL_SERVER = Address(dialect=Dialect.SQLSERVER, host="db.example.com", database="shop")
KIND = "statistics_update"


async def test_the_database_looks_again(source: Address) -> None:
    await make_orders(source, rows=300, months=3)
    config = {"tables": ["orders"]}
    shown = await preview(KIND, config, {"source": source})
    assert (await preview(KIND, config, {"source": source})).plan_hash == shown.plan_hash
    ran = await run(KIND, config, {"source": source}, args={"plan_hash": shown.plan_hash})
    assert len(ran.summary["analyzed"]) == len(shown.plan.steps) == (4 if source.dialect is Dialect.POSTGRESQL else 1)
    assert all(seconds >= 0 for seconds in ran.summary["seconds"].values())
    match source.dialect:
        case Dialect.POSTGRESQL:
            rows = await fetch(source, "SELECT relname, reltuples FROM pg_class WHERE relname ~ '^orders(_20.._..)?$'")
            assert dict(rows)["orders"] == 300
            assert len(rows) == 4
            assert (await preview(KIND, config, {"source": source})).impact.rows == 600  # the parent reads all again
        case Dialect.SQLITE:
            assert str(await value(source, "SELECT max(stat) FROM sqlite_stat1 WHERE tbl = 'orders'")).startswith("300")
        case _:
            assert (await preview(KIND, config, {"source": source})).impact.rows == 300


async def test_only_some_partitions(pg_source: Address) -> None:
    sample = await make_orders(pg_source, rows=300, months=3)
    config = {"tables": ["orders"], "partitions": [sample.partitions[1]], "include_parents": False}
    ran = await run(KIND, config, {"source": pg_source})
    assert list(ran.summary["seconds"]) == [sample.partitions[1]]
    with pytest.raises(InvalidInput, match=r"config.partitions: there is no partition 'x'; there are orders_"):
        await preview(KIND, {**config, "partitions": ["x"]}, {"source": pg_source})


async def test_what_is_interrupted_is_gone_on_with(source: Address) -> None:
    for name in ("one", "two", 'th"r`ee'):
        mark = "`" if source.dialect is Dialect.MARIADB else '"'
        await execute(source, f"CREATE TABLE {mark}{name.replace(mark, mark * 2)}{mark} (id integer PRIMARY KEY)")
    config = {"tables": ["one", "two", 'th"r`ee']}
    for stop_at in range(1, 5):
        with pytest.raises(Interrupted) as first:
            await run(KIND, config, {"source": source}, stop_at=stop_at)
        ran = await run(KIND, config, {"source": source}, checkpoint=first.value.checkpoint)
        assert len(ran.summary["analyzed"]) == 3
        assert None not in ran.summary["seconds"].values()


async def test_what_is_not_there_is_told(source: Address) -> None:
    await execute(source, "CREATE TABLE orders (id integer)")
    with pytest.raises(InvalidInput, match=r"config.tables: there is no table .*ordres.*did you mean .*orders"):
        await preview(KIND, {"tables": ["ordres"]}, {"source": source})


async def test_the_script_for_sql_server() -> None:
    shown = await preview(KIND, {"tables": ["order]s", "items"], "sample_pct": 12.5}, {"source": SQL_SERVER})
    assert shown.script == GOLDEN.read_text()
    for one in shown.script.split(";"):
        sqlglot.parse(one, read="tsql")
