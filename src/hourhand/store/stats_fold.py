"""Store: folding: endings become counters, a minute at a time, and minutes become hours (docs/adr/0011).

Three marks say how far each pass has come. Each takes every minute once: the first when it is closed, the second when
it is a quarter of an hour old, in case a transaction took that long to commit, the third sums up the hours behind the
second. Counting happens outside any transaction that writes. What was counted is kept only if the mark still is where
it was before, so that of two who fold at once one has worked for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, delete, func, select, update

from hourhand.model.words import TaskType
from hourhand.rules.figures import HOUR, LOST, MINUTE, rounded_down
from hourhand.rules.fingerprint import OTHER
from hourhand.store.database import Row, Tx
from hourhand.store.schema import execution_logs, store_values
from hourhand.store.schema_access import stats_minutely
from hourhand.store.sql import any_of, insert, records
from hourhand.store.statements import Statement
from hourhand.store.stats_sql import NEVER_RAN, reasons, totals
from hourhand.store.types import Instant, from_micros, to_micros

FOLDED, REFOLDED, HOURS = "stats_folded_until", "stats_refolded_until", "stats_hours_until"
MINUTES_ROWS, HOURS_ROWS = "", "hour"
"""The writers of counters: of each minute, and of each hour, which is the sum of its minutes."""
CLOSED_AFTER = timedelta(seconds=10)
FINAL_AFTER = timedelta(minutes=15)
FINGERPRINTS = 50
"""Reasons told apart by minute (or hour), group, type and kind."""
REASONS = 20_000
"""Reasons by task that are read for a minute; where there are more, the rarest are `other` without a look."""
LOOKED_AT = 100_000
"""Failures whose message is looked at (20 µs each on PostgreSQL); those beyond are `other` as well."""
TOUCHED = 20
"""Tasks that are remembered with a reason."""
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

_COLUMNS = {column.name: column.type for column in stats_minutely.c}
COUNTERS = tuple(stats_minutely.c[name] for name in _COLUMNS if name != "writer")
_writer = stats_minutely.c.writer == bindparam("writer", type_=Text)
_between = (
    stats_minutely.c.minute >= bindparam("begin", type_=Instant()),
    stats_minutely.c.minute < bindparam("end", type_=Instant()),
)
_MARKS = Statement(
    select(store_values.c.name, store_values.c.number).where(
        any_of(store_values.c.name, "names"), store_values.c.number.is_not(None)
    )
)
_FIRST_LOG = Statement(
    select(func.min(execution_logs.c.end_time, type_=Instant()).label("first")).where(
        execution_logs.c.end_time >= bindparam("begin", type_=Instant()),
        execution_logs.c.end_time < bindparam("end", type_=Instant()),
    )
)
_FIRST_MINUTE = Statement(
    select(stats_minutely.c.minute.label("first")).where(*_between, _writer).order_by(stats_minutely.c.minute).limit(1)
)
_MINUTES = Statement(select(*COUNTERS).where(*_between, _writer))
_ENSURE_MARK = Statement(insert(store_values).values(name=bindparam("name", type_=Text)).on_conflict_do_nothing())
_LOCK_MARK = Statement(
    select(store_values.c.number).where(store_values.c.name == bindparam("name", type_=Text)).with_for_update()
)
_SET_MARK = Statement(
    update(store_values)
    .values(number=bindparam("number", type_=BigInteger))
    .where(store_values.c.name == bindparam("named", type_=Text))
)
_REMOVE = Statement(delete(stats_minutely).where(*_between, _writer))
_KEPT = records("kept", _COLUMNS)
KEEP = Statement(insert(stats_minutely).from_select(list(_COLUMNS), select(_KEPT), include_defaults=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What one pass has to do next: count `begin` to `end`, replace what is kept from its mark on, move the mark."""

    name: str
    mark: datetime | None
    begin: datetime
    end: datetime


async def read_marks(tx: Tx) -> dict[str, datetime]:
    """How far each pass has come."""
    rows = await tx.fetch(_MARKS, names=[FOLDED, REFOLDED, HOURS])
    return {row["name"]: from_micros(row["number"]) for row in rows}


