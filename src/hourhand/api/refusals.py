"""The API's measure of refusals in the audit: each is kept, but whoever is refused without end only by number."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from hourhand.model.audit import Author

MOST = 60
SECONDS = 60.0


@dataclass(slots=True)
class _Minute:
    author: Author
    began: float
    kept: int = 0
    left_out: int = 0


class Refusals:
    """How often each caller was refused within the last minute, as far as this process knows."""

    def __init__(self) -> None:
        self._minutes: dict[str, _Minute] = {}

    def keep(self, author: Author) -> bool:
        """Whether one more refusal of theirs is to be kept by itself; else it is counted."""
        minute = self._minutes.setdefault(author.id, _Minute(author, time.monotonic()))
        if minute.kept < MOST:
            minute.kept += 1
            return True
        minute.left_out += 1
        return False

    def left_out(self) -> Iterator[tuple[Author, int]]:
        """Whose minute has passed, and how many of their refusals are not kept yet; each is told once."""
        now = time.monotonic()
        for name, minute in list(self._minutes.items()):
            if now - minute.began >= SECONDS:
                del self._minutes[name]
                if minute.left_out:
                    yield minute.author, minute.left_out
