"""Rules: what an entry of the audit concerns beside the thing that it names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hourhand.model.audit import Change

_ID = re.compile(r"[0-9]{1,18}", re.ASCII)


def concerned_task(change: Change) -> int | None:
    """The task that a change concerns. Entries of before this was kept were told by migration 0005, in the same way."""
    seen = change.before if change.after is None else change.after
    named: object = None
    match change.resource_type:
        case "task":
            named = change.resource_id
        case "instance" if isinstance(seen, Mapping):
            named = seen.get("task_id")
        case "pause" | "maintenance-window" if isinstance(seen, Mapping) and seen.get("scope") == "task":
            named = seen.get("scope_id")
    # A refusal may name what never was, such as `/tasks/99999999999999999999`.
    return int(str(named)) if named is not None and _ID.fullmatch(str(named)) else None
