"""Store: the verbs of groups and executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.hints import Hint
from hourhand.model.registry import Executor, Group
from hourhand.store import access, groups, limits, registry
from hourhand.store.database import Tx
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

        async def create(tx: Tx) -> tuple[Group, int]:
            made = await registry.add_group(tx, described)
            await self._record(tx, "create", "group", made.id, summary=f"group {name!r}", after=groups.described(made))
            return made, made.id

        group, _ = await self._create(create, groups.get_group)
        self._hints.ring(Hint.GROUPS, [group.id])
        return group

    async def ensure_group(self, name: str) -> Group:
        group = await self._write(lambda tx: registry.ensure_group(tx, name))
        self._hints.ring(Hint.GROUPS, [group.id])
        return group

    async def get_group(self, group_id: int) -> Group:
        return await self._read(lambda tx: groups.get_group(tx, group_id))

    async def edit_group(self, group_id: int, changes: Mapping[str, Any]) -> Group:
        async def edit(tx: Tx) -> Group:
            before, after = await groups.edit_group(tx, group_id, changes)
            await self._record(
                tx, "edit", "group", group_id, before=groups.described(before), after=groups.described(after)
            )
            return after

        group = await self._write(edit)
        self._hints.ring(Hint.GROUPS, [group_id])
        return group

    async def delete_group(self, group_id: int) -> None:
        async def remove(tx: Tx) -> list[limits.Limited]:
            before = await groups.delete_group(tx, group_id)
            await self._record(tx, "delete", "group", group_id, before=groups.described(before))
            limited = await limits.forget_group(tx, before.name)
            for one in limited:
                why = f"group {before.name!r} was deleted"
                await self._record(tx, "edit", one.kind, one.id, summary=why, before=one.before, after=one.after)
            return limited

        limited = await self._write(remove)
        self._hints.ring(Hint.GROUPS, [group_id])
        if limited:
            self._hints.ring(Hint.ACCESS, [one.id if one.kind == "user" else -one.id for one in limited])

    async def set_access_token(self, group_id: int, token_hash: str) -> Group:
        async def replace(tx: Tx) -> Group:
            group = await groups.set_access_token(tx, group_id, token_hash)
            await self._record(tx, "access-token", "group", group_id, summary="a new access token was made")
            return group

        return await self._write(replace)

    async def list_groups(self) -> list[Group]:
        return await self._read(registry.list_groups)

    async def list_executors(self) -> list[Executor]:
        return await self._read(lambda tx: registry.list_executors(tx, self.lease_seconds))

    async def callback_key(self) -> bytes:
        if self._callback_key is None:
            self._callback_key = await self._write(access.callback_key)
        return self._callback_key
