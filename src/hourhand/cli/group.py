"""`hourhand group`: named pools of executors."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import moments
from hourhand.cli.printing import AsJson, Column, print_json, print_table

app = typer.Typer(name="group", help="Look after groups of executors.", no_args_is_help=True)


@app.command("list")
def list_groups(*, as_json: AsJson = False) -> None:
    """List groups, and how many executors each has."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get("/groups")
        executors = [] if as_json else [one["group"] for one in rest.get("/executors")["items"]]
    if as_json:
        print_json(found)
        return
    print_table(
        (Column("NAME"), Column("TITLE", 5), Column("EXECUTORS", 8, right=True), Column("ADDED", 3)),
        [
            (one["name"], one["title"] or "", str(executors.count(one["name"])), moments.shown(one["created_at"]))
            for one in found["items"]
        ],
    )


@app.command()
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The group's name.", show_default=False)],
    *,
    title: Annotated[str | None, typer.Option(help="What people call it.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Add a group; executors join it by `hourhand executor --group NAME`."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        group = rest.post("/groups", name=name, title=title)
    if as_json:
        print_json(group)
    else:
        typer.echo(f"Group {name!r} is added. Executors join it by `hourhand executor --group {name}`")
