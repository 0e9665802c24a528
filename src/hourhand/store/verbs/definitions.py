"""Store: the verbs of tasks and their versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.answers import Declared
from hourhand.model.errors import DuplicateName, NotFound
from hourhand.model.filters import TaskFilter
from hourhand.model.hints import Hint
from hourhand.model.page import Page
from hourhand.model.task import Declaration, Task, TaskDefinition, TaskVersion
from hourhand.rules.definition import changes_from
from hourhand.store import declare, definitions, edit, listing
from hourhand.store.database import DataRefused
from hourhand.store.verbs.transactions import Transactions


class Definitions(Transactions):
    """Tasks: written, declared, read."""

    async def create_task(self, definition: TaskDefinition, *, by: str) -> Task:
        task = await self._write(lambda tx: edit.create_task(tx, definition, by=by, look_ahead=self.look_ahead))
        self._hints.ring(Hint.WAKE)
        return task

    async def edit_task(
        self, task_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None, by: str
    ) -> Task:
        read = changes_from(changes)
        try:
            task, aftermath = await self._write(
                lambda tx: edit.edit_task(
                    tx,
                    task_id,
                    read,
                    expected_version=expected_version,
                    by=by,
                    look_ahead=self.look_ahead,
                    lease_seconds=self.lease_seconds,
                )
            )
        except DataRefused as refused:
            if edit.UNIQUE_NAME not in str(refused):
                raise
            raise DuplicateName("task", read["name"]) from refused  # taken between the look and the write
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        return task

    async def delete_task(self, task_id: int, *, force: bool = False, by: str) -> None:
        await self._change(
            lambda tx: edit.delete_task(
                tx, task_id, force=force, by=by, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )

    async def declare(self, declarations: Sequence[Declaration], *, app: str, release: int) -> Declared:
        timing = declare.Timing(self.look_ahead, self.lease_seconds)
        declared, aftermath = await self._write(
            lambda tx: declare.declare(tx, declarations, app=app, release=release, timing=timing)
        )
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        self._hints.ring(Hint.TASKS)
        return declared

    async def get_task(self, task_id: int) -> Task:
        task = (await self._read(lambda tx: definitions.tasks_by_id(tx, [task_id]))).get(task_id)
        if task is None or task.deleted_at is not None:
            raise NotFound("task", task_id)
        return task

    async def find_task(self, name: str) -> Task:
        task = await self._read(lambda tx: listing.task_by_name(tx, name))
        if task is None:
            raise NotFound("task", name)
        return task

    async def list_tasks(
        self, wanted: TaskFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Task]:
        return await self._read(lambda tx: listing.list_tasks(tx, wanted or TaskFilter(), limit=limit, cursor=cursor))

    async def list_versions(self, task_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[TaskVersion]:
        return await self._read(lambda tx: listing.list_versions(tx, task_id, limit=limit, cursor=cursor))

    async def definitions(self, wanted: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        return await self._look(wanted)
