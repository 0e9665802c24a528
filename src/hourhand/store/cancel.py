"""Store: cancel: what has not started ends at once, what runs is asked to stop."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Text, bindparam, func, select, true, update

from hourhand.model.answers import Aftermath
from hourhand.model.words import Status
from hourhand.rules.lifecycle import require_edge
from hourhand.store.database import Tx
from hourhand.store.ids import possible
from hourhand.store.moving import SEAM, End, end_instances
from hourhand.store.schema import task_instances
from hourhand.store.sql import any_of, store_clock
from hourhand.store.statements import Statement
from hourhand.store.values import ERROR_BYTES, clean_text

LOCK_LIVING = Statement(
    select(*[task_instances.c[name] for name in SEAM], select(store_clock()).scalar_subquery().label("now"))
    .where(any_of(task_instances.c.id, "ids"))
    .order_by(task_instances.c.id)
    .with_for_update()
)
_REQUEST = Statement(
    update(task_instances)
    .values(
        cancel_requested=true(),
        # Who asked first is who cancelled it.
        cancel_reason=func.coalesce(task_instances.c.cancel_reason, bindparam("reason", type_=Text)),
    )
    .where(any_of(task_instances.c.id, "ids"))
)


async def cancel_instances(tx: Tx, ids: Sequence[int], reason: str) -> tuple[list[int], Aftermath]:
    """Cancel those of these that live; which those were, and what follows."""
    reason = clean_text(reason, ERROR_BYTES) or ""
    rows = await tx.fetch(LOCK_LIVING, ids=sorted(one for one in set(ids) if possible(one)))
    running = [row["id"] for row in rows if row["status"] == Status.RUNNING]
    if running:
        await tx.run(_REQUEST, ids=running, reason=reason)
    ends = []
    for row in rows:
        if row["status"] != Status.RUNNING:
            require_edge(row["id"], Status(row["status"]), Status.CANCELLED)
            ends.append(End(row=row, to=Status.CANCELLED, error_message=reason))
    return [row["id"] for row in rows], await end_instances(tx, ends, rows[0]["now"]) if ends else Aftermath()
