"""Processes killed without warning: nothing that was due is lost, nothing is made twice, everything ends."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from faults.scenario import busy

if TYPE_CHECKING:
    from faults.history import History
    from faults.scenario import Scenario


def losses(history: History) -> int:
    """How many attempts were taken back from the dead."""
    return len(history.losses)


async def kill_and_check(scenario: Scenario, *, tasks: int, schedulers: int, executors: int, seconds: float) -> None:
    """Kill at random for so long; the history must be clean, and must have been worth looking at."""
    await scenario.prepare(*busy(tasks))
    for _ in range(schedulers):
        scenario.processes.scheduler()
    for _ in range(executors):
        scenario.processes.executor()
    await scenario.under_way()
    dice = random.Random(int(seconds) * 1_000 + tasks)  # noqa: S311 - to be repeated, not to be secret
    kills, _ = await asyncio.gather(
        scenario.kill_at_random(dice, seconds), scenario.keep_submitting("submitted", seconds)
    )
    history = await scenario.history()
    scenario.require_clean(history)
    assert kills >= seconds / 3
    assert losses(history) > 0, "nobody was killed at work: the faults missed"
    assert len(history.logs) > seconds * tasks / 2


async def test_schedulers_and_executors_killed_at_random_lose_and_repeat_nothing(on_postgresql: Scenario) -> None:
    await kill_and_check(on_postgresql, tasks=20, schedulers=2, executors=3, seconds=12)


@pytest.mark.chaos
@pytest.mark.parametrize("seconds", [30, 31, 32, 33])
async def test_more_kills_with_other_dice(on_postgresql: Scenario, seconds: int) -> None:
    await kill_and_check(on_postgresql, tasks=20, schedulers=2, executors=3, seconds=seconds)


@pytest.mark.chaos
async def test_a_minute_of_kills_among_eight_processes_with_two_hundred_tasks(on_postgresql: Scenario) -> None:
    await kill_and_check(on_postgresql, tasks=200, schedulers=3, executors=5, seconds=60)


async def kill_and_restart_server(scenario: Scenario, times: int, seconds: float) -> None:
    await scenario.prepare(*busy(10))
    serving = scenario.processes.serve()
    await scenario.under_way()
    for _ in range(times):
        await asyncio.sleep(seconds)
        serving = scenario.processes.replace(serving)
    history = await scenario.history()
    scenario.require_clean(history)
    assert losses(history) > 0, "nothing was at work when it was killed"


async def test_everything_in_one_process_survives_being_killed_and_started_again(on_sqlite: Scenario) -> None:
    await kill_and_restart_server(on_sqlite, times=3, seconds=3)


@pytest.mark.chaos
async def test_everything_in_one_process_survives_being_killed_twenty_times(on_sqlite: Scenario) -> None:
    await kill_and_restart_server(on_sqlite, times=20, seconds=4)
