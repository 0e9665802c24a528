"""Store: counters that were folded, summed by the database: a month of them are a million rows.

Whole hours come from the counters of hours, and what is before and behind them from those of minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Double,
    FromClause,
    Integer,
    Text,
    and_,
    bindparam,
    case,
    column,
    func,
    literal_column,
    select,
    union_all,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from hourhand.rules.figures import HOUR, rounded_down, rounded_up
from hourhand.store.database import Tx
from hourhand.store.schema_access import stats_minutely
from hourhand.store.sql import any_of, constant
from hourhand.store.statements import Statement
from hourhand.store.stats_fold import COUNTERS, FOLDED, HOURS, HOURS_ROWS, MINUTES_ROWS, read_marks
from hourhand.store.types import Instant

_HOUR = timedelta(seconds=HOUR)
_FAR = timedelta(days=366)
_OLDEST = Statement(select(func.min(stats_minutely.c.minute, type_=Instant()).label("minute")))


class slot_of(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """The number of the step, counted from a beginning, that a time is in."""

    inherit_cache = True
    type = Integer()
    name = "slot_of"


@compiles(slot_of)
def _slot_of(element: slot_of, compiler: SQLCompiler, **kw: Any) -> str:
    time, begin, step = (compiler.process(one, **kw) for one in element.clauses)
    return f"CAST(floor(extract(epoch FROM {time} - {begin}) / {step}) AS integer)"


@compiles(slot_of, "sqlite")
def _slot_of_sqlite(element: slot_of, compiler: SQLCompiler, **kw: Any) -> str:
    time, begin, step = (compiler.process(one, **kw) for one in element.clauses)
    return f"CAST(({time} - {begin}) / (1000000 * {step}) AS integer)"


class members_of(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """The members of `buckets` at a path, one row each, with `key` and `value`."""

    inherit_cache = False
    name = "members_of"

    def __init__(self, buckets: ColumnElement[Any], *path: str, array: bool = False) -> None:
        self.path = path
        self.array = array
        super().__init__(buckets)


@compiles(members_of)
def _members_of(element: members_of, compiler: SQLCompiler, **kw: Any) -> str:
    at = f"{compiler.process(element.clauses, **kw)} #> '{{{','.join(element.path)}}}'"
    return f"jsonb_array_elements_text({at})" if element.array else f"jsonb_each_text({at})"


@compiles(members_of, "sqlite")
def _members_of_sqlite(element: members_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **kw)}, '$.{'.'.join(element.path)}')"


class seen_of(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """One of the numbers that are kept with a reason."""

    inherit_cache = False
    type = BigInteger()
    name = "seen_of"

    def __init__(self, buckets: ColumnElement[Any], member: str) -> None:
        self.member = member
        super().__init__(buckets)


@compiles(seen_of)
def _seen_of(element: seen_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **kw)} #>> '{{seen,{element.member}}}' AS bigint)"


@compiles(seen_of, "sqlite")
def _seen_of_sqlite(element: seen_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_extract({compiler.process(element.clauses, **kw)}, '$.seen.{element.member}')"


@dataclass(frozen=True, slots=True)
class Places:
    """Where which counters are read; behind `folded` nothing is kept yet."""

    begin: datetime
    first_hour: datetime
    last_hour: datetime
    folded: datetime

    def params(self) -> dict[str, Any]:
        """For the statements below."""
        known = {name: getattr(self, name) for name in ("begin", "first_hour", "last_hour", "folded")}
        count = (self.last_hour - self.first_hour) // _HOUR
        return known | {"hours": [self.first_hour + number * _HOUR for number in range(count)]}


async def places(tx: Tx, begin: datetime, end: datetime, *, by_hours: bool = True) -> Places:
    """Read how far folding has come.

    This comes before anything is counted: a minute that is folded in the meantime is then counted from the logs, once.
    """
    marks = await read_marks(tx)
    folded = max(begin, min(marks.get(FOLDED, begin), end))
    first_hour = rounded_up(begin, HOUR)
    last_hour = rounded_down(min(folded, marks.get(HOURS, begin)), HOUR)
    if not by_hours or last_hour <= first_hour:
        first_hour = last_hour = begin
    elif last_hour - first_hour > _FAR:
        oldest = (await tx.fetch(_OLDEST))[0]["minute"] or last_hour
        first_hour = min(last_hour, max(first_hour, rounded_down(oldest, HOUR)))
    return Places(begin, first_hour, last_hour, folded)


def _parts() -> Iterator[list[ColumnElement[bool]]]:
    """Hours are looked up one by one: a range of them would be read through all minutes in between."""
    stats = stats_minutely.c
    yield [stats.writer == constant(HOURS_ROWS), any_of(stats.minute, "hours")]
    for begin, end in (("begin", "first_hour"), ("last_hour", "folded")):
        yield [
            stats.writer == constant(MINUTES_ROWS),
            stats.minute >= bindparam(begin, type_=Instant()),
            stats.minute < bindparam(end, type_=Instant()),
        ]


def _kept(*, grouped: bool, typed: bool, failed: bool) -> CompoundSelect[Any]:
    stats = stats_minutely.c
    limits: list[ColumnElement[bool]] = []
    if grouped:
        limits.append(any_of(stats.group_id, "group_ids"))
    if typed:
        limits.append(stats.type == bindparam("type", type_=Text))
    if failed:
        limits.append(stats.status == constant("failed"))
    return union_all(*[select(*COUNTERS).where(*part, *limits) for part in _parts()])


def _by(kept: FromClause, names: Sequence[str]) -> list[ColumnElement[Any]]:
    slot = slot_of(kept.c.minute, bindparam("begin", type_=Instant()), bindparam("step", type_=Integer))
    return [slot.label("slot") if name == "slot" else kept.c[name] for name in names]


@lru_cache(maxsize=16)
def figures(names: tuple[str, ...], *, grouped: bool, typed: bool) -> Statement:
    """Sums by these columns (`slot` is the step of a series): counts by status, and the durations by bucket."""
    counts = _kept(grouped=grouped, typed=typed, failed=False).subquery("counts")
    skipped = case((and_(counts.c.status == constant("cancelled"), counts.c.fingerprint != constant("")), 1), else_=0)
    by_status = select(
        *_by(counts, names),
        counts.c.status,
        skipped.label("skipped"),
        literal_column("NULL", Integer).cast(Integer).label("bucket"),
        func.sum(counts.c.count).cast(BigInteger).label("count"),
        func.sum(counts.c.duration_ms).cast(Double).label("duration_ms"),
    )
    spread = _kept(grouped=grouped, typed=typed, failed=False).subquery("spread")
    member = members_of(spread.c.buckets, "durations").table_valued(
        column("key", Text), column("value", Text), name="member"
    )
    by_bucket = select(
        *_by(spread, names),
        constant(""),
        constant(0),
        member.c.key.cast(Integer),
        func.sum(member.c.value.cast(BigInteger)).cast(BigInteger),
        literal_column("0").cast(Double),
    ).select_from(spread, member)
    width = range(1, len(names) + 1)
    return Statement(
        union_all(
            by_status.group_by(*[literal_column(str(n)) for n in (*width, len(names) + 1, len(names) + 2)]),
            by_bucket.group_by(*[literal_column(str(n)) for n in (*width, len(names) + 3)]),
        )
    )


@lru_cache(maxsize=4)
def reasons(*, grouped: bool, typed: bool) -> Statement:
    """How often each reason was kept, and when; the most frequent first."""
    kept = _kept(grouped=grouped, typed=typed, failed=True).subquery("kept")
    key = (kept.c.type, kept.c.kind, kept.c.fingerprint)
    number = func.sum(kept.c.count)
    return Statement(
        select(
            *key,
            number.cast(BigInteger).label("count"),
            func.min(seen_of(kept.c.buckets, "first")).label("first"),
            func.max(seen_of(kept.c.buckets, "last")).label("last"),
            func.max(seen_of(kept.c.buckets, "instance_id")).label("instance_id"),
        )
        .group_by(*key)
        .order_by(number.desc(), *key)
        .limit(bindparam("limit", type_=BigInteger))
    )


@lru_cache(maxsize=4)
def touched(*, grouped: bool, typed: bool) -> Statement:
    """The tasks that were kept with some reasons."""
    kept = _kept(grouped=grouped, typed=typed, failed=True).subquery("kept")
    member = members_of(kept.c.buckets, "seen", "tasks", array=True).table_valued(column("value", Text), name="member")
    return Statement(
        select(kept.c.type, kept.c.kind, kept.c.fingerprint, member.c.value.cast(BigInteger).label("task_id"))
        .select_from(kept, member)
        .where(any_of(kept.c.fingerprint, "fingerprints"))
        .distinct()
    )
