"""`hourhand group`: named pools of executors."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.printing import AsJson, Column, note, print_facts, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput
from hourhand.model.words import AddressType

app = typer.Typer(name="group", help="Look after groups of executors.", no_args_is_help=True)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The group's name.", show_default=False, autocompletion=completing.groups)
]
Title = Annotated[str | None, typer.Option(help="What people call it.", show_default=False)]
Registration = Annotated[
    AddressType | None,
    typer.Option(
        help="Whether its executors register themselves (auto) or are listed by --address.", show_default=False
    ),
]
Address = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Of an executor of the XXL protocol; repeatable.", show_default=False),
]
_OPTIONS = {"name": "NAME", "title": "--title", "address_type": "--address-type", "address_list": "--address"}


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
    name: Name,
    *,
    title: Title = None,
    address_type: Registration = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Add a group; executors join it by `hourhand executor --group NAME`."""
    from hourhand.cli.rest import connected

    kind = address_type and address_type.value
    with connected() as rest, in_words_of(_OPTIONS):
        group = rest.post("/groups", name=name, title=title, address_type=kind, address_list=address)
    if as_json:
        print_json(group)
    else:
        typer.echo(f"Group {name!r} is added. Executors join it by `hourhand executor --group {shlex.quote(name)}`")


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that is known of a group, and its executors."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        group = rest.group(name)
        executors = [] if as_json else [one["id"] for one in rest.get("/executors")["items"] if one["group"] == name]
    if as_json:
        print_json(group)
        return
    times = {field: moments.shown(group[field]) for field in ("created_at", "updated_at")}
    print_facts({"name": name, "id": str(group["id"]), **group, **times, "executors": "\n".join(executors) or "none"})


@app.command()
def edit(
    name: Name,
    *,
    title: Title = None,
    address_type: Registration = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Change what is given of a group; its name stays. --address replaces all addresses."""
    from hourhand.cli.rest import connected

    given = {"title": title, "address_type": address_type and address_type.value, "address_list": address}
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --title")
    with connected() as rest, in_words_of(_OPTIONS):
        group = rest.patch(f"/groups/{rest.group(name)['id']}", changes)
    if as_json:
        print_json(group)
    else:
        typer.echo(f"Group {name!r} is changed ({', '.join(changes)}).")


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Delete a group; refused while it has tasks, executors, or instances that have not ended."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        group = rest.group(name)
        rest.delete(f"/groups/{group['id']}")
    if as_json:
        print_json({"id": group["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Group {name!r} is deleted.")


@app.command("access-token")
def access_token(name: Name, *, as_json: AsJson = False) -> None:
    """Make a group's XXL access token anew and print it, this once; the one before is no longer valid."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        made = rest.post(f"/groups/{rest.group(name)['id']}/access-token")
    if as_json:
        print_json(made)
        return
    typer.echo(made["access_token"])
    note(f"Executors of the group {name!r} send it as XXL-JOB-ACCESS-TOKEN. It is never shown again.")
