"""Who manages a task, for whoever changes it by hand in the CLI."""

from __future__ import annotations

import shlex

from hourhand.cli.json_options import Json
from hourhand.cli.printing import note


def say_what_follows(task: Json) -> None:
    """Say on standard error what becomes of a change made by hand to a task that a file or an app manages."""
    owner = task["managed_by"] or ""
    if owner.startswith("file:"):
        note(
            f"{task['name']!r} is managed by {owner}: the next `hourhand apply` of that file puts it back. "
            f"Change the file as well (`hourhand export --managed-by {shlex.quote(owner)}` shows it)."
        )
    elif owner.startswith("app:"):
        note(f"{task['name']!r} is declared by {owner}: what is changed by hand, that app leaves so from now on.")
