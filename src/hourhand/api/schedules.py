"""`/api/v1/schedules`: what a schedule means, before anything is scheduled."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, Field

from hourhand.api.inputs import Input
from hourhand.rules.schedule import parse, preview

router = APIRouter(prefix="/schedules", tags=["schedules"])


def _only_text(value: object) -> object:
    if isinstance(value, str):
        return value
    raise ValueError("use a time such as 2026-11-15T09:00:00Z")


def _in_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC it lies outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, BeforeValidator(_only_text), AfterValidator(_in_utc)]


class PreviewInput(Input):
    """A schedule to look at."""

    schedule: str = Field(max_length=500, examples=["0 9 * * MON-FRI"])
    timezone: str = Field(default="UTC", max_length=100, examples=["Europe/Berlin"])
    count: int = Field(default=10, ge=1, le=100, strict=True)
    after: Moment | None = None


class PreviewOutput(BaseModel):
    """When it would fire."""

    instants: list[str]
    description: str
    notes: list[str]


@router.post(
    "/preview", summary="The next instants of a schedule, a sentence in words, and notes about daylight saving"
)
async def preview_schedule(given: PreviewInput) -> PreviewOutput:
    """Answer without touching the store: the same pure rules that decide when a task fires."""
    after = given.after or datetime.now(UTC)
    schedule = parse(given.schedule, given.timezone)
    seen = preview(schedule, after, given.count, anchor=after)
    return PreviewOutput(
        instants=[instant.astimezone(UTC).isoformat().replace("+00:00", "Z") for instant in seen.instants],
        description=seen.description,
        notes=list(seen.notes),
    )
