"""Store: the verbs of tasks and their versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.answers import Aftermath, Declared
from hourhand.model.audit import Author, Change
from hourhand.model.errors import DuplicateName, Gone, NotFound
from hourhand.model.filters import TaskFilter
from hourhand.model.hints import Hint
from hourhand.model.page import Page
from hourhand.model.task import Declaration, Task, TaskDefinition, TaskVersion
from hourhand.rules.declaration import owner_of
from hourhand.rules.definition import changes_from
from hourhand.store import audit, declare, definitions, edit, reach, task_listing
from hourhand.store.database import DataRefused, Tx
from hourhand.store.verbs.transactions import Transactions


class Definitions(Transactions):
    """Tasks: written, declared, read."""

    async def create_task(self, definition: TaskDefinition, *, by: str) -> Task:
        async def create(tx: Tx) -> tuple[Task, int]:
            made = await edit.create_task(tx, definition, by=by, look_ahead=self.look_ahead, author=self._author)
            await self._record(tx, "create", "task", made.id, summary=_named(made), after=audit.task_seen(made))
            return made, made.id

        async def again(tx: Tx, task_id: int) -> Task:
            found = (await definitions.tasks_by_id(tx, [task_id])).get(task_id)
            if found is None or found.deleted_at is not None:
                raise Gone(f"this request made task {task_id}, which was deleted since: choose a new Idempotency-Key")
            reach.require(self._author, f"task {task_id}", found.group)
            return found

        task, _ = await self._create(create, again)
        self._hints.ring(Hint.WAKE)
        self._hints.ring(Hint.TASKS, [task.id])
        return task

    async def edit_task(
        self, task_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None, by: str
    ) -> Task:
        read = changes_from(changes)

        async def change(tx: Tx) -> edit.Edited:
            done = await edit.edit_task(
                tx,
                task_id,
                read,
                expected_version=expected_version,
                by=by,
                look_ahead=self.look_ahead,
                lease_seconds=self.lease_seconds,
                author=self._author,
            )
            before, after = audit.task_seen(done.before), audit.task_seen(done.after)
            await self._record(tx, "edit", "task", task_id, summary=_named(done.after), before=before, after=after)
            return done

        try:
            _, task, aftermath = await self._write(change)
        except DataRefused as refused:
            if edit.UNIQUE_NAME not in str(refused):
                raise
            raise DuplicateName("task", read["name"]) from refused  # taken between the look and the write
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        self._hints.ring(Hint.TASKS, [task_id])
        self._hints.ring(Hint.INSTANCES)  # those made ahead have been made again
        return task

    async def delete_task(self, task_id: int, *, force: bool = False, by: str) -> None:
        async def delete(tx: Tx) -> Aftermath:
            task, aftermath = await edit.delete_task(
                tx,
                task_id,
                force=force,
                by=by,
                look_ahead=self.look_ahead,
                lease_seconds=self.lease_seconds,
                author=self._author,
            )
            await self._record(
                tx,
                "delete",
                "task",
                task_id,
                summary=_named(task),
                payload={"force": force},
                before=audit.task_seen(task),
            )
            return aftermath

        await self._change(delete)
        self._hints.ring(Hint.TASKS, [task_id])
        self._hints.ring(Hint.INSTANCES)  # what had not started was cancelled

    async def declare(self, declarations: Sequence[Declaration], *, app: str, release: int) -> Declared:
        timing = declare.Timing(self.look_ahead, self.lease_seconds)
        author = self._author or Author(id=owner_of(app), name=owner_of(app))

        async def write(tx: Tx) -> declare.Written:
            done = await declare.declare(tx, declarations, app=app, release=release, timing=timing)
            await audit.record(tx, author, [_declared(before, after, release) for before, after in done.tasks])
            return done

        declared, _, aftermath = await self._write(write)
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        self._hints.ring(Hint.TASKS)
        return declared

    async def get_task(self, task_id: int) -> Task:
        task = (await self._read(lambda tx: definitions.tasks_by_id(tx, [task_id]))).get(task_id)
        if task is None or task.deleted_at is not None:
            raise NotFound("task", task_id)
        reach.require(self._author, f"task {task_id}", task.group)
        return task

    async def find_task(self, name: str) -> Task:
        task = await self._read(lambda tx: task_listing.task_by_name(tx, name))
        if task is None:
            raise NotFound("task", name)
        return task

    async def list_tasks(
        self, wanted: TaskFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Task]:
        return await self._read(
            lambda tx: task_listing.list_tasks(tx, wanted or TaskFilter(), limit=limit, cursor=cursor)
        )

    async def list_versions(self, task_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[TaskVersion]:
        return await self._read(lambda tx: task_listing.list_versions(tx, task_id, limit=limit, cursor=cursor))

    async def definitions(self, wanted: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        return await self._look(wanted)


def _named(task: Task) -> str:
    return f"task {task.name!r}"


def _declared(before: Task | None, after: Task, release: int) -> Change:
    return Change(
        action="create" if before is None else "edit",
        resource_type="task",
        resource_id=str(after.id),
        summary=_named(after),
        payload={"declared_by": after.managed_by, "release": release},
        before=None if before is None else audit.task_seen(before),
        after=audit.task_seen(after),
    )
