"""Rules: which name was probably meant by one that there is not."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable
from itertools import pairwise

FEW = 3
"""So many are looked for: each takes its time among thousands of names, and an event loop waits for it."""
_LIKELY = 50


class Closest:
    """The names that there are, for whoever misspells some."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take each name once; the first come first where several are as close."""
        self._names = tuple(dict.fromkeys(names))
        self._left = FEW

    def to(self, name: str) -> str | None:
        """The one that was probably meant; None if none is close, or enough have been looked for."""
        if not self._left:
            return None
        self._left -= 1
        parts = _parts(name)
        likely = heapq.nlargest(_LIKELY, self._names, key=lambda other: _likeness(parts, _parts(other)))
        return next(iter(difflib.get_close_matches(name, likely, n=1)), None)


def _parts(text: str) -> set[str]:
    """Its letters, and its pairs of letters: compared a hundred times faster than texts are."""
    return {*text, *map("".join, pairwise(text))}


def _likeness(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one) + len(other) or 1)
