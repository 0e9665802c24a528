"""An executor that is frozen past its lease wakes up in a world that has gone on without it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faults.checker import check
from faults.scenario import definition, eventually
from hourhand.store import open_store

if TYPE_CHECKING:
    from faults.cluster import Process
    from faults.scenario import Scenario

REFUSED = r"instance {}: the (outcome|attempt) under fence {} was (refused|superseded)"


async def freeze_past_its_lease(scenario: Scenario, mutant: str | None = None) -> tuple[int, Process]:
    """Freeze an executor at work until another has its instance, then let it go on; the instance and the frozen one.

    Its own work is over while it is frozen; its successor is still at work when the late outcome comes.
    """
    await scenario.prepare([definition("slow", args={"seconds": 3.0, "seconds_again": 8.0})])
    scenario.processes.scheduler(mutant=mutant)
    frozen = scenario.processes.executor(mutant=mutant)
    store = await open_store(scenario.url)
    try:
        instance_id = await scenario.submit(store, "slow")
    finally:
        await store.close()
    first = await scenario.started(instance_id)
    frozen.freeze()
    scenario.processes.executor(mutant=mutant)
    second = await scenario.started(instance_id, above=first.fence)
    assert second.pid != first.pid
    frozen.thaw()
    return instance_id, frozen


async def test_what_a_frozen_executor_reports_late_changes_nothing_and_is_said(on_postgresql: Scenario) -> None:
    instance_id, frozen = await freeze_past_its_lease(on_postgresql)

    async def said() -> bool:
        return re.search(REFUSED.format(instance_id, 1), frozen.output) is not None

    await eventually(f"a word about the late outcome in {frozen.log}", said)
    history = await on_postgresql.history()
    on_postgresql.require_clean(history)
    (log,) = history.logs
    assert log.status == "success"
    assert log.fence >= 3


async def test_a_store_without_fences_believes_the_late_outcome_and_is_caught(on_postgresql: Scenario) -> None:
    await freeze_past_its_lease(on_postgresql, mutant="no-fence")

    history = await on_postgresql.history()

    assert "I5" in {violation.invariant for violation in check(history)}, history
