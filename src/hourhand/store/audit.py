"""Store: the audit: what changed, written in the transaction of the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam

from hourhand.model.audit import Author, Change
from hourhand.store.database import Tx
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import insert, store_clock
from hourhand.store.statements import Statement

_KEPT = (
    "action",
    "resource_type",
    "resource_id",
    "summary",
    "payload",
    "script",
    "before",
    "after",
    "result",
    "user_id",
    "user_name",
    "request_id",
)
_ADD = Statement(
    insert(audit_logs).values(
        **{name: bindparam(name, type_=audit_logs.c[name].type) for name in _KEPT}, occurred_at=store_clock()
    )
)


async def record(tx: Tx, author: Author | None, changes: Sequence[Change]) -> None:
    """Keep what somebody changed; what the engine does by itself is in the execution logs."""
    if author is None:
        return
    who = {"user_id": author.id, "user_name": author.name, "request_id": author.request_id}
    for change in changes:
        await tx.run(_ADD, **asdict(change), **who)
