"""`/api/v1/calendars`: days that have a name together, by which maintenance windows may open."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, cast

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import FIRST_YEAR, LAST_YEAR, Input, Line
from hourhand.api.requests import TheStore
from hourhand.api.shapes import Plain, page_of
from hourhand.model.window import Calendar
from hourhand.rules.calendars import days_json
from hourhand.service.holidays import days_from, days_of

router = guarded_router(prefix="/calendars", tags=["calendars"])
_CHINA = {"name": "China", "definition": {"country": "CN", "weekdays": [6, 7], "exclude": ["2026-10-10"]}}
_AT = "2026-11-15T01:00:00Z"


def _examples(*values: object) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": cast("Any", list(values))})


class DaysInput(Input):
    """Which days a calendar has: those of a country, of a market, some weekdays, and some more, without others."""

    model_config = _examples(
        _CHINA["definition"], {"country": "US", "subdivision": "CA"}, {"market": "XNYS", "include": ["2026-11-20"]}
    )

    country: Any = Field(default=None, description="Its public holidays; an ISO 3166 code")
    subdivision: Any = Field(default=None, description="A state or province of the country, which has more of them")
    market: Any = Field(default=None, description="The days on which a market is closed; an ISO 10383 code")
    weekdays: Any = Field(default=None, description="1 is Monday, 7 is Sunday")
    include: Any = Field(default=None, description="Dates that it has besides")
    exclude: Any = Field(default=None, description="Dates that it has not, whatever else says so")


class CalendarInput(Input):
    """A calendar to be made."""

    model_config = _examples(_CHINA)

    name: Line = Field(min_length=1)
    definition: DaysInput


class CalendarEdit(Input):
    """What is to be changed of a calendar."""

    model_config = _examples({"definition": {"country": "CN"}})

    name: Line = Field(default_factory=str, min_length=1)
    definition: DaysInput = Field(default_factory=DaysInput, description="All of it")


class CalendarOutput(BaseModel):
    """A calendar."""

    model_config = _examples({"id": 1, **_CHINA, "created_at": _AT, "updated_at": _AT})

    id: int
    name: str
    definition: dict[str, Any]
    created_at: dt.datetime
    updated_at: dt.datetime


class DayOutput(BaseModel):
    """A day that a calendar has."""

    model_config = _examples({"date": "2027-01-01", "name": "New Year's Day"})

    date: dt.date
    name: str


class DaysOutput(BaseModel):
    """The days of a year."""

    model_config = _examples({"year": 2027, "items": [{"date": "2027-01-01", "name": "New Year's Day"}]})

    year: int
    items: list[DayOutput]


CALENDARS = page_of(CalendarOutput)


def _shown(calendar: Calendar) -> CalendarOutput:
    return CalendarOutput(
        id=calendar.id,
        name=calendar.name,
        definition=days_json(calendar.definition),
        created_at=calendar.created_at,
        updated_at=calendar.updated_at,
    )


@router.get("", response_model=CALENDARS, summary="Calendars by name")
async def list_calendars(store: TheStore) -> Plain:
    """There are few, so that they are one page."""
    return {"items": [_shown(one) for one in await store.list_calendars()], "next_cursor": None}


@router.post("", status_code=201, summary="Make a calendar")
async def create_calendar(given: CalendarInput, store: TheStore, response: Response) -> CalendarOutput:
    """Countries and markets are those of the `holidays` library."""
    made = await store.create_calendar(given.name, days_from(given.definition.model_dump(exclude_unset=True)))
    response.headers["Location"] = f"/api/v1/calendars/{made.id}"
    return _shown(made)


@router.get("/{calendar_id}", summary="One calendar")
async def get_calendar(calendar_id: int, store: TheStore) -> CalendarOutput:
    """As it stands now."""
    return _shown(await store.get_calendar(calendar_id))


@router.patch("/{calendar_id}", summary="Change a calendar")
async def edit_calendar(calendar_id: int, given: CalendarEdit, store: TheStore) -> CalendarOutput:
    """The windows that open by it follow from now on."""
    changes = given.model_dump(exclude_unset=True)
    if "definition" in changes:
        changes["definition"] = days_from(changes["definition"])
    return _shown(await store.edit_calendar(calendar_id, changes))


@router.delete("/{calendar_id}", status_code=204, summary="Delete a calendar")
async def delete_calendar(calendar_id: int, store: TheStore) -> None:
    """Refused (409) while a maintenance window opens by it."""
    await store.delete_calendar(calendar_id)


@router.get("/{calendar_id}/days", summary="The days of a calendar in a year")
async def list_days(
    calendar_id: int,
    store: TheStore,
    year: Annotated[int | None, Query(ge=FIRST_YEAR, le=LAST_YEAR, description="This year, unless given")] = None,
) -> DaysOutput:
    """In their order, each with its name."""
    calendar = await store.get_calendar(calendar_id)
    wanted = year or (await store.now()).year
    found = days_of(calendar.definition, wanted)
    return DaysOutput(year=wanted, items=[DayOutput(date=day, name=name) for day, name in found.items()])
