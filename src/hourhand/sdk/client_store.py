"""SDK: a client's calls, made straight on the store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from hourhand import store as stores
from hourhand.bootstrap.operations import Asked as Asking
from hourhand.bootstrap.operations import Operations, build_desk
from hourhand.contracts.store import Joining, Store
from hourhand.model.explanation import Explanation
from hourhand.model.filters import InstanceFilter
from hourhand.model.instance import Instance, LogLine, Submission, SubmittedInstance
from hourhand.model.operation import Preview
from hourhand.model.task import Task
from hourhand.model.words import TriggeredBy
from hourhand.sdk.asked import Asked
from hourhand.sdk.calls import AT_ONCE, Sought
from hourhand.sdk.operations import Starting, told
from hourhand.settings import Settings


class StoreCalls:
    """What a program asks for, as verbs of the store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    @classmethod
    async def open(cls, settings: Settings) -> StoreCalls:
        """Open the store; a client neither makes nor upgrades a schema."""
        owner = f"a Client in process {os.getpid()}"
        store = await stores.open_store(settings.store, owner=owner, lease_seconds=settings.lease_seconds)
        return cls(store, settings)

    async def close(self) -> None:
        """Give everything back."""
        await self._store.close()

    async def submit(self, asked: Asked) -> SubmittedInstance:
        """One instance."""
        (submitted,) = await self._store.submit([await self._submission(asked)])
        instance = await self._store.get_instance(submitted.instance_id)
        return SubmittedInstance.of(instance, existing=submitted.existing)

    async def joining(self, asked: Asked) -> Joining:
        """One instance, ready for a caller's transaction."""
        return await self._store.joining(await self._submission(asked))

    async def _submission(self, asked: Asked) -> Submission:
        return Submission(
            task_id=(await self._store.find_task(asked.task_name)).id,
            args=asked.args,
            priority=asked.priority,
            run_at=asked.run_at,
            key=asked.key,
            held=asked.held,
        )

    async def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """All of them or none."""
        task = await self._store.find_task(task_name)
        submitted = await self._store.submit([Submission(task_id=task.id, args=args) for args in many])
        return [one.instance_id for one in submitted]

    async def get(self, instance_id: int) -> Instance:
        """One instance."""
        return await self._store.get_instance(instance_id)

    async def instances(self, sought: Sought) -> list[Instance]:
        """Page by page."""
        task = None if sought.task_name is None else await self._store.find_task(sought.task_name)
        wanted = InstanceFilter(
            task_id=None if task is None else task.id, status=sought.status, begin=sought.begin, end=sought.end
        )
        found: list[Instance] = []
        cursor: str | None = None
        while len(found) < sought.limit:
            limit = min(AT_ONCE, sought.limit - len(found))
            page = await self._store.list_instances(wanted, limit=limit, cursor=cursor)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def task(self, name: str) -> Task:
        """One task, as REST tells it: how the store keeps its place in a schedule is of no use to anybody else."""
        task = await self._store.find_task(name)
        return replace(task, anchored_at=task.created_at, wake_at=None, declared_hash=None)

    async def explain(self, instance_id: int) -> Explanation:
        """Why it is where it is."""
        return await self._store.explain(instance_id)

    async def cancel(self, instance_id: int, reason: str | None) -> Instance:
        """Stop it."""
        return await self._store.cancel(instance_id, reason=reason or "cancelled by a client")

    async def retry(self, instance_id: int, args: Mapping[str, Any] | None) -> Instance:
        """Revive it."""
        return await self._store.retry(instance_id, args=args)

    async def lines(self, instance_id: int, after: int, limit: int) -> list[LogLine]:
        """Some lines from there on."""
        return await self._store.read_lines(instance_id, after=after, limit=limit)

    async def dispatch(self, ids: Sequence[int]) -> None:
        """All of them or none."""
        await self._store.dispatch(ids)

    async def preview_operation(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What it would do now; this process connects to the data source."""
        return told(await self._operations.preview(kind, config))

    async def start_operation(self, starting: Starting) -> SubmittedInstance:
        """Plan it again, and submit it."""
        asked = Asking(
            by=f"a client (pid {os.getpid()})",
            plan_hash=starting.plan_hash,
            priority=starting.priority,
            run_at=starting.run_at,
            held=starting.held,
            notes=starting.notes,
            key=starting.key,
            triggered_by=TriggeredBy.API,
        )
        made = await self._operations.start(self._store, starting.kind, starting.config, asked)
        return SubmittedInstance.of(await self._store.get_instance(made.instance_id), existing=made.existing)

    @cached_property
    def _operations(self) -> Operations:
        return Operations(build_desk(self._settings, self._store), elsewhere=not self._settings.on_sqlite)
