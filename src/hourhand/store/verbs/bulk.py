"""Store: the verbs of many at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hourhand.model.answers import Aftermath
from hourhand.model.errors import InvalidInput
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.graph import Graph, Impact
from hourhand.model.hints import Hint
from hourhand.model.task import Task, TaskDefinition
from hourhand.store import audit, cancel, edit, graph, impact, listing, reach, task_listing
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.verbs import instances
from hourhand.store.verbs.transactions import Transactions


class Bulk(Transactions):
    """Many at once."""

    async def create_tasks(self, definitions: Sequence[TaskDefinition], *, by: str) -> list[Task]:
        # Two who make the same names in another order would wait for each other.
        order = sorted(range(len(definitions)), key=lambda place: definitions[place].name)

        async def create(tx: Tx) -> list[Task]:
            made: dict[int, Task] = {}
            for place in order:
                try:
                    task = await edit.create_task(
                        tx, definitions[place], by=by, look_ahead=self.look_ahead, author=self._author
                    )
                except InvalidInput as refused:
                    raise refused.within(f"tasks.{place}") from None
                made[place] = task
                after = audit.task_seen(task)
                await self._record(tx, "create", "task", task.id, summary=f"task {task.name!r}", after=after)
            return [made[place] for place in range(len(definitions))]

        tasks = await self._write(create)
        self._hints.ring(Hint.WAKE)
        self._hints.ring(Hint.TASKS, [task.id for task in tasks])
        return tasks

    async def count_tasks(self, wanted: TaskFilter, *, most: int) -> int:
        return await self._read(lambda tx: task_listing.count_tasks(tx, wanted, most=most))

    async def count_instances(self, wanted: InstanceFilter, *, most: int) -> int:
        return await self._read(lambda tx: listing.count_instances(tx, wanted, most=most))

    async def cancel_many(self, ids: Sequence[int], *, reason: str) -> list[int]:
        async def cancel_all(tx: Tx) -> tuple[list[int], Aftermath]:
            await reach.require_instances(tx, self._author, ids)
            before = await self._before_cancelling(tx, ids)
            found, aftermath = await cancel.cancel_instances(tx, ids, reason)
            await reach.require_instances(tx, self._author, found)  # again: now they are locked
            await audit.record(
                tx, self._author, [instances.cancelled(before[one], reason) for one in found if one in before]
            )
            return found, aftermath

        cancelled, aftermath = await self._write(cancel_all)
        await self.follow(aftermath)
        self._hints.ring(Hint.CANCEL, cancelled)
        self._hints.ring(Hint.INSTANCES, cancelled)
        return cancelled

    async def _before_cancelling(self, tx: Tx, ids: Sequence[int]) -> Mapping[int, Row]:
        """The instances as they are, under the locks that cancelling takes; none when nobody asks."""
        wanted = sorted({one for one in ids if possible(one)})
        if self._author is None or not wanted:
            return {}
        await tx.fetch(cancel.LOCK_LIVING, ids=wanted)
        return await audit.instances_seen(tx, wanted)

    async def groups_of(self, ids: Sequence[int]) -> Mapping[int, str]:
        return await self._read(lambda tx: reach.groups_of(tx, ids))

    async def graph(self, *, task_id: int | None = None, group_ids: Sequence[int] | None = None) -> Graph:
        return await self._read(lambda tx: graph.graph(tx, task_id=task_id, group_ids=group_ids))

    async def impact(self, task_id: int, *, group_ids: Collection[int] | None = None) -> Impact:
        return await self._read(lambda tx: impact.impact(tx, task_id, group_ids=group_ids))
