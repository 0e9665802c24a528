"""`/api/v1/instances`: what was asked for or fell due, how it goes and how it went."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from hourhand.api.filters import Wanted
from hourhand.api.group_names import GroupNames
from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Id, Input, Instant, Priority, example
from hourhand.api.requests import Caller, TheGroups, ThePage, TheReach, TheStore
from hourhand.api.shapes import ATTEMPTS, INSTANCE, INSTANCES, LINE, SUBMITTED, Plain, plain
from hourhand.contracts.store import Store
from hourhand.model.answers import FoundLines
from hourhand.model.errors import FieldError, InvalidInput
from hourhand.model.filters import LineFilter
from hourhand.model.instance import Instance, LogLine, Submission
from hourhand.model.words import LineLevel, Status, TriggeredBy
from hourhand.rules.endings import cancelled, ending_attempt

router = guarded_router(prefix="/instances", tags=["instances"])
LARGEST_SEQ = 2**53
MOST_LINES = 1_000
"""A line may be a chunk of 64 KiB, so an answer has 64 MiB at the very most."""


class PlanInput(Input):
    """An instance to be made, by default held until it is dispatched."""

    task_id: Id
    args: dict[str, Any] | None = None
    priority: Priority | None = None
    run_at: Instant | None = None
    key: str | None = None
    notes: str | None = Field(default=None, max_length=10_000)
    dispatch: bool = Field(default=False, strict=True, description="Let it go on at once")


class DispatchInput(Input):
    """Instances that are held."""

    ids: list[Id] = Field(min_length=1, max_length=1_000)


class CancelInput(Input):
    """Why."""

    model_config = example(reason="the supplier sent wrong data")

    reason: str | None = Field(default=None, max_length=1_000)


class RetryInput(Input):
    """With which arguments and which version of its task; by default those it had."""

    model_config = example(args={"day": "2026-11-16"}, current_version=True)

    args: dict[str, Any] | None = None
    current_version: bool = Field(
        default=False, strict=True, description="Take the task as it is now, not as it was when this was made"
    )


class Dispatched(BaseModel):
    """How many go on."""

    dispatched: int


class Lines(BaseModel):
    """Some lines, and where to go on."""

    items: list[LINE]  # type: ignore[valid-type]  # made from the dataclass
    next_after: int = Field(description="What to ask for `after` next: the last `seq` that was looked at")
    next_before: int | None = Field(
        description="What to ask for `before` next: the first `seq` that was looked at; null where there was none"
    )
    more: bool = Field(description="Whether there may be more in the direction that was asked for")


async def shown(groups: GroupNames, instances: Sequence[Instance]) -> list[Plain]:
    """Return instances with the names of their groups."""
    names = await groups.of(instance.group_id for instance in instances)
    return [plain(instance, group=names[instance.group_id]) for instance in instances]


async def submitted(store: Store, groups: GroupNames, submission: Submission) -> Plain:
    """Submit, and return the instance, and whether it is one that was there already."""
    (made,) = await store.submit([submission])
    (found,) = await shown(groups, [await store.get_instance(made.instance_id)])
    return {**found, "existing": made.existing}


@router.get("", response_model=INSTANCES, summary="Instances, the living first, newest first")
async def list_instances(
    store: TheStore,
    groups: TheGroups,
    page: ThePage,
    wanted: Wanted,
    status: Annotated[Status | None, Query()] = None,
) -> Plain:
    """List living and ended ones in one shape.

    A page may have fewer items than its limit, or none, and still have a `next_cursor`: what is asked for is rare, and
    the next page looks further back.
    """
    found = await store.list_instances(replace(wanted, status=status), limit=page.limit, cursor=page.cursor)
    return {"items": await shown(groups, found.items), "next_cursor": found.next_cursor}


@router.post("", status_code=201, response_model=SUBMITTED, summary="Plan an instance")
async def plan(given: PlanInput, store: TheStore, groups: TheGroups, caller: Caller, reach: TheReach) -> Plain:
    """Make an instance that stays planned until it is dispatched, unless `dispatch` is true.

    While one with the same `key` lives, that one is the answer, and `existing` is true.
    """
    await reach.task(given.task_id)
    submission = Submission(
        task_id=given.task_id,
        args=given.args,
        priority=given.priority,
        run_at=given.run_at,
        key=given.key,
        notes=given.notes,
        held=not given.dispatch,
        triggered_by=TriggeredBy.API,
        requested_by=caller.name,
    )
    try:
        return await submitted(store, groups, submission)
    except InvalidInput as refused:  # in the words of this request
        raise InvalidInput(
            FieldError("dispatch", given.dispatch, each.message) if each.field == "held" else each
            for each in refused.errors
        ) from None


@router.post("/dispatch", summary="Let held instances go on, all or none")
async def dispatch_many(given: DispatchInput, store: TheStore, reach: TheReach) -> Dispatched:
    """Refuse all (409) when one of them does not wait to be dispatched."""
    await reach.instances(given.ids)
    await store.dispatch(given.ids)
    return Dispatched(dispatched=len(set(given.ids)))


@router.get("/{instance_id}", response_model=INSTANCE, summary="One instance")
async def get_instance(instance_id: int, store: TheStore, groups: TheGroups) -> Plain:
    """Living or ended; 410 once retention has removed it."""
    return (await shown(groups, [await store.get_instance(instance_id)]))[0]


@router.post("/{instance_id}/dispatch", response_model=INSTANCE, summary="Let a held instance go on")
async def dispatch(instance_id: int, store: TheStore, groups: TheGroups) -> Plain:
    """Answer with the instance as it is then."""
    await store.dispatch([instance_id])
    return (await shown(groups, [await store.get_instance(instance_id)]))[0]


@router.post("/{instance_id}/cancel", response_model=INSTANCE, summary="Cancel an instance")
async def cancel(
    instance_id: int, store: TheStore, groups: TheGroups, caller: Caller, given: CancelInput | None = None
) -> Plain:
    """End what has not started; ask what runs to stop. Refused (409) once it has ended."""
    reason = (given and given.reason) or cancelled(caller.name)
    return (await shown(groups, [await store.cancel(instance_id, reason=reason)]))[0]


@router.post("/{instance_id}/retry", response_model=INSTANCE, summary="Retry an instance")
async def retry(instance_id: int, store: TheStore, groups: TheGroups, given: RetryInput | None = None) -> Plain:
    """Revive what failed or was cancelled, with its id and checkpoint and, unless told otherwise, its version."""
    given = given or RetryInput()
    revived = await store.retry(instance_id, args=given.args, current_version=given.current_version)
    return (await shown(groups, [revived]))[0]


@router.get("/{instance_id}/attempts", response_model=ATTEMPTS, summary="The attempts at an instance, oldest first")
async def list_attempts(instance_id: int, store: TheStore) -> Plain:
    """Those that led to another one, and last the one that runs or that ended it."""
    instance = await store.get_instance(instance_id)
    items = [plain(each) for each in await store.list_attempts(instance_id)]
    if instance.start_time is not None:
        items.append(
            {
                "instance_id": instance.id,
                "fence": instance.fence,
                "executor_id": instance.executor_id,
                "start_time": instance.start_time,
                "end_time": instance.end_time,
                "outcome": ending_attempt(instance.status, instance.error_message) if instance.status.ended else None,
                "error_message": instance.error_message,
            }
        )
    return {"items": items, "next_cursor": None}


@router.get("/{instance_id}/logs", summary="What an instance wrote")
async def read_lines(
    instance_id: int,
    store: TheStore,
    *,
    after: Annotated[int, Query(ge=-1, le=LARGEST_SEQ, description="The last `seq` that is known already")] = -1,
    before: Annotated[
        int | None, Query(ge=0, le=LARGEST_SEQ, description="The last lines before this `seq`, not the first after")
    ] = None,
    level: Annotated[
        LineLevel | None, Query(description="Of at least this level; an exception, or stderr, is an error")
    ] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="With this text in the message or the exception, in any case")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LINES)] = 200,
) -> Lines:
    """Ask again with `after` = `next_after` for what has been written since.

    With `before` = 9007199254740992 it is the end of the log; with `next_before`, what comes before. With `level` or
    `q` up to 20,000 lines are looked at: there may be few items, or none, and `more` of them further on. What a
    command writes has the level info; that it was written to stderr makes it an error to this filter.
    """
    if level is None and q is None:
        lines = tuple(await store.read_lines(instance_id, after=after, before=before, limit=limit))
        first, last = (lines[0].seq, lines[-1].seq) if lines else (None, after)
        found = FoundLines(lines=lines, first=first, last=last, more=len(lines) == limit)
    else:
        wanted = LineFilter(level=level, q=q)
        found = await store.search_lines(instance_id, wanted, after=after, before=before, limit=limit)
    if found.first is None:
        await store.get_instance(instance_id)  # none written, or no such instance?
    items = [plain(line) for line in found.lines]
    return Lines(items=items, next_after=found.last, next_before=found.first, more=found.more)


@router.get(
    "/{instance_id}/logs/download",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    summary="All that an instance wrote, as text",
)
async def download(instance_id: int, store: TheStore) -> StreamingResponse:
    """Send it page by page, however much it is."""
    await store.get_instance(instance_id)
    name = f'attachment; filename="instance-{instance_id}.log"'
    return StreamingResponse(
        _texts(store, instance_id), media_type="text/plain; charset=utf-8", headers={"Content-Disposition": name}
    )


async def _texts(store: Store, instance_id: int) -> AsyncIterator[str]:
    after = -1
    while lines := await store.read_lines(instance_id, after=after, limit=200):
        yield "".join(map(_text, lines))
        after = lines[-1].seq


def _text(line: LogLine) -> str:
    time = line.logged_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    marks = "".join(f" [{mark}]" for mark in (line.phase, line.stream) if mark)
    exception = f"{line.exception.rstrip()}\n" if line.exception else ""
    return f"{time} {line.level}{marks} {line.message.rstrip()}\n{exception}"
