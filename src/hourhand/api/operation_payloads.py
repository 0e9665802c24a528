"""What the API can tell of an operation task's payload without connecting to anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.contracts.store import Store
from hourhand.model.access import Principal
from hourhand.model.errors import FieldError, Forbidden, InvalidInput, NotFound
from hourhand.model.words import TaskType
from hourhand.operations.desk import Desk

_SOURCES = ("data_source", "target_data_source")


def may_be_operation(changes: Mapping[str, Any]) -> bool:
    """Whether changes of a task may make an operation of it, or another one: only their payloads have a `kind`."""
    payload = changes.get("payload")
    return changes.get("type") == TaskType.OPERATION or (isinstance(payload, Mapping) and "kind" in payload)


class OperationPayloads:
    """Refuses what could never work, where a task is written."""

    def __init__(self, desk: Desk, store: Store) -> None:
        self._desk = desk
        self._store = store

    async def check(self, caller: Principal, kind: TaskType, payload: Mapping[str, Any]) -> None:
        """Refuse a payload with everything that is wrong with it; others than operations pass."""
        if kind is not TaskType.OPERATION:
            return
        if caller.groups is not None:
            raise Forbidden(
                f"data sources belong to no group, and {caller.name!r} is limited to some: ask somebody who is not to "
                "write tasks of the type operation"
            )
        config = payload.get("config") or {}
        try:
            _, read = self._desk.read(str(payload.get("kind")), config)
        except InvalidInput as refused:
            raise refused.within("payload") from None
        plain = read.plain()
        errors = [
            FieldError(f"payload.config.{field}", name, f"there is no data source {name!r}: add it first")
            for field in _SOURCES
            if isinstance(name := plain.get(field), str) and not await self._known(name)
        ]
        if errors:
            raise InvalidInput(errors)

    async def _known(self, name: str) -> bool:
        try:
            await self._store.find_data_source(name)
        except NotFound:
            return False
        return True
