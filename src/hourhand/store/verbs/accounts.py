"""Store: the verbs of users, sessions and API tokens."""

from __future__ import annotations

from hourhand.model.access import Principal
from hourhand.store import access
from hourhand.store.verbs.transactions import Transactions


class Accounts(Transactions):
    """Who may call, and as whom."""

    async def ensure_admin_token(self, token_hash: str) -> bool:
        return await self._write(lambda tx: access.ensure_admin_token(tx, token_hash))

    async def add_admin_token(self, token_hash: str) -> None:
        await self._write(lambda tx: access.add_admin_token(tx, token_hash))

    async def find_token(self, token_hash: str) -> Principal | None:
        return await self._read(lambda tx: access.find_token(tx, token_hash))
