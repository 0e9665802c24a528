"""`/api/v1/tasks/bulk` and `/api/v1/instances/bulk`: many at once, by filter; a dry run counts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Id, Input, Instant, example
from hourhand.api.requests import Caller, TheGroups, TheReach, TheStore
from hourhand.contracts.store import Store
from hourhand.model.errors import Conflict, Forbidden, Gone, HourhandError, InvalidInput, NotFound
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.instance import Instance
from hourhand.model.task import Task
from hourhand.model.words import Status, TaskType, TriggeredBy
from hourhand.rules.endings import cancelled

router = guarded_router()
MOST = 10_000
"""So many are changed by one request; the answer says whether there are more."""
MOST_COUNTED = 100_000
SHOWN = 20
_PAGE = 200
_EVERYTHING = "an empty filter means everything: if that is meant, say so with `all: true`"


class TaskChoice(Input):
    """Which tasks; those that all of it fits."""

    q: str | None = Field(default=None, max_length=200, description="A part of the name, in any case")
    enabled: bool | None = Field(default=None, strict=True)
    group: str | None = Field(default=None, max_length=200, examples=["billing"])
    type: TaskType | None = None
    exclude: str | None = Field(default=None, max_length=200, description="A part that the name must not have")
    owner: str | None = Field(default=None, max_length=200)
    tag: str | None = Field(default=None, max_length=200, description="One of its tags")
    all: bool = Field(default=False, strict=True, description="Really all of them")


class TasksInput(Input):
    """What to do with which tasks."""

    model_config = example(action="disable", filter={"group": "billing"}, dry_run=True)

    action: Literal["enable", "disable", "delete"]
    filter: TaskChoice
    dry_run: bool = Field(default=False, strict=True, description="Only count")
    force: bool = Field(default=False, strict=True, description="Delete although other tasks depend on it")


class InstanceChoice(Input):
    """Which instances; those that all of it fits."""

    task_id: Id | None = None
    status: Status | None = Field(default=None, description="Unless given: all that live, or to retry, what failed")
    group: str | None = Field(default=None, max_length=200)
    type: TaskType | None = None
    q: str | None = Field(default=None, max_length=200, description="A part of the task's name, in any case")
    exclude: str | None = Field(default=None, max_length=200, description="A part that the task's name must not have")
    owner: str | None = Field(default=None, max_length=200, description="The task's owner")
    executor_id: str | None = Field(default=None, max_length=500)
    data_source_id: Id | None = None
    triggered_by: TriggeredBy | None = None
    args: str | None = Field(
        default=None, max_length=200, description="A part of the arguments, as JSON, in any case; blanks do not count"
    )
    error: str | None = Field(
        default=None, max_length=200, description="A part of the `error_message`, in any case; to retry only"
    )
    begin: Instant | None = Field(default=None, alias="from")
    end: Instant | None = Field(default=None, alias="to")
    all: bool = Field(default=False, strict=True, description="Really all of them")


class InstancesInput(Input):
    """What to do with which instances."""

    model_config = example(action="cancel", filter={"task_id": 7, "status": "pending"}, reason="wrong data")

    action: Literal["cancel", "retry"]
    filter: InstanceChoice
    reason: str | None = Field(default=None, max_length=1_000, description="Why they are cancelled")
    dry_run: bool = Field(default=False, strict=True, description="Only count")


class Refused(BaseModel):
    """One that was left as it is, and why."""

    id: int
    message: str


class Bulk(BaseModel):
    """What was found and done."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"dry_run": False, "matched": 3, "done": 2, "refused": [{"id": 7, "message": "…"}], "more": False}
            ]
        }
    )

    dry_run: bool
    matched: int = Field(description=f"How many the filter fits; {MOST_COUNTED} when there are at least as many")
    done: int
    refused: list[Refused] = Field(description=f"At most {SHOWN} of those that were left as they are")
    more: bool = Field(description=f"Whether there are more than the {MOST} that one request changes")


async def _tasks(given: TasksInput, groups: TheGroups, caller: Caller, reach: TheReach) -> TaskFilter:
    choice = given.filter
    _refuse_everything(choice)
    if choice.group is not None:
        reach.group(choice.group)
        await groups.id_of(choice.group)
    within = None if caller.groups is None else tuple(sorted(caller.groups))
    return TaskFilter(
        q=choice.q,
        exclude=choice.exclude or None,
        enabled=choice.enabled,
        group=choice.group,
        groups=within,
        type=choice.type,
        owner=choice.owner,
        tag=choice.tag,
    )


async def _instances(given: InstancesInput, groups: TheGroups, reach: TheReach) -> InstanceFilter:
    choice = given.filter
    _refuse_everything(choice)
    if choice.group is not None:
        reach.group(choice.group)
    if choice.task_id is not None:
        await reach.task(choice.task_id)
    return InstanceFilter(
        task_id=choice.task_id,
        status=choice.status,
        group_id=None if choice.group is None else await groups.id_of(choice.group),
        group_ids=await reach.group_ids(),
        type=choice.type,
        q=choice.q,
        exclude=choice.exclude or None,
        owner=choice.owner,
        executor_id=choice.executor_id,
        data_source_id=choice.data_source_id,
        triggered_by=choice.triggered_by,
        args=choice.args,
        error=choice.error,
        begin=choice.begin,
        end=choice.end,
    )


def _refuse_everything(choice: TaskChoice | InstanceChoice) -> None:
    given = choice.model_dump(exclude_none=True, exclude={"all"}).values()
    # An empty text is a part of every other: it leaves nothing out.
    if not choice.all and all(isinstance(one, str) and not one.strip() for one in given):
        raise InvalidInput.one("filter", {}, _EVERYTHING)


