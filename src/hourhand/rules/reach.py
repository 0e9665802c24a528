"""Rules: what is said to a caller who is limited to groups about what lies beyond them."""

from __future__ import annotations

from collections.abc import Iterable


def out_of_reach(what: str, name: str, groups: Iterable[str]) -> str:
    """Why it is refused; which group it belongs to is not told."""
    return f"{what} is out of reach: {limited(name, groups)}"


def limited(name: str, groups: Iterable[str]) -> str:
    """Whose limits these are."""
    return f"{name!r} is limited to these groups: {', '.join(sorted(groups)) or 'none at all'}"


def of_others(count: int) -> str:
    """Tasks that may not be named."""
    return "a task of another group" if count == 1 else f"{count} tasks of other groups"
