"""`hourhand task list`: which tasks there are, by what they are searched by."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments, resting
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.model.words import TaskType

COLUMNS = (
    Column("NAME"),
    Column("TYPE", 5),
    Column("SCHEDULE", 8),
    Column("TIMEZONE", 2),
    Column("GROUP", 3),
    Column("STATE", 7),
    Column("NEXT", 8),
    Column("MANAGED BY", 1),
)


def list_tasks(
    *,
    q: Annotated[
        str | None, typer.Option("--search", "--q", "-q", help="A part of the name.", show_default=False)
    ] = None,
    exclude: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A part that the name must not have.", show_default=False)
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Of this owner only.", show_default=False)] = None,
    tag: Annotated[str | None, typer.Option(help="With this tag only.", show_default=False)] = None,
    group: Annotated[
        str | None, typer.Option(help="Of this group only.", show_default=False, autocompletion=completing.groups)
    ] = None,
    kind: Annotated[TaskType | None, typer.Option("--type", help="Of this type only.", show_default=False)] = None,
    enabled: Annotated[bool | None, typer.Option("--enabled/--disabled", help="Those only.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 200,
    as_json: AsJson = False,
) -> None:
    """List tasks, by name."""
    from hourhand.cli.rest import connected

    wanted = {
        "q": q,
        "exclude": exclude,
        "owner": owner,
        "tag": tag,
        "group": group,
        "type": kind and kind.value,
        "enabled": None if enabled is None else str(enabled).lower(),
    }
    with connected() as rest:
        found = rest.some("/tasks", limit, **wanted)
        rests = resting.NOTHING if as_json else resting.found(rest)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        asked = any(value is not None for value in wanted.values())
        note("There are no such tasks." if asked else "There are no tasks: `hourhand task add`.")
        return
    print_table(
        COLUMNS,
        [
            (
                task["name"],
                task["type"],
                task["schedule"],
                task["timezone"],
                task["group"],
                rests.state(task),
                moments.shown(task["next_fire_at"]),
                task["managed_by"] or "",
            )
            for task in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the first {limit}: there are more (--limit).")
