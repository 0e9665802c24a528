"""`/api/v1/tasks`: what to run and when; and running it by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel
from starlette.responses import Response

from hourhand.api.allowed import refuse_privileged
from hourhand.api.guarding import guarded_router
from hourhand.api.instances import submitted
from hourhand.api.operation_payloads import may_be_operation
from hourhand.api.requests import Caller, TheGroups, ThePage, ThePayloads, TheReach, TheStore
from hourhand.api.schedules import PreviewOutput, previewed
from hourhand.api.shapes import SUBMITTED, TASK, TASKS, VERSIONS, Plain, plain
from hourhand.api.task_inputs import (
    BackfillInput,
    NewTask,
    NewTasks,
    RunInput,
    TaskEdit,
    names_owner,
    refuse_not_for_people,
    refuse_owner,
    split_version,
)
from hourhand.model.access import Principal
from hourhand.model.errors import FieldError, InvalidInput, NotFound
from hourhand.model.filters import TaskFilter
from hourhand.model.instance import Submission
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import Role, TaskType, TriggeredBy
from hourhand.rules.definition import changes_from, definition_from
from hourhand.rules.pausing import NOTHING, rests_of
from hourhand.rules.redaction import redacted
from hourhand.rules.schedule import After, parse
from hourhand.rules.upcoming import upcoming as fires

router = guarded_router(prefix="/tasks", tags=["tasks"])


class Made(BaseModel):
    """How many instances a backfill has made."""

    made: int


@router.post("", status_code=201, response_model=TASK, summary="Create a task")
async def create_task(
    given: NewTask, store: TheStore, caller: Caller, *, reach: TheReach, payloads: ThePayloads, response: Response
) -> Plain:
    """Refused as a whole when anything about it is wrong, with everything that is."""
    refuse_not_for_people(given)
    definition = definition_from(given)
    reach.group(definition.group)
    refuse_privileged(caller, definition.type, definition.payload)
    await payloads.check(caller, definition.type, definition.payload)
    task = await store.create_task(definition, by=caller.name)
    response.headers["Location"] = f"/api/v1/tasks/{task.id}"
    return plain(task)


@router.post("/batch", status_code=201, response_model=TASKS, summary="Create tasks, all or none")
async def create_tasks(
    given: NewTasks, store: TheStore, caller: Caller, reach: TheReach, payloads: ThePayloads
) -> Plain:
    """Refused as a whole when anything is wrong with any of them, or when a name is taken.

    An `Idempotency-Key` is not needed: their names keep them from being made twice.
    """
    definitions = await asyncio.to_thread(_read, given.tasks)  # of hundreds it takes its time
    for place, definition in enumerate(definitions):
        reach.group(definition.group)
        refuse_privileged(caller, definition.type, definition.payload)
        try:
            await payloads.check(caller, definition.type, definition.payload)
        except InvalidInput as refused:
            raise refused.within(f"tasks.{place}") from None
    made = await store.create_tasks(definitions, by=caller.name)
    return {"items": [plain(task) for task in made], "next_cursor": None}


def _read(given: list[dict[str, Any]]) -> list[TaskDefinition]:
    """Everything that is wrong with any of them, by its place."""
    found: list[TaskDefinition] = []
    errors: list[FieldError] = []
    for place, one in enumerate(given):
        try:
            refuse_not_for_people(one)
            found.append(definition_from(one))
        except InvalidInput as refused:
            errors += refused.within(f"tasks.{place}").errors
    if errors:
        raise InvalidInput(errors)
    return found


@router.get("", response_model=TASKS, summary="Tasks by name")
async def list_tasks(
    store: TheStore,
    groups: TheGroups,
    page: ThePage,
    caller: Caller,
    reach: TheReach,
    *,
    q: Annotated[str | None, Query(max_length=200, description="A part of the name, in any case")] = None,
    name: Annotated[str | None, Query(max_length=200, description="The whole name")] = None,
    enabled: Annotated[bool | None, Query()] = None,
    group: Annotated[str | None, Query(max_length=200, description="A group's name")] = None,
    type: Annotated[TaskType | None, Query()] = None,  # noqa: A002 - the word of the interface
    exclude: Annotated[
        str | None, Query(max_length=200, description="A part that the name must not have, in any case")
    ] = None,
    owner: Annotated[str | None, Query(max_length=200, description="The whole of it")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="One of its tags")] = None,
) -> Plain:
    """Deleted ones are not listed."""
    if group is not None:
        reach.group(group)
        await groups.id_of(group)
    within = None if caller.groups is None else tuple(sorted(caller.groups))
    wanted = TaskFilter(
        q=q,
        exclude=exclude or None,
        name=name,
        enabled=enabled,
        group=group,
        groups=within,
        type=type,
        owner=owner,
        tag=tag,
    )
    found = await store.list_tasks(wanted, limit=page.limit, cursor=page.cursor)
    return {"items": [_seen(task, caller) for task in found.items], "next_cursor": found.next_cursor}


@router.get("/{task_id}", response_model=TASK, summary="One task")
async def get_task(task_id: int, store: TheStore, caller: Caller) -> Plain:
    """As it stands now; who may not write tasks does not see what looks like a secret in its payload."""
    return _seen(await store.get_task(task_id), caller)


def _seen(task: Task, caller: Principal) -> Plain:
    """A payload may hold a password in its env, its headers or its words."""
    return plain(task) if caller.role.includes(Role.EDITOR) else plain(replace(task, payload=redacted(task.payload)))


@router.patch("/{task_id}", response_model=TASK, summary="Change some fields of a task")
async def edit_task(
    task_id: int, given: TaskEdit, store: TheStore, caller: Caller, *, reach: TheReach, payloads: ThePayloads
) -> Plain:
    """Make a new version; with a `version` that is not the newest it is refused (409)."""
    changes, version = split_version(given)
    if isinstance(changes.get("group"), str):
        reach.group(changes["group"])
    guarded = ("payload" in changes or "type" in changes) and (
        caller.role is not Role.ADMIN or may_be_operation(changes)
    )
    if guarded or names_owner(changes):
        before = await store.get_task(task_id)
        refuse_owner(changes, before.managed_by)
        read = changes_from(changes)
        if guarded:
            kind, payload = read.get("type", before.type), read.get("payload", before.payload)
            refuse_privileged(caller, kind, payload)
            await payloads.check(caller, kind, payload)
        version = before.version if version is None else version  # what was looked at is what is changed
    return plain(await store.edit_task(task_id, changes, expected_version=version, by=caller.name))


@router.delete("/{task_id}", status_code=204, summary="Delete a task")
async def delete_task(
    task_id: int,
    store: TheStore,
    caller: Caller,
    *,
    force: Annotated[bool, Query(description="Although other tasks depend on it")] = False,
) -> None:
    """Mark it deleted; what has not started is cancelled, what runs goes on."""
    await store.delete_task(task_id, force=force, by=caller.name)


@router.get("/{task_id}/versions", response_model=VERSIONS, summary="A task's definitions, newest first")
async def list_versions(task_id: int, store: TheStore, page: ThePage, caller: Caller) -> Plain:
    """Those of a deleted task too; not those of its time in a group out of reach, so that a page may have few items."""
    found = await store.list_versions(task_id, limit=page.limit, cursor=page.cursor)
    if not found.items and page.cursor is None:
        raise NotFound("task", task_id)
    seen = [version for version in found.items if caller.reaches(version.definition.group)]
    if not caller.role.includes(Role.EDITOR):
        seen = [replace(one, definition=_masked(one.definition)) for one in seen]
    return {"items": [plain(version) for version in seen], "next_cursor": found.next_cursor}


def _masked(definition: TaskDefinition) -> TaskDefinition:
    return replace(definition, payload=redacted(definition.payload))


@router.get("/{task_id}/upcoming", summary="When a task fires next")
async def upcoming(
    task_id: int, store: TheStore, count: Annotated[int, Query(ge=1, le=100, description="How many instants")] = 10
) -> PreviewOutput:
    """Answer with the instants that have not become instances yet, and what is to be known about them.

    Those that fall into a pause or a maintenance window are left out, and a note says how many.
    """
    task = await store.get_task(task_id)
    schedule = parse(task.schedule, task.timezone)
    start = task.next_fire_at or await store.now()
    seen = previewed(schedule, start - timedelta(microseconds=1), count, anchor=task.anchored_at)
    if not task.enabled:
        return PreviewOutput(instants=[], description=seen.description, notes=["it is disabled and does not fire"])
    if isinstance(schedule, After):
        due = [] if task.next_fire_at is None else [task.next_fire_at]
        return PreviewOutput(instants=due, description=seen.description, notes=["each depends on the end of the last"])
    if task.next_fire_at is None:
        return PreviewOutput(instants=[], description=seen.description, notes=seen.notes)
    rests = rests_of(await store.rests_of_task(task_id), task.id, task.group_id)
    if rests == NOTHING:
        return seen
    firing = fires(schedule, task.next_fire_at, count, task.anchored_at, rests)
    return PreviewOutput(
        instants=list(firing.instants), description=seen.description, notes=[*seen.notes, *firing.notes]
    )


@router.post("/{task_id}/run", status_code=202, response_model=SUBMITTED, summary="Run a task by hand")
async def run_task(
    task_id: int, store: TheStore, groups: TheGroups, caller: Caller, given: RunInput | None = None
) -> Plain:
    """Answer with the new instance, or with the living one that has the same `key`: `existing` says which.

    Of a broadcast task it is the first of one per executor.
    """
    given = given or RunInput()
    return await submitted(
        store,
        groups,
        Submission(
            task_id=task_id,
            args=given.args,
            priority=given.priority,
            run_at=given.run_at,
            key=given.key,
            wait=given.wait,
            triggered_by=TriggeredBy.MANUAL,
            requested_by=caller.name,
        ),
    )


@router.post("/{task_id}/backfill", status_code=202, summary="Make the missing instants of a range")
async def backfill(task_id: int, given: BackfillInput, store: TheStore, caller: Caller) -> Made:
    """Make only instants that were never made and lie before the next one to come."""
    return Made(made=await store.backfill(task_id, given.begin, given.end, by=caller.name))
