"""`/api/v1/pauses`: a task, a group, or everything rests for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Id, Input, Instant
from hourhand.api.requests import Caller, TheGroups, TheReach, TheStore
from hourhand.api.scopes import scope_id_of
from hourhand.api.shapes import Plain, page_of
from hourhand.model.pause import Pause, PauseScope

router = guarded_router(prefix="/pauses", tags=["pauses"])
_EXAMPLE: dict[str, Any] = {
    "scope": "group",
    "group": "billing",
    "reason": "the ledger is moving",
    "until": "2026-11-15T09:00:00Z",
}


class PauseInput(Input):
    """What is to rest, why, and until when."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"scope": "task", "task_id": 7, "reason": "the supplier is down"},
                _EXAMPLE,
                {"scope": "all", "reason": "the data centre is moving", "until": "2026-11-16T00:00:00Z"},
            ]
        }
    )

    scope: PauseScope = Field(description="`task` with `task_id`, `group` with `group`, or `all` with neither")
    task_id: Id | None = Field(default=None, description="For the scope `task`")
    group: str | None = Field(default=None, max_length=200, description="For the scope `group`: its name")
    reason: str = Field(min_length=1, max_length=1_000, description="For those who wonder what has stopped")
    until: Instant | None = Field(default=None, description="When it ends by itself; else it lasts until it is resumed")


class PauseOutput(BaseModel):
    """Somebody let something rest, until a time or until it is resumed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_EXAMPLE,
                    "id": 3,
                    "task_id": None,
                    "task_name": None,
                    "owner": "admin",
                    "created_at": "2026-11-15T01:00:00Z",
                }
            ]
        }
    )

    id: int
    scope: PauseScope
    task_id: int | None
    task_name: str | None
    group: str | None = Field(description="The group that rests, or that the task belongs to")
    reason: str
    owner: str
    created_at: datetime
    until: datetime | None


PAUSES = page_of(PauseOutput)


def _shown(pause: Pause) -> PauseOutput:
    return PauseOutput(
        id=pause.id,
        scope=pause.scope,
        task_id=pause.scope_id if pause.scope is PauseScope.TASK else None,
        task_name=pause.task_name,
        group=pause.group,
        reason=pause.reason,
        owner=pause.owner,
        created_at=pause.created_at,
        until=pause.until,
    )


@router.get("", response_model=PAUSES, summary="The pauses in force, the oldest first")
async def list_pauses(store: TheStore, caller: Caller) -> Plain:
    """There are few, so that they are one page; a pause of everything concerns every caller."""
    found = [one for one in await store.list_pauses() if one.group is None or caller.reaches(one.group)]
    return {"items": [_shown(one) for one in found], "next_cursor": None}


@router.post("", status_code=201, summary="Let a task, a group or everything rest")
async def pause(given: PauseInput, store: TheStore, groups: TheGroups, caller: Caller, reach: TheReach) -> PauseOutput:
    """Instants that come meanwhile are skipped, and recorded as such; of a group or all nothing is claimed either."""
    scope_id = await scope_id_of(
        given.scope, given.task_id, given.group, groups=groups, reach=reach, what="a pause of everything"
    )
    return _shown(await store.pause(given.scope, scope_id, reason=given.reason, until=given.until, by=caller.name))


@router.delete("/{pause_id}", status_code=204, summary="Resume")
async def resume(pause_id: int, store: TheStore, reach: TheReach) -> None:
    """End a pause before its time; 404 once it is over."""
    found = await store.get_pause(pause_id)
    if found.group is None:
        reach.whole("this pause")
    else:
        reach.group_of(f"pause {pause_id}", found.group)
    await store.resume(pause_id)
