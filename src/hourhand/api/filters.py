"""The filters that `/api/v1/instances` and `/api/v1/execution-logs` have in common."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from hourhand.api.inputs import Instant, QueryId
from hourhand.api.requests import TheGroups, TheReach
from hourhand.model.errors import InvalidInput
from hourhand.model.filters import InstanceFilter
from hourhand.model.words import TaskType, TriggeredBy

_TIME = "which is the end of what has ended and the instant of what lives"


async def _wanted(
    groups: TheGroups,
    reach: TheReach,
    *,
    task_id: Annotated[QueryId | None, Query()] = None,
    group: Annotated[str | None, Query(max_length=200, description="A group's name")] = None,
    type: Annotated[TaskType | None, Query()] = None,  # noqa: A002 - the word of the interface
    q: Annotated[str | None, Query(max_length=200, description="A part of the task's name, in any case")] = None,
    exclude: Annotated[
        str | None, Query(max_length=200, description="A part that the task's name must not have, in any case")
    ] = None,
    owner: Annotated[str | None, Query(max_length=200, description="The task's owner, whole")] = None,
    executor_id: Annotated[str | None, Query(max_length=500)] = None,
    data_source_id: Annotated[QueryId | None, Query()] = None,
    triggered_by: Annotated[TriggeredBy | None, Query()] = None,
    args: Annotated[
        str | None,
        Query(max_length=200, description="A part of the arguments, as JSON, in any case; blanks do not count"),
    ] = None,
    error: Annotated[
        str | None, Query(max_length=200, description="A part of the `error_message`, in any case; what lives has none")
    ] = None,
    begin: Annotated[Instant | None, Query(alias="from", description=f"At or after this time, {_TIME}")] = None,
    end: Annotated[Instant | None, Query(alias="to", description=f"Before this time, {_TIME}")] = None,
) -> InstanceFilter:
    if begin is not None and end is not None and begin > end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is after `to` ({end.isoformat()}): swap them")
    if group is not None:
        reach.group(group)
    return InstanceFilter(
        task_id=task_id,
        group_id=None if group is None else await groups.id_of(group),
        group_ids=await reach.group_ids(),
        type=type,
        q=q,
        exclude=exclude or None,
        owner=owner,
        executor_id=executor_id,
        data_source_id=data_source_id,
        triggered_by=triggered_by,
        args=args,
        error=error,
        begin=begin,
        end=end,
    )


Wanted = Annotated[InstanceFilter, Depends(_wanted)]
