"""Store: endings counted from the execution logs: what folding keeps, and what is read while it is not folded yet."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, Text, bindparam, case, func, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from hourhand.rules import fingerprint as rule
from hourhand.rules.histogram import BOUNDS, OVERFLOW
from hourhand.store.schema import execution_logs, tasks
from hourhand.store.sql import any_of, constant
from hourhand.store.statements import Statement
from hourhand.store.types import Instant

NEVER_RAN = -1
"""In place of a bucket, for what ended without having been started."""


class minute_of(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """The beginning of the minute of a time."""

    inherit_cache = True
    type = Instant()
    name = "minute_of"


@compiles(minute_of)
def _minute_of(element: minute_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"date_trunc('minute', {compiler.process(element.clauses, **kw)}, 'UTC')"


@compiles(minute_of, "sqlite")
def _minute_of_sqlite(element: minute_of, compiler: SQLCompiler, **kw: Any) -> str:
    return "({0} - {0} % 60000000)".format(compiler.process(element.clauses, **kw))


class fingerprint_of(FunctionElement[Any]):  # noqa: N801 - reads as SQL does
    """`rules.fingerprint` of a message: the function itself on SQLite, its patterns on PostgreSQL."""

    inherit_cache = True
    type = Text()
    name = "fingerprint_of"


@compiles(fingerprint_of)
def _fingerprint_of(element: fingerprint_of, compiler: SQLCompiler, **kw: Any) -> str:
    message = compiler.process(element.clauses, **kw)
    text = f"regexp_replace(left({message}, {rule.READ}), '{rule.VARYING}', '#', 'g')"
    blank = rule.BLANK.encode("unicode_escape").decode()
    text = f"left(regexp_replace({text}, E'{blank}', ' ', 'g'), {rule.LONGEST})"
    return f"COALESCE(NULLIF({text}, ''), '{rule.NO_MESSAGE}')"


@compiles(fingerprint_of, "sqlite")
def _fingerprint_of_sqlite(element: fingerprint_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"fingerprint({compiler.process(element.clauses, **kw)})"


_logs = execution_logs.c
_RAN = _logs.start_time.is_not(None)
_BUCKET = case(
    (_logs.start_time.is_(None), constant(NEVER_RAN)),
    *[(_logs.duration_ms <= constant(bound), constant(number)) for number, bound in enumerate(BOUNDS)],
    else_=constant(OVERFLOW),
)
_FAILED = (_logs.status == literal_column("'failed'"), _logs.status != literal_column("'success'"))
"""The second for the partial index, which SQLite finds only if it is spelled out."""
_KEY = {
    "minute": minute_of(_logs.end_time),
    "group_id": _logs.group_id,
    "type": func.coalesce(tasks.c.type, constant("")),
    "kind": func.coalesce(_logs.operation_kind, constant("")),
}


def _endings(*columns: ColumnElement[Any], grouped: bool, typed: bool, failed: bool) -> Select[Any]:
    """The endings of a period, found by its index: the primary key begins with the time."""
    query = (
        select(*[column.label(name) for name, column in _KEY.items()], _BUCKET.label("bucket"), *columns)
        .select_from(execution_logs)
        .outerjoin(tasks, tasks.c.id == _logs.task_id)
        .where(
            _logs.end_time >= bindparam("begin", type_=Instant()),
            _logs.end_time < bindparam("end", type_=Instant()),
        )
    )
    if grouped:
        query = query.where(any_of(_logs.group_id, "group_ids"))
    if typed:
        query = query.where(tasks.c.type == bindparam("type", type_=Text))
    return query.where(*_FAILED) if failed else query


@lru_cache(maxsize=8)
def totals(*, grouped: bool, typed: bool, failed: bool) -> Statement:
    """How many ended in each minute, by everything that is told apart but the reason."""
    each = _endings(
        _logs.status,
        func.coalesce(_logs.skip_reason, constant("")).label("fingerprint"),
        case((_RAN, _logs.duration_ms), else_=constant(0)).label("duration_ms"),
        _logs.loss_count,
        grouped=grouped,
        typed=typed,
        failed=failed,
    ).subquery("each")
    key = [each.c[name] for name in (*_KEY, "status", "fingerprint", "bucket")]
    return Statement(
        select(
            *key,
            func.count().label("count"),
            func.sum(each.c.duration_ms).cast(BigInteger).label("duration_ms"),
            func.sum(each.c.loss_count).cast(BigInteger).label("losses"),
        ).group_by(*key)
    )


@lru_cache(maxsize=4)
def reasons(*, grouped: bool, typed: bool) -> Statement:
    """How many failed in each minute, by reason and task: the most frequent ones, of so many that are looked at."""
    looked_at = _endings(
        fingerprint_of(_logs.error_message).label("fingerprint"),
        case((_RAN, _logs.duration_ms), else_=constant(0)).label("duration_ms"),
        _logs.task_id,
        _logs.instance_id,
        _logs.end_time,
        grouped=grouped,
        typed=typed,
        failed=True,
    ).limit(bindparam("looked_at", type_=BigInteger))
    each = looked_at.subquery("each")
    key = [each.c[name] for name in (*_KEY, "fingerprint", "task_id", "bucket")]
    return Statement(
        select(
            *key,
            func.count().label("count"),
            func.sum(each.c.duration_ms).cast(BigInteger).label("duration_ms"),
            func.min(each.c.end_time, type_=Instant()).label("first"),
            func.max(each.c.end_time, type_=Instant()).label("last"),
            func.max(each.c.instance_id).label("instance_id"),
        )
        .group_by(*key)
        .order_by(func.count().desc(), each.c.fingerprint, each.c.task_id, each.c.bucket)
        .limit(bindparam("limit", type_=BigInteger))
    )
