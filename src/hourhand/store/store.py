"""Store: the verbs, each one transaction; what follows from a change is looked after once it is committed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from hourhand.model.answers import Aftermath, Declared, Flush, Materialised, Reaped, Retained
from hourhand.model.errors import DuplicateName, IllegalEdge, NotFound, StoreError
from hourhand.model.filters import InstanceFilter, TaskFilter
from hourhand.model.hints import Heard, Hint
from hourhand.model.instance import (
    Assignment,
    AttemptRecord,
    Beat,
    Ending,
    Finished,
    Held,
    Instance,
    LogLine,
    Outcome,
    Progress,
    Submission,
    Submitted,
)
from hourhand.model.page import Page
from hourhand.model.registry import Executor, Group, StoredToken
from hourhand.model.task import Declaration, Task, TaskDefinition, TaskVersion
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.definition import changes_from
from hourhand.rules.lifecycle import legal
from hourhand.store import (
    access,
    attempts,
    backfill,
    cancel,
    claim,
    declare,
    definitions,
    edit,
    finish,
    listing,
    materialise,
    permits,
    reap,
    registry,
    release,
    retention,
    retry,
    settle,
    submit,
    values,
    waits,
)
from hourhand.store.database import Database, DataRefused, Tx
from hourhand.store.hints import Hints
from hourhand.store.joining import Joiner, Joining
from hourhand.store.marks import Marks

T = TypeVar("T")
logger = logging.getLogger(__name__)
SETTLE_BATCH = 500
SWEEP_BATCH = 1_000


class SqlStore:
    """The store contract on a SQL database; see `hourhand.contracts.store` for what each verb promises."""

    def __init__(self, database: Database, *, look_ahead_seconds: float = 10.0, lease_seconds: float = 15.0) -> None:
        self.database = database
        self.look_ahead = timedelta(seconds=look_ahead_seconds)
        self.lease_seconds = lease_seconds
        self._versions = definitions.Versions()
        self._marks: dict[str, Marks] = {}
        self._callback_key: bytes | None = None  # it never changes
        self._hints = Hints(database)
        self._joiner = Joiner(database, lease_seconds=lease_seconds)

    async def now(self) -> datetime:
        return await self._read(lambda tx: tx.now())

    async def ping(self) -> None:
        await self.database.ping()

    def listen(self, hint: Hint, heard: Heard) -> Callable[[], None]:
        return self._hints.listen(hint, heard)

    async def close(self) -> None:
        await self._hints.close()
        await self.database.close()

    # Tasks

    async def create_task(self, definition: TaskDefinition, *, by: str) -> Task:
        task = await self._write(lambda tx: edit.create_task(tx, definition, by=by, look_ahead=self.look_ahead))
        self._hints.ring(Hint.WAKE)
        return task

    async def edit_task(
        self, task_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None, by: str
    ) -> Task:
        read = changes_from(changes)
        try:
            task, aftermath = await self._write(
                lambda tx: edit.edit_task(
                    tx,
                    task_id,
                    read,
                    expected_version=expected_version,
                    by=by,
                    look_ahead=self.look_ahead,
                    lease_seconds=self.lease_seconds,
                )
            )
        except DataRefused as refused:
            if edit.UNIQUE_NAME not in str(refused):
                raise
            raise DuplicateName("task", read["name"]) from refused  # taken between the look and the write
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        return task

    async def delete_task(self, task_id: int, *, force: bool = False, by: str) -> None:
        await self._change(
            lambda tx: edit.delete_task(
                tx, task_id, force=force, by=by, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )

    async def declare(self, declarations: Sequence[Declaration], *, app: str, release: int) -> Declared:
        timing = declare.Timing(self.look_ahead, self.lease_seconds)
        declared, aftermath = await self._write(
            lambda tx: declare.declare(tx, declarations, app=app, release=release, timing=timing)
        )
        await self.follow(aftermath)
        self._hints.ring(Hint.WAKE)
        return declared

    async def get_task(self, task_id: int) -> Task:
        task = (await self._read(lambda tx: definitions.tasks_by_id(tx, [task_id]))).get(task_id)
        if task is None or task.deleted_at is not None:
            raise NotFound("task", task_id)
        return task

    async def find_task(self, name: str) -> Task:
        task = await self._read(lambda tx: listing.task_by_name(tx, name))
        if task is None:
            raise NotFound("task", name)
        return task

    async def list_tasks(
        self, wanted: TaskFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Task]:
        return await self._read(lambda tx: listing.list_tasks(tx, wanted or TaskFilter(), limit=limit, cursor=cursor))

    async def list_versions(self, task_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[TaskVersion]:
        return await self._read(lambda tx: listing.list_versions(tx, task_id, limit=limit, cursor=cursor))

    async def definition(self, task_id: int, version: int) -> TaskDefinition:
        key = (task_id, version)
        found = await self._read(lambda tx: self._versions.get(tx, [key]))
        if key not in found:
            raise NotFound("task version", f"{task_id}/{version}")
        return found[key]

    # Time

    async def materialise(self, *, limit: int = 500) -> Materialised:
        done = await self._write(
            lambda tx: materialise.materialise(
                tx, limit=limit, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )
        await self.follow(done.aftermath)
        if done.instants:
            self._hints.ring(Hint.PENDING)
        return done

    async def next_wake(self) -> datetime | None:
        return await self._read(materialise.next_wake)

    async def backfill(self, task_id: int, begin: datetime, end: datetime, *, by: str) -> int:
        made, aftermath = await self._write(
            lambda tx: backfill.backfill(tx, task_id, begin, end, by=by, lease_seconds=self.lease_seconds)
        )
        await self.follow(aftermath)
        self._hints.ring(Hint.PENDING)
        return made

    # Instances

    async def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        if not submissions:
            return []
        while True:
            with suppress(submit.KeyFreed):
                accepted = await self._write(
                    lambda tx: submit.submit(tx, submissions, lease_seconds=self.lease_seconds)
                )
                break
        self._hints.ring(Hint.PENDING)
        await self.follow(accepted.aftermath)
        return accepted.submitted

    async def joining(self, submission: Submission) -> Joining:
        return await self._joiner.prepare(submission)

    async def dispatch(self, ids: Sequence[int]) -> None:
        await self._change(lambda tx: submit.dispatch(tx, ids))
        self._hints.ring(Hint.PENDING)

    async def cancel(self, instance_id: int, *, reason: str) -> Instance:
        await self._change(lambda tx: self._cancel(tx, instance_id, reason))
        self._hints.ring(Hint.CANCEL, [instance_id])
        return await self.get_instance(instance_id)

    async def _cancel(self, tx: Tx, instance_id: int, reason: str) -> Aftermath:
        while True:
            found, aftermath = await cancel.cancel_instances(tx, [instance_id], reason)
            if found:
                return aftermath
            ended = await listing.get_instance(tx, instance_id)
            if ended.status.ended:  # else it was retried between the two statements, and can be cancelled after all
                raise IllegalEdge(f"instance {instance_id}", ended.status.value, "cancelled", legal(ended.status))

    async def retry(self, instance_id: int, *, args: Mapping[str, Any] | None = None) -> Instance:
        await self._change(lambda tx: retry.retry(tx, instance_id, args))
        self._hints.ring(Hint.PENDING)
        return await self.get_instance(instance_id)

    async def get_instance(self, instance_id: int) -> Instance:
        return await self._read(lambda tx: listing.get_instance(tx, instance_id))

    async def list_instances(
        self, wanted: InstanceFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Instance]:
        return await self._read(
            lambda tx: listing.list_instances(tx, wanted or InstanceFilter(), limit=limit, cursor=cursor)
        )

    async def list_logs(
        self, wanted: InstanceFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Instance]:
        return await self._read(
            lambda tx: listing.list_logs(tx, wanted or InstanceFilter(), limit=limit, cursor=cursor)
        )

    async def list_attempts(self, instance_id: int) -> list[AttemptRecord]:
        return await self._read(lambda tx: attempts.read_attempts(tx, instance_id))

    async def read_lines(self, instance_id: int, *, after: int = -1, limit: int = 1_000) -> list[LogLine]:
        return await self._read(lambda tx: attempts.read_lines(tx, instance_id, after=after, limit=limit))

    # Executors

    async def register(self, executor: Executor) -> tuple[int, ...]:
        return await self._write(lambda tx: registry.register(tx, executor))

    async def deregister(self, executor_id: str) -> None:
        self._marks.pop(executor_id, None)
        await self._write(lambda tx: registry.deregister(tx, executor_id))

    async def beat(self, executor_id: str, held: Sequence[Held] = (), *, extend: Sequence[Held] | None = None) -> Beat:
        return await self.database.write(
            lambda tx: registry.beat(
                tx,
                executor_id=executor_id,
                held=held,
                extend=held if extend is None else extend,
                lease_seconds=self.lease_seconds,
            ),
            durable=False,
        )

    async def claim(
        self, executor_id: str, lanes: Sequence[int], *, limit: int, take_lost: bool = True
    ) -> list[Assignment]:
        marks = self._marks.setdefault(executor_id, Marks())
        probes = marks.probes(lanes)
        claimed = await self._write(
            lambda tx: claim.claim(
                tx,
                executor_id=executor_id,
                lanes=lanes,
                limit=limit,
                lease_seconds=self.lease_seconds,
                take_lost=take_lost,
                marks=probes,
            )
        )
        marks.advance(claimed)
        return claimed

    async def next_available(self, lanes: Sequence[int]) -> float | None:
        return await self._read(lambda tx: claim.next_available(tx, lanes))

    async def hand_back_unheld(self, executor_id: str, held: Sequence[int]) -> None:
        await self._change(lambda tx: reap.hand_back_unheld(tx, self._versions, executor_id=executor_id, held=held))

    async def report_progress(self, reports: Sequence[Progress]) -> list[Held]:
        return await self._write(lambda tx: attempts.report_progress(tx, reports)) if reports else []

    async def write_lines(self, lines: Sequence[tuple[Held, LogLine]]) -> int:
        return await self._write(lambda tx: attempts.write_lines(tx, lines)) if lines else 0

    async def finish(self, endings: Sequence[Ending]) -> list[Finished]:
        flush = await self.flush(endings)
        await self.follow(flush.aftermath)
        return flush.finished

    async def flush(self, endings: Sequence[Ending]) -> Flush:
        if not endings:
            return Flush()
        flush = await self._flush([replace(one, outcome=values.clean(one.outcome)) for one in endings])
        if any(one.status is Status.PENDING for one in flush.finished):
            self._hints.ring(Hint.PENDING)
        return flush

    async def _flush(self, endings: Sequence[Ending]) -> Flush:
        """Guarantee 10: one bad row never blocks the rest; it is found by halving and ends failed on its own."""
        try:
            return await self._write(lambda tx: finish.finish_batch(tx, endings, self._versions))
        except DataRefused as refused:
            if len(endings) == 1:
                return await self._replace(endings[0], refused)
        half = len(endings) // 2
        flush = await self._flush(endings[:half])
        other = await self._flush(endings[half:])
        flush.finished += other.finished
        flush.aftermath.add(other.aftermath)
        return flush

    async def _replace(self, ending: Ending, refused: DataRefused) -> Flush:
        message = f"its outcome ({ending.outcome.kind.value}) could not be stored: {refused}"
        outcome = Outcome(
            kind=OutcomeKind.FAILED,
            error_message=message,
            result={"error": message},
            duration_ms=min(ending.outcome.duration_ms, 2**31),
            retryable=False,
        )
        flush = await self._write(
            lambda tx: finish.finish_batch(tx, [replace(ending, outcome=outcome)], self._versions)
        )
        flush.finished = [replace(one, replaced=True) for one in flush.finished]
        return flush

    # What follows

    async def follow(self, aftermath: Aftermath) -> None:
        """Look after what a committed change led to; what cannot be done now is left to the schedulers' sweep."""
        try:
            while aftermath:
                aftermath = await self._follow(aftermath)
        except StoreError as error:
            logger.warning("left to the sweep: %s", error)
        except Exception:
            # The change itself is committed: its caller must not take this for a failure of it.
            logger.exception("left to the sweep")

    async def _follow(self, aftermath: Aftermath) -> Aftermath:
        following = Aftermath()
        if aftermath.waiting:
            waiting = sorted(aftermath.waiting)
            for begin in range(0, len(waiting), release.EVALUATED_AT_ONCE):
                some = waiting[begin : begin + release.EVALUATED_AT_ONCE]
                following.add(await self._write(partial(release.evaluate, instance_ids=some)))
        if aftermath.unsettled:
            _, more = await self._settle(aftermath.unsettled)
            following.add(more)
        if aftermath.freed_keys:
            await self.give_permits(aftermath.freed_keys)
        if aftermath.waiting or aftermath.unsettled:
            self._hints.ring(Hint.PENDING)
        return following

    async def _settle(self, points: Iterable[tuple[int, datetime]] | None) -> tuple[int, Aftermath]:
        return await self._write(
            lambda tx: settle.settle(
                tx, points, limit=SETTLE_BATCH, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )

    async def settle(self) -> int:
        count, aftermath = await self._settle(None)
        await self.follow(aftermath)
        return count

    async def sweep(self) -> int:
        found = 0
        after = 0
        while ids := await self._read(partial(waits.waits_to_evaluate, after=after, limit=SWEEP_BATCH)):
            await self.follow(Aftermath(waiting=set(ids)))
            # On to the next ones: some of these may have to wait all the same, and would be found for ever.
            found, after = found + len(ids), ids[-1]
        await self._write(permits.free_stray_permits)
        await self.give_permits()
        return found

    async def give_permits(self, keys: Iterable[str] | None = None) -> int:
        wanted = await self._read(permits.waiting_keys) if keys is None else sorted(set(keys))
        given = 0
        for begin in range(0, len(wanted), SWEEP_BATCH):
            some = wanted[begin : begin + SWEEP_BATCH]
            given += await self._write(
                partial(permits.give_permits, keys=some, lease_seconds=self.lease_seconds),
            )
        if given:
            self._hints.ring(Hint.PENDING)
        return given

    async def next_permit(self) -> float | None:
        return await self._read(permits.next_permit)

    async def reap(self, *, limit: int = 500) -> Reaped:
        decided, aftermath = await self._write(
            lambda tx: reap.reap(tx, self._versions, limit=limit, lease_seconds=self.lease_seconds)
        )
        await self.follow(aftermath)
        if decided:
            self._hints.ring(Hint.PENDING)
        ended = sum(one.transition.to.ended for one in decided)
        return Reaped(requeued=len(decided) - ended, ended=ended)

    async def forget_executors(self) -> list[str]:
        return await self._write(registry.forget_executors)

    # Chores and access

    async def take_lease(self, name: str, holder: str, seconds: float) -> bool:
        return await self._write(lambda tx: access.take_lease(tx, name, holder, seconds))

    async def give_lease(self, name: str, holder: str) -> None:
        await self._write(lambda tx: access.give_lease(tx, name, holder))

    async def ensure_partitions(self) -> int:
        return await self.database.ensure_partitions()

    async def retain(self, *, days: int) -> Retained:
        return await retention.retain(self.database, days=days, now=await self.now())

    async def add_group(
        self,
        name: str,
        *,
        title: str | None = None,
        address_type: str = "auto",
        address_list: Sequence[str] = (),
    ) -> Group:
        described = {"name": name, "title": title, "address_type": address_type, "address_list": list(address_list)}
        return await self._write(lambda tx: registry.add_group(tx, described))

    async def ensure_group(self, name: str) -> Group:
        return await self._write(lambda tx: registry.ensure_group(tx, name))

    async def list_groups(self) -> list[Group]:
        return await self._read(registry.list_groups)

    async def list_executors(self) -> list[Executor]:
        return await self._read(registry.list_executors)

    async def ensure_admin_token(self, token_hash: str) -> bool:
        return await self._write(lambda tx: access.ensure_admin_token(tx, token_hash))

    async def add_admin_token(self, token_hash: str) -> None:
        await self._write(lambda tx: access.add_admin_token(tx, token_hash))

    async def find_token(self, token_hash: str) -> StoredToken | None:
        return await self._read(lambda tx: access.find_token(tx, token_hash))

    async def callback_key(self) -> bytes:
        if self._callback_key is None:
            self._callback_key = await self._write(access.callback_key)
        return self._callback_key

    async def _write(self, body: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.database.write(body)

    async def _read(self, body: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.database.read(body)

    async def _change(self, body: Callable[[Tx], Awaitable[Aftermath]]) -> None:
        await self.follow(await self._write(body))
