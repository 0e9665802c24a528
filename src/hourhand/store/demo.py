"""Store: the demo: what of it there is, how it is stopped, and how it is removed without a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Double, Table, and_, bindparam, delete, func, not_, or_, select

from hourhand.model.alert import ScopeKind
from hourhand.model.answers import Aftermath
from hourhand.model.demo import DEMO_GROUP, DemoState
from hourhand.model.errors import Conflict
from hourhand.rules.demo import DEMO_OWNER
from hourhand.store import alert_rules, calendars, edit, limits
from hourhand.store import groups as group_rows
from hourhand.store.cancel import cancel_instances
from hourhand.store.database import Row, Tx
from hourhand.store.definitions import lock_tasks
from hourhand.store.schema import (
    execution_logs,
    executors,
    groups,
    instance_attempts,
    instance_logs,
    store_values,
    task_dependencies,
    task_instances,
    task_instants,
    task_versions,
    tasks,
)
from hourhand.store.schema_access import pauses, stats_minutely
from hourhand.store.schema_alerts import alert_rules as rule_rows
from hourhand.store.schema_alerts import alert_seen, alert_states
from hourhand.store.schema_windows import maintenance_windows, past_windows
from hourhand.store.sql import any_of, constant, lease_clock, plus_seconds
from hourhand.store.statements import Statement
from hourhand.store.types import Id, from_micros

LOADED = "demo_loaded_at"
BATCH = 2_000
"""Endings removed in one transaction: others get their turn in between."""

# `rules.demo.is_sample`: `managed_by` alone could be anybody's writing.
_owned = and_(
    tasks.c.managed_by.is_not_distinct_from(constant(DEMO_OWNER)),
    tasks.c.created_by == constant(DEMO_OWNER),
    tasks.c.declared_hash.is_not(None),
)
_ago = plus_seconds(lease_clock(), bindparam("ago", type_=Double))
_in_group = bindparam("group_id", type_=Id)
# Looked at first, by keys: where there is no demo, nothing else is asked.
_SIGNS = Statement(
    select(
        select(store_values.c.number).where(store_values.c.name == constant(LOADED)).scalar_subquery().label("loaded"),
        select(groups.c.id).where(groups.c.name == constant(DEMO_GROUP)).scalar_subquery().label("group_id"),
    )
)
_OWNED = Statement(
    select(tasks.c.id, tasks.c.name, tasks.c.group_id, tasks.c.deleted_at).where(_owned).order_by(tasks.c.id)
)
_LIVING = Statement(
    select(task_instances.c.id, task_instances.c.status)
    .where(any_of(task_instances.c.task_id, "ids"))
    .order_by(task_instances.c.id)
)
_SERVING = Statement(
    select(func.count().label("count"))
    .select_from(executors)
    .where(executors.c.group_id == _in_group, executors.c.last_heartbeat >= _ago)
)
_DEPENDENTS = Statement(
    select(tasks.c.name)
    .distinct()
    .join(task_dependencies, task_dependencies.c.task_id == tasks.c.id)
    .where(any_of(task_dependencies.c.depends_on_id, "ids"), tasks.c.deleted_at.is_(None), not_(_owned))
    .order_by(tasks.c.name)
    .limit(constant(group_rows.NAMED + 1))
)
_STRANGERS = Statement(
    select(tasks.c.name)
    .where(tasks.c.group_id == _in_group, tasks.c.deleted_at.is_(None), not_(_owned))
    .order_by(tasks.c.name)
    .limit(constant(group_rows.NAMED + 1))
)
_WINDOWS = Statement(
    select(maintenance_windows.c.name)
    .where(
        or_(
            and_(maintenance_windows.c.scope == constant("task"), any_of(maintenance_windows.c.scope_id, "ids")),
            and_(maintenance_windows.c.scope == constant("group"), maintenance_windows.c.scope_id == _in_group),
        )
    )
    .order_by(maintenance_windows.c.name)
    .limit(constant(group_rows.NAMED + 1))
)
_ENDED = Statement(
    select(execution_logs.c.id, execution_logs.c.instance_id)
    .where(any_of(execution_logs.c.task_id, "ids"))
    .limit(constant(BATCH))
)
_REMOVE_LOGS = Statement(
    delete(execution_logs).where(any_of(execution_logs.c.task_id, "ids"), any_of(execution_logs.c.id, "log_ids"))
)
_REMOVE_SEEN = Statement(delete(alert_seen).where(any_of(alert_seen.c.log_id, "log_ids")))
_REMOVE_SAID = tuple(
    Statement(delete(table).where(any_of(table.c.instance_id, "instance_ids")))
    for table in (instance_logs, instance_attempts)
)


def _scoped(table: Table, *, scope: str, name: str) -> Statement:
    """What is about one of these tasks, or about the group."""
    return Statement(delete(table).where(table.c.scope == constant(scope), any_of(table.c.scope_id, name)))


_REMOVE_ABOUT_TASKS = (
    Statement(delete(task_instants).where(any_of(task_instants.c.task_id, "ids"))),
    Statement(delete(task_versions).where(any_of(task_versions.c.task_id, "ids"))),
    Statement(
        delete(task_dependencies).where(
            or_(any_of(task_dependencies.c.task_id, "ids"), any_of(task_dependencies.c.depends_on_id, "ids"))
        )
    ),
    *(_scoped(table, scope="task", name="ids") for table in (pauses, past_windows)),
    Statement(delete(tasks).where(any_of(tasks.c.id, "ids"), _owned)),
)
_REMOVE_STATES = Statement(delete(alert_states).where(any_of(alert_states.c.subject, "subjects")))
_RULES = Statement(
    select(rule_rows.c.id).where(rule_rows.c.created_by == constant(DEMO_OWNER)).order_by(rule_rows.c.id)
)
_OTHER_RULES = Statement(
    select(rule_rows.c.name, rule_rows.c.scope)
    .where(rule_rows.c.created_by != constant(DEMO_OWNER))
    .order_by(rule_rows.c.name)
)
_REMOVE_SILENT = Statement(
    delete(executors).where(executors.c.group_id == _in_group, executors.c.last_heartbeat < _ago)
)
_REMOVE_ABOUT_GROUP = (
    Statement(delete(stats_minutely).where(stats_minutely.c.group_id == _in_group)),
    Statement(
        delete(past_windows).where(past_windows.c.scope == constant("group"), past_windows.c.scope_id == _in_group)
    ),
)
_FORGET = Statement(delete(store_values).where(store_values.c.name == constant(LOADED)))


async def state(tx: Tx, lease_seconds: float) -> DemoState:
    """What of the demo there is."""
    (signs,) = await tx.fetch(_SIGNS)
    if signs["loaded"] is None and signs["group_id"] is None:
        return DemoState()
    owned = await tx.fetch(_OWNED)
    living = await tx.fetch(_LIVING, ids=[row["id"] for row in owned]) if owned else ()
    (serving,) = await tx.fetch(_SERVING, group_id=signs["group_id"] or 0, ago=-lease_seconds)
    return DemoState(
        loaded_at=None if signs["loaded"] is None else from_micros(signs["loaded"]),
        tasks=sum(row["deleted_at"] is None for row in owned),
        living=len(living),
        executors=serving["count"],
        owned=bool(owned) or signs["loaded"] is not None,
    )


async def stop(
    tx: Tx, *, by: str, look_ahead: timedelta, lease_seconds: float
) -> tuple[list[str], list[int], Aftermath]:
    """Delete the sample tasks and cancel what lives of them; their names, and the instances that are to stop."""
    await tx.fetch(edit.ONE_AT_A_TIME)
    owned = await tx.fetch(_OWNED)
    ids = [row["id"] for row in owned]
    await _refuse_to_take_along(tx, ids)
    left = [row for row in owned if row["deleted_at"] is None]
    await lock_tasks(tx, ids)  # all of them first: tasks come before instances in the order of locks
    aftermath = Aftermath()
    for row in left:
        _, more = await edit.delete_task(
            tx, row["id"], force=True, by=by, look_ahead=look_ahead, lease_seconds=lease_seconds
        )
        aftermath.add(more)
    living = [row["id"] for row in await tx.fetch(_LIVING, ids=ids)] if ids else []
    stopped, more = await cancel_instances(tx, living, f"the demo was removed by {by}") if living else ([], Aftermath())
    aftermath.add(more)
    return [row["name"] for row in left], stopped, aftermath


async def _refuse_to_take_along(tx: Tx, ids: Sequence[int]) -> None:
    """What people made on top of the demo is theirs: they decide what becomes of it."""
    (signs,) = await tx.fetch(_SIGNS)
    group_id = signs["group_id"] or 0
    if found := await tx.fetch(_DEPENDENTS, ids=ids):
        raise Conflict(
            f"tasks that are not the demo's depend on sample tasks ({_names(found)}): take these dependencies away "
            "first"
        )
    if found := await tx.fetch(_STRANGERS, group_id=group_id):
        raise Conflict(
            f"group {DEMO_GROUP!r} has tasks that are not the demo's ({_names(found)}): move them to another group, "
            "or delete them first"
        )
    about = {(ScopeKind.TASK.value, one) for one in ids} | {(ScopeKind.GROUP.value, group_id)}
    if found := [row for row in await tx.fetch(_OTHER_RULES) if _scope(row["scope"]) in about]:
        raise Conflict(
            f"alert rules that are not the demo's are about it ({_names(found)}): give them another scope, or delete "
            "them first"
        )
    if found := await tx.fetch(_WINDOWS, ids=ids, group_id=group_id):
        raise Conflict(
            f"maintenance windows are about the demo ({_names(found)}): give them another scope, or delete them first"
        )
    if limited := await limits.holders(tx, DEMO_GROUP):
        raise Conflict(
            f"group {DEMO_GROUP!r} is what some are limited to ({group_rows.few(limited)}): limit these users to other "
            "groups or delete them, and revoke these tokens first"
        )


def _names(rows: Sequence[Row]) -> str:
    return group_rows.few([row["name"] for row in rows])


def _scope(stored: Mapping[str, Any]) -> tuple[Any, Any]:
    return stored.get("kind"), stored.get("id")


async def check_stopped(tx: Tx, lease_seconds: float) -> None:
    """Refuse to remove what is still at work."""
    now = await state(tx, lease_seconds)
    if now.tasks or now.living or now.executors:
        raise Conflict(
            f"the demo is still at work ({now.tasks} tasks, {now.living} instances that have not ended, "
            f"{now.executors} executors in group {DEMO_GROUP!r}): ask again in a moment, and stop the executors that "
            "were started for that group by hand"
        )


async def remove_endings(tx: Tx) -> int:
    """Remove some of what has ended, with all that it said; how many, 0 when nothing is left."""
    ids = [row["id"] for row in await tx.fetch(_OWNED)]
    ended = await tx.fetch(_ENDED, ids=ids) if ids else ()
    if ended:
        log_ids, instance_ids = [row["id"] for row in ended], sorted({row["instance_id"] for row in ended})
        for statement in _REMOVE_SAID:
            await tx.run(statement, instance_ids=instance_ids)
        await tx.run(_REMOVE_SEEN, log_ids=log_ids)
        await tx.run(_REMOVE_LOGS, ids=ids, log_ids=log_ids)
    return len(ended)


async def remove_rest(tx: Tx, *, lease_seconds: float, turn: str) -> tuple[int, list[limits.Limited]]:
    """Remove everything else; how many tasks that were, and who was limited to the group."""
    # Whoever just now makes something about the demo comes before this, and is found, or after, and finds it gone.
    await alert_rules.hold(tx, turn=turn)
    for statement in (calendars.ONE_AT_A_TIME, edit.ONE_AT_A_TIME):
        await tx.fetch(statement)
    await check_stopped(tx, lease_seconds)
    owned = await tx.fetch(_OWNED)
    ids = [row["id"] for row in owned]
    await lock_tasks(tx, ids)
    (signs,) = await tx.fetch(_SIGNS)
    group_id = signs["group_id"]
    if group_id is not None:
        await group_rows.lock_group(tx, group_id)
    await _refuse_to_take_along(tx, ids)
    for row in await tx.fetch(_RULES):
        await alert_rules.remove(tx, row["id"], turn=turn)
    subjects = [f"task:{one}" for one in ids] + [f"group:{group_id}"]
    await tx.run(_REMOVE_STATES, subjects=subjects)
    for statement in _REMOVE_ABOUT_TASKS:
        await tx.run(statement, ids=ids)
    limited = []
    if group_id is not None:
        await tx.run(_REMOVE_SILENT, group_id=group_id, ago=-lease_seconds)
        for statement in _REMOVE_ABOUT_GROUP:
            await tx.run(statement, group_id=group_id)
        await group_rows.delete_group(tx, group_id)
        limited = await limits.forget_group(tx, DEMO_GROUP)
    await tx.run(_FORGET)
    return len(ids), limited
