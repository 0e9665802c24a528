"""The webui: where the built web UI lies in the package, or why it does not; `hatch_build.py` puts it there."""

from __future__ import annotations

import json
from pathlib import Path

DIST = Path(__file__).parent / "dist"
INDEX = "index.html"
NOTE = "build.json"


def is_built(dist: Path = DIST) -> bool:
    """Tell whether there is a web UI to serve."""
    return (dist / INDEX).is_file()


def why_not(dist: Path = DIST) -> str | None:
    """Return why it was not built, if the build has left word."""
    try:
        note = json.loads((dist / NOTE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    reason = note.get("reason") if isinstance(note, dict) else None
    return reason if isinstance(reason, str) else None
