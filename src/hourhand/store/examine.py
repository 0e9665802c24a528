"""Store: what its tables tell of those who work on it, for `hourhand doctor`; every part is read up to a bound."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Text, TextClause, bindparam, func, select, text

from hourhand.model.diagnosis import Demand, Examined, Program, Resting, SeenExecutor, Unsent
from hourhand.model.pause import PauseScope
from hourhand.model.registry import BUILTIN
from hourhand.model.words import TaskType
from hourhand.rules.lanes import handlers_of
from hourhand.store import alert_outbox, figures, pauses
from hourhand.store.audit_chain import HEAD
from hourhand.store.backfill import ledger_floor
from hourhand.store.database import Row, Tx
from hourhand.store.paging import MOST
from hourhand.store.schema import execution_logs, executors, groups, store_values, tasks
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import constant, lease_clock, store_clock
from hourhand.store.statements import Statement

LOOKED_AT = 10_000
"""So many tasks, and entries of the audit, at most."""
PROGRAMS = 500

# What differs is how each dialect reads JSON, and what is true.
_WORDS = {
    "postgresql": {
        "enabled": "t.enabled",
        "app": "t.payload ->> 'app'",
        "labels": "CAST(t.executor_labels AS text)",
        "program": "CASE WHEN jsonb_typeof(t.payload -> 'command') = 'array' THEN t.payload -> 'command' ->> 0 END",
        "path": "t.payload -> 'env' ->> 'PATH'",
        "targets": "jsonb_array_length(targets)",
    },
    "sqlite": {
        "enabled": "t.enabled = 1",
        "app": "json_extract(t.payload, '$.app')",
        "labels": "t.executor_labels",
        "program": "CASE WHEN json_type(t.payload, '$.command') = 'array' "
        "THEN json_extract(t.payload, '$.command[0]') END",
        "path": "json_extract(t.payload, '$.env.PATH')",
        "targets": "json_array_length(targets)",
    },
}
_DEMANDS = """
SELECT g.name AS group_name, d.type, d.app, d.labels, count(*) AS tasks, min(d.name) AS example
FROM (SELECT t.group_id, t.name, t.type, CASE WHEN t.type = 'python' THEN {app} END AS app, {labels} AS labels
    FROM tasks t WHERE {enabled} AND t.deleted_at IS NULL LIMIT :most) AS d
JOIN groups g ON g.id = d.group_id
GROUP BY g.name, d.type, d.app, d.labels ORDER BY g.name, d.type, d.app, d.labels
"""
# What brings a PATH of its own is found where only it knows.
_PROGRAMS = """
SELECT g.name AS group_name, p.program, count(*) AS tasks, min(p.name) AS example
FROM (SELECT t.group_id, t.name, {program} AS program
    FROM tasks t WHERE {enabled} AND t.deleted_at IS NULL AND t.type = 'command' AND {path} IS NULL LIMIT :most) AS p
JOIN groups g ON g.id = p.group_id
GROUP BY g.name, p.program ORDER BY g.name, p.program LIMIT :programs
"""
_SECRETS = """
SELECT (SELECT coalesce(sum({targets}), 0) FROM alert_rules)
    + (SELECT count(*) FROM data_sources WHERE secret IS NOT NULL) AS secrets,
    (SELECT count(*) FROM alert_rules) AS rules
