"""Store: the outbox of alerts: one row per notice and target, sent at least once; and what fires just now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Double, Text, bindparam, delete, select, update

from hourhand.model.alert import AlertRule, Firing, Notice, Parcel, Posted, Target
from hourhand.model.errors import InvalidInput
from hourhand.model.page import Page
from hourhand.rules.alerts import notice_json, wait_after
from hourhand.store.alert_rules import rule_of
from hourhand.store.database import Row, Tx
from hourhand.store.paging import MOST, read_cursor, write_cursor
from hourhand.store.rows import readable
from hourhand.store.schema_alerts import alert_outbox, alert_rules, alert_states
from hourhand.store.sql import any_of, insert, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, Json
from hourhand.store.values import clean_text

ERROR_BYTES = 1_000
_NEW = records("notices", {"rule_id": Id, "notice_id": Text(), "target_id": Text(), "event": Json()})
_ADD = Statement(
    insert(alert_outbox)
    .from_select(
        [*[column.name for column in _NEW.c], "created_at", "next_try_at"],
        select(*_NEW.c, store_clock(), store_clock()).where(_NEW.c.rule_id > 0),
        include_defaults=False,
    )
    .on_conflict_do_nothing()
)
_unsent = (alert_outbox.c.sent_at.is_(None), alert_outbox.c.given_up_at.is_(None))
_due = (
    select(alert_outbox.c.id)
    .where(*_unsent, alert_outbox.c.next_try_at <= select(store_clock()).scalar_subquery())
    .order_by(alert_outbox.c.next_try_at, alert_outbox.c.id)
    .limit(bindparam("limit", type_=BigInteger))
    .with_for_update(skip_locked=True)
)
# Taken by pushing the next try ahead: whoever dies while sending loses nothing but that time.
_TAKE = Statement(
    update(alert_outbox)
    .values(next_try_at=plus_seconds(store_clock(), bindparam("seconds", type_=Double)), tries=alert_outbox.c.tries + 1)
    .where(alert_outbox.c.id.in_(_due))
    .returning(
        alert_outbox.c.id,
        alert_outbox.c.rule_id,
        alert_outbox.c.target_id,
        alert_outbox.c.event,
        alert_outbox.c.created_at,
        alert_outbox.c.tries,
    )
)
_RULES = Statement(select(alert_rules).where(any_of(alert_rules.c.id, "ids")))
_id = bindparam("outbox_id", type_=Id)
_SENT = Statement(
    update(alert_outbox).values(sent_at=store_clock(), last_error=None).where(alert_outbox.c.id == _id, *_unsent)
)
_TRIED = Statement(select(alert_outbox.c.tries, alert_outbox.c.created_at).where(alert_outbox.c.id == _id, *_unsent))
_error = bindparam("error", type_=Text)
_AGAIN = Statement(
    update(alert_outbox)
    .values(last_error=_error, next_try_at=plus_seconds(store_clock(), bindparam("seconds", type_=Double)))
    .where(alert_outbox.c.id == _id, *_unsent)
)
_GIVE_UP = Statement(
    update(alert_outbox).values(last_error=_error, given_up_at=store_clock()).where(alert_outbox.c.id == _id, *_unsent)
)
_LIST = Statement(
    select(alert_outbox, alert_rules.c.targets)
    .outerjoin(alert_rules, alert_rules.c.id == alert_outbox.c.rule_id)
    .where(alert_outbox.c.id < bindparam("before", type_=Id))
    .order_by(alert_outbox.c.id.desc())
    .limit(bindparam("limit", type_=BigInteger))
)
_FIRING = Statement(
    select(alert_states, alert_rules.c.name)
    .join(alert_rules, alert_rules.c.id == alert_states.c.rule_id)
    .where(alert_states.c.firing_since.is_not(None))
    .order_by(alert_states.c.firing_since.desc(), alert_states.c.rule_id, alert_states.c.subject)
    .limit(bindparam("limit", type_=BigInteger))
)
# What is still tried stays, however old: somebody may wait for it.
_PRUNE = Statement(
    delete(alert_outbox).where(
        alert_outbox.c.created_at < bindparam("before", type_=Instant()),
        alert_outbox.c.sent_at.is_not(None) | alert_outbox.c.given_up_at.is_not(None),
    )
)


async def add(tx: Tx, notices: Sequence[tuple[AlertRule, Notice]]) -> None:
    """Put notices into the outbox, once for each target."""
    rows = [
        {"rule_id": rule.id, "notice_id": notice.id, "target_id": target.id, "event": notice_json(notice)}
        for rule, notice in notices
        for target in rule.targets
    ]
    if rows:
        await tx.run(_ADD, notices=rows)


async def take(tx: Tx, *, limit: int, seconds: float) -> list[Parcel]:
    """Take what is due; it is due again after so many seconds, unless it was sent."""
    rows = await tx.fetch(_TAKE, limit=limit, seconds=seconds)
    if not rows:
        return []
    found = readable(await tx.fetch(_RULES, ids=sorted({row["rule_id"] for row in rows})), rule_of)
    targets: dict[tuple[int, str], Target] = {(rule.id, one.id): one for rule in found for one in rule.targets}
    return [
        Parcel(
            outbox_id=row["id"],
            target=targets.get((row["rule_id"], row["target_id"])),
            event=row["event"],
            created_at=row["created_at"],
            tries=row["tries"],
        )
        for row in sorted(rows, key=lambda row: row["id"])
    ]


async def sent(tx: Tx, outbox_id: int) -> None:
    """It arrived."""
    await tx.run(_SENT, outbox_id=outbox_id)


async def failed(tx: Tx, outbox_id: int, error: str, *, final: bool) -> datetime | None:
    """It did not; when it is tried again, None if never."""
    rows = await tx.fetch(_TRIED, outbox_id=outbox_id)
    if not rows:
        return None
    now = await tx.now()
    wait = None if final else wait_after(rows[0]["tries"], rows[0]["created_at"], now)
    told = clean_text(error, ERROR_BYTES)
    if wait is None:
        await tx.run(_GIVE_UP, outbox_id=outbox_id, error=told)
        return None
    await tx.run(_AGAIN, outbox_id=outbox_id, error=told, seconds=wait.total_seconds())
    return now + wait


async def list_posted(tx: Tx, *, limit: int, cursor: str | None) -> Page[Posted]:
    """Newest first."""
    if not 1 <= limit <= MOST:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST}")
    place = read_cursor(cursor, {"notice": (int,)})
    rows = await tx.fetch(_LIST, before=2**62 if place is None else place[1], limit=limit + 1)
    more = len(rows) > limit
    return Page(tuple(map(_posted, rows[:limit])), write_cursor("notice", rows[limit - 1]["id"]) if more else None)


def _posted(row: Row) -> Posted:
    event: dict[str, Any] = row["event"]
    shown = {one["id"]: one["shown"] for one in row["targets"] or ()}
    return Posted(
        rule_name=event["rule"]["name"],
        kind=event["kind"],
        title=event["title"],
        text=event["text"],
        target=shown.get(row["target_id"]),
        **{
            name: row[name]
            for name in (
                "id",
                "notice_id",
                "rule_id",
                "created_at",
                "sent_at",
                "given_up_at",
                "next_try_at",
                "tries",
                "last_error",
            )
        },
    )


async def list_firing(tx: Tx, *, limit: int) -> list[Firing]:
    """What fires just now, newest first."""
    return [
        Firing(
            rule_id=row["rule_id"],
            rule_name=row["name"],
            subject=row["subject"],
            text=row["about"].get("text", ""),
            firing_since=row["firing_since"],
            last_notified_at=row["last_notified_at"],
            about={name: value for name, value in row["about"].items() if name not in ("what", "text")},
        )
        for row in await tx.fetch(_FIRING, limit=limit)
    ]


async def prune(tx: Tx, before: datetime) -> None:
    """Remove notices that were settled and are older."""
    await tx.run(_PRUNE, before=before)