async def next_span(tx: Tx) -> Span | None:
    """What is to be done next; None when everything that can be folded is."""
    now = await tx.now()
    marks = await read_marks(tx)
    limit = rounded_down(now - CLOSED_AFTER, MINUTE)
    for name, oldest, seconds in ((FOLDED, now, MINUTE), (REFOLDED, now - FINAL_AFTER, MINUTE), (HOURS, now, HOUR)):
        mark, limit = marks.get(name), rounded_down(min(limit, oldest), seconds)
        if mark != limit:
            return await _span(tx, name, mark, limit, seconds)
    return None


async def _span(tx: Tx, name: str, mark: datetime | None, limit: datetime, seconds: int) -> Span:
    if mark is not None and mark > limit:
        # The clock was set back. What ends from here on is counted from the logs, and then folded again.
        return Span(name=name, mark=mark, begin=limit, end=limit)
    bounds = {"begin": mark or _BEGINNING, "end": limit}
    if name == HOURS:
        rows = await tx.fetch(_FIRST_MINUTE, **bounds, writer=MINUTES_ROWS)
    else:
        rows = await tx.fetch(_FIRST_LOG, **bounds)
    first = rows[0]["first"] if rows else None
    if first is None:  # nothing happened since
        return Span(name=name, mark=mark, begin=limit, end=limit)
    begin = rounded_down(first, seconds)
    return Span(name=name, mark=mark, begin=begin, end=begin + timedelta(seconds=seconds))


async def count(tx: Tx, span: Span) -> list[dict[str, Any]]:
    """The counters of a span."""
    if span.begin == span.end:
        return []
    if span.name != HOURS:
        return await count_endings(tx, span.begin, span.end)
    rows = await tx.fetch(_MINUTES, begin=span.begin, end=span.end, writer=MINUTES_ROWS)
    return capped(summed({**row, "minute": span.begin} for row in rows))


async def keep(tx: Tx, span: Span, counters: Sequence[Row]) -> None:
    """Put what was counted in the place of what was there, unless somebody else has in the meantime."""
    await tx.run(_ENSURE_MARK, name=span.name)
    (mark,) = await tx.fetch(_LOCK_MARK, name=span.name)
    if mark["number"] != (None if span.mark is None else to_micros(span.mark)):
        return
    writer = HOURS_ROWS if span.name == HOURS else MINUTES_ROWS
    await tx.run(_REMOVE, writer=writer, begin=min(span.mark or span.begin, span.begin), end=span.end)
    if counters:
        await tx.run(KEEP, kept=[{**row, "writer": writer} for row in counters])
    await tx.run(_SET_MARK, named=span.name, number=to_micros(span.end))


async def count_endings(
    tx: Tx,
    begin: datetime,
    end: datetime,
    *,
    groups: Collection[int] | None = None,
    task_type: TaskType | None = None,
    failed: bool = False,
    with_reasons: bool = True,
) -> list[dict[str, Any]]:
    """Count endings from the execution logs, by whole minutes; in the form in which they are kept."""
    grouped, typed = groups is not None, task_type is not None
    params: dict[str, Any] = {"begin": begin, "end": end}
    params |= {"group_ids": sorted(groups)} if groups is not None else {}
    params |= {"type": task_type.value} if task_type is not None else {}
    found = await tx.fetch(totals(grouped=grouped, typed=typed, failed=failed), **params)
    counters = summed(_of_totals(found, with_losses=not failed))
    if not with_reasons or not any(row["status"] == "failed" for row in counters):
        return counters
    why = await tx.fetch(reasons(grouped=grouped, typed=typed), **params, limit=REASONS, looked_at=LOOKED_AT)
    return capped(_told_apart(counters, summed(map(_of_reason, why))))


def _of_totals(found: Iterable[Row], *, with_losses: bool) -> Iterable[dict[str, Any]]:
    for row in found:
        yield _counter(row, row["status"], row["fingerprint"], {"durations": _durations(row)})
        if row["losses"] and with_losses:
            yield {**_counter(row, LOST, "", {"durations": {}}), "count": row["losses"], "duration_ms": 0}


