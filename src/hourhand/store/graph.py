"""Store: the graph of dependencies, in a constant number of statements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import BigInteger, bindparam, func, select, union

from hourhand.model.errors import NotFound
from hourhand.model.graph import Graph, GraphEdge, GraphNode
from hourhand.model.words import Status, TaskType
from hourhand.rules.pausing import is_resting
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.rests import covered_now
from hourhand.store.rows import readable
from hourhand.store.schema import (
    RUNNING,
    execution_logs,
    groups,
    task_dependencies,
    task_instances,
    task_instants,
    tasks,
)
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id

MOST_EDGES = 5_000
MOST_WAITING = 100

_lower = tasks.alias("lower")
_upper = tasks.alias("upper")
_edges = (
    select(task_dependencies)
    .join(_lower, _lower.c.id == task_dependencies.c.task_id)
    .join(_upper, _upper.c.id == task_dependencies.c.depends_on_id)
    .where(_lower.c.deleted_at.is_(None), _upper.c.deleted_at.is_(None))
)
_ordered = (task_dependencies.c.task_id, task_dependencies.c.depends_on_id)
_most = bindparam("most", type_=BigInteger)
_ALL = Statement(_edges.order_by(*_ordered).limit(_most))
_OF_GROUPS = Statement(
    _edges.where(any_of(_lower.c.group_id, "group_ids"), any_of(_upper.c.group_id, "group_ids"))
    .order_by(*_ordered)
    .limit(_most)
)
_start = bindparam("task_id", type_=Id)
_above = select(task_dependencies).where(task_dependencies.c.task_id == _start).cte("above", recursive=True)
# UNION, not UNION ALL: each edge once, however many ways lead to it.
_above = _above.union(select(task_dependencies).join(_above, task_dependencies.c.task_id == _above.c.depends_on_id))
_below = select(task_dependencies).where(task_dependencies.c.depends_on_id == _start).cte("below", recursive=True)
_below = _below.union(select(task_dependencies).join(_below, task_dependencies.c.depends_on_id == _below.c.task_id))
_around = union(select(_above), select(_below)).subquery("around")
_AROUND = Statement(
    _edges.join(
        _around,
        (_around.c.task_id == task_dependencies.c.task_id)
        & (_around.c.depends_on_id == task_dependencies.c.depends_on_id),
    )
    .order_by(*_ordered)
    .limit(_most)
)
_newest = (
    select(func.max(task_instants.c.scheduled_time))
    .where(task_instants.c.task_id == tasks.c.id, task_instants.c.outcome.is_not(None))
    .correlate(tasks)
    .scalar_subquery()
)
_waiting = (
    select(task_instances.c.id)
    .where(task_instances.c.task_id == tasks.c.id, task_instances.c.status != RUNNING)
    # In the order of the index: else PostgreSQL would rather read the whole table.
    .order_by(task_instances.c.scheduled_time.desc())
    .limit(MOST_WAITING)
    .correlate(tasks)
    .subquery("waiting")
)
_ending = (
    select(func.max(execution_logs.c.instance_id))
    .where(
        execution_logs.c.task_id == task_instants.c.task_id,
        execution_logs.c.end_time == task_instants.c.ended_at,  # written in one transaction, by one clock
        execution_logs.c.scheduled_time == task_instants.c.scheduled_time,
    )
    .correlate(task_instants)
    .scalar_subquery()
)
_NODES = Statement(
    select(
        tasks.c.id,
        tasks.c.name,
        groups.c.name.label("group"),
        tasks.c.group_id,
        tasks.c.type,
        tasks.c.schedule,
        tasks.c.enabled,
        task_instants.c.outcome,
        task_instants.c.scheduled_time,
        _ending.label("instance_id"),
        select(func.count()).select_from(_waiting).correlate(tasks).scalar_subquery().label("waiting"),
    )
    .join(groups, groups.c.id == tasks.c.group_id)
    .outerjoin(task_instants, (task_instants.c.task_id == tasks.c.id) & (task_instants.c.scheduled_time == _newest))
    .where(any_of(tasks.c.id, "ids"), tasks.c.deleted_at.is_(None))
    .order_by(tasks.c.name)
)
_RUNNING = Statement(
    select(task_instances.c.task_id, func.max(task_instances.c.id).label("id"), func.count().label("count"))
    .where(
        task_instances.c.status == RUNNING,
        task_instances.c.executor_id.is_not(None),  # the index of what runs
        any_of(task_instances.c.task_id, "ids"),
    )
    .group_by(task_instances.c.task_id)
)


async def running_of(tx: Tx, ids: Iterable[int]) -> dict[int, Row]:
    """The newest instance that runs of each of these tasks, and how many do; tasks of which none does are left out."""
    return {row["task_id"]: row for row in await tx.fetch(_RUNNING, ids=sorted(ids))}


async def graph(tx: Tx, *, task_id: int | None, group_ids: Sequence[int] | None) -> Graph:
    """What depends on what: around one task, within some groups, or all of it."""
    most = MOST_EDGES + 1
    if task_id is not None:
        if not possible(task_id):
            raise NotFound("task", task_id)
        edges = await tx.fetch(_AROUND, task_id=task_id, most=most)
    elif group_ids is not None:
        edges = await tx.fetch(_OF_GROUPS, group_ids=list(group_ids), most=most)
    else:
        edges = await tx.fetch(_ALL, most=most)
    shown = edges[:MOST_EDGES]
    ids: set[int] = {one for row in shown for one in (row["task_id"], row["depends_on_id"])}
    ids |= set() if task_id is None else {task_id}
    rows = await tx.fetch(_NODES, ids=sorted(ids))
    if task_id is not None:
        if not any(row["id"] == task_id for row in rows):
            raise NotFound("task", task_id)
        if group_ids is not None:
            rows = [row for row in rows if row["group_id"] in group_ids]
    running, covered = await running_of(tx, ids), await covered_now(tx)
    nodes = readable(
        rows, lambda row: _node(row, running.get(row["id"]), paused=is_resting(covered, row["id"], row["group_id"]))
    )
    there = {node.id for node in nodes}
    return Graph(
        nodes=tuple(nodes),
        edges=tuple(
            GraphEdge(task_id=row["task_id"], depends_on_id=row["depends_on_id"])
            for row in shown
            if row["task_id"] in there and row["depends_on_id"] in there
        ),
        truncated=len(edges) > MOST_EDGES,
    )


def _node(row: Row, running: Row | None, *, paused: bool) -> GraphNode:
    return GraphNode(
        id=row["id"],
        name=row["name"],
        group=row["group"],
        type=TaskType(row["type"]),
        schedule=row["schedule"],
        enabled=row["enabled"],
        running=running is not None,
        last_outcome=None if row["outcome"] is None else Status(row["outcome"]),
        last_time=row["scheduled_time"],
        instance_id=row["instance_id"] if running is None else running["id"],
        waiting=row["waiting"],
        paused=paused,
    )
