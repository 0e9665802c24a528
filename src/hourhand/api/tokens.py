"""`/api/v1/tokens`: what programs show at every request."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Instant, Line
from hourhand.api.requests import Caller, ThePage, TheStore
from hourhand.api.shapes import Plain, page_of, plain, shape
from hourhand.api.users import GroupNames
from hourhand.bootstrap import hash_token, new_token
from hourhand.model.access import ApiToken
from hourhand.model.words import Role

router = guarded_router(prefix="/tokens", tags=["access"])
_EXAMPLE = ApiToken(
    id=4,
    name="deploys",
    role=Role.OPERATOR,
    groups=("billing",),
    created_by="admin",
    created_at=datetime(2026, 11, 15, 1, 0, tzinfo=UTC),
    expires_at=datetime(2027, 11, 15, 1, 0, tzinfo=UTC),
)
TOKEN = shape("Token", ApiToken, plain(_EXAMPLE))
_MADE = plain(_EXAMPLE) | {"token": "hh_generated-and-shown-this-once"}
MADE_TOKEN = shape("MadeToken", ApiToken, _MADE, token=str | None)
TOKENS = page_of(TOKEN)


class NewToken(Input):
    """A token to be made; the token itself is generated."""

    name: Line = Field(min_length=1, description="What it is for", examples=["deploys"])
    role: Role = Field(examples=["operator"])
    groups: GroupNames | None = Field(
        default=None, description="The groups it is limited to; null: all", examples=[["billing"]]
    )
    expires_at: Instant | None = Field(default=None, description="null: never", examples=["2027-11-15T01:00:00Z"])


@router.post("", status_code=201, response_model=MADE_TOKEN, summary="Make a token")
async def add_token(given: NewToken, store: TheStore, caller: Caller, response: Response) -> Plain:
    """Answer with the token itself, this once: `token` is null when the same request comes again."""
    secret = new_token()
    token, made = await store.add_token(
        given.name,
        hash_token(secret),
        role=given.role,
        groups=given.groups,
        expires_at=given.expires_at,
        by=caller.name,
    )
    response.headers["Cache-Control"] = "no-store"
    return plain(token, token=secret if made else None)


@router.get("", response_model=TOKENS, summary="Tokens, newest first")
async def list_tokens(store: TheStore, page: ThePage) -> Plain:
    """Those that were revoked or have expired are among them; the tokens themselves are nowhere."""
    found = await store.list_tokens(limit=page.limit, cursor=page.cursor)
    return {"items": [plain(token) for token in found.items], "next_cursor": found.next_cursor}


@router.delete("/{token_id}", status_code=204, summary="Revoke a token")
async def revoke_token(token_id: int, store: TheStore) -> None:
    """It is worthless at once, with all sessions that it was traded for, and open streams end within a second or so.

    The last way in that lasts is refused (409).
    """
    await store.revoke_token(token_id)
