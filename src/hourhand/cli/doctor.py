"""`hourhand doctor`: explains in words what is wrong with the set-up; it changes nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from hourhand.cli import options
from hourhand.cli.printing import AsJson, clean, console, plural, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from hourhand.model.diagnosis import Finding

MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "problem": ("✗", "bold red")}
NARROWEST = 20


def doctor(
    *,
    store: options.Store = None,
    data_dir: options.DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Explain what is wrong with the set-up, and what to do about it; exit 1 if there is a problem."""
    from hourhand.cli.doctor_reading import seen
    from hourhand.rules.doctor import examine

    found = examine(seen({"store": store, "data_dir": data_dir}))
    if as_json:
        print_json({"findings": [asdict(one) for one in found]})
    else:
        _print(found)
    if any(one.level == "problem" for one in found):
        raise typer.Exit(1)


def _print(findings: list[Finding]) -> None:
    from hourhand.rules.doctor import AREAS

    out = console()
    for area, some in groupby(findings, key=lambda one: one.check.partition(".")[0]):
        out.print(Text(AREAS[area], style="bold"))
        for one in some:
            _tell(out, one)
    counted = Counter(one.level.value for one in findings)
    out.print()
    out.print(Text(_verdict(counted), style="bold"))


def _tell(out: Console, finding: Finding) -> None:
    mark, style = MARKS[finding.level.value]
    _lines(out, Text(f"  {mark} ", style=style), Text(clean(finding.summary)))
    if finding.detail and finding.level != "ok":
        _lines(out, Text("    "), Text(clean(finding.detail), style="dim"))
    if finding.remedy:
        # Left to the terminal to wrap: what is copied must not have line breaks in it.
        out.print(Text.assemble(("    → ", style), clean(finding.remedy)), soft_wrap=True)


def _lines(out: Console, begin: Text, text: Text) -> None:
    """Wrapped behind its mark where the terminal is narrow."""
    for line in text.wrap(out, max(out.width - len(begin), NARROWEST)):
        line.rstrip()
        out.print(begin + line, soft_wrap=True)
        begin = Text(" " * len(begin))


def _verdict(counted: Counter[str]) -> str:
    if not counted["problem"] and not counted["warning"]:
        return "Nothing is wrong."
    parts = [plural(counted[level], level) for level in ("problem", "warning") if counted[level]]
    return f"{' and '.join(parts)}; {counted['ok']} checks found nothing wrong."
