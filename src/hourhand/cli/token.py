"""`hourhand token`: who may use the API."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from hourhand.model.errors import InvalidInput

app = typer.Typer(name="token", help="Look after API tokens.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look after API tokens."""


@app.command()
def create(
    *,
    local: Annotated[
        bool, typer.Option("--local", help="Go straight to the store: the way back when the admin token is lost.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(help="sqlite:///file.db or postgresql://user:password@host/database.", show_default=False),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where the token is written to. [dim]./hourhand-data[/dim]")
    ] = None,
) -> None:
    """Make a further admin token, with access to the store itself as the only proof."""
    if not local:
        raise InvalidInput.one("--local", local, "is needed: so far tokens are made only in the store itself")
    from hourhand.bootstrap import create_local_token
    from hourhand.settings import load_settings

    made = asyncio.run(create_local_token(load_settings(store=store, data_dir=data_dir)))
    typer.echo(f"A new admin token is in {made.file}, readable by its owner only. Older ones stay valid.")