def _of_reason(row: Row) -> dict[str, Any]:
    seen = {
        "first": to_micros(row["first"]),
        "last": to_micros(row["last"]),
        "instance_id": row["instance_id"],
        "tasks": [row["task_id"]],
    }
    return _counter(row, "failed", row["fingerprint"], {"durations": _durations(row), "seen": seen})


def _counter(row: Row, status: str, fingerprint: str, buckets: dict[str, Any]) -> dict[str, Any]:
    same = {name: row[name] for name in ("minute", "group_id", "type", "kind", "count", "duration_ms")}
    return {**same, "status": status, "fingerprint": fingerprint, "buckets": buckets}


def _durations(row: Row) -> dict[str, int]:
    """JSON has no other keys than texts."""
    return {} if row["bucket"] == NEVER_RAN else {str(row["bucket"]): row["count"]}


_KEY = ("minute", "group_id", "type", "kind", "status", "fingerprint")


def summed(counters: Iterable[Row]) -> list[dict[str, Any]]:
    """One counter for each key."""
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in counters:
        key = tuple(row[name] for name in _KEY)
        into = sums.get(key)
        if into is None:
            sums[key] = {**row, "duration_ms": float(row["duration_ms"]), "buckets": _copied(row["buckets"])}
        else:
            _add(into, row)
    return list(sums.values())


def _copied(buckets: Mapping[str, Any]) -> dict[str, Any]:
    return {name: dict(value) for name, value in buckets.items()}


def _add(into: dict[str, Any], row: Row) -> None:
    into["count"] += row["count"]
    into["duration_ms"] += row["duration_ms"]
    durations = into["buckets"]["durations"]
    for bucket, number in row["buckets"]["durations"].items():
        durations[bucket] = durations.get(bucket, 0) + number
    if (seen := row["buckets"].get("seen")) is not None:
        so_far = into["buckets"].get("seen")
        into["buckets"]["seen"] = dict(seen) if so_far is None else merged(so_far, seen)


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What two counters have seen of a reason."""
    return {
        "first": min(one["first"], other["first"]),
        "last": max(one["last"], other["last"]),
        "instance_id": max(one["instance_id"], other["instance_id"]),
        "tasks": sorted({*one["tasks"], *other["tasks"]})[:TOUCHED],
    }


def _told_apart(counters: Sequence[dict[str, Any]], why: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The failed by their reasons; those whose reason was not read are `other`, so that the sum stays."""
    left = {_place(row): row for row in counters if row["status"] == "failed"}
    for row in why:
        whole = left.get(_place(row))
        if whole is not None:
            _take(whole, row)
    others = [{**row, "fingerprint": OTHER} for row in left.values() if row["count"] > 0]
    for row in others:
        durations = row["buckets"]["durations"]
        row["buckets"] = {"durations": {bucket: number for bucket, number in durations.items() if number > 0}}
    return summed([*(row for row in counters if row["status"] != "failed"), *why, *others])


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("minute", "group_id", "type", "kind"))


def _take(whole: dict[str, Any], row: Row) -> None:
    whole["count"] -= row["count"]
    whole["duration_ms"] -= row["duration_ms"]
    durations = whole["buckets"]["durations"]
    for bucket, number in row["buckets"]["durations"].items():
        durations[bucket] = durations.get(bucket, 0) - number


def capped(counters: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The most frequent reasons of each key; the rest of them together."""
    failed: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in counters:
        if row["status"] == "failed" and row["fingerprint"] != OTHER:
            failed.setdefault(_place(row), []).append(row)
    rare = set()
    for rows in failed.values():
        if len(rows) > FINGERPRINTS:
            rows.sort(key=lambda row: (-row["count"], row["fingerprint"]))
            rare |= {id(row) for row in rows[FINGERPRINTS:]}
    if not rare:
        return list(counters)
    return summed({**row, "fingerprint": OTHER} if id(row) in rare else row for row in counters)
