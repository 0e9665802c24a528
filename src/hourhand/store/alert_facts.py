"""Store: all that alert rules want to know, read at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Integer, Text, bindparam, func, literal_column, select
from sqlalchemy.types import TypeEngine

from hourhand.model.alert import (
    AlertRule,
    Condition,
    Delivery,
    ExecutorLost,
    Facts,
    Failed,
    FailedInARow,
    Late,
    Memory,
    NeverStarted,
    QueueLonger,
    RunningLonger,
    Scope,
    ScopeKind,
    SubjectState,
)
from hourhand.rules import alert_findings
from hourhand.rules.alert_findings import LONGEST_ERROR, Failure, Subject
from hourhand.rules.alerts import item_from
from hourhand.store import alert_living
from hourhand.store.alert_living import Medians, Paused
from hourhand.store.alert_rules import CURSOR, ENABLED, rule_of
from hourhand.store.database import Row, Tx
from hourhand.store.rests import covered_now
from hourhand.store.rows import readable
from hourhand.store.schema import execution_logs, store_values
from hourhand.store.schema_alerts import alert_seen, alert_states
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json, from_micros

OVERLAP = timedelta(minutes=5)
"""What ended is read again for so long: a transaction that commits later than this after its end_time is missed."""
FAILURES_AT_ONCE = 1_000
SHORTEST_RUNNING = timedelta(seconds=1)
"""What is younger is not compared with its median."""
KEPT: Mapping[str, TypeEngine[Any]] = {
    "rule_id": Id,
    "subject": Text(),
    "since": Instant(),
    "firing_since": Instant(),
    "last_notified_at": Instant(),
    "suppressed": Integer(),
    "about": Json(),
}

_CURSOR = Statement(select(store_values.c.number, store_values.c.text).where(store_values.c.name == CURSOR))
_FAILURES = Statement(
    select(
        execution_logs.c.id,
        execution_logs.c.instance_id,
        execution_logs.c.task_id,
        execution_logs.c.task_name,
        execution_logs.c.group_id,
        execution_logs.c.scheduled_time,
        execution_logs.c.end_time,
        func.substr(execution_logs.c.error_message, 1, LONGEST_ERROR + 1, type_=Text).label("error_message"),
    )
    .where(
        execution_logs.c.status == literal_column("'failed'"),
        execution_logs.c.status != literal_column("'success'"),  # SQLite must be told that this follows
        execution_logs.c.end_time >= bindparam("since", type_=Instant()),
        ~select(alert_seen.c.log_id).where(alert_seen.c.log_id == execution_logs.c.id).exists(),
    )
    .order_by(execution_logs.c.end_time, execution_logs.c.id)
    .limit(bindparam("limit", type_=BigInteger))
)
_STATES = Statement(select(alert_states).where(any_of(alert_states.c.rule_id, "ids")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What was read, at one moment."""

    now: datetime
    turn: str
    cursor: datetime | None
    rules: tuple[AlertRule, ...]
    memories: Mapping[int, Memory]
    facts: Mapping[int, Facts]
    failures: tuple[Failure, ...]
    more: bool


async def gather(tx: Tx, *, lost_after: float, medians: Medians) -> Gathered | None:
    """Read all that the rules want to know; None when there are none."""
    rules = readable(await tx.fetch(ENABLED), rule_of)
    if not rules:
        return None
    (cursor,) = await tx.fetch(_CURSOR)
    now = await tx.now()
    at = None if cursor["number"] is None else from_micros(cursor["number"])
    memories = _memories(await tx.fetch(_STATES, ids=[rule.id for rule in rules]))
    failures = await _failures(tx, rules, at or now)
    reading = _Reading(
        tx, now, last_look=at, lost_after=lost_after, medians=medians, paused=Paused(await covered_now(tx))
    )
    await reading.look_up(rules, failures, memories)
    return Gathered(
        now=now,
        turn=cursor["text"],
        cursor=at,
        rules=tuple(rules),
        memories=memories,
        facts={rule.id: await reading.facts(rule, memories.get(rule.id, Memory())) for rule in rules},
        failures=tuple(failures),
        more=len(failures) >= FAILURES_AT_ONCE,
    )


def _of_endings(condition: Condition) -> bool:
    return isinstance(condition, Failed | FailedInARow)


async def _failures(tx: Tx, rules: Iterable[AlertRule], cursor: datetime) -> list[Failure]:
    """What failed since the cursor, or shortly before, and has not been looked at."""
    since = [rule.active_since for rule in rules if _of_endings(rule.condition)]
    if not since:
        return []
    rows = await tx.fetch(_FAILURES, since=max(cursor - OVERLAP, min(since)), limit=FAILURES_AT_ONCE)
    return [
        Failure(
            task=Subject(task_id=row["task_id"], task=row["task_name"], group_id=row["group_id"]),
            instance_id=row["instance_id"],
            log_id=row["id"],
            scheduled_time=row["scheduled_time"],
            end_time=row["end_time"],
            error_message=row["error_message"],
        )
        for row in rows
    ]


