"""Store: the verbs of instances, as people and programs use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from hourhand.model.answers import Aftermath, FoundLines
from hourhand.model.audit import Change
from hourhand.model.errors import IllegalEdge
from hourhand.model.filters import InstanceFilter, LineFilter
from hourhand.model.hints import Hint
from hourhand.model.instance import AttemptRecord, Instance, LogLine, Submission, Submitted
from hourhand.model.page import Page
from hourhand.model.words import BlockedBy, Status
from hourhand.rules.lifecycle import legal
from hourhand.store import attempts, audit, cancel, line_search, listing, reach, retry, submit
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.joining import Joining
from hourhand.store.once import once
from hourhand.store.submit import Accepted
from hourhand.store.verbs.transactions import Transactions


class Instances(Transactions):
    """Instances: submitted, cancelled, retried, read."""

    async def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        if not submissions:
            return []
        while True:
            with suppress(submit.KeyFreed):
                accepted = await self._write(lambda tx: self._submit(tx, submissions))
                break
        self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.INSTANCES, (one.instance_id for one in accepted.submitted))
        await self.follow(accepted.aftermath)
        return accepted.submitted

    async def _submit(self, tx: Tx, submissions: Sequence[Submission]) -> Accepted:
        if self._once is None:
            return await self._accept(tx, submissions)
        accepted = Accepted()
        for place, one in enumerate(submissions):
            # Each has a key of its own, under which its id is kept: a request that comes again is answered with all.
            request = self._once if place == 0 else replace(self._once, key=f"{self._once.key}\n{place}")
            part, _ = await once(tx, request, partial(self._accept_one, submission=one), self._accepted_before)
            accepted.submitted += part.submitted
            accepted.aftermath.add(part.aftermath)
        return accepted

    async def _accept_one(self, tx: Tx, submission: Submission) -> tuple[Accepted, int]:
        accepted = await self._accept(tx, [submission])
        return accepted, accepted.submitted[0].instance_id

    async def _accept(self, tx: Tx, submissions: Sequence[Submission]) -> Accepted:
        accepted = await submit.submit(tx, submissions, lease_seconds=self.lease_seconds, author=self._author)
        if self._author is not None:
            pairs = zip(submissions, accepted.submitted, strict=True)
            made = {new.instance_id: "plan" if one.held else "run" for one, new in pairs if not new.existing}
            seen = await audit.instances_seen(tx, list(made))
            await audit.record(tx, self._author, [_change(action, after=seen[one]) for one, action in made.items()])
        return accepted

    async def _accepted_before(self, tx: Tx, instance_id: int) -> Accepted:
        await reach.require_instances(tx, self._author, [instance_id])
        found = await listing.get_instance(tx, instance_id)
        return Accepted([Submitted(instance_id=instance_id, status=found.status, existing=True)])

    async def joining(self, submission: Submission) -> Joining:
        return await self._joiner.prepare(submission)

    async def dispatch(self, ids: Sequence[int]) -> None:
        await self._change(lambda tx: self._dispatch(tx, ids))
        self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.INSTANCES, ids)

    async def _dispatch(self, tx: Tx, ids: Sequence[int]) -> Aftermath:
        await reach.require_instances(tx, self._author, ids)
        aftermath = await submit.dispatch(tx, ids)
        await reach.require_instances(tx, self._author, ids)  # again: now they are locked
        if self._author is not None:
            held = {"status": Status.PLANNED, "blocked_by": BlockedBy.DISPATCH}  # or it would have been refused
            seen = (await audit.instances_seen(tx, ids)).values()
            await audit.record(tx, self._author, [_change("dispatch", {**one, **held}, one) for one in seen])
        return aftermath

    async def cancel(self, instance_id: int, *, reason: str) -> Instance:
        await self._change(lambda tx: self._cancel(tx, instance_id, reason))
        self._hints.ring(Hint.CANCEL, [instance_id])
        self._hints.ring(Hint.INSTANCES, [instance_id])
        return await self.get_instance(instance_id)

    async def _cancel(self, tx: Tx, instance_id: int, reason: str) -> Aftermath:
        await reach.require_instances(tx, self._author, [instance_id])
        while True:
            before = await self._before_cancel(tx, instance_id)
            found, aftermath = await cancel.cancel_instances(tx, [instance_id], reason)
            if found:
                await reach.require_instances(tx, self._author, found)  # again: now it is locked
                if before is not None:
                    await audit.record(tx, self._author, [cancelled(before, reason)])
                return aftermath
            ended = await listing.get_instance(tx, instance_id)
            if ended.status.ended:  # else it was retried between the two statements, and can be cancelled after all
                raise IllegalEdge(f"instance {instance_id}", ended.status.value, "cancelled", legal(ended.status))

    async def _before_cancel(self, tx: Tx, instance_id: int) -> Row | None:
        """The instance as it is, under the lock that cancelling takes; None when nobody asks."""
        if self._author is None or not possible(instance_id):
            return None
        await tx.fetch(cancel.LOCK_LIVING, ids=[instance_id])
        return (await audit.instances_seen(tx, [instance_id])).get(instance_id)

    async def retry(
        self, instance_id: int, *, args: Mapping[str, Any] | None = None, current_version: bool = False
    ) -> Instance:
        await self._change(lambda tx: self._retry(tx, instance_id, args, current_version=current_version))
        self._hints.ring(Hint.PENDING)
        self._hints.ring(Hint.INSTANCES, [instance_id])
        return await self.get_instance(instance_id)

    async def _retry(
        self, tx: Tx, instance_id: int, args: Mapping[str, Any] | None, *, current_version: bool
    ) -> Aftermath:
        await reach.require_instances(tx, self._author, [instance_id])
        ended, aftermath = await retry.retry(tx, instance_id, args, current_version=current_version)
        # Again: the task may belong to another group by now, or somebody else has retried it there meanwhile.
        await reach.require_instances(tx, self._author, [instance_id])
        if self._author is not None:
            after = (await audit.instances_seen(tx, [instance_id]))[instance_id]
            was = {"status": ended["status"], "args": ended["args"], "reason": ended["error_message"]}
            was |= {"blocked_by": None, "cancel_requested": ended["cancel_requested"]}
            await audit.record(tx, self._author, [_change("retry", {**after, **was}, after)])
        return aftermath

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

    async def read_lines(
        self, instance_id: int, *, after: int = -1, before: int | None = None, limit: int = 1_000
    ) -> list[LogLine]:
        return await self._read(
            lambda tx: attempts.read_lines(tx, instance_id, after=after, before=before, limit=limit)
        )

    async def search_lines(
        self, instance_id: int, wanted: LineFilter, *, after: int = -1, before: int | None = None, limit: int = 1_000
    ) -> FoundLines:
        return await self._read(
            lambda tx: line_search.search_lines(tx, instance_id, wanted, after=after, before=before, limit=limit)
        )


def _change(action: str, before: Row | None = None, after: Row | None = None) -> Change:
    """What the audit keeps of an instance."""
    seen = after or before or {}
    return Change(
        action=action,
        resource_type="instance",
        resource_id=str(seen["id"]),
        summary=f"task {seen['task']!r}",
        before=before,
        after=after,
    )


def cancelled(before: Row, reason: str) -> Change:
    """What the audit keeps of an instance that was cancelled, or asked to stop."""
    return _change("cancel", before, _after_cancel(before, reason))


def _after_cancel(before: Row, reason: str) -> Row:
    if before["status"] != Status.RUNNING:
        return {**before, "status": Status.CANCELLED, "blocked_by": None, "reason": reason}
    return {
        **before,
        "cancel_requested": True,
        "reason": before["reason"] or reason,
    }  # who asked first has cancelled it
