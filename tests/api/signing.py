"""A browser that signs in, for the tests of users, tokens and sessions."""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
from argon2 import PasswordHasher

from api.answers import API, ok

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

PASSWORD = "seven-quiet-otters"  # noqa: S105 - nobody else's
SESSIONS = f"{API}/sessions"
COOKIE = "hourhand_session"


def quick_hasher() -> PasswordHasher:
    """The same algorithm with a fraction of the work."""
    return PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


class Browser:
    """A client that keeps cookies and shows no token; what it sends comes from a page of the server's own."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.csrf = ""

    async def sign_in(self, name: str = "ada", password: str = PASSWORD, **headers: str) -> httpx.Response:
        """Sign in by name; the CSRF token of a success is kept."""
        return await self.trade({"name": name, "password": password}, **headers)

    async def trade(self, given: dict[str, Any], **headers: str) -> httpx.Response:
        """Sign in with whatever is given."""
        answer = await self.client.post(SESSIONS, json=given, headers=headers)
        if answer.status_code == 201:
            self.csrf = answer.json()["csrf_token"]
        return answer

    async def send(self, method: str, path: str, json: Any = None, **headers: str) -> httpx.Response:
        """Send what a page of the server's own would."""
        own = {"X-CSRF-Token": self.csrf, "Origin": str(self.client.base_url).rstrip("/")} | headers
        return await self.client.request(method, f"{API}{path}", json=json, headers=own)

    async def who(self) -> Any:
        """Who the server takes it for; None when it is nobody."""
        answer = await self.client.get(f"{SESSIONS}/current")
        return answer.json()["name"] if answer.status_code == 200 else None

    @property
    def secret(self) -> str:
        """What its cookie holds."""
        return self.client.cookies[COOKIE]


@asynccontextmanager
async def browser(rest: httpx.AsyncClient) -> AsyncIterator[Browser]:
    """Open one on the server of another client."""
    nothing_loaded = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    async with httpx.AsyncClient(base_url=rest.base_url, timeout=30, trust_env=False, verify=nothing_loaded) as client:
        yield Browser(client)


async def make_user(rest: httpx.AsyncClient, name: str = "ada", role: str = "editor", **more: Any) -> Any:
    """Make a user as the admin."""
    return ok(await rest.post(f"{API}/users", json={"name": name, "password": PASSWORD, "role": role, **more}), 201)
