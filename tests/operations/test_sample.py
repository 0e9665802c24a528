"""sample: the table to try the others on has its rows, once, however often its making is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.asking import count, execute, fetch, quoted
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "hourhand_sample_orders"
HOSTILE = 'order "by" `%s` 中\'x'
SQL_SERVER = Address(dialect=Dialect.SQLSERVER, host="db.example.com", database="shop")


async def whole(source: Address, rows: int, table: str = TABLE) -> bool:
    """Whether every row is there once, and partitions of the year hold some each where there are any."""
    name = quoted(source.dialect, table)
    ((least, most, number),) = await fetch(source, f"SELECT min(id), max(id), count(DISTINCT id) FROM {name}")
    return (least, most, number, await count(source, name)) == (1, rows, rows, rows)


async def test_it_is_made_filled_and_counted(source: Address) -> None:
    ran = await run("sample", {"rows": 25_000}, {"source": source})
    assert ran.summary["rows"] == 25_000
    assert ran.phases == ["plan", "create", "fill", "verify", "analyze"]
    assert await whole(source, 25_000)
    ((first, last),) = await fetch(source, f"SELECT min(created_at), max(created_at) FROM {TABLE}")
    assert (str(first)[:10], str(last)[:10]) == ("2025-01-01", "2025-12-31")
    if source.dialect is Dialect.POSTGRESQL:
        rows = await fetch(source, f"SELECT tableoid::regclass::text, count(*) FROM {TABLE} GROUP BY 1 ORDER BY 1")
        assert [name for name, _ in rows] == [f"{TABLE}_2025_{month:02}" for month in range(1, 13)]
        assert min(number for _, number in rows) > 1_500


async def test_a_preview_tells_what_it_takes_and_makes_nothing(source: Address) -> None:
    shown = await preview("sample", {"rows": 1_000}, {"source": source})
    assert (shown.impact.rows, shown.impact.blockers) == (1_000, ())
    assert (await preview("sample", {"rows": 1_000}, {"source": source})).plan == shown.plan
    with pytest.raises(InvalidInput, match="there is no table"):
        await preview("statistics_update", {"tables": [TABLE]}, {"source": source})


async def test_any_name_will_do(source: Address) -> None:
    ran = await run("sample", {"rows": 100, "table": HOSTILE}, {"source": source})
    assert ran.summary["rows"] == 100
    assert await whole(source, 100, HOSTILE)


async def test_a_table_that_is_there_is_left_alone(source: Address) -> None:
    await execute(source, f"CREATE TABLE {TABLE} (id integer)")
    with pytest.raises(InvalidInput, match=r"config\.table: there is a table .*give another name, or drop it"):
        await preview("sample", {}, {"source": source})


@pytest.mark.parametrize("lose_last", [False, True])
async def test_what_is_interrupted_is_gone_on_with(source: Address, *, lose_last: bool) -> None:
    for stop_at in range(1, 8):
        await execute(source, f"DROP TABLE IF EXISTS {TABLE}")
        config = {"rows": 20_001}
        with pytest.raises(Interrupted) as first:
            await run("sample", config, {"source": source}, stop_at=stop_at, lose_last=lose_last)
        ran = await run("sample", config, {"source": source}, checkpoint=first.value.checkpoint)
        assert ran.summary["rows"] == 20_001
        assert await whole(source, 20_001)


async def test_a_process_that_is_killed_is_gone_on_for(pg_source: Address, tmp_path: Path) -> None:
    sources, config = {"source": pg_source}, {"rows": 50_000}
    dead = await run_and_kill("sample", config, sources, tmp_path, when=lambda told: told.checkpoints == 4)
    assert dead.killed
    ran = await run("sample", config, sources, checkpoint=dead.checkpoint)
    assert any("goes on from" in line for line in ran.lines)
    assert await whole(pg_source, 50_000)


async def test_sql_server_is_refused() -> None:
    with pytest.raises(InvalidInput, match="sample is not done on sqlserver: nothing connects to it"):
        await preview("sample", {}, {"source": SQL_SERVER})
