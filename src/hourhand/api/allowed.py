"""What a caller of the API may put into a task: some things are an administrator's alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.model.access import Principal
from hourhand.model.errors import Forbidden
from hourhand.model.words import Role, TaskType
from hourhand.rules.privileges import privileged


def refuse_privileged(caller: Principal, kind: TaskType, payload: Mapping[str, Any]) -> None:
    """Refuse a payload that would let others than administrators reach beyond what the executor allows them."""
    if caller.role is Role.ADMIN:
        return
    if found := privileged(kind, payload):
        raise Forbidden(
            f"only an admin may write {' and '.join(found)}: the role of {caller.name!r} is {caller.role.value}"
        )
