"""docs/assets/lifecycle.svg: the states of an instance and the edges between them, for readers without Mermaid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from hourhand.model.words import Status
from hourhand.rules.lifecycle import EDGES

WIDTH, HEIGHT = 860, 372
PLACES = {
    Status.PLANNED: (100, 130),
    Status.PENDING: (320, 130),
    Status.RUNNING: (540, 130),
    Status.SUCCESS: (760, 130),
    Status.CANCELLED: (180, 300),
    Status.FAILED: (460, 300),
}
_PLANNED, _PENDING, _RUNNING = Status.PLANNED, Status.PENDING, Status.RUNNING
_SUCCESS, _FAILED, _CANCELLED = Status.SUCCESS, Status.FAILED, Status.CANCELLED


HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="lifecycle" role="img" '
    'aria-label="The states of an instance and the edges between them" font-size="14" '
    'font-family="sans-serif" fill="none" stroke="currentColor">'
)
TIP = (
    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0,0 L10,5 L0,10 z" fill="currentColor" stroke="none"/></marker></defs>'
)
FRAME = '<rect x="62" y="264" width="516" height="72" rx="14" stroke-dasharray="2 5"/>'


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the picture, and the edges that it stands for."""

    edges: tuple[tuple[Status, Status], ...]
    path: str
    label: str
    at: tuple[int, int]
    by_hand: bool = False


LINES = (
    Line(((_PLANNED, _PENDING),), "M155,130 H262", "nothing blocks it", (209, 122)),
    Line(((_PENDING, _RUNNING),), "M375,130 H482", "claimed", (429, 122)),
    Line(((_RUNNING, _SUCCESS),), "M595,130 H702", "succeeded", (649, 122)),
    Line(((_RUNNING, _PENDING),), "M525,108 C500,58 365,58 342,104", "once more", (432, 64)),
    Line(((_RUNNING, _PLANNED),), "M545,108 C530,4 120,4 102,104", "once more, with a concurrency key", (324, 26)),
    Line(((_PLANNED, _CANCELLED),), "M105,152 L150,274", "cancelled", (92, 222)),
    Line(((_PENDING, _CANCELLED),), "M295,152 L202,274", "", (0, 0)),
    Line(((_RUNNING, _CANCELLED),), "M505,152 L240,284", "", (0, 0)),
    Line(((_PLANNED, _FAILED),), "M140,152 L410,278", "upstream failed", (180, 211)),
    Line(((_RUNNING, _FAILED),), "M540,152 L484,274", "failed for good", (568, 215)),
    Line(((_CANCELLED, _PENDING), (_FAILED, _PENDING)), "M320,262 V158", "retried by hand", (378, 182), by_hand=True),
    Line(
        ((_CANCELLED, _PLANNED), (_FAILED, _PLANNED)),
        "M60,300 C20,300 10,160 38,136",
        "retried by hand, with a concurrency key",
        (176, 358),
        by_hand=True,
    ),
)


def lifecycle() -> str:
    """Draw it. A change of the edges has to be drawn by hand: there is no telling where a line would look well."""
    drawn = {edge for line in LINES for edge in line.edges}
    there = {(state, to) for state, following in EDGES.items() for to in following}
    if drawn != there:
        raise SystemExit(f"{__file__} draws {sorted(drawn - there)} too much and lacks {sorted(there - drawn)}")
    return "\n".join([HEAD, TIP, FRAME, *_lines(), *_states(), "</svg>\n"])


def _lines() -> Iterator[str]:
    for line in LINES:
        dashes = ' stroke-dasharray="6 4"' if line.by_hand else ""
        yield f'<path d="{line.path}" marker-end="url(#tip)"{dashes}/>'
    for line in LINES:
        if line.label:
            yield (
                f'<text x="{line.at[0]}" y="{line.at[1]}" text-anchor="middle" '
                f'fill="currentColor" stroke="none">{escape(line.label)}</text>'
            )


def _states() -> Iterator[str]:
    for state, (x, y) in PLACES.items():
        ended = ' stroke-width="2.5"' if state.ended else ""
        yield f'<rect x="{x - 55}" y="{y - 21}" width="110" height="42" rx="10" class="{state.value}"{ended}/>'
        yield (
            f'<text x="{x}" y="{y + 5}" text-anchor="middle" font-weight="bold" '
            f'fill="currentColor" stroke="none">{state.value}</text>'
        )
