"""`/api/v1/users`: people with a password, and what they may do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Line, example
from hourhand.api.passwords import Confidential, Passwords, Secret, refuse_weak, the_passwords
from hourhand.api.requests import ThePage, TheStore
from hourhand.api.shapes import Plain, page_of, plain, shape
from hourhand.model.access import User
from hourhand.model.errors import InvalidInput
from hourhand.model.words import Role

router = guarded_router(prefix="/users", tags=["access"])
ThePasswords = Annotated[Passwords, Depends(the_passwords)]
GroupNames = Annotated[list[Annotated[Line, Field(min_length=1)]], Field(min_length=1, max_length=1_000)]
_EXAMPLE = User(
    id=3, name="ada", role=Role.EDITOR, groups=("billing",), created_at=datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
)
USER = shape("User", User, plain(_EXAMPLE))
USERS = page_of(USER)


class NewUser(Confidential):
    """A user to be made."""

    name: Line = Field(min_length=1, examples=["ada"])
    password: Secret = Field(description="12 to 1000 characters of any kind", examples=["seven-quiet-otters"])
    role: Role = Field(examples=["editor"])
    groups: GroupNames | None = Field(
        default=None, description="The groups it is limited to; null: all", examples=[["billing"]]
    )


class UserEdit(Confidential):
    """What to change about a user; each change ends all sessions of the user."""

    model_config = example(role="operator", groups=["billing"])

    role: Role | None = Field(default=None, examples=["operator"])
    groups: GroupNames | None = Field(default=None, description="null: all groups", examples=[["billing"]])
    disabled: bool | None = Field(default=None, strict=True, description="A disabled user cannot sign in")
    password: Secret | None = Field(default=None, description="12 to 1000 characters of any kind")


@router.post("", status_code=201, response_model=USER, summary="Make a user")
async def add_user(given: NewUser, store: TheStore, passwords: ThePasswords, response: Response) -> Plain:
    """The name must be free; it and the role are all that others see.

    When the same request comes again with another password it is another request, and refused.
    """
    password = given.password.get_secret_value()
    refuse_weak(password, given.name)
    hashed = await passwords.hash(password)
    user, made = await store.add_user(given.name, password_hash=hashed, role=given.role, groups=given.groups)
    if not made:
        async with passwords.turn:
            same = await passwords.is_right(await store.find_password(user.name), password)
        if not same:
            raise InvalidInput.one(
                "Idempotency-Key",
                None,
                f"it was used for a request that made user {user.name!r}, whose password is another one: change it "
                f"with PATCH /api/v1/users/{user.id}, or choose a new key",
            )
    response.headers["Location"] = f"/api/v1/users/{user.id}"
    return plain(user)


@router.get("", response_model=USERS, summary="Users by name")
async def list_users(store: TheStore, page: ThePage) -> Plain:
    """The disabled ones too."""
    found = await store.list_users(limit=page.limit, cursor=page.cursor)
    return {"items": [plain(user) for user in found.items], "next_cursor": found.next_cursor}


@router.get("/{user_id}", response_model=USER, summary="One user")
async def get_user(user_id: int, store: TheStore) -> Plain:
    """As it stands now."""
    return plain(await store.get_user(user_id))


@router.patch("/{user_id}", response_model=USER, summary="Change a user's role, groups or password, or disable it")
async def edit_user(user_id: int, given: UserEdit, store: TheStore, passwords: ThePasswords) -> Plain:
    """All sessions of the user end. The last admin of all groups is refused (409)."""
    changes: dict[str, Any] = {name: getattr(given, name) for name in given.model_fields_set}
    for name in ("role", "disabled", "password"):
        if name in changes and changes[name] is None:
            raise InvalidInput.one(name, None, "null is no value for it: leave it out to keep it as it is")
    if "password" in changes:
        password = changes.pop("password").get_secret_value()
        refuse_weak(password, (await store.get_user(user_id)).name)
        changes["password_hash"] = await passwords.hash(password)
    return plain(await store.edit_user(user_id, changes))


@router.delete("/{user_id}", status_code=204, summary="Remove a user")
async def delete_user(user_id: int, store: TheStore) -> None:
    """All sessions of the user end. The last admin of all groups is refused (409)."""
    await store.delete_user(user_id)
