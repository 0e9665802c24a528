"""What `hourhand user` and `hourhand token` have in common: roles, groups, passwords."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hourhand.cli import completing
from hourhand.model.errors import InvalidInput
from hourhand.model.words import Role

TheRole = Annotated[
    Role,
    typer.Option(
        "--role", help="viewer looks; operator also runs; editor also writes tasks; admin all.", show_default=False
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="A,B",
        help="Limited to these groups. [dim]all[/dim]",
        show_default=False,
        autocompletion=completing.groups,
    ),
]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input, for scripts.")
]


def read_groups(text: str | None) -> list[str] | None:
    """Names with commas between them."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise InvalidInput.one("--groups", text, "names no group: write their names with commas between, such as a,b")
    return names


def shown_groups(groups: list[str] | None) -> str:
    """The groups that somebody is limited to."""
    return "all" if groups is None else ", ".join(groups)


def read_password(*, from_stdin: bool) -> str:
    """A new password: asked for twice without showing it, or one line of standard input. Never an option."""
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
        if not password:
            raise InvalidInput.one("--password-stdin", None, "found no password: standard input is empty")
        return password
    if not sys.stdin.isatty():
        raise InvalidInput.one(
            "--password-stdin", None, "is missing: there is no terminal to ask for a password, so give it on stdin"
        )
    asked: str = typer.prompt("Password (12 characters or more)", hide_input=True, confirmation_prompt=True, err=True)
    return asked
