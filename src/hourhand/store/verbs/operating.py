"""Store: the verbs of operations that people start."""

from __future__ import annotations

from contextlib import suppress

from hourhand.model.hints import Hint
from hourhand.model.instance import Submitted
from hourhand.model.operation import Start
from hourhand.store import listing, operations, reach
from hourhand.store.database import Tx
from hourhand.store.once import created_before
from hourhand.store.submit import Accepted, KeyFreed
from hourhand.store.verbs.transactions import Transactions


class Operating(Transactions):
    """Operations: started once they are approved."""

    async def start_operation(self, start: Start) -> Submitted:
        async def begin(tx: Tx) -> tuple[Accepted, int]:
            accepted = await operations.start(
                tx, start, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds, author=self._author
            )
            return accepted, accepted.submitted[0].instance_id

        while True:
            with suppress(KeyFreed):
                accepted, _ = await self._create(begin, self._begun)
                break
        (submitted,) = accepted.submitted
        self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.TASKS)
        self._hints.ring(Hint.INSTANCES, [submitted.instance_id])
        await self.follow(accepted.aftermath)
        return submitted

    async def started_before(self) -> Submitted | None:
        request = self._once
        if request is None:
            return None

        async def look(tx: Tx) -> Submitted | None:
            number = await created_before(tx, request)
            return None if number is None else (await self._begun(tx, number)).submitted[0]

        return await self._read(look)

    async def _begun(self, tx: Tx, instance_id: int) -> Accepted:
        await reach.require_instances(tx, self._author, [instance_id])
        found = await listing.get_instance(tx, instance_id)
        return Accepted([Submitted(instance_id=instance_id, status=found.status, existing=True)])
