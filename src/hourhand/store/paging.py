"""Store: pages of lists: how many items, and where the next one begins."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Select, Text, bindparam, cast, func, select

from hourhand.model.errors import InvalidInput
from hourhand.model.page import Page
from hourhand.store.database import Row
from hourhand.store.rows import readable

T = TypeVar("T")
MOST = 200
PAGE_BYTES = 2 * 1024 * 1024
"""How long a page may become by what it holds: it ends behind the item that passes this, and the next one goes on."""


def page(rows: Sequence[Row], limit: int, read: Callable[[Row], T], place: Callable[[Row], tuple[Any, ...]]) -> Page[T]:
    """What cannot be read is left out of its page; the next page begins where it would have."""
    shown = rows[:limit]
    return Page(tuple(readable(shown, read)), write_cursor(*place(shown[-1])) if more_than(shown, rows) else None)


def more_than(shown: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether there are more than those that are shown, be it that they were not read because they are too long."""
    return len(rows) > len(shown) or (bool(rows) and rows[0].get("found", 0) > len(shown))


def within_bytes(query: Select[Any], long: Sequence[str], order: Sequence[str], *, newest: bool) -> Select[Any]:
    """The first rows of a query up to `most_bytes` in its long columns, at least one; `found` is how many there are."""
    columns = query.selected_columns
    sizes = [func.coalesce(func.length(cast(columns[name], Text)), 0) for name in long]
    sized = query.add_columns(reduce(add, sizes).label("size")).subquery("sized")
    by = [sized.c[name].desc() if newest else sized.c[name] for name in order]
    so_far = func.sum(sized.c.size).over(order_by=by, rows=(None, 0)).label("so_far")
    weighed = select(sized, so_far, func.count().over().label("found")).subquery("weighed")
    return (
        select(*(weighed.c[name] for name in columns.keys()), weighed.c.found)  # noqa: SIM118 - it is no dict
        .where(weighed.c.so_far - weighed.c.size < bindparam("most_bytes", type_=BigInteger))
        .order_by(*(weighed.c[name].desc() if newest else weighed.c[name] for name in order))
    )


def bounded(limit: int) -> int:
    """Refuse a page of no items, or of too many."""
    if not 1 <= limit <= MOST:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST}")
    return limit


def write_cursor(*place: str | int) -> str:
    """Where the next page begins, opaque to its reader."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, known: Mapping[str, tuple[type, ...]]) -> tuple[Any, ...] | None:
    """The place a cursor names; one that was not made by this list is refused."""
    if cursor is None:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
        right = tuple(type(one) for one in place[1:]) == known[place[0]] and all(map(_storable, place[1:]))
    except (ValueError, binascii.Error, KeyError, TypeError, IndexError, RecursionError):
        right = False
    if not right:
        raise InvalidInput.one("cursor", cursor, "is not a cursor of this list: use next_cursor of its last page")
    return tuple(place)


def _storable(value: str | int) -> bool:
    """Whether a database can compare with it: what it cannot, no list has ever given out."""
    if isinstance(value, str):
        return "\x00" not in value and bool(value.encode())
    return abs(value) < 2**53
