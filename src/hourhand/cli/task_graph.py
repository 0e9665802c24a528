"""`hourhand task graph`: which task depends on which, as a tree from those that depend on nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table

INDENT = 2
COLUMNS = (
    Column("TASK", indented=True),
    Column("GROUP", 3),
    Column("SCHEDULE", 6),
    Column("STATE", 8),
    Column("LAST", 7),
    Column("AT", 2),
)


def graph(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Only what leads to this task and from it.",
            show_default=False,
            autocompletion=completing.tasks,
        ),
    ] = None,
    *,
    group: Annotated[
        str | None, typer.Option(help="Only within this group.", show_default=False, autocompletion=completing.groups)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which task depends on which: each below what it depends on."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/tasks/graph", task_id=rest.task(name)["id"] if name else None, group=group)
    if as_json:
        print_json(found)
        return
    if not found["edges"]:
        note(
            f"Task {name!r} depends on none, and none on it."
            if name
            else "No task depends on another: `hourhand task add NAME --depends-on NAME`."
        )
        return
    print_table(COLUMNS, list(_rows(found)))
    if found["truncated"]:
        note("There are more than 5,000 dependencies: name a task, or a --group.")


def _rows(found: Json) -> Iterator[tuple[str, ...]]:
    """One row a task, and one more for each further task that it depends on."""
    nodes = {node["id"]: node for node in sorted(found["nodes"], key=lambda node: str(node["name"]))}
    dependents: dict[int, list[int]] = defaultdict(list)
    for edge in found["edges"]:
        dependents[edge["depends_on_id"]].append(edge["task_id"])
    below = {one for several in dependents.values() for one in several}
    shown: set[int] = set()
    # Every task that depends on nothing; in a part of the graph also what nothing shown leads to.
    waiting = [(one, 0) for one in reversed(nodes) if one not in below]
    while waiting:
        task_id, depth = waiting.pop()
        below_it = [one for one in dependents.get(task_id, ()) if one in nodes]
        again = task_id in shown and bool(below_it)
        yield _row(nodes[task_id], depth, again=again)
        if not again:
            waiting += [(one, depth + 1) for one in sorted(below_it, key=lambda one: nodes[one]["name"], reverse=True)]
        shown.add(task_id)


def _row(node: Json, depth: int, *, again: bool) -> tuple[str, ...]:
    return (
        f"{' ' * (INDENT * depth)}{node['name']}{' (see above)' if again else ''}",
        node["group"],
        node["schedule"],
        "running" if node["running"] else "" if node["enabled"] else "disabled",
        node["last_outcome"] or "",
        moments.shown(node["last_time"]),
    )
