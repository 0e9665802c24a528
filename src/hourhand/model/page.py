"""Model: one page of a keyset list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items and where the next page begins; no total, since counting costs what paging saves."""

    items: tuple[T, ...]
    next_cursor: str | None = None
