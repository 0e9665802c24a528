"""The database server crashes and recovers: what was acknowledged is there, and everybody goes on by themselves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from faults.scenario import busy

if TYPE_CHECKING:
    from faults.scenario import Scenario
    from postgres import Cluster


async def crash_and_check(scenario: Scenario, server: Cluster, *, times: int, away: float, rest: float) -> None:
    await scenario.prepare(*busy(10))
    for _ in range(2):
        scenario.processes.scheduler()
        scenario.processes.executor()
    await scenario.under_way()
    submitting = asyncio.create_task(scenario.keep_submitting("submitted", times * (away + rest)))
    pids = {process.pid for process in scenario.processes.alive}
    for _ in range(times):
        await asyncio.sleep(rest)
        await asyncio.to_thread(server.crash)
        await asyncio.sleep(away)
        await asyncio.to_thread(server.start)
    await submitting
    history = await scenario.history()
    scenario.require_clean(history)
    # Nobody gave up: those that went on are those that were there before.
    assert {process.pid for process in scenario.processes.started} == pids
    assert len(history.accepted) > times * rest


async def test_a_crash_of_the_database_loses_nothing_and_nobody_has_to_be_restarted(
    on_server: Scenario, server: Cluster
) -> None:
    await crash_and_check(on_server, server, times=2, away=2.5, rest=3)


@pytest.mark.chaos
async def test_many_crashes_of_the_database_lose_nothing(on_server: Scenario, server: Cluster) -> None:
    await crash_and_check(on_server, server, times=10, away=4, rest=6)
