"""SDK: what both ways to a Hourhand offer to the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from hourhand.model.errors import InvalidInput, shown
from hourhand.model.words import Status
from hourhand.sdk.asked import Asked

if TYPE_CHECKING:
    from hourhand.contracts.store import Joining
    from hourhand.model.explanation import Explanation
    from hourhand.model.instance import Instance, LogLine, SubmittedInstance
    from hourhand.model.operation import Preview
    from hourhand.model.task import Task
    from hourhand.sdk.operations import Starting

AT_ONCE = 200
"""How many instances one page has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Which instances to list; None means any."""

    task_name: str | None = None
    status: Status | None = None
    begin: datetime | None = None
    end: datetime | None = None
    limit: int = 50

    @classmethod
    def of(
        cls,
        task_name: str | None,
        status: Status | str | None,
        begin: datetime | None,
        end: datetime | None,
        limit: int,
    ) -> Sought:
        """Checked, so that both ways refuse the same in the same words."""
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput.one("limit", limit, f"{shown(limit)} is not a number of instances: give 1 or more")
        if status is not None and status not in set(Status):
            words = ", ".join(Status)
            raise InvalidInput.one("status", status, f"{shown(status)} is not a status: give one of {words}")
        for name, moment in (("begin", begin), ("end", end)):
            if moment is not None and moment.tzinfo is None:
                raise InvalidInput.one(name, moment, f"{moment} has no time zone: give one, such as UTC")
        return cls(
            task_name=task_name,
            status=None if status is None else Status(status),
            begin=begin,
            end=end,
            limit=limit,
        )


class Calls(Protocol):
    """The client's methods say what each does."""

    async def close(self) -> None: ...  # noqa: D102
    async def submit(self, asked: Asked) -> SubmittedInstance: ...  # noqa: D102
    async def joining(self, asked: Asked) -> Joining: ...  # noqa: D102
    async def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]: ...  # noqa: D102
    async def get(self, instance_id: int) -> Instance: ...  # noqa: D102
    async def instances(self, sought: Sought) -> list[Instance]: ...  # noqa: D102
    async def task(self, name: str) -> Task: ...  # noqa: D102
    async def explain(self, instance_id: int) -> Explanation: ...  # noqa: D102
    async def cancel(self, instance_id: int, reason: str | None) -> Instance: ...  # noqa: D102
    async def retry(self, instance_id: int, args: Mapping[str, Any] | None) -> Instance: ...  # noqa: D102
    async def lines(self, instance_id: int, after: int, limit: int) -> list[LogLine]: ...  # noqa: D102
    async def dispatch(self, ids: Sequence[int]) -> None: ...  # noqa: D102
    async def preview_operation(self, kind: str, config: Mapping[str, Any]) -> Preview: ...  # noqa: D102
    async def start_operation(self, starting: Starting) -> SubmittedInstance: ...  # noqa: D102
