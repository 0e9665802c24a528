"""Store: reach: what a caller who is limited to groups may touch, compared within the transaction that touches it.

The API looks before it calls a verb; but what it saw may have been moved to another group since.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select, union_all

from hourhand.model.audit import Author
from hourhand.model.errors import Forbidden
from hourhand.model.pause import PauseScope
from hourhand.rules.reach import out_of_reach
from hourhand.store.database import Tx
from hourhand.store.definitions import lock_tasks
from hourhand.store.ids import first_day, possible
from hourhand.store.schema import execution_logs, groups, task_instances, tasks
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

_WITHIN = Statement(select(groups.c.id).where(any_of(groups.c.name, "names")))
_GROUPS_OF = Statement(
    union_all(
        select(task_instances.c.id, groups.c.name)
        .join(groups, groups.c.id == task_instances.c.group_id)
        .where(any_of(task_instances.c.id, "ids")),
        select(execution_logs.c.instance_id.label("id"), groups.c.name)
        .join(groups, groups.c.id == execution_logs.c.group_id)
        .where(
            any_of(execution_logs.c.instance_id, "ids"),
            execution_logs.c.end_time >= bindparam("since", type_=Instant()),
            execution_logs.c.superseded_at.is_(None),
        ),
    )
)
_scope_id = bindparam("scope_id", type_=Id)
_GROUP_OF_SCOPE = {
    PauseScope.GROUP: Statement(select(groups.c.name).where(groups.c.id == _scope_id)),
    PauseScope.TASK: Statement(
        select(groups.c.name).join(tasks, tasks.c.group_id == groups.c.id).where(tasks.c.id == _scope_id)
    ),
}


def reaches(author: Author | None, group: str | None) -> bool:
    """Whether it may touch what belongs to this group; None is what belongs to none, or to one that is gone."""
    if author is None or author.groups is None:
        return True
    return group is not None and group in author.groups


def require(author: Author | None, what: str, group: str | None) -> None:
    """Refuse what is out of reach, without telling which group that is."""
    if author is not None and not reaches(author, group):
        raise Forbidden(out_of_reach(what, author.name, author.groups or ()))


async def within(tx: Tx, author: Author | None) -> frozenset[int] | None:
    """The ids of the groups within reach; None for all of them."""
    if author is None or author.groups is None:
        return None
    return frozenset(row["id"] for row in await tx.fetch(_WITHIN, names=sorted(author.groups)))


async def require_task(tx: Tx, author: Author | None, task_id: int) -> None:
    """Refuse a task of a group out of reach, and keep it where it is; one that there is not is left to the verb."""
    if author is not None and author.groups is not None:
        for task in (await lock_tasks(tx, [task_id])).values():
            require(author, f"task {task_id}", task.group)


async def require_scope(tx: Tx, author: Author | None, what: str, scope: PauseScope, scope_id: int | None) -> None:
    """Refuse what rests beyond the reach.

    Called after the verb has locked the tasks of the scope: before that, one of them may be moved.
    """
    if author is None or author.groups is None:
        return
    rows = [] if scope is PauseScope.ALL else await tx.fetch(_GROUP_OF_SCOPE[scope], scope_id=scope_id)
    require(author, what, rows[0]["name"] if rows else None)


async def require_instances(tx: Tx, author: Author | None, ids: Iterable[int]) -> None:
    """Refuse instances of groups out of reach; those that there are not are left to the verb.

    A retry may bring an instance into the group that its task has now, so that a verb asks before, lest it tell of
    others, and again once what it changes is locked.
    """
    if author is not None and author.groups is not None:
        for one, group in (await groups_of(tx, ids)).items():
            require(author, f"instance {one}", group)


async def groups_of(tx: Tx, ids: Iterable[int]) -> dict[int, str]:
    """The names of the groups of instances, living or ended.

    Those that there are not, and those whose group is gone, are left out.
    """
    wanted = sorted({one for one in ids if possible(one)})
    if not wanted:
        return {}
    rows = await tx.fetch(_GROUPS_OF, ids=wanted, since=await first_day(tx, wanted[0]))
    return {row["id"]: row["name"] for row in rows}
