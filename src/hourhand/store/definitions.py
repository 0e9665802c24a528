"""Store: tasks and their versions, read; executors and decisions cache versions, which never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Integer, select

from hourhand.model.task import Task, TaskDefinition
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.rows import definition_of, readable, task_of
from hourhand.store.schema import groups, task_dependencies, task_versions, tasks
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id

SELECT_TASKS = select(tasks, groups.c.name.label("group")).join(groups, groups.c.id == tasks.c.group_id)
_BY_IDS = Statement(SELECT_TASKS.where(any_of(tasks.c.id, "ids")))
# No join here: PostgreSQL would join a task that was moved while we waited with its old group, and lose it.
_locked = (
    select(tasks, select(groups.c.name).where(groups.c.id == tasks.c.group_id).scalar_subquery().label("group"))
    .where(any_of(tasks.c.id, "ids"))
    .order_by(tasks.c.id)
)
_LOCK_BY_IDS = Statement(_locked.with_for_update(of=tasks))
_SHARE_BY_IDS = Statement(_locked.with_for_update(read=True, of=tasks))
DEPENDENCIES = Statement(
    select(task_dependencies)
    .where(any_of(task_dependencies.c.task_id, "ids"))
    .order_by(task_dependencies.c.task_id, task_dependencies.c.depends_on_id)
)
_VERSIONS_WANTED = records("wanted", {"task_id": Id, "version": Integer()})
_VERSIONS = Statement(
    select(task_versions.c.task_id, task_versions.c.version, task_versions.c.definition).join(
        _VERSIONS_WANTED,
        (task_versions.c.task_id == _VERSIONS_WANTED.c.task_id)
        & (task_versions.c.version == _VERSIONS_WANTED.c.version),
    )
)
_CACHED = 10_000
MOST_VERSIONS = 2**31 - 1


async def with_dependencies(tx: Tx, rows: Sequence[Row]) -> list[Task]:
    """The tasks of these rows, in their order; those that cannot be read are left out (guarantee 10)."""
    dependencies = await _dependencies(tx, rows)
    return readable(rows, lambda row: task_of(row, dependencies[row["id"]]))


async def whole(tx: Tx, rows: Sequence[Row]) -> list[Task]:
    """The same for who needs all of them: one that cannot be read is refused, by name."""
    dependencies = await _dependencies(tx, rows)
    return [task_of(row, dependencies[row["id"]]) for row in rows]


async def _dependencies(tx: Tx, rows: Sequence[Row]) -> dict[int, list[int]]:
    """One statement for the dependencies of all."""
    dependencies: dict[int, list[int]] = {row["id"]: [] for row in rows}
    if rows:
        for row in await tx.fetch(DEPENDENCIES, ids=list(dependencies)):
            dependencies[row["task_id"]].append(row["depends_on_id"])
    return dependencies


async def tasks_by_id(tx: Tx, ids: Iterable[int]) -> dict[int, Task]:
    """As they stand now; unknown ids are left out, deleted tasks are not."""
    wanted = sorted(one for one in set(ids) if possible(one))
    return {task.id: task for task in await whole(tx, await tx.fetch(_BY_IDS, ids=wanted) if wanted else [])}


async def lock_tasks(tx: Tx, ids: Iterable[int], *, share: bool = False, unreadable: bool = False) -> dict[int, Task]:
    """The same under a lock, in ascending order; shared locks keep edits out but let other settlers in.

    With `unreadable` there may be some that cannot be read; they are left out, instead of being refused.
    """
    wanted = sorted(one for one in set(ids) if possible(one))
    if not wanted:
        return {}
    rows = await tx.fetch(_SHARE_BY_IDS if share else _LOCK_BY_IDS, ids=wanted)
    if any(row["group"] is None for row in rows):  # made since the statement began, or gone with its deleted tasks
        rows = sorted(await tx.fetch(_BY_IDS, ids=[row["id"] for row in rows]), key=lambda row: int(row["id"]))
    return {task.id: task for task in await (with_dependencies if unreadable else whole)(tx, rows)}


class Versions:
    """A cache of task versions, by (task id, version)."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[int, int], TaskDefinition] = OrderedDict()

    def known(self, wanted: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        """Those that need not be read."""
        return {key: found for key in wanted if (found := self._cache.get(key)) is not None}

    async def get(self, tx: Tx, wanted: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        """The definitions, read in one statement where they are not cached; what cannot be read is left out.

        Guarantee 10: a newer release may have written a version; its instances must not hold up those of others.
        """
        keys = {key for key in wanted if possible(key[0]) and possible(key[1], most=MOST_VERSIONS)}
        # Looked up once each: SQLite's reader and writer threads share this, and either may evict.
        found = {key: known for key in keys if (known := self._cache.get(key)) is not None}
        if missing := keys - found.keys():
            rows = await tx.fetch(_VERSIONS, wanted=[{"task_id": key[0], "version": key[1]} for key in missing])
            fresh = dict(readable(rows, lambda row: ((row["task_id"], row["version"]), definition_of(row))))
            found |= fresh
            self._cache |= fresh
            while len(self._cache) > _CACHED:
                self._cache.popitem(last=False)
        return found

    async def require(self, tx: Tx, task_id: int, version: int) -> TaskDefinition:
        """The one definition that is needed; refused if it cannot be read."""
        found = self._cache.get((task_id, version))
        if found is None:
            (row,) = await tx.fetch(_VERSIONS, wanted=[{"task_id": task_id, "version": version}])
            found = definition_of(row)
        return found
