"""A small language for the contract suite: tasks, executors and what they do, in one line each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.registry import Executor
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.store.statements import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hourhand.model.instance import Assignment, Finished
    from hourhand.model.task import Task
    from hourhand.store import Store


@dataclass
class World:
    """A store and shorthand for what people, programs and executors do with it."""

    store: Store
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def task(self, name: str | None = None, **changes: Any) -> Task:
        """Create a task; by default a command that is run by hand."""
        values: dict[str, Any] = {
            "name": name or f"task-{next(self._numbers)}",
            "type": TaskType.COMMAND,
            "payload": {"command": ["true"]},
            **changes,
        }
        return await self.store.create_task(TaskDefinition(**values), by="test")

    async def executor(self, name: str = "e1", **changes: Any) -> str:
        """Register an executor."""
        await self.store.register(Executor(id=name, group=changes.pop("group", "default"), **changes))
        return name

    async def submit(self, task: Task, **changes: Any) -> int:
        """Submit one instance."""
        (submitted,) = await self.store.submit([Submission(task_id=task.id, **changes)])
        return submitted.instance_id

    async def claim(self, executor: str = "e1", *, limit: int = 500, take_lost: bool = True) -> list[Assignment]:
        """Beat, to learn the lanes, and claim."""
        beat = await self.store.beat(executor)
        return await self.store.claim(executor, beat.lanes, limit=limit, take_lost=take_lost)

    async def end(
        self, claimed: Iterable[Assignment], kind: OutcomeKind = OutcomeKind.SUCCESS, **more: Any
    ) -> list[Finished]:
        """Report the same outcome for all of these."""
        return await self.store.finish(endings(claimed, kind, **more))

    @staticmethod
    def ending(instance_id: int, fence: int, kind: OutcomeKind) -> Ending:
        """One outcome of an attempt that somebody else claimed."""
        return Ending(instance_id=instance_id, fence=fence, outcome=Outcome(kind=kind))

    async def run_all(self, executor: str = "e1", kind: OutcomeKind = OutcomeKind.SUCCESS) -> list[Assignment]:
        """Claim and end until nothing is left to claim."""
        done: list[Assignment] = []
        while claimed := await self.claim(executor):
            await self.end(claimed, kind)
            done += claimed
        return done

    async def sql(self, query: str, **params: Any) -> Sequence[Any]:
        """Read with plain SQL; the rows as mappings on PostgreSQL, as tuples' mappings on SQLite."""
        if self.store.database.dialect == "sqlite":
            return await self.store.database.read(lambda tx: _raw(tx, query, params))
        return await self.store.database.read(lambda tx: tx.fetch(Statement(text(query)), **params))

    async def execute(self, query: str, **params: Any) -> int:
        """Change with plain SQL what no verb changes, such as the past."""
        return await self.store.database.write(lambda tx: tx.run(Statement(text(query)), **params))

    async def count(self, table: str, where: str = "1 = 1") -> int:
        """Count rows."""
        (row,) = await self.sql(f"SELECT count(*) AS n FROM {table} WHERE {where}")  # noqa: S608 - a test's own words
        return int(row["n"])


async def _raw(tx: Any, query: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = tx._connection.execute(query, params)  # noqa: SLF001 - plain SQL is the point here
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def endings(claimed: Iterable[Assignment], kind: OutcomeKind = OutcomeKind.SUCCESS, **more: Any) -> list[Ending]:
    """The same outcome for all of these."""
    return [Ending(instance_id=one.instance_id, fence=one.fence, outcome=Outcome(kind=kind, **more)) for one in claimed]
