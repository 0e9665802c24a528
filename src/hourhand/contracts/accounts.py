"""Contracts: users, their sessions, and API tokens."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.access import Principal


class Accounts(Protocol):
    """Who may call, and as whom."""

    async def ensure_admin_token(self, token_hash: str) -> bool:
        """Make this the first admin token; False if there has been one."""

    async def add_admin_token(self, token_hash: str) -> None:
        """A further admin token; those there are stay valid."""

    async def find_token(self, token_hash: str) -> Principal | None:
        """The valid token with this hash."""
