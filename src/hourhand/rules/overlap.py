"""Rules: what becomes of an instant while an earlier scheduler-made instance of its task lives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import assert_never

from hourhand.model.words import MisfirePolicy, OverlapPolicy


class Verdict(Enum):
    """What to do with one instant."""

    FIRE = "fire"
    LATER = "later"
    """Look again at the instant itself: the earlier one may have ended by then."""
    SKIP = "skip"
    SERIAL = "serial"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict and, where the instance waits for another, the instant of that other one."""

    verdict: Verdict
    waits_on: datetime | None = None


def policy_for(policy: OverlapPolicy, misfire_policy: MisfirePolicy, *, missed: bool) -> OverlapPolicy:
    """Instants that are caught up come all at once: under `skip` the first would make the rest be skipped."""
    if missed and misfire_policy is MisfirePolicy.CATCH_UP and policy is OverlapPolicy.SKIP:
        return OverlapPolicy.SERIAL
    return policy


def overlap(policy: OverlapPolicy, newest_live: datetime | None, instant: datetime, now: datetime) -> Decision:
    """Decide by the newest earlier instance that lives; before the instant itself nothing is decided."""
    if policy is OverlapPolicy.PARALLEL or newest_live is None:
        return Decision(Verdict.FIRE)
    if now < instant:
        return Decision(Verdict.LATER)
    match policy:
        case OverlapPolicy.SKIP:
            return Decision(Verdict.SKIP)
        case OverlapPolicy.SERIAL:
            return Decision(Verdict.SERIAL, newest_live)
        case OverlapPolicy.REPLACE:
            return Decision(Verdict.REPLACE, newest_live)
        case _:  # pragma: no cover
            assert_never(policy)
