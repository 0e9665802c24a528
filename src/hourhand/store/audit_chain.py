"""Store: the chain of the audit: entries are sealed in batches, verified page by page, and removed from its old end.

Whoever changes something only adds an entry. Sealing comes afterwards, by one process at a time, so that no change
ever waits for the chain. The head and the floor (the last entry that retention has removed) are two stored values.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Text, bindparam, delete, func, select, update

from hourhand.model.audit import AuditEntry, ChainFault, Seal, Verification
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.rules.audit_chain import BEGINNING, follow, judge_ends, judge_noted, name_fault, read_seal, seal
from hourhand.store import paging
from hourhand.store.audit import LONG, entry_of
from hourhand.store.database import Database, Row, Tx
from hourhand.store.paging import within_bytes
from hourhand.store.schema import store_values
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import constant, insert, records
from hourhand.store.statements import Statement
from hourhand.store.types import Id

HEAD, FLOOR = "audit_head", "audit_floor"
PAGE = 500
AROUND = 1_000
_BATCH = 5_000

_FIRST_HEAD = Statement(
    insert(store_values).values(name=HEAD, number=BEGINNING.number, text=BEGINNING.hash).on_conflict_do_nothing()
)
# Two processes may each believe that it is their turn: the second waits here, and then sees what the first has sealed.
_LOCK_HEAD = Statement(
    select(store_values.c.number, store_values.c.text).where(store_values.c.name == HEAD).with_for_update()
)
_LAST = Statement(select(func.max(audit_logs.c.sealed_no).label("last")))
_UNSEALED = Statement(
    within_bytes(
        select(audit_logs)
        .where(audit_logs.c.sealed_no.is_(None))
        .order_by(audit_logs.c.id)
        .limit(bindparam("limit", type_=BigInteger)),
        LONG,
        ("id",),
        newest=False,
    )
)
_SEALED = records("sealed", {"id": Id, "number": BigInteger(), "hash": Text()})
_SEAL = Statement(
    update(audit_logs).values(sealed_no=_SEALED.c.number, hash=_SEALED.c.hash).where(audit_logs.c.id == _SEALED.c.id)
)
_value = insert(store_values).values(
    name=bindparam("name", type_=Text), number=bindparam("number", type_=BigInteger), text=bindparam("text", type_=Text)
)
_SET = Statement(
    _value.on_conflict_do_update(
        index_elements=["name"], set_={"number": _value.excluded.number, "text": _value.excluded.text}
    )
)


def _stored(name: str, column: str) -> object:
    return select(store_values.c[column]).where(store_values.c.name == constant(name)).scalar_subquery()


# One statement, so that the head and the last entry are those of the same moment.
_ENDS = Statement(
    select(
        _stored(HEAD, "number").label("head_number"),  # type: ignore[attr-defined]
        _stored(HEAD, "text").label("head_hash"),  # type: ignore[attr-defined]
        _stored(FLOOR, "number").label("floor_number"),  # type: ignore[attr-defined]
        _stored(FLOOR, "text").label("floor_hash"),  # type: ignore[attr-defined]
        select(func.min(audit_logs.c.sealed_no)).scalar_subquery().label("smallest"),
        select(func.max(audit_logs.c.sealed_no)).scalar_subquery().label("largest"),
    )
)
_numbered = (audit_logs.c.sealed_no > bindparam("after", type_=BigInteger)) & (
    audit_logs.c.sealed_no <= bindparam("last", type_=BigInteger)
)
_CHAINED = Statement(
    within_bytes(
        select(audit_logs)
        .where(_numbered)
        .order_by(audit_logs.c.sealed_no)
        .limit(bindparam("limit", type_=BigInteger)),
        LONG,
        ("sealed_no",),
        newest=False,
    )
)
_HASHES = Statement(
    select(audit_logs.c.sealed_no, audit_logs.c.hash)
    .where(_numbered)
    .order_by(audit_logs.c.sealed_no)
    .limit(bindparam("limit", type_=BigInteger))
)
_WAITING = Statement(
    select(func.count().label("found"), func.min(audit_logs.c.occurred_at).label("oldest")).where(
        audit_logs.c.sealed_no.is_(None)
    )
)
_OLD = Statement(
    select(audit_logs.c.sealed_no, audit_logs.c.hash, audit_logs.c.occurred_at)
    .where(audit_logs.c.sealed_no > bindparam("after", type_=BigInteger))
    .order_by(audit_logs.c.sealed_no)
    .limit(bindparam("limit", type_=BigInteger))
)
_REMOVE = Statement(delete(audit_logs).where(audit_logs.c.sealed_no <= bindparam("last", type_=BigInteger)))
_READ_FLOOR = Statement(select(store_values.c.number, store_values.c.text).where(store_values.c.name == FLOOR))


@dataclass(frozen=True, slots=True)
class _Ends:
    head: Seal
    floor: Seal
    kept: tuple[int, int] | None


async def seal_audit(tx: Tx, *, limit: int) -> int:
    """Put the oldest entries that are not part of the chain at its end, as many as one page holds; how many.

    An entry whose transaction took long has a smaller id than others that are sealed already, and comes after them.
    """
    head = await _lock_head(tx)
    (row,) = await tx.fetch(_LAST)
    if (row["last"] or 0) > head.number:
        raise Conflict(
            f"the audit has entries up to {row['last']}, but its head is {head.number}: somebody has meddled with it; "
            "nothing more is sealed until a verification finds no fault"
        )
    sealed = []
    for one in await tx.fetch(_UNSEALED, limit=limit, most_bytes=paging.PAGE_BYTES):
        head = seal(head, entry_of(one))
        sealed.append({"id": one["id"], "number": head.number, "hash": head.hash})
    if sealed:
        await tx.run(_SEAL, sealed=sealed)
        await tx.run(_SET, name=HEAD, number=head.number, text=head.hash)
    return len(sealed)


async def _lock_head(tx: Tx) -> Seal:
    rows = await tx.fetch(_LOCK_HEAD)
    if not rows:
        await tx.run(_FIRST_HEAD)
        rows = await tx.fetch(_LOCK_HEAD)
    return Seal(rows[0]["number"], rows[0]["text"])


async def retain_audit(database: Database, *, days: int, now: datetime) -> int:
    """Remove the oldest entries, which are the first of the chain; how many."""
    before = now - timedelta(days=days)
    removed = 0
    while True:
        count = await database.write(lambda tx: _remove(tx, before))
        removed += count
        if count < _BATCH:
            return removed


async def _remove(tx: Tx, before: datetime) -> int:
    await _lock_head(tx)
    floor = _seal_of(await tx.fetch(_READ_FLOOR))
    old = []
    for row in await tx.fetch(_OLD, after=floor.number, limit=_BATCH):
        if row["occurred_at"] >= before:
            break
        old.append(row)
    if not old:
        return 0
    last = Seal(old[-1]["sealed_no"], old[-1]["hash"])
    await tx.run(_REMOVE, last=last.number)
    await tx.run(_SET, name=FLOOR, number=last.number, text=last.hash)
    return len(old)


def _seal_of(rows: object) -> Seal:
    return Seal(rows[0]["number"], rows[0]["text"]) if rows else BEGINNING  # type: ignore[index]


async def verify_audit(database: Database, *, noted: str | None) -> Verification:
    """Go along the whole chain, a page at a time, up to where it ended when this began."""
    wanted = None if noted is None else read_seal(noted)
    while True:
        ends = await database.read(_read_ends)
        checked, fault = await _go_along(database, ends)
        if wanted is not None and fault is None:
            fault = await _as_noted(database, wanted, ends)
        if fault is None or (await database.read(_read_ends)).floor == ends.floor:
            break  # else retention has removed meanwhile what was to be read
    (waiting,) = await database.read(lambda tx: tx.fetch(_WAITING))
    return Verification(
        ok=fault is None,
        checked=checked,
        first=ends.floor.number + 1,
        head=str(ends.head),
        fault=fault,
        unsealed=waiting["found"],
        oldest_unsealed_at=waiting["oldest"],
        verified_at=await database.read(lambda tx: tx.now()),
    )


async def _read_ends(tx: Tx) -> _Ends:
    (row,) = await tx.fetch(_ENDS)
    return _Ends(
        head=_end_of(row, "head"),
        floor=_end_of(row, "floor"),
        kept=None if row["largest"] is None else (row["smallest"], row["largest"]),
    )


def _end_of(row: Row, name: str) -> Seal:
    number = row[f"{name}_number"]
    return BEGINNING if number is None else Seal(number, row[f"{name}_hash"] or "")


async def _go_along(database: Database, ends: _Ends) -> tuple[int, ChainFault | None]:
    """How many entries fit, and the first fault.

    Hashing is work for a thread: whoever else is served by this process must not wait for it.
    """
    previous = ends.floor
    while entries := await _entries(database, previous.number, ends.head.number, PAGE):
        previous, misfit = await asyncio.to_thread(follow, previous, entries)
        if misfit is not None:
            return previous.number - ends.floor.number, await _named(database, previous, misfit, ends.head)
    fault = judge_ends(previous, floor=ends.floor, head=ends.head, kept=ends.kept)
    return previous.number - ends.floor.number, fault


async def _named(database: Database, previous: Seal, misfit: AuditEntry, head: Seal) -> ChainFault:
    """What is wrong with an entry, judging by the hashes around it and by the one behind it."""
    near = {"after": previous.number - AROUND, "last": head.number, "limit": 2 * AROUND}
    rows = await database.read(lambda tx: tx.fetch(_HASHES, **near))
    behind = await _entries(database, previous.number + 1, min(previous.number + 2, head.number), 1)
    hashes = {row["sealed_no"]: row["hash"] or "" for row in rows}
    return await asyncio.to_thread(name_fault, previous, misfit, hashes, behind[0] if behind else None, head)


async def _entries(database: Database, after: int, last: int, limit: int) -> list[AuditEntry]:
    asked = {"after": after, "last": last, "limit": limit, "most_bytes": paging.PAGE_BYTES}
    return [entry_of(row) for row in await database.read(lambda tx: tx.fetch(_CHAINED, **asked))]


async def _as_noted(database: Database, noted: Seal, ends: _Ends) -> ChainFault | None:
    if noted.number < ends.floor.number:
        raise InvalidInput.one(
            "head",
            str(noted),
            f"entry {noted.number} has been removed by retention, which has come to {ends.floor.number}: "
            "give a head that was noted later",
        )
    if noted.number == ends.floor.number:
        return judge_noted(noted, ends.floor, ends.head)
    found = await _entries(database, noted.number - 1, min(noted.number, ends.head.number), 1)
    there = Seal(noted.number, found[0].hash or "") if found else None
    return judge_noted(noted, there, ends.head)
