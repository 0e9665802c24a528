"""Rules: a broadcast instant is as many shards as there are executors, and counts as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hourhand.model.words import Status


@dataclass(frozen=True, slots=True)
class Shard:
    """One executor's part of a broadcast."""

    index: int
    total: int
    target_executor_id: str | None


def shards(targets: Sequence[str]) -> tuple[Shard, ...]:
    """One shard per target; no target, no shard: the instant is skipped as `no_executor`."""
    return tuple(Shard(index, len(targets), target) for index, target in enumerate(targets))


WHOLE = (Shard(0, 1, None),)
"""What is not broadcast is one shard, for anybody."""


def instant_outcome(shards_left: int, shards_failed: int) -> Status | None:
    """What an instant counts as: nothing while shards live, success only if all succeeded."""
    if shards_left > 0:
        return None
    return Status.SUCCESS if shards_failed == 0 else Status.FAILED


def retarget(target: str | None, alive: Sequence[str]) -> str | None:
    """Where the shard of a lost executor goes: its own place if that came back, else the first one alive."""
    if target is None or target in alive or not alive:
        return target
    return alive[0]
