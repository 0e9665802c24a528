"""Store: the audit: what changed, written in the transaction of the change; and its list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Select, Text, Tuple, bindparam, select, tuple_

from hourhand.model.audit import AuditEntry, AuditFilter, Author, Change
from hourhand.model.errors import NotFound
from hourhand.model.page import Page
from hourhand.model.task import Task
from hourhand.rules.audit_about import concerned_task
from hourhand.rules.redaction import redacted
from hourhand.rules.secret_text import cut, redacted_text
from hourhand.store import paging
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.paging import bounded, more_than, read_cursor, within_bytes, write_cursor
from hourhand.store.rows import definition_json
from hourhand.store.schema import task_instances, tasks
from hourhand.store.schema_access import audit_logs
from hourhand.store.sql import any_of, insert, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Instant, Json, dump_json, from_micros, to_micros
from hourhand.store.values import clean_text

TEXT_BYTES = 16 * 1024
SCRIPT_BYTES = 256 * 1024
STRING_BYTES = 16 * 1024
"""How much of any single string within a record is kept."""
RECORD_BYTES = 80 * 1024
"""How much JSON is kept of each of payload, before and after: what is beyond it is left out, and said so."""
_LEAST = 16
_MARKER = 64
LOOKED_AT = 10_000
"""How many entries one page looks through for what no index finds; the next page goes on where it stopped."""

_KEPT = {
    "action": Text(),
    "resource_type": Text(),
    "resource_id": Text(),
    "summary": Text(),
    "payload": Json(),
    "script": Text(),
    "before": Json(),
    "after": Json(),
    "result": Text(),
    "user_id": Text(),
    "user_name": Text(),
    "request_id": Text(),
    "task_id": BigInteger(),
}
_CHANGES = records("changes", _KEPT)
_ADD = Statement(
    insert(audit_logs).from_select(
        [*_KEPT, "occurred_at"], select(*_CHANGES.c, store_clock().label("occurred_at")), include_defaults=False
    )
)
_FIELDS = tuple(field.name for field in fields(AuditEntry))
_INSTANCES = Statement(
    select(
        task_instances.c.id,
        task_instances.c.task_id,
        tasks.c.name.label("task"),
        task_instances.c.status,
        task_instances.c.blocked_by,
        task_instances.c.args,
        task_instances.c.cancel_requested,
        task_instances.c.cancel_reason.label("reason"),
    )
    .join(tasks, tasks.c.id == task_instances.c.task_id)
    .where(any_of(task_instances.c.id, "ids"))
)


async def record(tx: Tx, author: Author | None, changes: Sequence[Change]) -> None:
    """Keep what somebody changed, without its secrets; what the engine does by itself is in the execution logs.

    A change that leaves everything as it was is none.
    """
    if author is None:
        return
    who = {
        "user_id": author.id,
        "user_name": clean_text(author.name, TEXT_BYTES),
        "request_id": clean_text(author.request_id, TEXT_BYTES),
    }
    kept = [{**_kept(one), **who} for one in changes if one.before is None or one.before != one.after]
    if kept:
        await tx.run(_ADD, changes=kept)


def _kept(change: Change) -> dict[str, Any]:
    before, after, payload = (_Room().kept(one) for one in (change.before, change.after, change.payload))
    return {
        **asdict(change),
        "resource_id": clean_text(change.resource_id, TEXT_BYTES),
        "summary": _shown(change.summary, TEXT_BYTES),
        "script": _shown(change.script, SCRIPT_BYTES),
        "payload": redacted(payload),
        "before": redacted(before),
        "after": redacted(after) if before is None else redacted(after, before),
        "task_id": concerned_task(change),
    }


def _shown(text: str | None, limit: int) -> str | None:
    return clean_text(None if text is None else redacted_text(cut(text, limit)), limit)


class _Room:
    """What is left of the room for one value of a record.

    It is bounded before anything looks for secrets in it, so that no change waits long for its record.
    """

    def __init__(self) -> None:
        self._left = RECORD_BYTES

    def kept(self, value: Any) -> Any:  # noqa: PLR0911 - a line for each kind
        """JSON of what verbs have at hand, fit for every store: a record must never be why a change fails."""
        match value:
            case str():
                return self._text(value)
            case datetime():
                return self._text(value.astimezone(UTC).isoformat().replace("+00:00", "Z"))
            case Mapping():
                # What is short comes first: a long payload must not be why a version is left out.
                names = sorted(value, key=lambda name: isinstance(value[name], Mapping | list | tuple))
                some = {self._text(str(name)): self.kept(value[name]) for name in self._as_many(names)}
                return some if len(some) == len(names) else {**some, "…": _left_out(len(names) - len(some))}
            case set() | frozenset():
                return self.kept(sorted(value, key=str))
            case list() | tuple():
                items = [self.kept(one) for one in self._as_many(value)]
                return items if len(items) == len(value) else [*items, _left_out(len(value) - len(items))]
            case None | bool() | float():
                self._left -= _LEAST
                return value
            case int():
                self._left -= _LEAST + value.bit_length() // 3
                return value
            case _:
                return self._text(str(value))

    def _as_many(self, values: Sequence[Any]) -> Iterator[Any]:
        """Those for which there is room."""
        for one in values:
            if self._left <= 0:
                return
            yield one

    def _text(self, value: str) -> str:
        text = value.replace("\x00", "").encode("utf-8", "replace").decode()
        limit = room = max(0, min(STRING_BYTES, self._left))
        shown = cut(text, room)
        while (size := len(dump_json(shown).encode())) > limit + _MARKER and room:
            room = room * limit // size  # a character may take several bytes
            shown = cut(text, room)
        self._left -= max(_LEAST, size)
        return shown


def _left_out(count: int) -> str:
    return f"[{count} more left out: the record would be too long]"


def task_seen(task: Task) -> dict[str, Any]:
    """A task as the audit shows it: what a person writes, and its version."""
    return {**definition_json(task), "version": task.version}


async def instances_seen(tx: Tx, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Living instances as the audit shows them, by id."""
    return {row["id"]: dict(row) for row in await tx.fetch(_INSTANCES, ids=sorted(set(ids)))}


