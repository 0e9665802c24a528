"""Rules: one field of a cron expression, read into a bit set (bit n set = the value n matches)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
EVERY_WEEKDAY: Final = 0b1111111
EVERY_MONTH_DAY: Final = (1 << 32) - 2
OCCURRENCES: Final = 5
FARTHEST_FROM_LAST: Final = 30

# Longer runs of digits are refused before int() sees them: no field has a value of more than four.
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_LAST_DAY: Final = re.compile(r"L(?:-([0-9]{1,2}))?(W?)", re.IGNORECASE)
_NEAREST_DAY: Final = re.compile(r"([0-9]{1,2})W", re.IGNORECASE)
_LAST_WEEKDAY: Final = re.compile(r"([0-9]|[A-Z]{3})L", re.IGNORECASE)
_NTH_WEEKDAY: Final = re.compile(r"([^#]*)#([^#]*)")


class Refused(Exception):
    """The text is not a schedule; the message says which part is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What one field may hold."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    first_name: int = 0
    wraps: bool = False
    tokens: str = ""

    @property
    def allowed(self) -> str:
        """The field's values, in words for an error message."""
        named = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"{self.low}-{self.high}{named}{self.tokens}, *, lists (a,b), ranges (a-b) and steps (*/n, a-b/n, a/n)"


@dataclass(frozen=True, slots=True)
class MonthDays:
    """Day-of-month: plain days, days counted back from the last (`L-3`: bit 3), and the weekdays nearest to either."""

    text: str
    days: int = 0
    from_last: int = 0
    near: int = 0
    near_from_last: int = 0


@dataclass(frozen=True, slots=True)
class WeekDays:
    """Day-of-week with Sunday = 0: every such day, the last one of the month, the nth one of the month."""

    text: str
    days: int = 0
    last: int = 0
    nth: tuple[int, ...] = (0,) * OCCURRENCES


_DAY_TOKENS: Final = ", L, L-n, nW, LW"
_WEEK_TOKENS: Final = ", nL (last), n#k (k-th)"
VIXIE: Final = (
    Kind("minute", 0, 59),
    Kind("hour", 0, 23),
    Kind("day-of-month", 1, 31, tokens=_DAY_TOKENS),
    Kind("month", 1, 12, MONTHS, 1),
    Kind("day-of-week", 0, 7, WEEKDAYS, 0, tokens=_WEEK_TOKENS),
)
QUARTZ: Final = (
    Kind("second", 0, 59, wraps=True),
    Kind("minute", 0, 59, wraps=True),
    Kind("hour", 0, 23, wraps=True),
    Kind("day-of-month", 1, 31, wraps=True, tokens=", ?" + _DAY_TOKENS),
    Kind("month", 1, 12, MONTHS, 1, wraps=True),
    Kind("day-of-week", 1, 7, WEEKDAYS, 1, wraps=True, tokens=", ?, L" + _WEEK_TOKENS),
    Kind("year", 1970, 2199),
)


def read(kind: Kind, text: str) -> int:
    """Read a field without day tokens.

    Raises:
        Refused: naming the field, the offending part and what is allowed.
    """
    bits = 0
    for part in text.split(","):
        bits |= _read_part(kind, part)
    return bits


def read_month_days(kind: Kind, text: str) -> MonthDays:
    """Read a day-of-month field."""
    days = from_last = near = near_from_last = 0
    for part in text.split(","):
        if last := _LAST_DAY.fullmatch(part):
            back = int(last[1] or 0)
            if last[1] and not 1 <= back <= FARTHEST_FROM_LAST:
                raise Refused(f"{kind.name}: {part!r} counts back {back} days from the last; L-1 to L-30 are allowed")
            if last[2]:
                near_from_last |= 1 << back
            else:
                from_last |= 1 << back
        elif nearest := _NEAREST_DAY.fullmatch(part):
            near |= 1 << _number(kind, nearest[1], part)
        else:
            days |= _read_part(kind, part)
    return MonthDays(text, days, from_last, near, near_from_last)


def read_week_days(kind: Kind, text: str) -> WeekDays:
    """Read a day-of-week field; whatever its numbering, the bits count from Sunday = 0."""
    days = last = 0
    nth = [0] * OCCURRENCES
    for part in text.split(","):
        if kind.wraps and part in {"L", "l"}:
            # Quartz: a lone L is the week's last day, Saturday.
            days |= 1 << kind.high
        elif final := _LAST_WEEKDAY.fullmatch(part):
            last |= 1 << _number(kind, final[1], part)
        elif counted := _NTH_WEEKDAY.fullmatch(part):
            if counted[2] not in {"1", "2", "3", "4", "5"}:
                raise Refused(f"{kind.name}: {part!r} asks for occurrence {counted[2]!r} in the month; #1 to #5 exist")
            nth[int(counted[2]) - 1] |= 1 << _number(kind, counted[1], part)
        else:
            days |= _read_part(kind, part)
    return WeekDays(text, _from_sunday(kind, days), _from_sunday(kind, last), tuple(_from_sunday(kind, n) for n in nth))


def values(bits: int) -> list[int]:
    """List the members of a bit set, ascending."""
    return [value for value in range(bits.bit_length()) if bits >> value & 1]


def _from_sunday(kind: Kind, bits: int) -> int:
    return bits >> 1 if kind.wraps else (bits | bits >> 7) & EVERY_WEEKDAY


def _read_part(kind: Kind, part: str) -> int:
    span, slash, step_text = part.partition("/")
    step = _step(kind, step_text, part) if slash else 1
    if span == "*":
        first, last = kind.low, kind.high
    else:
        head, dash, tail = span.partition("-")
        first = _number(kind, head, part)
        last = _number(kind, tail, part) if dash else kind.high if slash else first
    if last < first:
        last = _unwrap(kind, first, last, part)
    size = kind.high - kind.low + 1
    bits = 0
    for value in range(first, last + 1, step):
        bits |= 1 << (value - kind.low) % size + kind.low
    return bits


def _unwrap(kind: Kind, first: int, last: int, part: str) -> int:
    if kind.wraps:
        return last + kind.high - kind.low + 1
    if kind.names is WEEKDAYS and last == 0:
        # Vixie counts Sunday twice, so SAT-SUN is simply 6-7.
        return kind.high
    raise Refused(f"{kind.name}: the range {part!r} runs backwards from {first} to {last}; write it as two, a-b,c-d")


def _step(kind: Kind, text: str, part: str) -> int:
    # A step beyond the field's highest value could only ever match once: more likely a slip than a wish.
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= kind.high:
        raise Refused(f"{kind.name}: {part!r} has the step {text!r}; a step is a number from 1 to {kind.high}")
    return int(text)


def _number(kind: Kind, text: str, part: str) -> int:
    if text.upper() in kind.names:
        return kind.names.index(text.upper()) + kind.first_name
    where = f" in {part!r}" if part != text else ""
    if not _NUMBER.fullmatch(text):
        raise Refused(f"{kind.name}: {text!r}{where} is not understood; allowed are {kind.allowed}")
    number = int(text)
    if not kind.low <= number <= kind.high:
        raise Refused(f"{kind.name}: {text!r}{where} is out of range; allowed are {kind.allowed}")
    return number
