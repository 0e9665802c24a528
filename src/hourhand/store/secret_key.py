"""Store: which key its secrets are sealed with; of the key itself it knows only a check value."""

from __future__ import annotations

from sqlalchemy import Text, bindparam, select

from hourhand.store.database import Tx
from hourhand.store.schema import store_values
from hourhand.store.sql import insert
from hourhand.store.statements import Statement

_NAME = "secret_key_check"
_KNOWN = Statement(select(store_values.c.text).where(store_values.c.name == _NAME))
_FIRST = Statement(
    insert(store_values).values(name=_NAME, text=bindparam("check", type_=Text)).on_conflict_do_nothing()
)


async def agree(tx: Tx, check: str) -> bool:
    """Whether this is the key's check value; the first that comes decides."""
    rows = await tx.fetch(_KNOWN)
    if not rows:
        await tx.run(_FIRST, check=check)
        rows = await tx.fetch(_KNOWN)
    return bool(rows[0]["text"] == check)
