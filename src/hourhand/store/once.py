"""Store: a request that comes again creates nothing again (`Idempotency-Key`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from sqlalchemy import BigInteger, Text, bindparam, select, update

from hourhand.model.audit import Once
from hourhand.model.errors import InvalidInput
from hourhand.store.database import Tx
from hourhand.store.schema_access import idempotency_keys
from hourhand.store.sql import insert, store_clock
from hourhand.store.statements import Statement

T = TypeVar("T")
_WHICH = ("principal", "route", "key")
_ours = [idempotency_keys.c[name] == bindparam(name, type_=Text) for name in _WHICH]
# Whoever comes second waits here until the first has committed, and then finds its row.
_FIRST = Statement(
    insert(idempotency_keys)
    .values(
        **{name: bindparam(name, type_=Text) for name in (*_WHICH, "request_hash")},
        created_at=store_clock(),
    )
    .on_conflict_do_nothing()
    .returning(idempotency_keys.c.key)
)
_FOUND = Statement(select(idempotency_keys.c.request_hash, idempotency_keys.c.created_id).where(*_ours))
_CREATED = Statement(
    update(idempotency_keys).values(created_id=bindparam("created_id", type_=BigInteger)).where(*_ours)
)


async def once(
    tx: Tx,
    request: Once | None,
    create: Callable[[Tx], Awaitable[tuple[T, int]]],
    again: Callable[[Tx, int], Awaitable[T]],
) -> tuple[T, bool]:
    """Create, or answer with what the same request created before; whether it was created now.

    `create` answers with what it made and the number by which `again` finds it.
    """
    if request is None:
        return (await create(tx))[0], True
    if await tx.fetch(_FIRST, **_which(request), request_hash=request.request_hash):
        made, number = await create(tx)
        await tx.run(_CREATED, **_which(request), created_id=number)
        return made, True
    return await again(tx, cast("int", await created_before(tx, request))), False


async def created_before(tx: Tx, request: Once) -> int | None:
    """The number of what the same request has created, if it came before; another one under its key is refused."""
    rows = await tx.fetch(_FOUND, **_which(request))
    if not rows:
        return None
    (row,) = rows
    if row["request_hash"] != request.request_hash:
        raise InvalidInput.one(
            "Idempotency-Key",
            request.key,
            f"{request.key!r} was used for another request to {request.route}: "
            "send the same body again, or choose a new key",
        )
    return row["created_id"]  # type: ignore[no-any-return]


def _which(request: Once) -> dict[str, str]:
    return {"principal": request.principal, "route": request.route, "key": request.key}
