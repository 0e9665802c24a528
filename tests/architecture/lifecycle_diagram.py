"""The picture of the lifecycle in docs/explanation/lifecycle.md, drawn from the edges themselves.

`python tests/architecture/lifecycle_diagram.py` draws it anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from hourhand.model.words import Status
from hourhand.rules.lifecycle import EDGES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "lifecycle.md"
PICTURE = re.compile(r"```mermaid\n.*?```\n", re.DOTALL)

REASONS = {
    ("planned", "pending"): "nothing blocks it any more",
    ("planned", "failed"): "upstream failed",
    ("planned", "cancelled"): "cancelled",
    ("pending", "running"): "claimed",
    ("pending", "cancelled"): "cancelled",
    ("running", "success"): "succeeded",
    ("running", "failed"): "failed for good",
    ("running", "cancelled"): "cancelled",
    ("running", "pending"): "once more",
    ("running", "planned"): "once more, with a key",
    ("failed", "pending"): "retried by hand",
    ("failed", "planned"): "retried by hand, with a key",
    ("cancelled", "pending"): "retried by hand",
    ("cancelled", "planned"): "retried by hand, with a key",
}


def picture() -> str:
    """Return the diagram in Mermaid's words; an edge without a reason is drawn as one that needs it."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> planned", "    [*] --> pending"]
    for state in Status:
        lines += [
            f"    {state.value} --> {to.value}: {REASONS.get((state.value, to.value), '?')}"
            for to in Status
            if to in EDGES[state]
        ]
    lines += [f"    {state.value} --> [*]" for state in Status if state.ended]
    return "\n".join([*lines, "```", ""])


if __name__ == "__main__":
    PAGE.write_text(PICTURE.sub(lambda _: picture(), PAGE.read_text("utf-8")), "utf-8")
