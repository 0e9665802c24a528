"""`/api/v1/sessions`: signing in with a browser, and out again."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import cast

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from hourhand.api.browser import csrf_token, forget_cookie, session_secret, set_cookie
from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Line, example
from hourhand.api.passwords import Confidential, Passwords, Secret, refuse_weak
from hourhand.api.requests import Caller, ThePage, TheStore
from hourhand.api.shapes import Plain, page_of, plain, shape
from hourhand.api.users import ThePasswords
from hourhand.bootstrap import hash_token
from hourhand.contracts.store import Store
from hourhand.model.access import Credential, Principal, Session
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, Forbidden, InvalidInput, Unauthenticated
from hourhand.model.words import Role

signing_in = APIRouter(prefix="/sessions", tags=["access"])
"""Outside the guard: nobody is calling yet. The gate lists it as public."""
router = guarded_router(prefix="/sessions", tags=["access"])
WRONG = "the name or the password is wrong, or the user is disabled"
_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_EXAMPLE = Session(
    id=9,
    user_id=3,
    token_id=None,
    name="ada",
    created_at=_AT,
    last_seen_at=_AT,
    expires_at=datetime(2026, 11, 22, 1, 0, tzinfo=UTC),
    address="192.0.2.7",
)
SESSION = shape("Session", Session, plain(_EXAMPLE))
SESSIONS = page_of(SESSION)


class SignIn(Confidential):
    """Either a name and a password, or a token."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "ada", "password": "seven-quiet-otters"}]})

    name: Line | None = Field(default=None, min_length=1)
    password: Secret | None = None
    token: Secret | None = None

    def named(self) -> tuple[str, str] | None:
        """Return the name and the password, or None where there is a token instead; refuse everything else."""
        if self.name is not None and self.password is not None and self.token is None:
            return self.name, self.password.get_secret_value()
        if self.token is None or self.name is not None or self.password is not None:
            raise InvalidInput.one("body", None, "give either name and password, or token")
        return None


class PasswordChange(Confidential):
    """The password there is, and the one there shall be."""

    model_config = example(old="the one you have", new="a longer one than before")

    old: Secret
    new: Secret = Field(description="12 to 1000 characters of any kind")