class _Reading:
    """The facts of one rule after the other, in one transaction."""

    def __init__(
        self,
        tx: Tx,
        now: datetime,
        *,
        last_look: datetime | None,
        lost_after: float,
        medians: Medians,
        paused: Paused,
    ) -> None:
        self._tx = tx
        self._now = now
        self._last_look = last_look
        self._lost_after = lost_after
        self._medians = medians
        self._paused = paused
        self._failures: Sequence[Failure] = ()
        self._newest: Mapping[int, Sequence[str]] = {}
        self._tasks: Mapping[int, Subject] = {}

    async def look_up(
        self, rules: Iterable[AlertRule], failures: Sequence[Failure], memories: Mapping[int, Memory]
    ) -> None:
        """Find the newest endings of all tasks that fail or have failed, for all rules at once."""
        wanted = {one.task.task_id for one in failures}
        count = 1
        for rule in rules:
            if _of_endings(rule.condition):
                wanted |= set(_firing(memories.get(rule.id, Memory())).values())
            if isinstance(rule.condition, FailedInARow):
                count = max(count, rule.condition.count)
        self._failures = failures
        if wanted:
            found = await alert_living.newest_endings(self._tx, sorted(wanted), count)
            self._newest = {task_id: [status for status, _ in endings] for task_id, endings in found.items()}
            self._tasks = await alert_living.tasks_by_id(self._tx, wanted)

    async def facts(self, rule: AlertRule, memory: Memory) -> Facts:
        """What this rule needs to know."""
        firing = _firing(memory)
        match rule.condition:
            case Failed():
                return alert_findings.failed(self._own(rule), firing, self._newest, self._tasks)
            case FailedInARow() as condition:
                failures = self._own(rule)
                return alert_findings.failed_in_a_row(condition, failures, firing, self._newest, self._tasks)
            case Late() | NeverStarted() as condition:
                return await self._unstarted(condition, rule.scope, firing.values())
            case RunningLonger() as condition:
                return await self._running_longer(condition, rule.scope, firing.values())
            case ExecutorLost():
                registry = await alert_living.registry(self._tx, rule.scope, self._lost_after)
                return alert_findings.executor_lost(registry, memory.states, self._last_look, self._now)
            case QueueLonger() as condition:
                queues = await alert_living.queues(self._tx, rule.scope, condition.count, self._now, self._paused)
                return alert_findings.queue_longer(condition, queues)

    async def _unstarted(self, condition: Late | NeverStarted, scope: Scope, firing: Iterable[int]) -> Facts:
        before = self._now - timedelta(seconds=condition.seconds)
        if isinstance(condition, Late):
            return alert_findings.late(await alert_living.late(self._tx, scope, before, firing, self._paused))
        oldest = await alert_living.never_started(self._tx, scope, before, firing, self._paused)
        return alert_findings.never_started(oldest)

    def _own(self, rule: AlertRule) -> list[Failure]:
        """The failures in the scope of a rule, since it is what it is."""
        return [
            one
            for one in self._failures
            if one.end_time >= rule.active_since
            and rule.scope.id in (None, one.task.group_id if rule.scope.kind is ScopeKind.GROUP else one.task.task_id)
        ]

    async def _running_longer(self, condition: RunningLonger, scope: Scope, firing: Iterable[int]) -> Facts:
        limit = SHORTEST_RUNNING if condition.seconds is None else timedelta(seconds=condition.seconds)
        found = await alert_living.running(self._tx, scope, self._now - limit, firing)
        if condition.times_median is not None:
            medians = await self._medians.of(self._tx, {one.task.task_id for one in found}, self._now)
            found = [replace(one, median_seconds=medians[one.task.task_id]) for one in found]
        return alert_findings.running_longer(condition, found, self._now)


def _firing(memory: Memory) -> dict[str, int]:
    """The subjects that fire and the numbers in them; executors have none, and are not asked for."""
    numbers = {
        subject: subject.partition(":")[2] for subject, state in memory.states.items() if state.firing_since is not None
    }
    return {subject: int(number) for subject, number in numbers.items() if number.isdecimal()}


def _memories(rows: Iterable[Row]) -> dict[int, Memory]:
    memories: dict[int, Memory] = {}
    for row in rows:
        memory = memories.get(row["rule_id"], Memory())
        if row["subject"]:
            state = SubjectState(**{name: row[name] for name in KEPT if name not in ("rule_id", "suppressed")})
            memories[row["rule_id"]] = replace(memory, states={**memory.states, state.subject: state})
        else:
            memories[row["rule_id"]] = replace(memory, delivery=_delivery(row["about"]))
    return memories


def _delivery(stored: Mapping[str, Any]) -> Delivery:
    until = stored["open_until"]
    return Delivery(
        open_until=None if until is None else datetime.fromisoformat(until),
        collected=tuple(item_from(one) for one in stored["collected"]),
        dropped=stored["dropped"],
    )
