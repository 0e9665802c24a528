"""Store: which key its secrets are sealed with; of the key itself it knows only a check value."""

from __future__ import annotations

import base64
from typing import Any

from sqlalchemy import LargeBinary, Text, bindparam, select, update

from hourhand.contracts.sealing import Reseal
from hourhand.model.errors import Conflict
from hourhand.model.sealing import Resealed, Unopened, UnopenedSource
from hourhand.service import post, sources
from hourhand.store.database import Tx
from hourhand.store.schema import store_values
from hourhand.store.schema_access import data_sources
from hourhand.store.schema_alerts import alert_rules
from hourhand.store.sql import insert
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Json

_NAME = "secret_key_check"
_KNOWN = Statement(select(store_values.c.text).where(store_values.c.name == _NAME))
# Whoever writes what is sealed holds it; whoever rotates waits for him, and he for whoever rotates.
_HELD = Statement(select(store_values.c.text).where(store_values.c.name == _NAME).with_for_update(read=True))
_LOCKED = Statement(select(store_values.c.text).where(store_values.c.name == _NAME).with_for_update())
_FIRST = Statement(
    insert(store_values).values(name=_NAME, text=bindparam("check", type_=Text)).on_conflict_do_nothing()
)
_CHANGE = Statement(
    update(store_values).values(text=bindparam("check", type_=Text)).where(store_values.c.name == _NAME)
)
_RULES = Statement(
    select(alert_rules.c.id, alert_rules.c.name, alert_rules.c.targets).order_by(alert_rules.c.id).with_for_update()
)
_RESEALED = Statement(
    update(alert_rules)
    .values(targets=bindparam("new_targets", type_=Json()))
    .where(alert_rules.c.id == bindparam("rule_id", type_=Id))
)
_SOURCES = Statement(
    select(data_sources.c.id, data_sources.c.name, data_sources.c.secret)
    .where(data_sources.c.secret.is_not(None))
    .order_by(data_sources.c.id)
    .with_for_update()
)
_SOURCE_RESEALED = Statement(
    update(data_sources)
    .values(secret=bindparam("new_secret", type_=LargeBinary))
    .where(data_sources.c.id == bindparam("source_id", type_=Id))
)


async def known(tx: Tx) -> str | None:
    """The key's check value; None as long as nothing was sealed."""
    rows = await tx.fetch(_KNOWN)
    return str(rows[0]["text"]) if rows else None


async def held(tx: Tx) -> str | None:
    """The key's check value, which stays as it is until this transaction ends."""
    rows = await tx.fetch(_HELD)
    return str(rows[0]["text"]) if rows else None


async def agree(tx: Tx, check: str) -> bool:
    """Whether this is the key's check value; the first that comes decides."""
    rows = await tx.fetch(_KNOWN)
    if not rows:
        await tx.run(_FIRST, check=check)
        rows = await tx.fetch(_KNOWN)
    return bool(rows[0]["text"] == check)


async def reseal(tx: Tx, anew: Reseal, *, before: str, after: str) -> Resealed:
    """Seal every secret with another key. Who wants to rotate at the same time waits, and is refused."""
    rows = await tx.fetch(_LOCKED)
    if not rows or rows[0]["text"] != before:
        raise Conflict("the store's secrets are sealed with another key than this one: somebody has rotated it already")
    count = 0
    unopened: list[Unopened | UnopenedSource] = []
    for row in await tx.fetch(_RULES):
        pairs = [(one, _resealed(one, anew)) for one in row["targets"]]
        await tx.run(_RESEALED, rule_id=row["id"], new_targets=[new or old for old, new in pairs])
        count += sum(new is not None for _, new in pairs)
        unopened += [
            Unopened(rule_id=row["id"], rule=row["name"], target=old["shown"]) for old, new in pairs if new is None
        ]
    for row in await tx.fetch(_SOURCES):
        sealed = anew(sources.owner_of(row["id"]), row["secret"])
        if sealed is None:
            unopened.append(UnopenedSource(source_id=row["id"], name=row["name"]))
            continue
        await tx.run(_SOURCE_RESEALED, source_id=row["id"], new_secret=sealed)
        count += 1
    await tx.run(_CHANGE, check=after)
    return Resealed(count=count, unopened=tuple(unopened))


def _resealed(target: dict[str, Any], anew: Reseal) -> dict[str, Any] | None:
    """None if it cannot be opened."""
    try:
        sealed = anew(post.owner_of(target["id"]), base64.b64decode(target["sealed"]))
    except ValueError:  # not even base64
        return None
    return None if sealed is None else {**target, "sealed": base64.b64encode(sealed).decode()}