"""


def _in_both(sql: str, typed: Any) -> dict[str, Statement]:
    return {dialect: Statement(typed(text(sql.format(**words)))) for dialect, words in _WORDS.items()}


def _demands(clause: TextClause) -> Any:
    return clause.bindparams(bindparam("most", type_=BigInteger)).columns(
        group_name=Text, type=Text, app=Text, labels=Text, tasks=BigInteger, example=Text
    )


def _programs(clause: TextClause) -> Any:
    return clause.bindparams(bindparam("most", type_=BigInteger), bindparam("programs", type_=BigInteger)).columns(
        group_name=Text, program=Text, tasks=BigInteger, example=Text
    )


def _secrets(clause: TextClause) -> Any:
    return clause.columns(secrets=BigInteger, rules=BigInteger)


_DEMANDS_IN = _in_both(_DEMANDS, _demands)
_PROGRAMS_IN = _in_both(_PROGRAMS, _programs)
_SECRETS_IN = _in_both(_SECRETS, _secrets)
_most = bindparam("most", type_=BigInteger)
_EXECUTORS = Statement(
    select(executors, groups.c.name.label("group_name"), lease_clock().label("clock"))
    .join(groups, groups.c.id == executors.c.group_id)
    .order_by(executors.c.id)
)
_due = (
    select(tasks.c.wake_at)
    .where(tasks.c.wake_at.is_not(None), tasks.c.wake_at <= select(store_clock()).scalar_subquery())
    .order_by(tasks.c.wake_at)
    .limit(_most)
    .subquery()
)
_DUE = Statement(select(func.count().label("due"), func.min(_due.c.wake_at).label("oldest")))
_OLDEST = Statement(select(func.min(execution_logs.c.end_time).label("oldest")))
_unsealed = (
    select(audit_logs.c.occurred_at).where(audit_logs.c.sealed_no.is_(None)).order_by(audit_logs.c.id).limit(_most)
).subquery()
_UNSEALED = Statement(select(func.count().label("found"), func.min(_unsealed.c.occurred_at).label("oldest")))
_SEALED = Statement(select(store_values.c.number).where(store_values.c.name == constant(HEAD)))


async def examine(tx: Tx, *, lease_seconds: float) -> Examined:
    """Look at all of it."""
    now = await tx.now()
    demands = await tx.fetch(_DEMANDS_IN[tx.dialect], most=LOOKED_AT)
    (due,) = await tx.fetch(_DUE, most=LOOKED_AT)
    (oldest,) = await tx.fetch(_OLDEST)
    (secrets,) = await tx.fetch(_SECRETS_IN[tx.dialect])
    (unsealed,) = await tx.fetch(_UNSEALED, most=LOOKED_AT)
    return Examined(
        looked_at=now,
        groups=tuple(await figures.figures(tx, lease_seconds=lease_seconds)),
        executors=tuple(_executor(row) for row in await tx.fetch(_EXECUTORS)),
        demands=tuple(map(_demand, demands)),
        programs=tuple(
            map(_program, await tx.fetch(_PROGRAMS_IN[tx.dialect], most=LOOKED_AT, programs=PROGRAMS)),
        ),
        tasks_left_out=sum(row["tasks"] for row in demands) >= LOOKED_AT,
        resting=await _resting(tx),
        cycle_seconds=await figures.cycle_seconds(tx),
        tasks_due=due["due"],
        overdue_seconds=_since(due["oldest"], now),
        ledger_floor=await ledger_floor(tx),
        oldest_log=oldest["oldest"],
        alert_rules=secrets["rules"],
        unsent=await _unsent(tx),
        audit_sealed=next((row["number"] for row in await tx.fetch(_SEALED)), 0),
        audit_unsealed=unsealed["found"],
        audit_unsealed_seconds=_since(unsealed["oldest"], now),
        secrets=int(secrets["secrets"]),
    )


def _since(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else max(0.0, (now - moment).total_seconds())


def _executor(row: Row) -> SeenExecutor:
    return SeenExecutor(
        id=row["id"],
        group=row["group_name"],
        hostname=row["hostname"],
        version=row["version"],
        silent_seconds=_since(row["last_heartbeat"], row["clock"]),
        capacity=row["capacity"],
        running=row["running"],
        labels=row["labels"],
        provides=tuple(row["provides"]),
    )


def _demand(row: Row) -> Demand:
    return Demand(
        group=row["group_name"],
        requires=_requires(row),
        labels=json.loads(row["labels"]),
        tasks=row["tasks"],
        example=row["example"],
    )


def _requires(row: Row) -> str:
    """As `rules.lanes.requires` says of a whole task."""
    match row["type"]:
        case TaskType.PYTHON:
            return handlers_of(row["app"] or row["group_name"])
        case TaskType.XXL:
            return "xxl"
    return BUILTIN


def _program(row: Row) -> Program:
    return Program(group=row["group_name"], name=row["program"], tasks=row["tasks"], example=row["example"])


async def _resting(tx: Tx) -> tuple[Resting, ...]:
    return tuple(
        Resting(group=one.group, reason=one.reason, until=one.until)
        for one in await pauses.active_pauses(tx)
        if one.scope is not PauseScope.TASK
    )


async def _unsent(tx: Tx) -> tuple[Unsent, ...]:
    """Of the newest notices to each target of each rule, those that did not arrive."""
    newest: dict[tuple[int, str | None], Unsent | None] = {}
    for one in (await alert_outbox.list_posted(tx, limit=MOST, cursor=None)).items:
        failed = one.sent_at is None and one.last_error is not None and one.target is not None
        found = Unsent(
            rule=one.rule_name,
            target=one.target or "",
            error=one.last_error or "",
            since=one.created_at,
            given_up=one.given_up_at is not None,
        )
        newest.setdefault((one.rule_id, one.target), found if failed else None)
    return tuple(one for one in newest.values() if one is not None)
