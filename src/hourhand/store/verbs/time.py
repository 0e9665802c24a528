"""Store: the verbs of time: from schedules to instances."""

from __future__ import annotations

from datetime import datetime

from hourhand.model.answers import Aftermath, Materialised
from hourhand.model.hints import Hint
from hourhand.service.metrics import INSTANTS_MADE, INSTANTS_SKIPPED
from hourhand.store import backfill, materialise, reach
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Time(Transactions):
    """Instants become instances."""

    async def materialise(self, *, limit: int = 500) -> Materialised:
        done = await self._write(
            lambda tx: materialise.materialise(
                tx, limit=limit, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )
        await self.follow(done.aftermath)
        INSTANTS_MADE.inc(done.instants)
        for reason, times in done.skips.items():
            INSTANTS_SKIPPED[reason].inc(times)
        if done.instants:
            self._hints.ring(Hint.PENDING)
            self._hints.ring(Hint.INSTANCES)
        return done

    async def next_wake(self) -> datetime | None:
        return await self._read(materialise.next_wake)

    async def backfill(self, task_id: int, begin: datetime, end: datetime, *, by: str) -> int:
        async def create(tx: Tx) -> tuple[tuple[int, Aftermath], int]:
            await reach.require_task(tx, self._author, task_id)
            count, following = await backfill.backfill(
                tx, task_id, begin, end, by=by, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
            if count:
                asked = {"from": begin, "to": end}
                await self._record(tx, "backfill", "task", task_id, payload=asked, after={"made": count})
            return (count, following), count

        async def again(_tx: Tx, count: int) -> tuple[int, Aftermath]:
            return count, Aftermath()

        (made, aftermath), _ = await self._create(create, again)
        await self.follow(aftermath)
        self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.INSTANCES)
        return made
