"""`/api/v1/schedules`: what a schedule means, before anything is scheduled."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Moment
from hourhand.rules.schedule import Schedule, is_clocked, parse, preview

router = guarded_router(prefix="/schedules", tags=["schedules"])


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
