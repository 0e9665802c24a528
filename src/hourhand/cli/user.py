"""`hourhand user`: people with a password, and what they may do."""

from __future__ import annotations

from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.accounts import Groups, PasswordStdin, TheRole, read_groups, read_password, shown_groups
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput
from hourhand.model.words import Role

app = typer.Typer(name="user", help="Look after users: people who sign in with a password.", no_args_is_help=True)
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The user's name.", show_default=False, autocompletion=completing.users)
]
_OPTIONS = {"name": "NAME", "role": "--role", "groups": "--groups"}


@app.command()
def add(
    name: Name, *, role: TheRole, groups: Groups = None, password_stdin: PasswordStdin = False, as_json: AsJson = False
) -> None:
    """Add a user; the password is asked for twice, and shown nowhere."""
    from hourhand.cli.rest import connected

    within = read_groups(groups)
    password = read_password(from_stdin=password_stdin)
    with connected() as rest, in_words_of(_OPTIONS):
        user = rest.post("/users", name=name, password=password, role=role.value, groups=within)
    if as_json:
        print_json(user)
    else:
        typer.echo(f"User {name!r} is added ({role.value}, groups: {shown_groups(user['groups'])}).")


@app.command("list")
def list_users(
    *, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 200, as_json: AsJson = False
) -> None:
    """List users, by name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/users", limit)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no users, only tokens: `hourhand user add`.")
        return
    print_table(
        (Column("NAME"), Column("ROLE"), Column("GROUPS", 6), Column("STATE", 7), Column("ADDED", 3), Column("ID", 2)),
        [
            (
                one["name"],
                one["role"],
                shown_groups(one["groups"]),
                "disabled" if one["disabled_at"] else "enabled",
                moments.shown(one["created_at"]),
                str(one["id"]),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the first {limit}: there are more (--limit).")


@app.command()
def edit(
    name: Name,
    *,
    role: Annotated[Role | None, typer.Option(help="The new role.", show_default=False)] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Limit to these groups.", show_default=False, autocompletion=completing.groups
        ),
    ] = None,
    all_groups: Annotated[bool, typer.Option("--all-groups", help="Limit no longer.")] = False,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Whether the user may sign in.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change a user; all sessions of the user end."""
    from hourhand.cli.rest import connected

    if groups is not None and all_groups:
        raise InvalidInput.one("--all-groups", all_groups, "is given together with --groups: give one or the other")
    changes: dict[str, object] = {}
    if role is not None:
        changes["role"] = role.value
    if groups is not None or all_groups:
        changes["groups"] = read_groups(groups)
    if enabled is not None:
        changes["disabled"] = not enabled
    if not changes:
        raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --role")
    with connected() as rest, in_words_of(_OPTIONS):
        user = rest.patch(f"/users/{rest.user(name)['id']}", changes)
    if as_json:
        print_json(user)
        return
    state = ", disabled" if user["disabled_at"] else ""
    typer.echo(f"User {name!r} is changed ({user['role']}, groups: {shown_groups(user['groups'])}{state}).")


@app.command()
def password(name: Name, *, password_stdin: PasswordStdin = False, as_json: AsJson = False) -> None:
    """Give a user a new password; all sessions of the user end."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        user = rest.user(name)
        changed = rest.patch(f"/users/{user['id']}", {"password": read_password(from_stdin=password_stdin)})
    if as_json:
        print_json(changed)
    else:
        typer.echo(f"User {name!r} has a new password, and must sign in again.")


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Remove a user; all sessions of the user end. What the audit says of the user stays."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        user = rest.user(name)
        rest.delete(f"/users/{user['id']}")
    if as_json:
        print_json({"id": user["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"User {name!r} is removed.")
