"""Store: deciding alerts: the facts are read, the rules decide, and what came of it is written if nobody was faster.

Reading and deciding hold nothing: on SQLite the writer goes on meanwhile. All that follows is one transaction, which
begins by moving the cursor from what was read to something new: whoever else has decided, or edited a rule, since then
has done so too, and this decision is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, delete, select, update

from hourhand.model.alert import AlertRule, Delivery, Memory, Notice, SubjectState
from hourhand.rules.alerts import decide, item_json
from hourhand.store import alert_outbox
from hourhand.store.alert_facts import KEPT, OVERLAP, Gathered
from hourhand.store.alert_rules import CURSOR
from hourhand.store.database import Tx
from hourhand.store.schema import executors, store_values
from hourhand.store.schema_alerts import alert_seen, alert_states
from hourhand.store.sql import any_of, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant, to_micros

MOVE_EVERY = timedelta(minutes=1)
"""The cursor is moved so often though nothing came of it, so that what is read again stays little."""

_MOVE = Statement(
    update(store_values)
    .values(number=bindparam("at", type_=BigInteger), text=bindparam("turn", type_=Text))
    .where(store_values.c.name == CURSOR, store_values.c.text == bindparam("before", type_=Text))
)
_SEEN = records("seen", {"log_id": BigInteger(), "end_time": Instant()})
_ADD_SEEN = Statement(
    insert(alert_seen)
    .from_select(["log_id", "end_time"], select(_SEEN).where(_SEEN.c.log_id > 0), include_defaults=False)
    .on_conflict_do_nothing()
)
_PRUNE_SEEN = Statement(delete(alert_seen).where(alert_seen.c.end_time < bindparam("before", type_=Instant())))
_NEW = records("states", KEPT)
_put = insert(alert_states).from_select(list(KEPT), select(_NEW).where(_NEW.c.rule_id > 0), include_defaults=False)
_PUT = Statement(
    _put.on_conflict_do_update(
        index_elements=["rule_id", "subject"],
        set_={name: _put.excluded[name] for name in KEPT if name not in ("rule_id", "subject")},
    )
)
_GONE = records("gone", {"rule_id": Id, "subject": Text()})
_DROP = Statement(
    delete(alert_states).where(
        select(_GONE.c.rule_id)
        .where(_GONE.c.rule_id == alert_states.c.rule_id, _GONE.c.subject == alert_states.c.subject)
        .exists()
    )
)
# Locked until this is committed: who leaves meanwhile waits, and then takes along what was just remembered of it.
_STILL_THERE = Statement(
    select(executors.c.id)
    .where(any_of(executors.c.id, "ids"))
    .order_by(executors.c.id)
    .with_for_update(read=True, key_share=True)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the rules made of it, as it is to be written."""

    before: Gathered
    put: tuple[dict[str, Any], ...]
    gone: tuple[dict[str, Any], ...]
    notices: tuple[tuple[AlertRule, Notice], ...]

    @property
    def to_write(self) -> bool:
        """Whether anything has changed, or the cursor has stood still for long enough."""
        still = self.before.cursor is not None and self.before.now - self.before.cursor < MOVE_EVERY
        return bool(self.put or self.gone or self.notices or self.before.failures) or not still


def decide_all(gathered: Gathered) -> Outcome:
    """Let every rule decide, and find what is to be written."""
    put: list[dict[str, Any]] = []
    gone: list[dict[str, Any]] = []
    notices = []
    for rule in gathered.rules:
        before = gathered.memories.get(rule.id, Memory())
        after, notice = decide(rule, gathered.facts[rule.id], before, gathered.now)
        notices += [] if notice is None else [(rule, notice)]
        put += [_row(rule.id, state) for name, state in after.states.items() if before.states.get(name) != state]
        gone += [{"rule_id": rule.id, "subject": name} for name in before.states.keys() - after.states.keys()]
        if after.delivery == Delivery() != before.delivery:
            gone.append({"rule_id": rule.id, "subject": ""})
        elif after.delivery != before.delivery:
            put.append(_delivery_row(rule.id, after.delivery, gathered.now))
    return Outcome(before=gathered, put=tuple(put), gone=tuple(gone), notices=tuple(notices))


def _row(rule_id: int, state: SubjectState) -> dict[str, Any]:
    values = {name: getattr(state, name) for name in KEPT if name not in ("rule_id", "suppressed", "about")}
    return {"rule_id": rule_id, "suppressed": 0, "about": dict(state.about), **values}


def _delivery_row(rule_id: int, delivery: Delivery, now: datetime) -> dict[str, Any]:
    until = delivery.open_until
    about = {
        "open_until": None if until is None else until.isoformat(),
        "collected": [item_json(one) for one in delivery.collected],
        "dropped": delivery.dropped,
    }
    waiting = len(delivery.collected) + delivery.dropped
    row = {"rule_id": rule_id, "subject": "", "since": now, "suppressed": waiting, "about": about}
    return row | {"firing_since": None, "last_notified_at": None}


async def write(tx: Tx, outcome: Outcome, *, turn: str) -> bool:
    """Write what was decided; False when something else has changed meanwhile, and nothing is written."""
    before = outcome.before
    # While there is more to read the cursor stays: what was looked at is marked, so that the rest comes next.
    at = before.cursor or before.now if before.more else before.now
    if not await tx.run(_MOVE, at=to_micros(at), turn=turn, before=before.turn):
        return False
    if before.failures:
        await tx.run(_ADD_SEEN, seen=[{"log_id": one.log_id, "end_time": one.end_time} for one in before.failures])
    await tx.run(_PRUNE_SEEN, before=at - 2 * OVERLAP)
    put = await _without_those_who_left(tx, outcome.put)
    if put:
        await tx.run(_PUT, states=put)
    if outcome.gone:
        await tx.run(_DROP, gone=outcome.gone)
    await alert_outbox.add(tx, outcome.notices)
    return True


async def _without_those_who_left(tx: Tx, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of an executor that has left cleanly since it was read, nothing is remembered: it would be taken for lost."""
    alive = {
        row["subject"]: row["about"]["executor_id"]
        for row in rows
        if row["subject"].startswith("executor:") and row["firing_since"] is None
    }
    if not alive:
        return list(rows)
    there = {row["id"] for row in await tx.fetch(_STILL_THERE, ids=sorted(set(alive.values())))}
    return [row for row in rows if row["subject"] not in alive or alive[row["subject"]] in there]
