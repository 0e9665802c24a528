"""The ways to run an operation for a test: they must themselves tell what is wrong."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from hourhand.model.errors import InvalidInput
from operations.asking import execute, fetch
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run
from operations.sample_kind import NUMBERS, ONCE, make_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address

ALL = [(n,) for n in range(1, 101)]


async def copied(source: Address) -> list[tuple[int]]:
    return [(int(row[0]),) for row in await fetch(source, "SELECT n FROM copied ORDER BY n")]


async def test_an_operation_is_shown_and_changes_nothing(source: Address) -> None:
    await make_numbers(source)
    shown = await preview("numbers", {}, {"source": source}, extra=[NUMBERS])
    assert "INSERT INTO copied" in shown.script
    assert len(shown.plan.steps[0].sql) == 10
    assert await copied(source) == []


async def test_an_operation_runs(source: Address) -> None:
    await make_numbers(source)
    ran = await run("numbers", {}, {"source": source}, extra=[NUMBERS])
    assert ran.summary["rows"] == 100
    assert await copied(source) == ALL
    assert ran.phases[-2:] == ["copy", "verify"]
    assert len(ran.fractions) > 10
    assert ran.checkpoint["done"] == ["copy the numbers", "count the copies"]


async def test_what_is_interrupted_at_any_checkpoint_is_gone_on_with(source: Address) -> None:
    await make_numbers(source, rows=30)
    whole = await run("numbers", {}, {"source": source}, extra=[NUMBERS])
    assert whole.checkpoints >= 5
    for stop_at in range(1, whole.checkpoints + 1):
        for lose_last in (False, True):
            await execute(source, "DELETE FROM copied")
            with pytest.raises(Interrupted) as first:
                await run("numbers", {}, {"source": source}, stop_at=stop_at, lose_last=lose_last, extra=[NUMBERS])
            ran = await run("numbers", {}, {"source": source}, checkpoint=first.value.checkpoint, extra=[NUMBERS])
            assert ran.summary["rows"] == 30
            assert await copied(source) == ALL[:30]


@pytest.mark.parametrize("lose_last", [False, True])
async def test_who_takes_over_goes_on_with_the_approved_plan(source: Address, *, lose_last: bool) -> None:
    approved = {"plan_hash": (await preview("once", {}, {"source": source}, extra=[ONCE])).plan_hash}
    for stop_at in range(1, 4):  # once the plan is kept, and after each of its steps
        with pytest.raises(Interrupted) as first:
            await run("once", {}, {"source": source}, args=approved, stop_at=stop_at, lose_last=lose_last, extra=[ONCE])
        ran = await run("once", {}, {"source": source}, args=approved, checkpoint=first.value.checkpoint, extra=[ONCE])
        assert ran.summary["plan_hash"] == approved["plan_hash"]
        assert [int(row[0]) for row in await fetch(source, "SELECT n FROM made")] == [1]
        await execute(source, "DROP TABLE made")


@pytest.mark.parametrize("checkpoints", [0, 1, 5])
async def test_what_is_killed_is_gone_on_with(source: Address, tmp_path: Path, checkpoints: int) -> None:
    await make_numbers(source)
    dead = await run_and_kill(
        "numbers", {}, {"source": source}, tmp_path,
        when=lambda told: told.checkpoints >= checkpoints and (checkpoints > 0 or told.phase == "copy"),
        extra=[NUMBERS],
    )  # fmt: skip
    assert dead.killed
    ran = await run("numbers", {}, {"source": source}, checkpoint=dead.checkpoint, extra=[NUMBERS])
    assert ran.summary["rows"] == 100
    assert await copied(source) == ALL


async def test_a_process_that_ends_by_itself_was_not_killed(sqlite_source: Address, tmp_path: Path) -> None:
    await make_numbers(sqlite_source)
    dead = await run_and_kill("numbers", {}, {"source": sqlite_source}, tmp_path, when=lambda _: False, extra=[NUMBERS])
    assert not dead.killed
    assert dead.outcome is not None
    assert dead.outcome["summary"]["rows"] == 100


async def test_a_cancel_reaches_it(source: Address) -> None:
    await make_numbers(source)
    with pytest.raises(asyncio.CancelledError):
        await run("numbers", {}, {"source": source}, cancel_after=5, extra=[NUMBERS])
    assert 0 < len(await copied(source)) < 100


async def test_a_password_that_is_told_is_noticed(maria_source: Address) -> None:
    await make_numbers(maria_source)
    with pytest.raises(AssertionError, match="a password was told"):
        await run("numbers", {"boast": maria_source.password}, {"source": maria_source}, extra=[NUMBERS])


async def test_a_summary_of_what_failed_says_why(sqlite_source: Address) -> None:
    ran = await run("numbers", {}, {"source": sqlite_source}, extra=[NUMBERS])
    assert "no such table: numbers" in ran.error
    with pytest.raises(AssertionError, match="no such table"):
        _ = ran.summary
    with pytest.raises(InvalidInput, match="there is no data source 'other'"):
        await preview("numbers", {"data_source": "other"}, {"source": sqlite_source}, extra=[NUMBERS])
