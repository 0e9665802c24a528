"""What a caller of the API may put into a task: some things are an administrator's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException

from hourhand.model.registry import StoredToken
from hourhand.model.words import TaskType


def refuse_privileged(caller: StoredToken, kind: TaskType, payload: Mapping[str, Any]) -> None:
    """Refuse a payload that would let others than administrators reach beyond what the executor allows them."""
    if caller.role == "admin":
        return
    from hourhand.rules.privileges import privileged

    if found := privileged(kind, payload):
        raise HTTPException(
            403,
            f"only an admin may write a payload with {', '.join(found)}; the role of {caller.name!r} is {caller.role}: "
            "leave it out, or ask an admin",
        )
