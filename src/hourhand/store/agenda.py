"""Store: which tasks are to fire by themselves, and what lets them rest."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, bindparam, select, tuple_

from hourhand.model.agenda import Clocked
from hourhand.model.window import Rest
from hourhand.store.database import Tx
from hourhand.store.rests import rests_since
from hourhand.store.schema import groups, tasks
from hourhand.store.searching import contains, literally
from hourhand.store.sql import any_of
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, from_micros

MOST_TASKS = 20_000
"""So many are looked at, those that fire soonest."""
_TICK = timedelta(microseconds=1)


@lru_cache(maxsize=8)
def _clocked(*, grouped: bool, one: bool, named: bool) -> Statement:
    query = (
        select(
            tasks.c.id.label("task_id"),
            tasks.c.name.label("task_name"),
            groups.c.name.label("group"),
            tasks.c.group_id,
            tasks.c.schedule,
            tasks.c.timezone,
            tasks.c.anchored_at,
            tasks.c.next_fire_at,
        )
        .join(groups, groups.c.id == tasks.c.group_id)
        # Who is neither disabled nor deleted nor at the end of its schedule is to be woken.
        .where(
            tasks.c.wake_at.is_not(None),
            tasks.c.next_fire_at < bindparam("before", type_=Instant()),
            tuple_(tasks.c.next_fire_at, tasks.c.id)
            > tuple_(bindparam("after_time", type_=Instant()), bindparam("after_id", type_=Id)),
        )
        .order_by(tasks.c.next_fire_at, tasks.c.id)
        .limit(bindparam("most", type_=BigInteger))
    )
    if grouped:
        query = query.where(any_of(tasks.c.group_id, "group_ids"))
    if named:
        query = query.where(contains(tasks.c.name, "q"))
    return Statement(query.where(tasks.c.id == bindparam("task_id", type_=Id)) if one else query)


Place = tuple[datetime, int]


async def clocked(
    tx: Tx,
    before: datetime,
    *,
    groups: Collection[int] | None,
    task_id: int | None = None,
    q: str | None = None,
    place: Place | None = None,
    limit: int = 0,
) -> tuple[list[Clocked], list[Rest], bool]:
    """Those with an instant before a time, all rests that hold now or later, and whether there are more tasks.

    Who wants no more than the first `limit` instants after a place needs the tasks whose next one lies before it, and
    of the others no more than the first so many.
    """
    statement = _clocked(grouped=groups is not None, one=task_id is not None, named=q is not None)
    params: dict[str, Any] = {} if groups is None else {"group_ids": sorted(groups)}
    params |= {} if task_id is None else {"task_id": task_id}
    params |= {} if q is None else {"q": literally(q)}
    rows = await tx.fetch(
        statement,
        **params,
        before=before if place is None else min(before, place[0] + _TICK),
        after_time=from_micros(0),
        after_id=0,
        most=MOST_TASKS + 1,
    )
    found = [Clocked(**row) for row in rows[:MOST_TASKS]]
    if place is not None:
        params |= {"before": before, "after_time": place[0], "after_id": place[1], "most": limit}
        known = {one.task_id for one in found}
        found += [Clocked(**row) for row in await tx.fetch(statement, **params) if row["task_id"] not in known]
    since = min([await tx.now(), *(one.next_fire_at for one in found)])
    return found, await rests_since(tx, since), len(rows) > MOST_TASKS
