"""`/api/v1/maintenance-windows`: pauses that recur."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Id, Input, Line
from hourhand.api.reach import Reach
from hourhand.api.requests import Caller, TheGroups, TheReach, TheStore
from hourhand.api.scopes import scope_id_of
from hourhand.api.shapes import Plain, page_of
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope
from hourhand.model.window import Window, WindowDefinition
from hourhand.rules.windows import LONGEST_REASON, LONGEST_SECONDS, open_at, openings

router = guarded_router(prefix="/maintenance-windows", tags=["maintenance windows"])
SHOWN = 5
_EVERYTHING = "a maintenance window of everything"
_NIGHTLY = {
    "name": "nightly backup",
    "scope": "group",
    "group": "billing",
    "schedule": "0 2 * * *",
    "duration_seconds": 7200,
    "timezone": "Asia/Shanghai",
    "reason": "the ledger is backed up",
}
_HOLIDAYS = {
    "name": "holidays",
    "scope": "task",
    "task_id": 7,
    "calendar": "China",
    "timezone": "Asia/Shanghai",
    "reason": "the bank is closed",
}
_SCOPES = "`task` with `task_id`, `group` with `group`, or `all` with neither"


def _examples(*values: object) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": cast("Any", list(values))})


class _Said(Input):
    task_id: Id | None = Field(default=None, description="For the scope `task`")
    group: str | None = Field(default=None, max_length=200, description="For the scope `group`: its name")
    schedule: str | None = Field(default=None, max_length=500, description="When it opens: cron, a macro, or `@at`")
    duration_seconds: int | None = Field(
        default=None, ge=1, le=LONGEST_SECONDS, strict=True, description="How long it is open each time"
    )
    calendar: str | None = Field(default=None, max_length=200, description="Or a calendar's name: on its whole days")
    timezone: str = Field(default="UTC", max_length=100, description="Of the schedule, or of the calendar's days")
    enabled: bool = Field(default=True, strict=True)


class WindowInput(_Said):
    """A maintenance window to be made."""

    model_config = _examples(_NIGHTLY, _HOLIDAYS)

    name: Line = Field(min_length=1)
    scope: PauseScope = Field(description=_SCOPES)
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, description="For those who wonder what has stopped")


class WindowEdit(_Said):
    """What is to be changed of a maintenance window."""

    model_config = _examples({"enabled": False}, {"calendar": "China"}, {"scope": "all"})

    name: Line = Field(default_factory=str, min_length=1)
    scope: PauseScope = Field(default_factory=lambda: PauseScope.ALL, description=f"Another one: {_SCOPES}")
    reason: str = Field(default_factory=str, min_length=1, max_length=LONGEST_REASON)


class OpeningOutput(BaseModel):
    """Once it is open."""

    model_config = _examples({"from": "2026-11-15T18:00:00Z", "to": "2026-11-15T20:00:00Z"})

    begin: datetime = Field(serialization_alias="from")
    end: datetime = Field(serialization_alias="to")


class WindowOutput(BaseModel):
    """A maintenance window: while it is open, it acts as a pause does."""

    model_config = _examples(
        {
            "id": 2,
            **_NIGHTLY,
            "task_id": None,
            "task_name": None,
            "calendar": None,
            "enabled": True,
            "open": False,
            "next": [{"from": "2026-11-15T18:00:00Z", "to": "2026-11-15T20:00:00Z"}],
            "created_at": "2026-11-15T01:00:00Z",
            "updated_at": "2026-11-15T01:00:00Z",
            "created_by": "admin",
            "updated_by": "admin",
        }
    )

    id: int
    name: str
    scope: PauseScope
    task_id: int | None
    task_name: str | None
    group: str | None = Field(description="The group that rests, or that the task belongs to")
    schedule: str | None
    duration_seconds: int | None
    calendar: str | None
    timezone: str
    reason: str
    enabled: bool
    open: bool
    next: list[OpeningOutput] = Field(description="The occurrence that is open, if one is, and the next ones")
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str


WINDOWS = page_of(WindowOutput)
_SAME = [name for name in WindowOutput.model_fields if name not in ("task_id", "open", "next")]


def _shown(window: Window, now: datetime) -> WindowOutput:
    to_come = openings(window.recurrence, now, SHOWN) if window.enabled else []
    return WindowOutput(
        **{name: getattr(window, name) for name in _SAME},
        task_id=window.scope_id if window.scope is PauseScope.TASK else None,
        open=window.enabled and open_at(window.recurrence, now) is not None,
        next=[OpeningOutput(begin=one.begin, end=one.end) for one in to_come],
    )


@router.get("", response_model=WINDOWS, summary="Maintenance windows by name")
async def list_windows(store: TheStore, reach: TheReach) -> Plain:
    """There are few, so that they are one page; a window of everything concerns every caller."""
    found = [one for one in await store.list_windows() if reach.sees_window(one)]
    now = await store.now()
    return {"items": [_shown(one, now) for one in found], "next_cursor": None}


@router.post("", status_code=201, summary="Make a maintenance window")
async def create_window(
    given: WindowInput, store: TheStore, groups: TheGroups, *, caller: Caller, reach: TheReach, response: Response
) -> WindowOutput:
    """Open by a schedule for so many seconds, or on the whole days of a calendar; while it is open it is a pause."""
    scope_id = await scope_id_of(given.scope, given.task_id, given.group, groups=groups, reach=reach, what=_EVERYTHING)
    said = given.model_dump(exclude={"task_id", "group"})
    window = await store.create_window(WindowDefinition(**said, scope_id=scope_id), by=caller.name)
    response.headers["Location"] = f"/api/v1/maintenance-windows/{window.id}"
    return _shown(window, await store.now())


@router.get("/{window_id}", summary="One maintenance window")
async def get_window(window_id: int, store: TheStore) -> WindowOutput:
    """Whether it is open, and when it opens next."""
    return _shown(await store.get_window(window_id), await store.now())


@router.patch("/{window_id}", summary="Change some fields of a maintenance window")
async def edit_window(
    window_id: int, given: WindowEdit, store: TheStore, *, groups: TheGroups, caller: Caller, reach: TheReach
) -> WindowOutput:
    """What came before is judged by what the window was; a calendar takes a schedule's place, and vice versa."""
    await _own(store, reach, window_id)
    changes = given.model_dump(exclude_unset=True)
    if {"scope", "task_id", "group"} & changes.keys():
        if "scope" not in changes:
            raise InvalidInput.one("scope", None, "is needed with task_id or group: say what is to rest as a whole")
        changes["scope_id"] = await scope_id_of(
            given.scope, given.task_id, given.group, groups=groups, reach=reach, what=_EVERYTHING
        )
    for name in ("task_id", "group"):
        changes.pop(name, None)
    return _shown(await store.edit_window(window_id, changes, by=caller.name), await store.now())


@router.delete("/{window_id}", status_code=204, summary="Delete a maintenance window")
async def delete_window(window_id: int, store: TheStore, reach: TheReach) -> None:
    """If it is open, it ends now."""
    await _own(store, reach, window_id)
    await store.delete_window(window_id)


async def _own(store: TheStore, reach: Reach, window_id: int) -> None:
    """Refuse to whoever is limited a window of everything; the guard has refused those of other groups."""
    if reach.limited and (await store.get_window(window_id)).scope is PauseScope.ALL:
        reach.whole("this maintenance window")