class SignedIn(BaseModel):
    """Who somebody is to this server."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "user:3",
                    "name": "ada",
                    "role": "editor",
                    "groups": ["billing"],
                    "csrf_token": "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2",
                    "expires_at": "2026-11-22T01:00:00Z",
                }
            ]
        }
    )

    id: str
    name: str
    role: Role
    groups: list[str] | None
    csrf_token: str | None
    """To be sent as `X-CSRF-Token` with whatever changes something; null without a session."""
    expires_at: datetime | None


@signing_in.post("", status_code=201, summary="Sign in")
async def sign_in(given: SignIn, request: Request, response: Response, passwords: ThePasswords) -> SignedIn:
    """Set the session's cookie; the session that the browser had ends.

    After 5 wrong passwords within 15 minutes the account and the address are refused (429), with the right one too.
    """
    named, address = given.named(), _address(request)
    store = _store_of(request, "nobody", "" if named is None else named[0])
    holder: Credential | str
    if named is not None:
        holder = credential = await _checked(store, passwords, *named, address)
        store = _store_of(request, f"user:{credential.user_id}", credential.name)
        newer = await passwords.renewed(credential, named[1])
        if newer is not None:
            holder = await store.rehash_password(credential, newer) or credential
    else:
        holder = hash_token(given.token.get_secret_value() if given.token else "")
        found = await store.find_token(holder)
        if found is None:  # not counted: nobody finds 256 random bits by trying, but anybody could lock others out
            raise Unauthenticated("the token is not a valid one: it was mistyped, revoked, or has expired")
        store = _store_of(request, found.id, found.name)
    secret, before = secrets.token_urlsafe(32), session_secret(request.scope)
    opened = await store.open_session(
        hash_token(secret), holder, address=address, replacing=None if before is None else hash_token(before)
    )
    if opened is None:  # changed between the look and the session
        raise Unauthenticated(WRONG)
    who, session = opened
    _give(request, response, secret, session)
    return _signed_in(who, secret, session)


@router.get("/current", summary="Who I am")
async def current_session(request: Request, store: TheStore, caller: Caller, response: Response) -> SignedIn:
    """Answer to a token too; the CSRF token is there for a session only."""
    response.headers["Cache-Control"] = "no-store"
    session = None if caller.session is None else await store.get_session(caller.session)
    return _signed_in(caller, session_secret(request.scope), session)


@router.delete("/current", status_code=204, summary="Sign out")
async def sign_out(request: Request, store: TheStore, caller: Caller, response: Response) -> None:
    """End the session that this is called with, and take the cookie back."""
    await store.sign_out(_own(caller))
    forget_cookie(response, request.scope)


@router.post("/current/password", status_code=204, summary="Change my password")
async def change_password(
    given: PasswordChange,
    request: Request,
    response: Response,
    *,
    store: TheStore,
    caller: Caller,
    passwords: ThePasswords,
) -> None:
    """All other sessions of the user end; this one goes on with a new cookie, and so with a new CSRF token."""
    session_hash = _own(caller)
    if not caller.id.startswith("user:"):
        raise Forbidden(f"{caller.name!r} is a token and has no password: make a new token, and revoke this one")
    new = given.new.get_secret_value()
    refuse_weak(new, caller.name, field="new")
    try:  # whatever others behind the same address do, who has a session can change the password of its account
        old = await _checked(store, passwords, caller.name, given.old.get_secret_value(), None)
    except Unauthenticated:
        raise InvalidInput.one("old", None, "it is not the password") from None
    secret = secrets.token_urlsafe(32)
    await store.change_password(
        old, await passwords.hash(new), session_hash=session_hash, new_session_hash=hash_token(secret)
    )
    session = await store.get_session(hash_token(secret))
    if session is not None:
        _give(request, response, secret, session)


@router.get("", response_model=SESSIONS, summary="All live sessions, newest first")
async def list_sessions(store: TheStore, page: ThePage) -> Plain:
    """Those of users, and those that tokens were traded for."""
    found = await store.list_sessions(limit=page.limit, cursor=page.cursor)
    return {"items": [plain(session) for session in found.items], "next_cursor": found.next_cursor}


@router.delete("/{session_id}", status_code=204, summary="End somebody's session")
async def close_session(session_id: int, store: TheStore) -> None:
    """Whoever has it must sign in again."""
    await store.close_session(session_id)


async def _checked(store: Store, passwords: Passwords, name: str, password: str, address: str | None) -> Credential:
    """Return the user whose password it is; whoever waited for a turn is told of failures that happened meanwhile."""
    async with passwords.turn:
        await store.sign_in_allowed(name, address)
        credential = await store.find_password(name)
        right = await passwords.is_right(credential, password)
        if credential is not None and right:
            return credential
        await store.fail_sign_in(name, address)
    raise Unauthenticated(WRONG)


def _store_of(request: Request, who: str, name: str) -> Store:
    """Return the store on behalf of somebody of whom the gate knows nothing yet."""
    store = cast("Store", request.app.state.store)
    return store.on_behalf(Author(id=who, name=name, request_id=request.state.request_id))


def _address(request: Request) -> str:
    """Return where it comes from: the peer of the connection, or whom a trusted proxy names (`api.proxies`)."""
    return request.client.host if request.client else "local"


def _own(caller: Principal) -> str:
    if caller.session is None:
        raise Conflict("this was called with a token, so that there is no session: use the cookie of a sign-in")
    return caller.session


def _give(request: Request, response: Response, secret: str, session: Session) -> None:
    response.headers["Cache-Control"] = "no-store"
    set_cookie(response, request.scope, secret, round((session.expires_at - session.created_at).total_seconds()))


def _signed_in(who: Principal, secret: str | None, session: Session | None) -> SignedIn:
    return SignedIn(
        id=who.id,
        name=who.name,
        role=who.role,
        groups=None if who.groups is None else sorted(who.groups),
        csrf_token=None if session is None or secret is None else csrf_token(secret),
        expires_at=None if session is None else session.expires_at,
    )
