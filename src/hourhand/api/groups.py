"""`/api/v1/groups` and `/api/v1/executors`: who executes, and who is alive."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Line
from hourhand.api.requests import Caller, TheStore
from hourhand.api.shapes import EXECUTORS, GROUP, GROUPS, Plain, plain
from hourhand.model.words import AddressType

router = guarded_router()


def _address(value: str) -> str:
    try:
        parts = urlsplit(value)
        right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and value.isprintable()
    except ValueError:
        right = False
    if not right:
        raise ValueError("it is not an address: write one such as http://10.0.0.7:9999/")
    return value


class GroupInput(Input):
    """A group to be made."""

    name: Line = Field(min_length=1, examples=["billing"])
    title: Line | None = Field(default=None, examples=["The month's end"])
    address_type: AddressType = Field(
        default=AddressType.AUTO, description="Whether its executors register themselves or are listed by hand"
    )
    address_list: list[Annotated[Line, AfterValidator(_address)]] = Field(default=[], max_length=1_000)


@router.get("/groups", response_model=GROUPS, tags=["groups"], summary="All groups, by name")
async def list_groups(store: TheStore, caller: Caller) -> Plain:
    """There are tens, so that they are one page."""
    groups = [plain(group) for group in await store.list_groups() if caller.reaches(group.name)]
    return {"items": groups, "next_cursor": None}


@router.post("/groups", status_code=201, response_model=GROUP, tags=["groups"], summary="Make a group")
async def add_group(given: GroupInput, store: TheStore) -> Plain:
    """Its name must be free."""
    group = await store.add_group(
        given.name, title=given.title, address_type=given.address_type.value, address_list=given.address_list
    )
    return plain(group)


@router.get("/executors", response_model=EXECUTORS, tags=["groups"], summary="All registered executors, by id")
async def list_executors(store: TheStore, caller: Caller) -> Plain:
    """One that stops leaves at once, one that is lost after 90 seconds."""
    executors = [plain(executor) for executor in await store.list_executors() if caller.reaches(executor.group)]
    return {"items": executors, "next_cursor": None}
