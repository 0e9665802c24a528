"""Store: the verbs of instances, as people and programs use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hourhand.model.answers import Aftermath
from hourhand.model.errors import IllegalEdge
from hourhand.model.filters import InstanceFilter
from hourhand.model.hints import Hint
from hourhand.model.instance import AttemptRecord, Instance, LogLine, Submission, Submitted
from hourhand.model.page import Page
from hourhand.rules.lifecycle import legal
from hourhand.store import attempts, cancel, listing, retry, submit
from hourhand.store.database import Tx
from hourhand.store.joining import Joining
from hourhand.store.verbs.transactions import Transactions


class Instances(Transactions):
    """Instances: submitted, cancelled, retried, read."""

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
        self._hints.ring(Hint.INSTANCES, (one.instance_id for one in accepted.submitted))
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
