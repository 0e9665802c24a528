"""Contracts: applying a set of tasks, as a task file has it."""

from __future__ import annotations

from typing import Protocol

from hourhand.model.task_file import Applied, TaskSet


class Applying(Protocol):
    """What a file says, made so."""

    async def apply(
        self,
        wanted: TaskSet,
        *,
        by: str,
        prune: bool = False,
        take_over: bool = False,
        dry_run: bool = False,
        plan_hash: str | None = None,
    ) -> Applied:
        """Make the tasks of a set as it has them, all or none; missing groups that it lists are made.

        A task that there is not is created, one that differs is edited, one that nobody managed is adopted. What
        somebody else did to the set's tasks since it was last applied is told and undone. One that the set no longer
        has stays, unless it is to `prune`. One that an app or another set manages is refused, unless it is to
        `take_over`; so is the removal of one on which others depend. A set that is so already changes nothing.

        A `dry_run` only tells. A `plan_hash` that a dry run has told, and that is no longer right, is refused. What is
        wrong with the set is refused with all of it, each by its place.
        """
