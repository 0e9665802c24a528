"""CLI: an instance in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.cli.printing import text_of

_WAITS = {"dependencies": "dependencies or its turn", "permit": "a permit of its concurrency key"}
"""What a planned one waits for, in words; `explain` says it exactly."""


def what(instance: Mapping[str, Any]) -> str:
    """The most telling thing about it."""
    if instance["status"] == "planned":
        if instance["blocked_by"] == "permit" and instance["retry_count"]:
            return "waits for its next attempt"  # which comes before the permit
        return f"waits for {_WAITS.get(str(instance['blocked_by']), instance['blocked_by'])}"
    if instance["status"] == "running":
        progress = instance["progress"]
        share = f"{progress:.0%} " if isinstance(progress, float | int) else ""
        return f"{share}{instance['phase'] or ''}".strip()
    return text_of(instance["error_message"])


def checkpoint(instance: Mapping[str, Any]) -> object:
    """What was kept; of an operation how far it is, since the plan that is kept with it fills screens."""
    kept = instance["checkpoint"]
    if not instance["operation_kind"] or not isinstance(kept, dict) or not isinstance(kept.get("plan"), dict):
        return kept
    done, steps = kept.get("done") or [], kept["plan"].get("steps") or []
    return f"{len(done)} of {len(steps)} steps done; --json has the plan"
