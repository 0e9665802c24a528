"""Rules: how the findings of `hourhand doctor` are put into words."""

from __future__ import annotations

from collections.abc import Iterable

from hourhand.model.diagnosis import Finding, Level

SHOWN = 5
"""So many names are told; there may be more."""
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MEGABYTE = 1024.0 * 1024.0
_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"))


def fine(check: str, summary: str, detail: str = "") -> Finding:
    """Nothing is wrong with it."""
    return Finding(check=check, level=Level.OK, summary=summary, detail=detail)


def warning(check: str, summary: str, detail: str = "", remedy: str = "") -> Finding:
    """It works, and somebody should know."""
    return Finding(check=check, level=Level.WARNING, summary=summary, detail=detail, remedy=remedy)


def problem(check: str, summary: str, detail: str = "", remedy: str = "") -> Finding:
    """It does not work, or will not for long."""
    return Finding(check=check, level=Level.PROBLEM, summary=summary, detail=detail, remedy=remedy)


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def wait(count: int, noun: str) -> str:
    """`1 task waits`, `2 tasks wait`."""
    return f"{plural(count, noun)} {'waits' if count == 1 else 'wait'}"


def named(names: Iterable[str]) -> str:
    """Some names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more


def length(seconds: float) -> str:
    """A length of time in its largest unit."""
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"  # noqa: PLR2004 - then tenths say nothing


def size(count: float) -> str:
    """A number of bytes."""
    gigabytes = count / MEGABYTE / 1024
    return f"{gigabytes:.1f} GB" if gigabytes >= 1 else f"{count / MEGABYTE:.0f} MB"
