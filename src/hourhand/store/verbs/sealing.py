"""Store: the verbs of the key that secrets are sealed with."""

from __future__ import annotations

from hourhand.contracts.sealing import Reseal
from hourhand.model.sealing import Resealed
from hourhand.store import secret_key
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Sealing(Transactions):
    """Of the key the store knows a check value only."""

    async def agree_on_key(self, check: str) -> bool:
        return await self._write(lambda tx: secret_key.agree(tx, check))

    async def key_check(self) -> str | None:
        return await self._read(secret_key.known)

    async def reseal(self, anew: Reseal, *, before: str, after: str) -> Resealed:
        async def change(tx: Tx) -> Resealed:
            done = await secret_key.reseal(tx, anew, before=before, after=after)
            told = f"{done.count} secrets are sealed anew"
            if done.unopened:
                told += f"; {len(done.unopened)} could not be opened, and stay as they are"
            await self._record(tx, "rotate", "secret-key", None, summary=told)
            return done

        return await self._write(change)
