"""docs/reference/errors.md: everything that can be refused, read off the tree of errors."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator

from hourhand.api.problems import _STATUS, Problem
from hourhand.model import errors as tree
from reference.markdown import block, code, page, prose, table

INTRODUCTION = """
Python code catches classes of `hourhand.errors`; a program that speaks REST looks at the `status` and the `type`
of the problem (RFC 9457). Every message says what was wrong, with the value, and what would be right.
"""
OTHERS = """
What is refused before a request has a meaning (its method, its size, its encoding, its rate) is a problem as well, with
the `type` of its status: see [REST](rest.md#what-holds-everywhere).
"""
MORE = {
    "InvalidInput": "`errors`: `[{field, message}]`",
    "IllegalEdge": "`legal`: the states that may follow",
    "HasDependents": "`dependents`: who depends on it",
    "Throttled": "`Retry-After`",
    "StoreError": "`Retry-After`",
}


def errors() -> str:
    """Write the page."""
    (drawn,) = re.findall(r"^( {4}HourhandError\n(?: {4}.*\n)+)", inspect.getdoc(tree) or "", re.MULTILINE)
    lines = "\n".join(line[4:] for line in drawn.rstrip().splitlines())
    return page(
        "Errors",
        INTRODUCTION,
        block("text", lines),
        "## As problems",
        table(["class", "status", "type", "what", "more"], [*_rows(tree.HourhandError)]),
        OTHERS,
    )


def _rows(kind: type[tree.HourhandError]) -> Iterator[tuple[str, str, str, str, str]]:
    for one in kind.__subclasses__():
        if one.__module__ == tree.__name__:
            status = next(number for known, number in _STATUS.items() if issubclass(one, known))
            more = next((MORE[above.__name__] for above in one.__mro__ if above.__name__ in MORE), "")
            title, kind_of_problem = _told(status)
            yield code(one.__name__), f"{status} {title}", code(kind_of_problem), prose(one.__doc__ or ""), more
            yield from _rows(one)


def _told(status: int) -> tuple[str, str]:
    problem = json.loads(bytes(Problem(status, "").body))
    return problem["title"], problem["type"]
