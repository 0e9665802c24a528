"""`/api/v1/tasks/apply` and `/api/v1/task-file.schema.json`: tasks as a file has them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field, WithJsonSchema
from starlette.responses import JSONResponse

from hourhand.api.allowed import refuse_privileged
from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, Line, example
from hourhand.api.operation_payloads import OperationPayloads
from hourhand.api.requests import Caller, ThePayloads, TheStore
from hourhand.api.shapes import Plain, plain, shape
from hourhand.api.task_file_schema import (
    EXAMPLE,
    LONGEST_NAME,
    MOST_GROUPS,
    MOST_TASKS,
    PATH,
    file_task_schema,
    task_file_schema,
)
from hourhand.contracts.store import Store
from hourhand.model.access import Principal
from hourhand.model.errors import Conflict, FieldError, Forbidden, InvalidInput
from hourhand.model.task_file import Applied, ApplyAction, Drift, FieldChange, FileTask, TaskChange, TaskSet
from hourhand.model.words import Role
from hourhand.rules.privileges import privileged
from hourhand.rules.task_files import Read, read_tasks

router = guarded_router()
public = APIRouter(include_in_schema=False)

_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_FIELD = FieldChange(field="priority", before=9, after=5)
_DRIFT = Drift(by="bob", at=_AT, fields=("priority",))
_CHANGE = TaskChange(name="close_books", action=ApplyAction.EDIT, fields=(_FIELD,), drift=_DRIFT)
_FIELD_CHANGE = shape("FieldChange", FieldChange, plain(_FIELD))
_DRIFTED = shape("Drift", Drift, plain(_DRIFT))
_SHOWN_CHANGE = {**plain(_CHANGE), "fields": [plain(_FIELD)], "drift": plain(_DRIFT)}
_TASK_CHANGE = shape(
    "TaskChange",
    TaskChange,
    _SHOWN_CHANGE,
    fields=list[_FIELD_CHANGE],  # type: ignore[valid-type]  # made from the dataclass
    drift=_DRIFTED | None,
)
APPLIED = shape(
    "Applied",
    Applied,
    {"name": "billing", "applied": True, "plan_hash": "9f86d08…", "groups": [], "changes": [_SHOWN_CHANGE]},
    changes=list[_TASK_CHANGE],  # type: ignore[valid-type]
)
_Task = Annotated[Any, WithJsonSchema(file_task_schema())]  # refused by the rules, which tell all that is wrong


class ApplyInput(Input):
    """A set of tasks, and what to do with it."""

    model_config = example(name="billing", groups=["default"], tasks=[EXAMPLE], dry_run=True)

    name: Line = Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="Who manages its tasks: `file:` and this",
        examples=["billing"],
    )
    groups: list[Annotated[Line, Field(min_length=1)]] = Field(
        default=[], max_length=MOST_GROUPS, description="Groups that are made when they are missing"
    )
    tasks: list[_Task] = Field(max_length=MOST_TASKS, description="All of them: what is not among them is gone")
    dry_run: bool = Field(default=False, strict=True, description="Only tell what would be done")
    prune: bool = Field(default=False, strict=True, description="Delete tasks of the set that it no longer has")
    take_over: bool = Field(default=False, strict=True, description="Manage tasks that an app or another set manages")
    expected_tasks: list[Line] = Field(
        default=[],
        max_length=MOST_TASKS,
        description="Tasks of other sets that will be there by then: only a dry run takes them to be there",
    )
    expected_groups: list[Line] = Field(default=[], max_length=MOST_GROUPS, description="The same of groups")
    plan_hash: str | None = Field(
        default=None,
        max_length=200,
        description="That of a dry run: refused (409) when anything else would be done now",
    )


@public.api_route(PATH, methods=["GET", "HEAD"])
async def task_file() -> JSONResponse:
    """Answer with the schema of a file."""
    return JSONResponse(_schema(), media_type="application/schema+json")


@cache
def _schema() -> dict[str, Any]:
    return task_file_schema()


@router.post(
    "/tasks/apply", response_model=APPLIED, tags=["tasks"], summary="Make the tasks of a set as a file has them"
)
async def apply_tasks(given: ApplyInput, store: TheStore, caller: Caller, payloads: ThePayloads) -> Plain:
    """All or none, with everything that is wrong told at once; applied twice it changes nothing the second time.

    A task that somebody else changed or deleted since the last time is told as `drift` and put back.
    """
    read = await asyncio.to_thread(read_tasks, given.tasks)  # of thousands it takes its time
    wanted = TaskSet(
        name=given.name,
        tasks=read.tasks,
        groups=tuple(given.groups),
        expected_tasks=tuple(given.expected_tasks),
        expected_groups=tuple(given.expected_groups),
    )
    wrong = [*read.errors, *await _wrong_operations(payloads, caller, read)]
    if wrong:
        raise InvalidInput([*wrong, *await _also_wrong(store, replace(wanted, unread=read.unread), caller)])
    apply = partial(store.apply, wanted, by=caller.name, prune=given.prune, take_over=given.take_over)
    plan_hash = given.plan_hash
    found = {} if caller.role is Role.ADMIN else _privileged(read)
    if caller.role is not Role.ADMIN and (found or given.groups):
        seen = await apply(dry_run=True, plan_hash=plan_hash)
        _refuse_groups(caller, seen)
        _refuse_changed(caller, found, seen)
        plan_hash = seen.plan_hash  # what was looked at is what is done
    done = await apply(dry_run=given.dry_run, plan_hash=plan_hash)
    return plain(done, changes=[_told(one) for one in done.changes])


async def _wrong_operations(payloads: OperationPayloads, caller: Principal, read: Read) -> list[FieldError]:
    errors: list[FieldError] = []
    for one in read.tasks:
        definition = one.declaration.definition
        try:
            await payloads.check(caller, definition.type, definition.payload)
        except InvalidInput as refused:
            errors += refused.within(one.place).errors
    return errors


async def _also_wrong(store: Store, wanted: TaskSet, caller: Principal) -> tuple[Any, ...]:
    """What else is wrong with a set of which some tasks cannot be read."""
    try:
        await store.apply(wanted, by=caller.name, dry_run=True)
    except InvalidInput as refused:
        return refused.errors
    except (Conflict, Forbidden):
        pass  # that is told once the values are right
    return ()


def _privileged(read: Read) -> dict[str, FileTask]:
    """Those tasks that only an admin may write, by name."""
    definitions = {one.declaration.definition.name: one for one in read.tasks}
    return {
        name: one
        for name, one in definitions.items()
        if privileged(one.declaration.definition.type, one.declaration.definition.payload)
    }


def _refuse_groups(caller: Principal, seen: Applied) -> None:
    """Groups are an admin's to make, whatever way they are made."""
    if seen.groups:
        named = ", ".join(repr(name) for name in seen.groups)
        raise Forbidden(
            f"there is no group {named}, and {caller.name} has the role {caller.role}: only an admin may make groups; "
            "ask one for `hourhand group add`"
        )


def _refuse_changed(caller: Principal, found: dict[str, FileTask], seen: Applied) -> None:
    """Refuse them where they would be written; what an admin wrote may stay in the file of others."""
    for change in seen.changes:
        touched = any(each.field == "type" or each.field.startswith("payload.") for each in change.fields)
        if change.name in found and (touched or change.action is ApplyAction.CREATE):
            definition = found[change.name].declaration.definition
            refuse_privileged(caller, definition.type, definition.payload)


def _told(change: TaskChange) -> Plain:
    drift = None if change.drift is None else plain(change.drift)
    return plain(change) | {"fields": [plain(each) for each in change.fields], "drift": drift}
