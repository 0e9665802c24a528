"""`/api/v1/schedules`: what a schedule means, before anything is scheduled; and what all of them are about to do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Instant, Moment, QueryId
from hourhand.api.requests import ThePage, TheReach, TheStore
from hourhand.api.shapes import Plain, plain, shape
from hourhand.api.stats import Within, step_of
from hourhand.model.agenda import BusyTask, Load, LoadStep, Upcoming, UpcomingInstant
from hourhand.rules.schedule import Schedule, is_clocked, parse, preview

router = guarded_router(prefix="/schedules", tags=["schedules"])


_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_INSTANT = UpcomingInstant(
    task_id=7, task_name="close_books", group="default", timezone="Asia/Shanghai", at=_AT, note=None
)
_STEP = LoadStep(at=_AT, count=12)
_BUSY = BusyTask(task_id=7, task_name="close_books", group="default", count=12)
UPCOMING_INSTANT = shape("UpcomingInstant", UpcomingInstant, plain(_INSTANT))
UPCOMING = shape(
    "Upcoming",
    Upcoming,
    {"items": [plain(_INSTANT)], "next_cursor": None, "truncated": False},
    items=list[UPCOMING_INSTANT],  # type: ignore[valid-type]  # made from the dataclass
)
LOAD_STEP = shape("LoadStep", LoadStep, plain(_STEP))
BUSY_TASK = shape("BusyTask", BusyTask, plain(_BUSY))
LOAD = shape(
    "Load",
    Load,
    {
        "step_seconds": 3_600,
        "busiest": [plain(_BUSY)],
        "truncated": False,
        "from": _AT,
        "to": datetime(2026, 11, 15, 2, 0, tzinfo=UTC),
        "items": [plain(_STEP)],
    },
    without=("begin", "end", "steps"),
    busiest=list[BUSY_TASK],  # type: ignore[valid-type]
    items=list[LOAD_STEP],  # type: ignore[valid-type]
    **{"from": datetime, "to": datetime},
)


class PreviewInput(Input):
    """A schedule to look at."""

    schedule: str = Field(max_length=500, examples=["0 9 * * MON-FRI"])
    timezone: str = Field(default="UTC", max_length=100, examples=["Europe/Berlin"])
    count: int = Field(default=10, ge=1, le=100, strict=True)
    after: Moment | None = None


class PreviewOutput(BaseModel):
    """When it would fire."""

    instants: list[datetime] = Field(examples=[["2026-11-16T08:00:00Z", "2026-11-17T08:00:00Z"]])
    description: str = Field(examples=["At 09:00 from Monday to Friday"])
    notes: list[str] = Field(examples=[["it does not fire on 2027-03-28: 02:30 does not exist in Europe/Berlin"]])


def previewed(schedule: Schedule, after: datetime, count: int, *, anchor: datetime) -> PreviewOutput:
    """Return what a schedule does after a time, and say so when that is all it ever does."""
    seen = preview(schedule, after, count, anchor=anchor)
    notes = list(seen.notes)
    if is_clocked(schedule) and len(seen.instants) < count:
        last = seen.instants[-1] if seen.instants else after
        notes.append(f"after {last.isoformat(timespec='seconds').replace('+00:00', 'Z')} it fires never again")
    return PreviewOutput(instants=list(seen.instants), description=seen.description, notes=notes)


@router.post(
    "/preview", summary="The next instants of a schedule, a sentence in words, and notes about daylight saving"
)
async def preview_schedule(given: PreviewInput) -> PreviewOutput:
    """Answer without touching the store: the same pure rules that decide when a task fires."""
    after = given.after or datetime.now(UTC)
    return previewed(parse(given.schedule, given.timezone), after, given.count, anchor=after)


@router.get("/upcoming", response_model=UPCOMING, summary="The instants to come of all tasks, the soonest first")
async def list_upcoming(
    store: TheStore,
    reach: TheReach,
    within: Within,
    page: ThePage,
    *,
    begin: Annotated[Instant | None, Query(alias="from", description="From then on; by default now")] = None,
    end: Annotated[
        Instant | None, Query(alias="to", description="Before then; by default a day after `from`, at most 366 days")
    ] = None,
    task_id: Annotated[QueryId | None, Query(description="Of this task only")] = None,
    q: Annotated[str | None, Query(max_length=200, description="A part of the task's name, in any case")] = None,
) -> Plain:
    """List the instants of enabled tasks that have not become instances yet.

    Those that fall into a pause or a maintenance window have a `note`. Of an `@after` only the next is known.
    """
    if task_id is not None:
        await reach.task(task_id)
    found = await store.upcoming(
        begin, end, groups=within, task_id=task_id, q=q or None, limit=page.limit, cursor=page.cursor
    )
    return plain(found) | {"items": [plain(one) for one in found.items]}


@router.get("/load", response_model=LOAD, summary="How many instants are to fire, step by step")
async def schedule_load(
    store: TheStore,
    within: Within,
    *,
    begin: Annotated[
        Instant | None, Query(alias="from", description="From then on, rounded down to a step; by default now")
    ] = None,
    end: Annotated[
        Instant | None, Query(alias="to", description="Before then; by default a week after `from`, at most 62 days")
    ] = None,
    step: Annotated[
        str | None,
        Query(max_length=20, description="Seconds, or one such as 15m, 1h, 1d: parts of a day or whole days; 1h"),
    ] = None,
    timezone: Annotated[str, Query(max_length=100, description="By whose clock steps begin")] = "UTC",
) -> Plain:
    """Count what will fire: what falls into a pause or a maintenance window does not. There are at most 1,000 steps."""
    step_seconds = None if step is None else step_of(step)
    found = await store.load(begin, end, step_seconds=step_seconds, timezone=timezone, groups=within)
    return {
        "from": found.begin,
        "to": found.end,
        "step_seconds": found.step_seconds,
        "items": [plain(one) for one in found.steps],
        "busiest": [plain(one) for one in found.busiest],
        "truncated": found.truncated,
    }
