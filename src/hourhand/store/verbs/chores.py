"""Store: the verbs of what schedulers do in the background."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from hourhand.model.answers import Aftermath, Reaped, Retained
from hourhand.model.hints import Hint
from hourhand.service.metrics import REAPED_ENDED, REAPED_REQUEUED
from hourhand.store import access, permits, reap, registry, retention, waits
from hourhand.store.verbs.transactions import Transactions

SWEEP_BATCH = 1_000


class Chores(Transactions):
    """What is done in the background; `follow` is in `Transactions`, since whatever changes something needs it."""

    async def settle(self) -> int:
        count, aftermath = await self._settle(None)
        await self.follow(aftermath)
        return count

    async def sweep(self) -> int:
        found = 0
        after = 0
        while ids := await self._read(partial(waits.waits_to_evaluate, after=after, limit=SWEEP_BATCH)):
            await self.follow(Aftermath(waiting=set(ids)))
            # On to the next ones: some of these may have to wait all the same, and would be found for ever.
            found, after = found + len(ids), ids[-1]
        await self._write(permits.free_stray_permits)
        await self.give_permits()
        return found

    async def give_permits(self, keys: Iterable[str] | None = None) -> int:
        wanted = await self._read(permits.waiting_keys) if keys is None else sorted(set(keys))
        return await self._give_permits(wanted)

    async def next_permit(self) -> float | None:
        return await self._read(permits.next_permit)

    async def reap(self, *, limit: int = 500) -> Reaped:
        decided, aftermath = await self._write(
            lambda tx: reap.reap(tx, self._versions, limit=limit, lease_seconds=self.lease_seconds)
        )
        await self.follow(aftermath)
        if decided:
            self._hints.ring(Hint.PENDING)
            self._hints.ring(Hint.INSTANCES, (one.row["id"] for one in decided))
        ended = sum(one.transition.to.ended for one in decided)
        REAPED_REQUEUED.inc(len(decided) - ended)
        REAPED_ENDED.inc(ended)
        return Reaped(requeued=len(decided) - ended, ended=ended)

    async def forget_executors(self) -> list[str]:
        forgotten = await self._write(registry.forget_executors)
        if forgotten:
            self._hints.ring(Hint.EXECUTORS)
        return forgotten

    async def ensure_partitions(self) -> int:
        return await self.database.ensure_partitions()

    async def retain(self, *, days: int) -> Retained:
        return await retention.retain(self.database, days=days, now=await self.now())

    async def take_lease(self, name: str, holder: str, seconds: float) -> bool:
        return await self._write(lambda tx: access.take_lease(tx, name, holder, seconds))

    async def give_lease(self, name: str, holder: str) -> None:
        await self._write(lambda tx: access.give_lease(tx, name, holder))
