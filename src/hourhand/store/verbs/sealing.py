"""Store: the verbs of the key that secrets are sealed with."""

from __future__ import annotations

from hourhand.contracts.sealing import Reseal
from hourhand.store import secret_key
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Sealing(Transactions):
    """Of the key the store knows a check value only."""

    async def agree_on_key(self, check: str) -> bool:
        return await self._write(lambda tx: secret_key.agree(tx, check))

    async def key_check(self) -> str | None:
        return await self._read(secret_key.known)

    async def reseal(self, anew: Reseal, *, before: str, after: str) -> int:
        async def change(tx: Tx) -> int:
            count = await secret_key.reseal(tx, anew, before=before, after=after)
            await self._record(tx, "rotate", "secret-key", None, summary=f"{count} secrets are sealed anew")
            return count

        return await self._write(change)
