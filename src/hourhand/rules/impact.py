"""Rules: which tasks a failure of one would block, and what follows from that for others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hourhand.model.words import DependencyMode, UpstreamFailurePolicy


@dataclass(frozen=True, slots=True)
class Dependent:
    """What decides whether a task is blocked by what it depends on."""

    mode: DependencyMode
    policy: UpstreamFailurePolicy
    alive: bool
    """Enabled and not deleted: else there is nothing of it to be blocked."""
    needs: frozenset[int] = frozenset()
    """With `any`: the tasks of which one would do."""


def blocked_by(task_id: int, dependents: Mapping[int, Dependent], edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """How many dependencies lie between a task that fails and each that is blocked, the nearest first.

    `edges` are pairs of a task and one that it depends on. A task that runs although what it needs has failed is not
    blocked, and neither is what depends on it. One that needs any of several is blocked once all of them are.
    """
    below: dict[int, list[int]] = defaultdict(list)
    for one, needed in edges:
        below[needed].append(one)
    depths = {task_id: 0}
    left = {one: set(dependent.needs) for one, dependent in dependents.items()}
    waiting = deque([task_id])
    while waiting:
        failed = waiting.popleft()
        for one in sorted(below[failed]):
            dependent = dependents.get(one)
            if one in depths or dependent is None or not dependent.alive:
                continue
            left[one].discard(failed)
            if dependent.policy is UpstreamFailurePolicy.RUN or (dependent.mode is DependencyMode.ANY and left[one]):
                continue
            depths[one] = depths[failed] + 1
            waiting.append(one)
    del depths[task_id]
    return depths
