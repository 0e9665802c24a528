"""Store: the verb of task files."""

from __future__ import annotations

from dataclasses import replace

from hourhand.model.audit import Change
from hourhand.model.errors import DuplicateName
from hourhand.model.hints import Hint
from hourhand.model.task import Task
from hourhand.model.task_file import Applied, ApplyAction, TaskSet
from hourhand.rules.applying import Plan, file_owner, summary
from hourhand.store import audit, groups
from hourhand.store.apply import Made, apply
from hourhand.store.apply_plan import Asked, look
from hourhand.store.database import Tx
from hourhand.store.declare import Timing
from hourhand.store.verbs.transactions import Transactions

_TRIES = 5


class Applying(Transactions):
    """Sets of tasks, as files have them."""

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
        asked = Asked(
            by=by,
            prune=prune,
            take_over=take_over,
            plan_hash=plan_hash,
            author=self._author,
            timing=Timing(self.look_ahead, self.lease_seconds),
            versions=self._versions,
        )
        if dry_run or wanted.unread:
            looked = await self._read(lambda tx: look(tx, wanted, asked))
            return _answer(wanted, looked.plan, applied=False)
        made = await self._apply(replace(wanted, expected_tasks=(), expected_groups=()), asked)
        await self.follow(made.aftermath)
        if made.tasks:
            self._hints.ring(Hint.WAKE)
            self._hints.ring(Hint.TASKS, [_written(*pair).id for pair in made.tasks])
            self._hints.ring(Hint.INSTANCES)  # those made ahead have been made again
        if made.groups:
            self._hints.ring(Hint.GROUPS, [group.id for group in made.groups])
        return _answer(wanted, made.plan, applied=True)

    async def _apply(self, wanted: TaskSet, asked: Asked) -> Made:
        async def write(tx: Tx) -> Made:
            made = await apply(tx, wanted, asked)
            await audit.record(tx, self._author, _kept(wanted, asked, made))
            return made

        for _ in range(_TRIES - 1):
            try:
                return await self._write(write)
            except DuplicateName:
                continue  # somebody has taken the name since we looked: now it can be seen, and be planned with
        return await self._write(write)


def _answer(wanted: TaskSet, plan: Plan, *, applied: bool) -> Applied:
    return Applied(name=wanted.name, applied=applied, plan_hash=plan.hash, groups=plan.groups, changes=plan.changes)


def _kept(wanted: TaskSet, asked: Asked, made: Made) -> list[Change]:
    """What the audit keeps: each group and each task that was changed, and the whole."""
    if not made.tasks and not made.groups:
        return []
    changes = made.plan.changes
    whole = Change(
        action="apply",
        resource_type="task_file",
        resource_id=wanted.name,
        summary=f"{file_owner(wanted.name)}: {summary([one.action for one in changes])}",
        payload={"prune": asked.prune, "take_over": asked.take_over, "plan_hash": made.plan.hash},
        after={
            action.value: names
            for action in ApplyAction
            if action is not ApplyAction.UNCHANGED and (names := [one.name for one in changes if one.action is action])
        },
    )
    new = [
        Change(
            action="create",
            resource_type="group",
            resource_id=str(group.id),
            summary=f"group {group.name!r}",
            after=groups.described(group),
        )
        for group in made.groups
    ]
    return [*new, *[_task(before, after, file_owner(wanted.name)) for before, after in made.tasks], whole]


def _task(before: Task | None, after: Task | None, owner: str) -> Change:
    task = _written(before, after)
    return Change(
        action="delete" if after is None else "create" if before is None else "edit",
        resource_type="task",
        resource_id=str(task.id),
        summary=f"task {task.name!r}",
        payload={"applied_by": owner},
        before=None if before is None else audit.task_seen(before),
        after=None if after is None else audit.task_seen(after),
    )


def _written(before: Task | None, after: Task | None) -> Task:
    task = after or before
    if task is None:
        raise AssertionError("unreachable: it was there before or is now")
    return task
