"""Store: the verbs of groups and executors."""

from __future__ import annotations

from collections.abc import Sequence

from hourhand.model.registry import Executor, Group
from hourhand.store import access, registry
from hourhand.store.verbs.transactions import Transactions


class Directory(Transactions):
    """Groups and executors."""

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

    async def callback_key(self) -> bytes:
        if self._callback_key is None:
            self._callback_key = await self._write(access.callback_key)
        return self._callback_key
