"""Store: the verbs of groups, executors and tokens."""

from __future__ import annotations

from collections.abc import Sequence

from hourhand.model.registry import Executor, Group, StoredToken
from hourhand.store import access, registry
from hourhand.store.verbs.transactions import Transactions


class Directory(Transactions):
    """Groups, executors and tokens."""

    async def add_group(
        self,
        name: str,
        *,
        title: str | None = None,
        address_type: str = "auto",
        address_list: Sequence[str] = (),
    ) -> Group:
        described = {"name": name, "title": title, "address_type": address_type, "address_list": list(address_list)}
        return await self._write(lambda tx: registry.add_group(tx, described))

    async def ensure_group(self, name: str) -> Group:
        return await self._write(lambda tx: registry.ensure_group(tx, name))

    async def list_groups(self) -> list[Group]:
        return await self._read(registry.list_groups)

    async def list_executors(self) -> list[Executor]:
        return await self._read(registry.list_executors)

    async def ensure_admin_token(self, token_hash: str) -> bool:
        return await self._write(lambda tx: access.ensure_admin_token(tx, token_hash))

    async def add_admin_token(self, token_hash: str) -> None:
        await self._write(lambda tx: access.add_admin_token(tx, token_hash))

    async def find_token(self, token_hash: str) -> StoredToken | None:
        return await self._read(lambda tx: access.find_token(tx, token_hash))

    async def callback_key(self) -> bytes:
        if self._callback_key is None:
            self._callback_key = await self._write(access.callback_key)
        return self._callback_key
