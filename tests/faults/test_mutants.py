"""A checker that cannot fail is worthless: with a safeguard taken out, the same faults must be noticed.

(The mutant without fences is in `test_freezes`, beside the freeze that it does not survive.)
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from faults.checker import check
from faults.scenario import definition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faults.history import Violation
    from faults.scenario import Scenario


def of(violations: Sequence[Violation], invariant: str) -> list[str]:
    return [violation.message for violation in violations if violation.invariant == invariant]


async def observe(scenario: Scenario, seconds: float) -> list[Violation]:
    """Let it work for a while, and see what the checker says; what hangs is not waited for very long."""
    await scenario.under_way(ended=5)
    await asyncio.sleep(seconds)
    return check(await scenario.history(seconds=6))


async def test_schedulers_that_believe_what_they_read_instead_of_the_ledger_are_caught(
    on_postgresql: Scenario,
) -> None:
    await on_postgresql.prepare([definition(f"ticking-{number}", "@every 1s") for number in range(3)])
    for _ in range(2):
        on_postgresql.processes.scheduler(mutant="no-ledger")
    on_postgresql.processes.executor()

    violations = await observe(on_postgresql, seconds=3)

    assert any("made 2 times" in message for message in of(violations, "I1")), violations


async def split_diamond(scenario: Scenario, mutant: str | None) -> list[Violation]:
    """Two upstreams end at the same moment in two executors."""
    left, right = {"side": "left"}, {"side": "right"}
    await scenario.prepare(
        [
            definition("left", "* * * * * ?", executor_labels=left),
            definition("right", "* * * * * ?", executor_labels=right),
            definition("both", "* * * * * ?"),
        ],
        [("both", "left", "right")],
    )
    scenario.processes.scheduler(mutant=mutant)
    for side in (left, right):
        scenario.processes.executor(labels=f"side={side['side']}", mutant=mutant)
    return await observe(scenario, seconds=3)


async def test_release_inside_the_finish_forgets_dependents_and_is_caught(on_postgresql: Scenario) -> None:
    violations = await split_diamond(on_postgresql, "release-inside-finish")

    assert any("never released" in message for message in of(violations, "I9")), violations


async def test_release_after_the_finish_forgets_none_of_the_same_dependents(on_postgresql: Scenario) -> None:
    assert await split_diamond(on_postgresql, None) == []
