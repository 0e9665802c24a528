"""How the CLI prints: JSON as the API answers it, and tables that fit the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNBOUNDED = 10_000
"""As wide as anybody needs: what is piped must not be cut or wrapped."""
GAP = 2
LONG = 60
"""Longer texts are not waited for."""
DETAIL = 2
"""The weight up to which a column is one."""
READABLE = 20
"""As much of a text as is of any use; a moment is not longer, and so is never cut."""
COLOURS = {
    "planned": "cyan",
    "pending": "cyan",
    "running": "blue",
    "success": "green",
    "failed": "red",
    "cancelled": "yellow",
    "disabled": "dim",
    "paused": "yellow",
    "maintenance": "yellow",
    "alive": "green",
    "refused": "red",
    "revoked": "dim",
    "expired": "dim",
}
_ESCAPES = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f\x80-\x9f]")
"""Everything that could do more to a terminal than colour its text."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as the API answers, and nothing else.")]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; where there is no room texts are cut, then the least important columns left out."""

    title: str
    weight: int = 9
    right: bool = False
    indented: bool = False
    """Whether the spaces before a cell's text mean something."""
    enough: int = READABLE
    """Longer texts are cut to this width, or to what room there is beyond it, rather than left out."""


def console() -> Console:
    """Standard output: as wide as the terminal, or as what is printed if it is piped."""
    wide = not sys.stdout.isatty() and not os.environ.get("COLUMNS")
    return Console(highlight=False, width=UNBOUNDED if wide else None)


def say(text: str) -> None:
    """What was asked for, in words that others may have written: reasons, errors, notes."""
    typer.echo(clean(text))


def note(text: str) -> None:
    """Something beside what was asked for, on standard error."""
    Console(stderr=True, highlight=False).print(Text(clean(text), style="dim"), soft_wrap=True)


def print_json(answer: object) -> None:
    """As the API answers; what the encoding of standard output does not have is written as JSON escapes it."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(answer, indent=2)
    typer.echo(text)


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """In columns as wide as the terminal allows, without those for which there is no room."""
    out = console()
    cells = [
        [_indented(cell) if column.indented else _one_line(cell) for column, cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    whole = [
        max([cell_len(column.title), *[cell_len(row[index]) for row in cells]]) for index, column in enumerate(columns)
    ]
    empty = {index for index in range(len(columns)) if cells and not any(row[index] for row in cells)}
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, GAP, 0, 0))
    widths = _widths(columns, whole, empty, out.width)
    for index, wide in widths.items():
        justify = "right" if columns[index].right else "left"
        table.add_column(
            columns[index].title,
            justify=justify,  # type: ignore[arg-type]
            no_wrap=True,
            overflow="ellipsis",
            width=wide,
        )
    for row in cells:
        table.add_row(*[Text(row[index], style=COLOURS.get(row[index], "")) for index in widths])
    out.print(table)


def print_facts(facts: Mapping[str, object]) -> None:
    """One noun: its names and values, one line each; what is empty is left out."""
    out = console()
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        if value is None or value in ("", [], {}):
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines = clean(text).rstrip("\n").split("\n")
        body = f"\n{' ' * (width + GAP)}".join(lines)
        out.print(Text.assemble((f"{name:<{width}}{' ' * GAP}", "dim"), (body, COLOURS.get(text, ""))), soft_wrap=True)


def clean(text: str) -> str:
    """Without what could take the terminal over; tasks write what they like into their logs."""
    return _ESCAPES.sub("�", text)


def _one_line(text: str) -> str:
    return clean(" ".join(text.split()))


def _indented(text: str) -> str:
    return f"{' ' * (len(text) - len(text.lstrip(' ')))}{_one_line(text)}"


def _widths(columns: Sequence[Column], whole: Sequence[int], empty: set[int], room: int) -> dict[int, int]:
    """How wide each column is that has a place, from left to right."""
    least = [min(wide, max(column.enough, cell_len(column.title))) for column, wide in zip(columns, whole, strict=True)]
    found: dict[int, int] = {}
    for index in sorted(set(range(len(columns))) - empty, key=lambda index: (-columns[index].weight, index)):
        wanted = columns[index].weight >= Column("").weight  # if need be cut shorter than is of use
        # A detail has a place only beside texts that can be read to their end.
        detail = columns[index].weight <= DETAIL
        beside = {one: min(whole[one], LONG) for one in found} if detail else found
        if wanted or not found or _taken(beside) + GAP + least[index] <= room:
            found[index] = least[index]
    while _taken(found) > room and max(found.values()) > 1:
        found[max(found, key=lambda index: found[index])] -= 1
    # What room is left goes to what is cut: the most important, of those the narrowest first.
    while _taken(found) < room and (cut := [index for index in found if found[index] < whole[index]]):
        found[min(cut, key=lambda index: (-columns[index].weight, found[index]))] += 1
    return dict(sorted(found.items()))


def _taken(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + GAP * max(0, len(widths) - 1)


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(part: float | None) -> str:
    """A part of 1 in percent; nothing of nothing is empty."""
    return "" if part is None else f"{part:.1%}"


def text_of(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """A value in a cell."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
