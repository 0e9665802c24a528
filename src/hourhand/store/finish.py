"""Store: finish: outcomes of attempts, in batches, each under its fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Integer, Text, func, select, update

from hourhand.model.answers import Aftermath, Flush
from hourhand.model.claim import Claim, Transition
from hourhand.model.instance import Ending, Finished, Outcome
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.lifecycle import finish, require_edge
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import Versions
from hourhand.store.moving import SEAM, End, end_instances, free_permits
from hourhand.store.schema import RUNNING, instance_attempts, task_instances
from hourhand.store.sql import any_of, insert, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

LOCKED_COLUMNS = (
    *[task_instances.c[name] for name in SEAM],
    *[
        task_instances.c[name]
        for name in (
            "fence",
            "retry_count",
            "loss_count",
            "cancel_requested",
            "cancel_reason",
            "executor_id",
            "start_time",
        )
    ],
    select(store_clock()).scalar_subquery().label("now"),
)
_LOCK = Statement(
    select(*LOCKED_COLUMNS)
    .where(any_of(task_instances.c.id, "ids"), task_instances.c.status == RUNNING)
    .order_by(task_instances.c.id)
    .with_for_update()
)
_AGAIN = records(
    "again",
    {
        "id": Id,
        "status": Text(),
        "blocked_by": Text(),
        "retry_count": Integer(),
        "loss_count": Integer(),
        "available_at": Instant(),
    },
)
_REQUEUE = Statement(
    update(task_instances)
    .values(
        status=_AGAIN.c.status,
        blocked_by=_AGAIN.c.blocked_by,
        retry_count=_AGAIN.c.retry_count,
        loss_count=_AGAIN.c.loss_count,
        # Never in the past: claimers look only above their low-water mark.
        available_at=func.greatest(_AGAIN.c.available_at, store_clock()),
        queued_at=store_clock(),
        fence=task_instances.c.fence + 1,
        executor_id=None,
        lease_until=None,
        start_time=None,
        last_heartbeat=None,
    )
    .where(task_instances.c.id == _AGAIN.c.id)
)
_ATTEMPTS = records(
    "attempts",
    {
        "instance_id": Id,
        "fence": BigInteger(),
        "executor_id": Text(),
        "start_time": Instant(),
        "end_time": Instant(),
        "outcome": Text(),
        "error_message": Text(),
    },
)
_RECORD_ATTEMPTS = Statement(
    insert(instance_attempts).from_select(
        [column.name for column in _ATTEMPTS.c], select(_ATTEMPTS), include_defaults=False
    )
)


@dataclass(frozen=True, slots=True)
class Decided:
    """One locked row, its outcome and what follows."""

    row: Row
    outcome: Outcome
    transition: Transition


async def finish_batch(tx: Tx, endings: Sequence[Ending], versions: Versions) -> Flush:
    """Lock, decide by the rules, compare and set; what has been superseded changes nothing (guarantee 6)."""
    rows = {row["id"]: row for row in await tx.fetch(_LOCK, ids=sorted({ending.instance_id for ending in endings}))}
    flush = Flush()
    accepted: list[tuple[Row, Outcome]] = []
    for ending in endings:
        row = rows.get(ending.instance_id)
        if row is None or row["fence"] != ending.fence:
            flush.finished.append(
                Finished(instance_id=ending.instance_id, fence=ending.fence, status=None, fenced=True)
            )
        else:
            del rows[ending.instance_id]  # a second ending of the same attempt is late as well
            accepted.append((row, ending.outcome))
    decided = await decide(tx, accepted, versions)
    flush.aftermath = await apply(tx, decided)
    flush.finished += [
        Finished(instance_id=one.row["id"], fence=one.row["fence"], status=one.transition.to) for one in decided
    ]
    return flush


async def decide(tx: Tx, accepted: Sequence[tuple[Row, Outcome]], versions: Versions) -> list[Decided]:
    """Ask the rules; definitions are needed only where something went wrong."""
    wanted = {
        (row["task_id"], row["task_version"]) for row, outcome in accepted if outcome.kind is not OutcomeKind.SUCCESS
    }
    known = await versions.get(tx, wanted) if wanted else {}
    decided = []
    for row, outcome in accepted:
        transition = finish(claim_of(row, known.get((row["task_id"], row["task_version"]))), outcome, row["now"])
        require_edge(row["id"], Status.RUNNING, transition.to)
        decided.append(Decided(row, outcome, transition))
    return decided


def claim_of(row: Row, definition: TaskDefinition | None) -> Claim:
    """The claim as the rules see it."""
    held: dict[str, Any] = {
        "instance_id": row["id"],
        "fence": row["fence"],
        "retry_count": row["retry_count"],
        "loss_count": row["loss_count"],
        "cancel_requested": row["cancel_requested"],
        "cancel_reason": row["cancel_reason"],
        "concurrency_key": row["concurrency_key"],
    }
    if definition is None:
        return Claim(**held)
    return Claim(
        **held,
        max_retries=definition.max_retries,
        retry_delay_seconds=definition.retry_delay_seconds,
        retry_backoff=definition.retry_backoff,
        executor_loss_policy=definition.executor_loss_policy,
    )


async def apply(tx: Tx, decided: Sequence[Decided]) -> Aftermath:
    """Carry the transitions out: first those that end, then those that go round again."""
    if not decided:
        return Aftermath()
    now: datetime = decided[0].row["now"]
    aftermath = await end_instances(tx, [_end(one, now) for one in decided if one.transition.to.ended], now)
    again = [one for one in decided if not one.transition.to.ended]
    if again:
        await tx.run(_REQUEUE, again=[_again(one) for one in again])
        if attempts := [_attempt(one, now) for one in again if one.transition.attempt is not None]:
            await tx.run(_RECORD_ATTEMPTS, attempts=attempts)
        aftermath.freed_keys |= await free_permits(tx, [one.row for one in again])
    aftermath.repeated += [
        (one.row["task_id"], one.row["task_version"], one.outcome.kind)
        for one in decided
        if one.outcome.kind is OutcomeKind.LOST or one.transition.attempt not in (None, OutcomeKind.HANDED_BACK)
    ]
    return aftermath


def _end(one: Decided, now: datetime) -> End:
    unstarted = one.outcome.kind is OutcomeKind.HANDED_BACK and one.outcome.error_message is None
    lost = one.outcome.kind is OutcomeKind.LOST
    duration = max(0, (now - one.row["start_time"]) // timedelta(milliseconds=1)) if lost else one.outcome.duration_ms
    return End(
        row=one.row,
        to=one.transition.to,
        error_message=one.transition.error_message,
        result=one.outcome.result,
        output_summary=one.outcome.output_summary,
        summary=one.outcome.summary,
        duration_ms=duration,
        start_time=None if unstarted else now - timedelta(milliseconds=duration),
        loss_count=one.transition.loss_count,
    )


def _again(one: Decided) -> dict[str, Any]:
    return {
        "id": one.row["id"],
        "status": one.transition.to.value,
        "blocked_by": one.transition.blocked_by,
        "retry_count": one.transition.retry_count,
        "loss_count": one.transition.loss_count,
        "available_at": one.transition.available_at,
    }


def _attempt(one: Decided, now: datetime) -> dict[str, Any]:
    return {
        "instance_id": one.row["id"],
        "fence": one.row["fence"],
        "executor_id": one.row["executor_id"],
        "start_time": one.row["start_time"],
        "end_time": now,
        "outcome": one.transition.attempt,
        "error_message": one.transition.error_message,
    }
