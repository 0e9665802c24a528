"""`hourhand task impact`: what a failure of a task would block."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.printing import AsJson, Column, note, plural, print_json, print_table

COLUMNS = (
    Column("TASK"),
    Column("GROUP", 3),
    Column("DEPTH", 4, right=True),
    Column("THEN IT", 8),
    Column("NEXT", 6),
)
_THEN = {"wait": "waits", "fail": "fails"}


def impact(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The task that fails.", show_default=False, autocompletion=completing.tasks
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Show which tasks a failure of this one would block, directly or by what it blocks, the nearest first."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(f"/tasks/{rest.task(name)['id']}/impact")
    if as_json:
        print_json(found)
        return
    if found["items"]:
        print_table(
            COLUMNS,
            [
                (
                    one["name"],
                    one["group"],
                    str(one["depth"]),
                    _THEN.get(one["policy"], one["policy"]),
                    moments.shown(one["next_fire_at"]),
                )
                for one in found["items"]
            ],
        )
    elif not found["hidden"]:
        note(f"A failure of task {name!r} blocks no other.")
    if found["hidden"]:
        note(f"{plural(found['hidden'], 'task')} of groups out of your reach would be blocked too.")
    if found["truncated"]:
        note("There are more: these are the nearest.")
