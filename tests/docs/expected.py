"""Whether a command printed what a page shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

FAILS = re.compile(r" +# fails$")
_DIGITS = re.compile(r"[0-9]+")
_ANYTHING = re.compile(r"( ?… ?)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a page, and what it is said to print; None: nothing is said."""

    command: str
    output: str | None = None
    fails: bool = False


def shown_in(console: str) -> list[Shown]:
    """The commands of a ```console block: each line after `$ `, continued by `> `, with what follows it."""
    found: list[tuple[list[str], list[str]]] = []
    for line in console.splitlines():
        if line.startswith("$ "):
            found.append(([line[2:]], []))
        elif not found:
            raise ValueError(f"a console block begins with `$ command`, not with {line!r}")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1][0].append(line[2:])
        else:
            found[-1][1].append(line)
    return [
        Shown(FAILS.sub("", "\n".join(command)), "\n".join(output) or None, fails=bool(FAILS.search(command[-1])))
        for command, output in found
    ]


def agrees(shown: str, printed: str) -> bool:
    """Line by line, but blanks are one blank, numbers any numbers, `…` anything, a line of `…` any lines."""
    return re.fullmatch(_pattern(shown), "".join(f"{line}\n" for line in _lines(printed))) is not None


def _lines(text: str) -> list[str]:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line]


def _pattern(shown: str) -> str:
    parts = []
    for line in _lines(shown):
        if line == "…":
            parts.append(r"(?:[^\n]*\n)*")
        else:
            kept, rest = (line[:-2], r"(?: [^\n]*)?") if line.endswith(" …") else (line, "")
            parts.append("".join(_forgiving_or_any(piece) for piece in _ANYTHING.split(kept)) + rest + r"\n")
    return "".join(parts)


def _forgiving_or_any(piece: str) -> str:
    """Between blanks, `…` may also be nothing at all: a column that a narrower terminal leaves out."""
    match piece:
        case " … ":
            return r" (?:[^\n]* )?"
        case "…" | " …" | "… ":
            return piece.replace("…", r"[^\n]*")
        case _:
            return _forgiving(piece)


def _forgiving(piece: str) -> str:
    exact = "[0-9]+".join(re.escape(part) for part in _DIGITS.split(piece))
    return exact.replace("pending", "(?:pending|running|success)")  # work does not wait for its reader
