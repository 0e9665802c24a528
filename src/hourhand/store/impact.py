"""Store: what a failure of one task would block, in a constant number of statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, select

from hourhand.model.errors import NotFound
from hourhand.model.graph import Blocked, Impact
from hourhand.model.words import DependencyMode, UpstreamFailurePolicy
from hourhand.rules.impact import Dependent, blocked_by
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.schema import groups, task_dependencies, tasks
from hourhand.store.sql import any_of, constant
from hourhand.store.statements import Statement
from hourhand.store.types import Id

MOST_BLOCKED = 5_000
MOST_EDGES = 20_000
"""So many dependencies are looked at: where each task needs four others, those of 5,000 tasks."""

_start = bindparam("task_id", type_=Id)


def _followed(query: Select[Any]) -> Select[Any]:
    """Behind what runs anyway, or not at all, nothing is blocked."""
    return query.join(tasks, tasks.c.id == task_dependencies.c.task_id).where(
        tasks.c.deleted_at.is_(None), tasks.c.enabled, tasks.c.upstream_failure_policy != constant("run")
    )


_edges = _followed(select(task_dependencies).where(task_dependencies.c.depends_on_id == _start)).cte(
    "edges", recursive=True
)
# UNION, not UNION ALL: each edge once, however many ways lead to it.
_edges = _edges.union(
    _followed(select(task_dependencies).join(_edges, task_dependencies.c.depends_on_id == _edges.c.task_id))
)
_BELOW = Statement(select(_edges).limit(bindparam("most", type_=BigInteger)))
_TASKS = Statement(
    select(
        tasks.c.id,
        tasks.c.name,
        groups.c.name.label("group"),
        tasks.c.group_id,
        tasks.c.enabled,
        tasks.c.next_fire_at,
        tasks.c.dependency_mode,
        tasks.c.upstream_failure_policy,
    )
    .join(groups, groups.c.id == tasks.c.group_id)
    .where(any_of(tasks.c.id, "ids"), tasks.c.deleted_at.is_(None))
)
# What is deleted counts as failed, so that nobody waits for it.
_NEEDS = Statement(
    select(task_dependencies)
    .join(tasks, tasks.c.id == task_dependencies.c.depends_on_id)
    .where(any_of(task_dependencies.c.task_id, "ids"), tasks.c.deleted_at.is_(None))
)


async def impact(tx: Tx, task_id: int, *, group_ids: Collection[int] | None) -> Impact:
    """The nearest first; what is out of the groups is counted and not told."""
    if not possible(task_id):
        raise NotFound("task", task_id)
    edges = await tx.fetch(_BELOW, task_id=task_id, most=MOST_EDGES + 1)
    shown = edges[:MOST_EDGES]
    rows = {row["id"]: row for row in await tx.fetch(_TASKS, ids=sorted({task_id, *(row["task_id"] for row in shown)}))}
    if task_id not in rows:
        raise NotFound("task", task_id)
    choosy = sorted(one for one, row in rows.items() if row["dependency_mode"] == DependencyMode.ANY)
    needs: dict[int, set[int]] = defaultdict(set)
    for row in await tx.fetch(_NEEDS, ids=choosy) if choosy else ():
        needs[row["task_id"]].add(row["depends_on_id"])
    dependents = {one: _dependent(row, needs[one]) for one, row in rows.items()}
    depths = blocked_by(task_id, dependents, [(row["task_id"], row["depends_on_id"]) for row in shown])
    within = [one for one in depths if group_ids is None or rows[one]["group_id"] in group_ids]
    told = sorted(within, key=lambda one: (depths[one], rows[one]["name"]))
    return Impact(
        blocked=tuple(_blocked(rows[one], depths[one]) for one in told[:MOST_BLOCKED]),
        hidden=len(depths) - len(within),
        truncated=len(edges) > MOST_EDGES or len(told) > MOST_BLOCKED,
    )


def _dependent(row: Row, needs: set[int]) -> Dependent:
    return Dependent(
        DependencyMode(row["dependency_mode"]),
        UpstreamFailurePolicy(row["upstream_failure_policy"]),
        alive=row["enabled"],
        needs=frozenset(needs),
    )


def _blocked(row: Row, depth: int) -> Blocked:
    return Blocked(
        task_id=row["id"],
        name=row["name"],
        group=row["group"],
        depth=depth,
        next_fire_at=row["next_fire_at"],
        policy=UpstreamFailurePolicy(row["upstream_failure_policy"]),
    )