class _Tally:
    """What was done so far."""

    def __init__(self) -> None:
        self.done = 0
        self.refused: list[Refused] = []
        self.left = 0

    async def try_each(self, number: int, change: Awaitable[object]) -> None:
        """Count one that is changed, and note one that is refused."""
        try:
            await change
            self.done += 1
        except (Conflict, NotFound, Gone, Forbidden, InvalidInput) as error:
            self.refuse(number, error)

    def refuse(self, number: int, error: HourhandError) -> None:
        self.left += 1
        if len(self.refused) < SHOWN:
            self.refused.append(Refused(id=number, message=str(error)))

    @property
    def seen(self) -> int:
        return self.done + self.left

    def answer(self, *, more: bool) -> Bulk:
        return Bulk(dry_run=False, matched=self.seen, done=self.done, refused=self.refused, more=more)


@router.post("/tasks/bulk", tags=["tasks"], summary="Enable, disable or delete tasks by filter")
async def change_tasks(
    given: TasksInput, store: TheStore, caller: Caller, wanted: Annotated[TaskFilter, Depends(_tasks)]
) -> Bulk:
    """Each in a transaction of its own, so that one that cannot be changed keeps no other from it."""
    if given.action != "delete":
        wanted = _still_to_change(wanted, enabled=given.action == "enable")
    if given.dry_run:
        found = await store.count_tasks(wanted, most=MOST_COUNTED)
        return Bulk(dry_run=True, matched=found, done=0, refused=[], more=found > MOST)

    def change(task: Task) -> Awaitable[object]:
        if given.action == "delete":
            return store.delete_task(task.id, force=given.force, by=caller.name)
        return store.edit_task(task.id, {"enabled": given.action == "enable"}, by=caller.name)

    tally = _Tally()
    async for task in _each_task(store, wanted):
        if tally.seen == MOST:
            return tally.answer(more=True)
        await tally.try_each(task.id, change(task))
    return tally.answer(more=False)


def _still_to_change(wanted: TaskFilter, *, enabled: bool) -> TaskFilter:
    """Those that are not yet as they shall be; of those that are, none is to be changed."""
    if wanted.enabled == enabled:
        word = "enabled" if enabled else "disabled"
        raise InvalidInput.one("filter.enabled", enabled, f"those are {word} already: leave it out, or turn it round")
    return replace(wanted, enabled=not enabled)


async def _each_task(store: Store, wanted: TaskFilter) -> AsyncIterator[Task]:
    cursor: str | None = None
    while True:
        page = await store.list_tasks(wanted, limit=_PAGE, cursor=cursor)
        for task in page.items:
            yield task
        cursor = page.next_cursor
        if cursor is None:
            return


@router.post("/instances/bulk", tags=["instances"], summary="Cancel or retry instances by filter")
async def change_instances(
    given: InstancesInput, store: TheStore, caller: Caller, wanted: Annotated[InstanceFilter, Depends(_instances)]
) -> Bulk:
    """Newest first; those that are made meanwhile are left alone."""
    legal = [each for each in Status if each.ended == (given.action == "retry") and each is not Status.SUCCESS]
    if wanted.status is not None and wanted.status not in legal:
        words = ", ".join(each.value for each in legal)
        raise InvalidInput.one(
            "filter.status",
            wanted.status.value,
            f"to {given.action} {wanted.status.value} ones is no use: give {words}",
        )
    if wanted.error is not None and given.action == "cancel":
        raise InvalidInput.one("filter.error", wanted.error, "what has not ended has no error: leave it out")
    if wanted.status is None and given.action == "retry":
        wanted = replace(wanted, status=Status.FAILED)
    if given.dry_run:
        each = legal if wanted.status is None else [wanted.status]
        found = sum([await store.count_instances(replace(wanted, status=one), most=MOST_COUNTED) for one in each])
        return Bulk(dry_run=True, matched=min(found, MOST_COUNTED), done=0, refused=[], more=found > MOST)
    if given.action == "retry":
        return await _retry(store, wanted)
    return await _cancel(store, wanted, given.reason or cancelled(caller.name))


async def _retry(store: Store, wanted: InstanceFilter) -> Bulk:
    tally = _Tally()
    async for page in _pages(store, wanted, lambda one: one.status.ended):
        for one in page:
            if tally.seen == MOST:
                return tally.answer(more=True)
            await tally.try_each(one.id, store.retry(one.id))
    return tally.answer(more=False)


async def _cancel(store: Store, wanted: InstanceFilter, reason: str) -> Bulk:
    tally = _Tally()
    # Only those: what is rare would be looked for among all that has ever ended.
    async for page in _pages(store, replace(wanted, ended=False), lambda one: not one.status.ended):
        if tally.seen >= MOST:
            return tally.answer(more=True)
        ids = [one.id for one in page]
        cancelled = set(await store.cancel_many(ids, reason=reason))
        tally.done += len(cancelled)
        for one in ids:
            if one not in cancelled:
                tally.refuse(one, Conflict(f"instance {one} has ended meanwhile"))
    return tally.answer(more=False)


async def _pages(
    store: Store, wanted: InstanceFilter, fits: Callable[[Instance], bool]
) -> AsyncIterator[list[Instance]]:
    """The living come before the ended: after the first that does not fit there is no other that does."""
    cursor: str | None = None
    while True:
        page = await store.list_instances(wanted, limit=_PAGE, cursor=cursor)
        fitting = [one for one in page.items if fits(one)]
        if fitting:
            yield fitting
        cursor = page.next_cursor
        if cursor is None or len(fitting) < len(page.items):
            return