def entry_of(row: Row) -> AuditEntry:
    """An entry from its row."""
    return AuditEntry(**{name: row[name] for name in _FIELDS})


LONG = ("payload", "script", "before", "after", "summary")
"""The columns that may be long: no page has more of them than fits into an answer."""
_RESOURCE = ("resource_type", "resource_id")
_ONE = Statement(select(audit_logs).where(audit_logs.c.id == bindparam("id", type_=BigInteger)))
_place_of = tuple_(audit_logs.c.occurred_at, audit_logs.c.id)


def _bound(name: str) -> Tuple:
    return tuple_(bindparam(f"{name}_time", type_=Instant()), bindparam(f"{name}_id", type_=BigInteger))


@lru_cache(maxsize=256)
def _listed(names: tuple[str, ...]) -> Statement:
    """Newest first."""
    query = _filtered(select(audit_logs), names).limit(bindparam("limit", type_=BigInteger))
    return Statement(within_bytes(query, LONG, ("occurred_at", "id"), newest=True))


@lru_cache(maxsize=16)
def _looked_at(names: tuple[str, ...]) -> Statement:
    """The place up to which so many entries lie; the index alone tells."""
    query = _filtered(select(audit_logs.c.occurred_at, audit_logs.c.id), names)
    return Statement(query.offset(bindparam("passed", type_=BigInteger)).limit(1))


def _filtered(query: Select[Any], names: tuple[str, ...]) -> Select[Any]:
    query = query.where(_place_of < _bound("before"))
    for name in names:
        if name == "last":
            query = query.where(_place_of >= _bound("last"))
        elif name == "begin":
            query = query.where(audit_logs.c.occurred_at >= bindparam("begin", type_=Instant()))
        else:
            query = query.where(audit_logs.c[name] == bindparam(name, type_=audit_logs.c[name].type))
    return query.order_by(audit_logs.c.occurred_at.desc(), audit_logs.c.id.desc())


async def get_audit(tx: Tx, entry_id: int) -> AuditEntry:
    """One entry."""
    rows = await tx.fetch(_ONE, id=entry_id) if possible(entry_id) else []
    if not rows:
        raise NotFound("audit entry", entry_id)
    return entry_of(rows[0])


async def list_audit(tx: Tx, wanted: AuditFilter, *, limit: int, cursor: str | None) -> Page[AuditEntry]:
    """Newest first. One thing's entries, one task's, and all have an index; what else is asked for is looked for.

    That look is bounded, so that a page may have few items, or none, and still be followed by another.
    """
    place = read_cursor(cursor, {"audit": (int, int)})
    before = (from_micros(place[1]), place[2]) if place else (from_micros(2**52), 2**62)
    params = {name: value for name, value in asdict(wanted).items() if value is not None}
    if "end" in params:
        before = min(before, (params.pop("end"), 0))  # where to begin to read, instead of what to pass over
    start = {"before_time": before[0], "before_id": before[1]}
    found_by = {"begin", "task_id", *(_RESOURCE if set(_RESOURCE) <= params.keys() else ())}
    indexed = {name: value for name, value in params.items() if name in found_by}
    edge: Sequence[Row] = []
    if params != indexed:
        edge = await tx.fetch(_looked_at(tuple(indexed)), **indexed, **start, passed=LOOKED_AT - 1)
    bounds = {"last_time": edge[0]["occurred_at"], "last_id": edge[0]["id"]} if edge else {}
    names = (*params, "last") if edge else tuple(params)
    asked = {"limit": bounded(limit) + 1, "most_bytes": paging.PAGE_BYTES}
    rows = await tx.fetch(_listed(names), **params, **start, **bounds, **asked)
    shown = rows[:limit]
    items = tuple(map(entry_of, shown))
    if more_than(shown, rows):
        return Page(items, _place(shown[-1]))
    return Page(items, _place(edge[0]) if edge else None)


def _place(row: Row) -> str:
    return write_cursor("audit", to_micros(row["occurred_at"]), row["id"])
