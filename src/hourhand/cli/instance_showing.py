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


def without_plans(instance: Mapping[str, Any]) -> dict[str, object]:
    """What an operation was given and has kept, but for the plan, which fills screens and is in the log as a script."""
    args, kept = instance["args"], instance["checkpoint"]
    if not instance["operation_kind"]:
        return {}
    if isinstance(args, dict):
        args = {name: value for name, value in args.items() if name != "plan"}
    if isinstance(kept, dict) and isinstance(kept.get("plan"), dict):
        kept = f"{len(kept['done'])} of {len(kept['plan']['steps'])} steps done; --json has the plan"
    return {"args": args, "checkpoint": kept}
