"""Store: submit: instances asked for by people and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count

from sqlalchemy import Text, select

from hourhand.model.answers import Aftermath
from hourhand.model.audit import Author
from hourhand.model.errors import Conflict, InvalidInput, NotFound
from hourhand.model.instance import Submission, Submitted
from hourhand.model.task import Task
from hourhand.model.words import BlockedBy, Status
from hourhand.rules.broadcast import WHOLE, Shard
from hourhand.rules.definition import check_args
from hourhand.rules.operation_tasks import check_submission
from hourhand.rules.schedule import Manual, parse
from hourhand.rules.substitution import substitute
from hourhand.store import reach
from hourhand.store.claim import PRIORITIES
from hourhand.store.database import Tx
from hourhand.store.definitions import tasks_by_id
from hourhand.store.ids import possible
from hourhand.store.instants import OPTIONAL, NewInstance, enter_instants, insert_instances, targets_of
from hourhand.store.listing import get_instance
from hourhand.store.moving import DELETE_INSTANTS, SEAM
from hourhand.store.registry import alive_executors
from hourhand.store.release import unblock
from hourhand.store.schema import task_dependencies, task_instances
from hourhand.store.sql import any_of, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id
from hourhand.store.waits import Wanted, add_waits

_DEPENDED_ON = Statement(
    select(task_dependencies.c.depends_on_id).distinct().where(any_of(task_dependencies.c.depends_on_id, "ids"))
)
_KEYS = records("keys", {"task_id": Id, "key": Text()})
_LIVE_KEYS = Statement(
    select(*[task_instances.c[name] for name in ("id", "task_id", "key", "status", "group_id")]).join(
        _KEYS, (task_instances.c.task_id == _KEYS.c.task_id) & (task_instances.c.key == _KEYS.c.key)
    )
)
_WRITTEN = Statement(select(task_instances.c.id).where(any_of(task_instances.c.id, "ids")))
_LOCK_HELD = Statement(
    select(*[task_instances.c[name] for name in SEAM])
    .where(any_of(task_instances.c.id, "ids"))
    .order_by(task_instances.c.id)
    .with_for_update()
)


_TEXTS = ("key", "requested_by", "operation_kind", "backup_reference", "notes")


class KeyFreed(Exception):
    """The instance that had the key ended between the insert and the answer: begin again, the key is free."""


@dataclass(slots=True)
class Accepted:
    """What became of the submissions, in their order."""

    submitted: list[Submitted] = field(default_factory=list)
    aftermath: Aftermath = field(default_factory=Aftermath)


async def submit(
    tx: Tx, submissions: Sequence[Submission], *, lease_seconds: float, author: Author | None = None
) -> Accepted:
    """All of them or none: the first that is refused refuses the batch, and nothing is written."""
    known = await tasks_by_id(tx, [one.task_id for one in submissions])
    for one in submissions:
        _check(one, known.get(one.task_id), author)
    within = await reach.within(tx, author)
    now = await tx.now()
    taken = await _living_keys(tx, submissions, within)
    # By their places, since a caller may well give one submission many times.
    wanted = [index for index in _first_of_each_key(submissions) if _key(submissions[index]) not in taken]
    targets = await _targets(tx, [known[submissions[index].task_id] for index in wanted], lease_seconds)
    times = await _ledger_times(tx, {index: known[submissions[index].task_id] for index in wanted}, targets, now)
    accepted = Accepted()
    new: list[NewInstance] = []
    first: dict[int, int] = {}
    for index in wanted:
        one = submissions[index]
        task = known[one.task_id]
        first[index] = len(new)
        new += [
            NewInstance(
                task=task,
                scheduled_time=times.get(index) or one.run_at or now,
                triggered_by=one.triggered_by,
                available_at=one.run_at or now,
                in_ledger=index in times,
                shard=shard,
                blocked_by=_obstacle(one, task),
                values={
                    **{name: getattr(one, name) for name in OPTIONAL},
                    **({} if one.priority is None else {"priority": one.priority}),
                },
            )
            for shard in targets.get(task.id, WHOLE)
        ]
    ids = await insert_instances(tx, new)
    lost = await _lost_to_a_key(tx, new, ids)
    waits = [
        Wanted(ids[place], upstream, new[place].scheduled_time)
        for index, begin in first.items()
        if submissions[index].wait
        for place in range(begin, begin + len(targets.get(submissions[index].task_id, WHOLE)))
        for upstream in new[place].task.dependency_ids
        if ids[place] not in lost
    ]
    await add_waits(tx, waits)
    if lost:
        await _take_back(tx, [new[ids.index(one)] for one in lost if new[ids.index(one)].in_ledger])
    # One that has ended since the first look lived when it was asked for, which is answer enough.
    taken |= await _living_keys(tx, submissions, within)
    for index, one in enumerate(submissions):
        begin = first.get(index, -1)
        if begin < 0 or ids[begin] in lost:
            if _key(one) not in taken:
                raise KeyFreed
            instance_id, status = taken[_key(one)]
            accepted.submitted.append(Submitted(instance_id=instance_id, status=status, existing=True))
        else:
            accepted.submitted.append(Submitted(instance_id=ids[begin], status=new[begin].status))
    accepted.aftermath.waiting = {wait.instance_id for wait in waits}
    accepted.aftermath.freed_keys = {
        key for one in new if one.blocked_by is BlockedBy.PERMIT and (key := one.values["concurrency_key"])
    }
    return accepted


def _check(one: Submission, task: Task | None, author: Author | None) -> None:
    if task is None or task.deleted_at is not None:
        raise NotFound("task", one.task_id)
    reach.require(author, f"task {one.task_id}", task.group)
    check_args(one.args)
    check_submission(task, one)
    if task.concurrency_key is not None:
        substitute(task.concurrency_key, {**(task.payload.get("args") or {}), **(one.args or {})}, "args")
    if one.held and task.broadcast:
        raise InvalidInput.one("held", one.held, "a broadcast goes to the executors alive now and cannot be held")
    if one.held and one.wait:
        raise InvalidInput.one("wait", one.wait, "an instance that is held until dispatched cannot wait as well")
    if one.priority is not None and (type(one.priority) is not int or one.priority not in PRIORITIES):
        raise InvalidInput.one("priority", one.priority, f"{one.priority!r} is no priority: give 0 (highest) to 9")
    if one.run_at is not None and one.run_at.tzinfo is None:
        raise InvalidInput.one("run_at", one.run_at, f"{one.run_at} has no time zone: give one, such as UTC")
    for name in _TEXTS:
        _check_text(name, getattr(one, name))
    if one.key is not None and not 0 < len(one.key) <= 200:  # noqa: PLR2004 - long enough for any natural key
        raise InvalidInput.one("key", one.key, "a key has 1 to 200 characters")
    if one.key is not None and task.broadcast:
        raise InvalidInput.one("key", one.key, "a broadcast task makes one instance per executor and takes no key")


def _check_text(name: str, value: str | None) -> None:
    if value is not None and "\x00" in value:
        raise InvalidInput.one(name, value, "contains the NUL character, which no database text can hold: remove it")
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise InvalidInput.one(name, value, f"is not Unicode text: {error}; remove that character") from None


def _obstacle(one: Submission, task: Task) -> BlockedBy | None:
    if one.held:
        return BlockedBy.DISPATCH
    return BlockedBy.DEPENDENCIES if one.wait and task.dependency_ids else None


async def _living_keys(
    tx: Tx, submissions: Sequence[Submission], within: frozenset[int] | None
) -> dict[tuple[int, str | None], tuple[int, Status]]:
    """Who has these keys; an instance stays in its group when its task is moved, and may be out of reach."""
    keys = [{"task_id": one.task_id, "key": one.key} for one in submissions if one.key is not None]
    if not keys:
        return {}
    rows = await tx.fetch(_LIVE_KEYS, keys=keys)
    for row in rows:
        if within is not None and row["group_id"] not in within:
            raise Conflict(
                f"key {row['key']!r} is taken by an instance that belongs to another group, in which task "
                f"{row['task_id']} was before: choose another key, or wait until it has ended"
            )
    return {(row["task_id"], row["key"]): (row["id"], Status(row["status"])) for row in rows}


def _key(one: Submission) -> tuple[int, str | None]:
    return one.task_id, one.key


def _first_of_each_key(submissions: Sequence[Submission]) -> list[int]:
    """The places of all without a key, and of the first with each key."""
    seen: set[tuple[int, str | None]] = set()
    first = []
    for index, one in enumerate(submissions):
        if one.key is None or _key(one) not in seen:
            first.append(index)
        seen.add(_key(one))
    return first


async def _take_back(tx: Tx, lost: Sequence[NewInstance]) -> None:
    """An instant without an instance would keep dependents waiting for ever."""
    for one in lost:
        await tx.run(DELETE_INSTANTS, task_id=one.task.id, times=[one.scheduled_time])


async def _lost_to_a_key(tx: Tx, new: Sequence[NewInstance], ids: Sequence[int]) -> set[int]:
    """Those whose key another process took between the look and the insert."""
    keyed = [instance_id for one, instance_id in zip(new, ids, strict=True) if one.values.get("key") is not None]
    if not keyed:
        return set()
    return set(keyed) - {row["id"] for row in await tx.fetch(_WRITTEN, ids=keyed)}


async def _targets(tx: Tx, wanted: Sequence[Task], lease_seconds: float) -> dict[int, tuple[Shard, ...]]:
    broadcast = {task.id: task for task in wanted if task.broadcast}
    if not broadcast:
        return {}
    alive = await alive_executors(tx, lease_seconds)
    targets = {task.id: targets_of(task, alive) for task in broadcast.values()}
    for task_id, found in targets.items():
        if not found:
            task = broadcast[task_id]
            labels = ", ".join(f"{name}={value}" for name, value in sorted(task.executor_labels.items()))
            raise Conflict(
                f"task {task.name!r} is broadcast, and no executor of group {task.group!r}"
                f"{f' with the labels {labels}' if labels else ''} is alive to receive it: start one, then run it again"
            )
    return targets


async def _ledger_times(
    tx: Tx, wanted: Mapping[int, Task], targets: Mapping[int, tuple[Shard, ...]], now: datetime
) -> dict[int, datetime]:
    """An instance of a `@manual` task that others depend on has a ledger row, at its microsecond of creation."""
    manual = {task.id: task for task in wanted.values() if isinstance(parse(task.schedule, task.timezone), Manual)}
    if not manual:
        return {}
    followed = {row["depends_on_id"] for row in await tx.fetch(_DEPENDED_ON, ids=sorted(manual))}
    times: dict[int, datetime] = {}
    moments = (now + timedelta(microseconds=n) for n in count())
    while missing := [index for index, task in wanted.items() if task.id in followed and index not in times]:
        tried = dict(zip(missing, moments, strict=False))
        entered = await enter_instants(
            tx, [(wanted[index].id, at, len(targets.get(wanted[index].id, WHOLE))) for index, at in tried.items()]
        )
        times |= {index: at for index, at in tried.items() if (wanted[index].id, at) in entered}
    return times


async def dispatch(tx: Tx, ids: Sequence[int]) -> Aftermath:
    """Planned instances that were held go on; each must be held, or nothing is dispatched."""
    rows = await tx.fetch(_LOCK_HELD, ids=sorted({one for one in ids if possible(one)}))
    found = {row["id"]: row for row in rows}
    for one in ids:
        if one not in found:
            ended = await get_instance(tx, one)
            raise Conflict(f"instance {one} does not wait to be dispatched (it is {ended.status.value})")
        if found[one]["blocked_by"] != BlockedBy.DISPATCH:
            why = found[one]["blocked_by"] or "not held"
            raise Conflict(f"instance {one} does not wait to be dispatched (it is {found[one]['status']}: {why})")
    await unblock(tx, rows)
    return Aftermath(freed_keys={row["concurrency_key"] for row in rows if row["concurrency_key"] is not None})
