"""`/api/v1/groups` and `/api/v1/executors`: who executes, and who is alive."""

from __future__ import annotations

import secrets
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Line
from hourhand.api.requests import Caller, TheStore
from hourhand.api.shapes import EXECUTORS, GROUP, GROUPS, Plain, plain
from hourhand.bootstrap import hash_token
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


Addresses = Annotated[list[Annotated[Line, AfterValidator(_address)]], Field(max_length=1_000)]
_LISTED = "Whether its executors register themselves or are listed by hand"


class GroupInput(Input):
    """A group to be made."""

    name: Line = Field(min_length=1, examples=["billing"])
    title: Line | None = Field(default=None, examples=["The month's end"])
    address_type: AddressType = Field(default=AddressType.AUTO, description=_LISTED)
    address_list: Addresses = Field(default=[])


class GroupEdit(Input):
    """What may change of a group."""

    title: Line | None = Field(default=None, examples=["The year's end"])
    address_type: AddressType = Field(default=AddressType.AUTO, description=_LISTED)
    address_list: Addresses = Field(default=[])


class AccessToken(BaseModel):
    """What executors of the XXL protocol send as `XXL-JOB-ACCESS-TOKEN`; shown once."""

    access_token: str = Field(examples=["xxl_…"])


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


@router.get("/groups/{group_id}", response_model=GROUP, tags=["groups"], summary="One group")
async def get_group(group_id: int, store: TheStore) -> Plain:
    """As it stands now."""
    return plain(await store.get_group(group_id))


@router.patch("/groups/{group_id}", response_model=GROUP, tags=["groups"], summary="Change some fields of a group")
async def edit_group(group_id: int, given: GroupEdit, store: TheStore) -> Plain:
    """Its name stays: executors and tasks know it by that."""
    return plain(await store.edit_group(group_id, given.model_dump(mode="json", exclude_unset=True)))


@router.delete("/groups/{group_id}", status_code=204, tags=["groups"], summary="Delete a group")
async def delete_group(group_id: int, store: TheStore) -> None:
    """Refused (409) while it has tasks, executors or instances that have not ended."""
    await store.delete_group(group_id)


@router.post(
    "/groups/{group_id}/access-token", status_code=201, tags=["groups"], summary="Make a group's XXL access token anew"
)
async def make_access_token(group_id: int, store: TheStore) -> AccessToken:
    """Answer with it this once; the one before is no longer valid.

    Each call makes another one: an `Idempotency-Key` is ignored, since what was shown once cannot be shown again.
    """
    token = f"xxl_{secrets.token_urlsafe(32)}"
    await store.set_access_token(group_id, hash_token(token))
    return AccessToken(access_token=token)


@router.get("/executors", response_model=EXECUTORS, tags=["groups"], summary="All registered executors, by id")
async def list_executors(store: TheStore, caller: Caller) -> Plain:
    """One that stops leaves at once, one that is lost after 90 seconds."""
    executors = [plain(executor) for executor in await store.list_executors() if caller.reaches(executor.group)]
    return {"items": executors, "next_cursor": None}
