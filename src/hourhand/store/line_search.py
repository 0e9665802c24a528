"""Store: lines of an instance log by level and text: so many are looked at, and where to go on is told."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, Text, bindparam, func, or_, select

from hourhand.model.answers import FoundLines
from hourhand.model.filters import LineFilter
from hourhand.model.words import LineLevel
from hourhand.rules.lines import GRAVE, LARGEST_SEQ, SLIGHT
from hourhand.store.attempts import line_of
from hourhand.store.database import Tx
from hourhand.store.ids import first_day
from hourhand.store.schema import instance_logs
from hourhand.store.searching import contains, literally
from hourhand.store.sql import constant
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

LOOKED_AT = 20_000
"""How many lines one request looks at."""
_seq = instance_logs.c.seq
_mine = (
    instance_logs.c.instance_id == bindparam("instance_id", type_=Id),
    _seq > bindparam("after", type_=BigInteger),
    _seq < bindparam("before", type_=BigInteger),
    instance_logs.c.logged_at >= bindparam("since", type_=Instant()),
)


def _range(order: ColumnElement[Any]) -> Statement:
    """Which lines are looked at; the primary key alone tells."""
    some = select(_seq).where(*_mine).order_by(order).limit(bindparam("looked_at", type_=BigInteger)).subquery()
    edges = func.min(some.c.seq).label("first"), func.max(some.c.seq).label("last")
    return Statement(select(*edges, func.count().label("number")).select_from(some))


_FIRST = _range(_seq)
_LAST = _range(_seq.desc())


@lru_cache(maxsize=32)
def _fitting(level: LineLevel | None, *, text: bool, newest: bool) -> Statement:
    query: Select[Any] = select(instance_logs).where(*_mine)
    if level is not None and level is not LineLevel.DEBUG:
        # A program's stderr has no levels, and is where it says what went wrong.
        grave = instance_logs.c.exception.is_not(None), instance_logs.c.stream == constant("stderr")
        query = query.where(or_(_at_least(level), *grave))
    if text:
        query = query.where(or_(contains(instance_logs.c.message, "q"), contains(instance_logs.c.exception, "q")))
    query = query.order_by(_seq.desc() if newest else _seq)
    return Statement(query.limit(bindparam("limit", type_=BigInteger)))


def _at_least(level: LineLevel) -> ColumnElement[bool]:
    written = func.lower(instance_logs.c.level, type_=Text)
    if level is LineLevel.INFO:
        return written.not_in([constant(word) for word in SLIGHT])
    return written.in_([constant(word) for word in GRAVE[level]])


async def search_lines(
    tx: Tx, instance_id: int, wanted: LineFilter, *, after: int, before: int | None, limit: int
) -> FoundLines:
    """The first fitting lines after a sequence number or, with `before`, the last ones before that; in order."""
    newest = before is not None
    end = LARGEST_SEQ if before is None else before
    mine = {"instance_id": instance_id, "since": await first_day(tx, instance_id)}
    # Before the lines themselves: those that come meanwhile lie behind the edge, and are left for the next time.
    (edges,) = await tx.fetch(_LAST if newest else _FIRST, **mine, after=after, before=end, looked_at=LOOKED_AT)
    if not edges["number"]:
        return FoundLines(lines=(), first=None, last=after, more=False)
    first, last = int(edges["first"]), int(edges["last"])
    text = {} if wanted.q is None else {"q": literally(wanted.q)}
    statement = _fitting(wanted.level, text=bool(text), newest=newest)
    rows = await tx.fetch(statement, **mine, **text, after=first - 1, before=last + 1, limit=limit)
    lines = [line_of(row) for row in (reversed(rows) if newest else rows)]
    cut = len(lines) == limit
    if cut and newest:
        first = lines[0].seq
    elif cut:
        last = lines[-1].seq
    looked_on = first > edges["first"] or last < edges["last"]
    return FoundLines(lines=tuple(lines), first=first, last=last, more=looked_on or edges["number"] == LOOKED_AT)
