"""Store: pages of lists: how many items, and where the next one begins."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hourhand.model.errors import InvalidInput
from hourhand.model.page import Page
from hourhand.store.database import Row
from hourhand.store.rows import readable

T = TypeVar("T")
MOST = 200


def page(rows: Sequence[Row], limit: int, read: Callable[[Row], T], place: Callable[[Row], tuple[Any, ...]]) -> Page[T]:
    """What cannot be read is left out of its page; the next page begins where it would have."""
    more = len(rows) > limit
    return Page(tuple(readable(rows[:limit], read)), write_cursor(*place(rows[limit - 1])) if more else None)


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
