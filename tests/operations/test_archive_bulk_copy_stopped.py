"""archive_bulk_copy, ended at any statement and gone on with: no row is lost, none is there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from operations.asking import execute, fetch
from operations.running import run
from operations.stopping import moments_of, stopped
from operations.test_archive_bulk_copy import KIND, leftovers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hourhand.model.data_source import Address
    from operations.running import Sources

ALL = [(n, f"value {n}") for n in range(2, 26, 2)]
OLD = (7, "old")
"""A row of an earlier time, which lies between those that come."""
CONFIG = {"table": "few", "target_table": "kept", "delete_source": True, "chunk_rows": 6, "chunk_target_ms": 600_000}


async def make(source: Address, target: Address) -> None:
    await execute(source, "CREATE TABLE few (id INT NOT NULL PRIMARY KEY, v VARCHAR(20))")
    await execute(target, "CREATE TABLE kept (id INT NOT NULL PRIMARY KEY, v VARCHAR(20))")
    await fill(source, target)


async def fill(source: Address, target: Address) -> None:
    values = ", ".join(f"({n}, '{text}')" for n, text in ALL)
    await execute(source, "DELETE FROM few", f"INSERT INTO few VALUES {values}")
    await execute(target, "DELETE FROM kept", f"INSERT INTO kept VALUES {OLD}")


async def assert_all_there(source: Address, target: Address, moment: object, left: list[tuple[int, str]]) -> None:
    assert await fetch(target, "SELECT id, v FROM kept ORDER BY id") == sorted([*ALL, OLD]), moment
    assert await fetch(source, "SELECT id, v FROM few ORDER BY id") == left, moment
    assert await leftovers(source, target) == [], moment


async def sweep(config: Mapping[str, Any], sources: Sources, *, commits: int, others: int) -> list[str]:
    """End it at every so-manieth moment next to a commit, and at every so-manieth other; return all that was logged."""
    source, target = next(iter(sources.values())), list(sources.values())[-1]
    left = [] if config["delete_source"] else ALL
    moments = await moments_of(KIND, config, sources)
    await assert_all_there(source, target, "not ended at all", left)
    chosen = [n for n, what in enumerate(moments, 1) if what == "commit"][::commits]
    chosen += [n for n, what in enumerate(moments, 1) if what != "commit"][::others]
    said = []
    for moment in chosen:
        await fill(source, target)
        checkpoint = await stopped(KIND, config, sources, at=moment)
        ran = await run(KIND, config, sources, checkpoint=checkpoint)
        assert ran.summary["rows"] == len(ALL), moment
        await assert_all_there(source, target, moment, left)
        said += ran.lines
    return said


async def between(request: pytest.FixtureRequest, way: str, *, commits: int, others: int) -> None:
    one, _, other = way.partition("-")
    source: Address = request.getfixturevalue(f"{one}_source")
    target: Address = request.getfixturevalue(f"{other}_target")
    await make(source, target)
    config = {**CONFIG, "target_data_source": "target"}
    said = await sweep(config, {"source": source, "target": target}, commits=commits, others=others)
    redone = [line for line in said if "rows are moved again" in line]
    assert len(redone) >= 2, "no chunk was on both sides: what this is about was not tried"


@pytest.mark.parametrize(("way", "commits"), [("pg-pg", 1), ("maria-maria", 2)])
async def test_what_ends_next_to_a_commit_is_gone_on_with(
    request: pytest.FixtureRequest, way: str, commits: int
) -> None:
    await between(request, way, commits=commits, others=40)


@pytest.mark.chaos
@pytest.mark.parametrize("way", ["pg-pg", "maria-maria", "pg-maria", "maria-pg", "sqlite-pg", "pg-sqlite"])
async def test_what_ends_at_any_statement_is_gone_on_with(request: pytest.FixtureRequest, way: str) -> None:
    await between(request, way, commits=1, others=1)


async def test_within_one_data_source_too(source: Address) -> None:
    await make(source, source)
    await sweep(CONFIG, {"source": source}, commits=4, others=40)


async def test_a_copy_too(pg_source: Address, pg_target: Address) -> None:
    await make(pg_source, pg_target)
    config = {**CONFIG, "target_data_source": "target", "delete_source": False}
    await sweep(config, {"source": pg_source, "target": pg_target}, commits=4, others=40)
