"""Store: what lists are searched by and no index finds: texts somewhere in a name, in arguments, in an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Text, bindparam, cast, func, not_, select

from hourhand.store.schema import tasks
from hourhand.store.sql import has_item
from hourhand.store.statements import Statement

Condition = Callable[[], ColumnElement[bool]]
FEW_TASKS = 50
"""So many tasks are probed one by one; what more of them have in common is looked for."""
_TEXTS = ("q", "exclude", "args", "error")
_ESCAPE = "/"


def equals(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The column has the value of that parameter."""
    return column == bindparam(name, type_=column.type)


def contains(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The text of that parameter, made literal before, is somewhere in the column, in any case."""
    return column.icontains(bindparam(name, type_=Text), escape=_ESCAPE)


def contains_json(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The same for JSON; without its blanks, for each store puts them elsewhere."""
    return contains(func.replace(cast(column, Text), " ", "", type_=Text), name)


def literal(params: Mapping[str, Any]) -> dict[str, Any]:
    """The same parameters, with nothing in their texts that would have a meaning of its own in a LIKE."""
    found = dict(params)
    if "args" in found:
        found["args"] = found["args"].replace(" ", "")
    return found | {name: literally(found[name]) for name in _TEXTS if name in found}


def literally(part: str) -> str:
    """A part of a text for LIKE, in which nothing has a meaning of its own."""
    for sign in (_ESCAPE, "%", "_"):
        part = part.replace(sign, _ESCAPE + sign)
    return part


OF_TASK: Mapping[str, Condition] = {
    "type": lambda: equals(tasks.c.type, "type"),
    "q": lambda: contains(tasks.c.name, "q"),
    "exclude": lambda: not_(contains(tasks.c.name, "exclude")),
    "owner": lambda: equals(tasks.c.owner, "owner"),
    "tag": lambda: has_item(tasks.c.tags, "tag"),
}
"""What can be asked of a task, wherever the table of tasks is at hand."""


@lru_cache(maxsize=64)
def described(names: tuple[str, ...]) -> Statement:
    """The first ids of tasks that these fit, deleted ones included: what they did is still there."""
    known: Mapping[str, Condition] = {**OF_TASK, "task_id": lambda: equals(tasks.c.id, "task_id")}
    query = select(tasks.c.id).where(*[known[name]() for name in names])
    return Statement(query.limit(bindparam("limit", type_=BigInteger)))
