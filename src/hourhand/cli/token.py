"""`hourhand token`: what programs show at every request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from hourhand.cli import completing, moments
from hourhand.cli.accounts import Groups, read_groups, shown_groups
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_json, print_table
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput
from hourhand.model.words import Role

app = typer.Typer(name="token", help="Look after API tokens.", no_args_is_help=True)
_RECOVERY = "When the admin token is lost"


@app.command()
def create(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="What it is for, such as deploys.", show_default=False)
    ] = None,
    *,
    role: Annotated[
        Role | None,
        typer.Option(help="viewer looks; operator also runs; editor also writes tasks; admin all.", show_default=False),
    ] = None,
    groups: Groups = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it expires, or in 12h, 90d. [dim]never[/dim]", show_default=False),
    ] = None,
    as_json: AsJson = False,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="Ask no server: write a new admin token straight into the store and its file. Stop a server on "
            "SQLite first. Access to the store is the proof.",
            rich_help_panel=_RECOVERY,
        ),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            help="sqlite:///file.db or postgresql://user:password@host/database.",
            show_default=False,
            rich_help_panel=_RECOVERY,
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Where the token is written to. [dim]./hourhand-data[/dim]",
            show_default=False,
            rich_help_panel=_RECOVERY,
        ),
    ] = None,
) -> None:
    """Make a token and print it, this once; everything else is said on standard error."""
    if local:
        for option, value in (("NAME", name), ("--role", role), ("--groups", groups), ("--expires", expires)):
            if value is not None:
                raise InvalidInput.one(
                    option, value, "is given together with --local, which only ever makes an unlimited admin token"
                )
        _create_in_store(store, data_dir, as_json=as_json)
        return
    for option, path in (("--store", store), ("--data-dir", data_dir)):
        if path is not None:
            raise InvalidInput.one(option, None, "is for --local: without it a server is asked (HOURHAND_URL)")
    if name is None or role is None:
        option, right = ("NAME", "say what it is for") if name is None else ("--role", f"one of {', '.join(Role)}")
        raise InvalidInput.one(
            option, None, f"is missing: {right}. (For a lost admin token: `hourhand token create --local`.)"
        )
    _create(name, role, groups, expires, as_json=as_json)


@app.command("list")
def list_tokens(
    *, limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 200, as_json: AsJson = False
) -> None:
    """List tokens, newest first; the tokens themselves are shown nowhere."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.some("/tokens", limit)
    if as_json:
        print_json(found)
        return
    print_table(
        (
            Column("ID", right=True),
            Column("NAME"),
            Column("ROLE"),
            Column("GROUPS", 6),
            Column("STATE", 8),
            Column("EXPIRES", 5),
            Column("MADE BY", 3),
            Column("AT", 2),
        ),
        [
            (
                str(one["id"]),
                one["name"],
                one["role"],
                shown_groups(one["groups"]),
                _state(one),
                moments.shown(one["expires_at"]),
                one["created_by"],
                moments.shown(one["created_at"]),
            )
            for one in found["items"]
        ],
    )
    if found["next_cursor"]:
        note(f"These are the newest {limit}: there are more (--limit).")


@app.command()
def revoke(
    token_id: Annotated[
        int,
        typer.Argument(
            metavar="ID", min=1, help="The token's id.", show_default=False, autocompletion=completing.tokens
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Make a token worthless at once, with all sessions that it was traded for."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        rest.delete(f"/tokens/{token_id}")
    if as_json:
        print_json({"id": token_id, "revoked": True})
    else:
        typer.echo(f"Token {token_id} is revoked.")


def _create(name: str, role: Role, groups: str | None, expires: str | None, *, as_json: bool) -> None:
    from hourhand.cli.rest import connected

    within = read_groups(groups)
    end = None if expires is None else moments.read_until(expires, "--expires")
    options = {"name": "NAME", "role": "--role", "groups": "--groups", "expires_at": "--expires"}
    with connected() as rest, in_words_of(options):
        made = rest.post("/tokens", name=name, role=role.value, groups=within, expires_at=end)
    if as_json:
        print_json(made)
        return
    typer.echo(made["token"])
    until = f"valid until {moments.shown(made['expires_at'])}" if made["expires_at"] else "valid until it is revoked"
    note(
        f"Token {made['id']} {name!r} ({made['role']}, groups: {shown_groups(made['groups'])}) is {until}. "
        "Keep it now, as HOURHAND_TOKEN: it is never shown again."
    )


def _create_in_store(store: str | None, data_dir: Path | None, *, as_json: bool) -> None:
    from hourhand.bootstrap import create_local_token
    from hourhand.settings import load_settings

    made = asyncio.run(create_local_token(load_settings(store=store, data_dir=data_dir)))
    if as_json:
        print_json({"file": str(made.file)})
    else:
        typer.echo(f"A new admin token is in {made.file}, readable by its owner only. Older ones stay valid.")


def _state(token: Json) -> str:
    if token["revoked_at"]:
        return "revoked"
    expires = token["expires_at"]
    return "expired" if expires and datetime.fromisoformat(expires) <= datetime.now(UTC) else "valid"
