"""archive_bulk_copy, ended at any statement and gone on with: no row is lost, none is there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from operations.asking import execute, fetch
from operations.running import run
from operations.stopping import statements, stopped
from operations.test_archive_bulk_copy import leftovers

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

KIND = "archive_bulk_copy"
ROWS = 12
CONFIG = {
    "table": "few", "target_table": "kept", "delete_source": True, "chunk_rows": 6, "chunk_target_ms": 600_000,
}  # fmt: skip
ALL = [(n, f"value {n}") for n in range(1, ROWS + 1)]


async def fill(source: Address, target: Address) -> None:
    values = ", ".join(f"({n}, '{text}')" for n, text in ALL)
    await execute(source, "DELETE FROM few", f"INSERT INTO few VALUES {values}")
    # A row of an earlier time lies between those that come.
    await execute(target, "DELETE FROM kept", "INSERT INTO kept VALUES (100, 'old')")


async def make(source: Address, target: Address) -> None:
    await execute(source, "CREATE TABLE few (id INT NOT NULL PRIMARY KEY, v VARCHAR(20))")
    await execute(target, "CREATE TABLE kept (id INT NOT NULL PRIMARY KEY, v VARCHAR(20))")
    await fill(source, target)


async def assert_all_moved(source: Address, target: Address, moment: int) -> None:
    there = await fetch(target, "SELECT id, v FROM kept ORDER BY id")
    assert there == [*ALL, (100, "old")], moment
    assert await fetch(source, "SELECT id FROM few") == [], moment
    assert await leftovers(source, target) == [], moment


@pytest.mark.parametrize(
    ("way", "stride"), [("pg-pg", 1), ("maria-maria", 3), ("pg-maria", 4), ("maria-pg", 4), ("sqlite-pg", 4)]
)
async def test_what_ends_at_any_statement_is_gone_on_with(
    request: pytest.FixtureRequest, way: str, stride: int
) -> None:
    one, _, other = way.partition("-")
    source: Address = request.getfixturevalue(f"{one}_source")
    target: Address = request.getfixturevalue(f"{other}_target")
    await make(source, target)
    sources, config = {"source": source, "target": target}, {**CONFIG, "target_data_source": "target"}
    total = await statements(KIND, config, sources)
    await assert_all_moved(source, target, 0)
    for moment in range(1, total + 1, stride):
        await fill(source, target)
        checkpoint = await stopped(KIND, config, sources, at=moment)
        ran = await run(KIND, config, sources, checkpoint=checkpoint)
        assert ran.summary["rows"] == ROWS, moment
        await assert_all_moved(source, target, moment)


async def test_within_one_data_source_too(source: Address) -> None:
    await make(source, source)
    total = await statements(KIND, CONFIG, {"source": source})
    await assert_all_moved(source, source, 0)
    for moment in range(1, total + 1, 2):
        await fill(source, source)
        checkpoint = await stopped(KIND, CONFIG, {"source": source}, at=moment)
        ran = await run(KIND, CONFIG, {"source": source}, checkpoint=checkpoint)
        assert ran.summary["rows"] == ROWS, moment
        await assert_all_moved(source, source, moment)


async def test_a_copy_too(pg_source: Address, pg_target: Address) -> None:
    await make(pg_source, pg_target)
    sources = {"source": pg_source, "target": pg_target}
    config = {**CONFIG, "target_data_source": "target", "delete_source": False}
    total = await statements(KIND, config, sources)
    for moment in range(1, total + 1, 2):
        await fill(pg_source, pg_target)
        checkpoint = await stopped(KIND, config, sources, at=moment)
        ran = await run(KIND, config, sources, checkpoint=checkpoint)
        assert ran.summary["rows"] == ROWS, moment
        assert await fetch(pg_target, "SELECT id, v FROM kept ORDER BY id") == [*ALL, (100, "old")], moment
        assert await fetch(pg_source, "SELECT id, v FROM few ORDER BY id") == ALL
        assert await leftovers(pg_source, pg_target) == [], moment
