"""Store: one page of a short list, by its key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hourhand.model.errors import InvalidInput
from hourhand.model.page import Page
from hourhand.store.database import Row
from hourhand.store.listing import MOST, write_cursor

T = TypeVar("T")


def one_more(limit: int) -> int:
    """How many rows to ask for: the last one tells that there is another page."""
    if not 1 <= limit <= MOST:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST}")
    return limit + 1


def page(rows: Sequence[Row], limit: int, read: Callable[[Row], T], key: str) -> Page[T]:
    """The rows asked for, and where the next page begins if there is one."""
    more = len(rows) > limit
    return Page(tuple(map(read, rows[:limit])), write_cursor(key, rows[limit - 1][key]) if more else None)
