"""The code blocks of a page, as a reader would take them from it."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence) *$", re.MULTILINE | re.DOTALL
)
_TITLE = re.compile(r"""title=["']([^"']+)["']""")
_FIRST = re.compile(r"<!-- *first: *(.+?) *-->", re.DOTALL)
_NOT_RUN = re.compile(r"<!-- *not run: *(.+?) *-->\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """One block."""

    page: str
    line: int
    language: str
    title: str | None
    """The file that it is to be saved as."""
    text: str
    not_run: str | None
    """Why nobody runs it."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Everything that readers follow. Decisions are dated: what they show is not kept working."""
    found = [*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/README.md")]
    names = [str(path.relative_to(ROOT)) for path in found]
    return sorted(name for name in names if not name.startswith("docs/adr/"))


def blocks_of(page: str) -> list[Block]:
    """In their order."""
    return parse(page, (ROOT / page).read_text("utf-8"))


def parse(page: str, text: str) -> list[Block]:
    """The blocks in a page's text."""
    found = [
        Block(page=page, line=_line(text, first), language="sh", title=None, text=first[1], not_run=None)
        for first in _FIRST.finditer(text)
    ]
    for match in _FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = _TITLE.search(rest)
        not_run = _NOT_RUN.search(text[: match.start()])
        found.append(
            Block(
                page=page,
                line=_line(text, match),
                language=language,
                title=title[1] if title else None,
                text=textwrap.dedent(match["text"]),
                not_run=not_run[1] if not_run else None,
            )
        )
    return sorted(found, key=lambda block: block.line)


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1
