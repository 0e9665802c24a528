"""Store: the verbs of many at once."""

from __future__ import annotations

from collections.abc import Sequence

from hourhand.model.answers import Aftermath
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.graph import Graph
from hourhand.model.hints import Hint
from hourhand.store import cancel, graph, listing
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Bulk(Transactions):
    """Many at once."""

    async def count_tasks(self, wanted: TaskFilter, *, most: int) -> int:
        return await self._read(lambda tx: listing.count_tasks(tx, wanted, most=most))

    async def count_instances(self, wanted: InstanceFilter, *, most: int) -> int:
        return await self._read(lambda tx: listing.count_instances(tx, wanted, most=most))

    async def cancel_many(self, ids: Sequence[int], *, reason: str) -> list[int]:
        async def cancel_all(tx: Tx) -> tuple[list[int], Aftermath]:
            found, aftermath = await cancel.cancel_instances(tx, ids, reason)
            for one in found:
                await self._record(tx, "cancel", "instance", one, summary=reason)
            return found, aftermath

        cancelled, aftermath = await self._write(cancel_all)
        await self.follow(aftermath)
        self._hints.ring(Hint.CANCEL, cancelled)
        self._hints.ring(Hint.INSTANCES, cancelled)
        return cancelled

    async def graph(self, *, task_id: int | None = None, group_ids: Sequence[int] | None = None) -> Graph:
        return await self._read(lambda tx: graph.graph(tx, task_id=task_id, group_ids=group_ids))
