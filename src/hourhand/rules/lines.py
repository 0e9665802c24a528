"""Rules: the order of an instance's log lines, and how far somebody has read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from hourhand.model.words import LineLevel

OF_ONE_ATTEMPT = 2**32
FIRST_OF_CALLBACKS = 2**31
"""Lines of callbacks have the upper half of an attempt's counters, so that they never meet those of its executor."""
LARGEST_SEQ = 2**53
SLIGHT = ("debug", "trace", "notset")
"""Levels below info. A handler may write any word as the level of a line; one that is not known counts as info."""
_ERRORS = ("error", "critical", "fatal")
GRAVE: Mapping[LineLevel, tuple[str, ...]] = {
    LineLevel.WARNING: ("warning", "warn", *_ERRORS),
    LineLevel.ERROR: _ERRORS,
}
"""Levels that are at least so grave. A line with an exception is an error, whatever its level is."""

_WRITTEN = re.compile(r"(-1|[0-9]{1,16})(?::([0-9]{1,16}))?", re.ASCII)


def line_seq(fence: int, counter: int) -> int:
    """Lines of a later attempt come after those of an earlier one; below 2⁵³, so that JavaScript can hold it."""
    return fence * OF_ONE_ATTEMPT + counter


def of_callback(seq: int) -> bool:
    """Whether a callback wrote the line, rather than the executor."""
    return seq % OF_ONE_ATTEMPT >= FIRST_OF_CALLBACKS


@dataclass(frozen=True, slots=True)
class Place:
    """How far somebody has read: the last line of the executor and the last one of callbacks, of the same attempt.

    One number is not enough. Each of the two writes in the order of its numbers, and an attempt writes nothing once
    its successor does; but a line of the executor may well come after one of a callback, whose number is higher.
    """

    own: int
    called: int

    @classmethod
    def after(cls, seq: int) -> Self:
        """Where somebody is who has read everything up to this number; -1 is the beginning."""
        begin = max(0, seq) // OF_ONE_ATTEMPT * OF_ONE_ATTEMPT
        last = begin + FIRST_OF_CALLBACKS - 1
        return cls(own=min(seq, last), called=max(seq, last))

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `str` has written; a single number is one of a line."""
        found = _WRITTEN.fullmatch(text)
        numbers = [int(number) for number in found.groups() if number is not None] if found else []
        if not numbers or max(numbers) > LARGEST_SEQ:
            raise ValueError(text)
        place = cls.after(numbers[-1])
        if len(numbers) == 1:
            return place
        begin = place.fence * OF_ONE_ATTEMPT
        if not place.mixed or not begin - 1 <= numbers[0] < begin + FIRST_OF_CALLBACKS:
            raise ValueError(text)
        return cls(own=numbers[0], called=numbers[1])

    def __str__(self) -> str:
        """Write it down: one number where that is enough, else both."""
        return f"{self.own}:{self.called}" if self.mixed else str(self.own)

    @property
    def fence(self) -> int:
        """Of the attempt that is being read."""
        return self.called // OF_ONE_ATTEMPT

    @property
    def mixed(self) -> bool:
        """Whether a line of a callback has been read of this attempt."""
        return of_callback(self.called)

    def is_own(self, seq: int) -> bool:
        """Whether the executor wrote the line in this very attempt."""
        return seq // OF_ONE_ATTEMPT == self.fence and not of_callback(seq)

    def has(self, seq: int) -> bool:
        """Whether the line has been read."""
        return seq <= (self.own if self.is_own(seq) else self.called)

    def then(self, seq: int) -> Self:
        """Where one is after reading one more line."""
        if self.is_own(seq):
            return type(self)(own=seq, called=self.called)
        if seq // OF_ONE_ATTEMPT == self.fence:
            return type(self)(own=self.own, called=seq)
        begin = seq // OF_ONE_ATTEMPT * OF_ONE_ATTEMPT
        return type(self)(own=begin - 1, called=begin + FIRST_OF_CALLBACKS - 1).then(seq)
