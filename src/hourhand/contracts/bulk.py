"""Contracts: many tasks or instances at once, by filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.graph import Graph, Impact
from hourhand.model.task import Task, TaskDefinition


class Bulk(Protocol):
    """Many at once."""

    async def create_tasks(self, definitions: Sequence[TaskDefinition], *, by: str) -> list[Task]:
        """Write these tasks, all or none, each as `create_task` would; in the order in which they are given.

        What is wrong with one is refused by its place, such as `tasks.3.schedule`.
        """

    async def count_tasks(self, wanted: TaskFilter, *, most: int) -> int:
        """How many there are; `most` when there are at least as many."""

    async def count_instances(self, wanted: InstanceFilter, *, most: int) -> int:
        """The same for instances of the status that the filter names."""

    async def cancel_many(self, ids: Sequence[int], *, reason: str) -> list[int]:
        """Cancel those of these that live, in one transaction; which ones."""

    async def groups_of(self, ids: Sequence[int]) -> Mapping[int, str]:
        """The names of the groups of these instances, living or ended; those that there are not are left out."""

    async def graph(self, *, task_id: int | None = None, group_ids: Sequence[int] | None = None) -> Graph:
        """What depends on what: around one task, within some groups, or all of it."""

    async def impact(self, task_id: int, *, group_ids: Collection[int] | None = None) -> Impact:
        """What a failure of a task would block, directly and by what it blocks; of some groups, or of all."""
