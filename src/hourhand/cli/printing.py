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
    """One column of a table; the least important ones are left out where there is no room."""

    title: str
    weight: int = 9
    right: bool = False
    indented: bool = False
    """Whether the spaces before a cell's text mean something."""
    enough: int = UNBOUNDED
    """Longer texts are cut short to this width, or to what room there is beyond it, rather than left out."""


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
    """In columns, without those for which there is no room."""
    out = console()
    cells = [
        [_indented(cell) if column.indented else _one_line(cell) for column, cell in zip(columns, row, strict=True)]
        for row in rows
    ]
    widths = [
        max([cell_len(column.title), *[cell_len(row[index]) for row in cells]]) + GAP
        for index, column in enumerate(columns)
    ]
    kept = _fitting(columns, cells, widths, out.width)
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, GAP, 0, 0))
    for index in kept:
        justify = "right" if columns[index].right else "left"
        room = out.width - sum(widths[other] for other in kept if other != index)
        most = max(1, room) if columns[index].enough < widths[index] else None
        table.add_column(
            columns[index].title,
            justify=justify,  # type: ignore[arg-type]
            no_wrap=True,
            overflow="ellipsis",
            max_width=most,
        )
    for row in cells:
        table.add_row(*[Text(row[index], style=COLOURS.get(row[index], "")) for index in kept])
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


def _fitting(columns: Sequence[Column], cells: Sequence[Sequence[str]], widths: Sequence[int], width: int) -> list[int]:
    needed = [min(wide, column.enough + GAP) for column, wide in zip(columns, widths, strict=True)]
    kept = list(range(len(columns)))
    empty = [index for index in kept if cells and not any(row[index] for row in cells)]
    kept = [index for index in kept if index not in empty]
    while len(kept) > 1 and sum(needed[index] for index in kept) - GAP > width:
        least = min(kept, key=lambda index: (columns[index].weight, -index))
        if columns[least].weight >= Column("").weight:
            break  # what is left is wanted, if need be cut short
        kept.remove(least)
    return kept


def plural(count: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(part: float | None) -> str:
    """A part of 1 in percent; nothing of nothing is empty."""
    return "" if part is None else f"{part:.1%}"


def text_of(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """A value in a cell."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
