"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hourhand.cli import completing

Store = Annotated[
    str | None,
    typer.Option(help="sqlite:///file.db or postgresql://user:password@host/database.", show_default=False),
]
DataDir = Annotated[
    Path | None, typer.Option(help="Where the store and the token are kept. [dim]./hourhand-data[/dim]")
]
Host = Annotated[str | None, typer.Option(help="The address to listen on. [dim]127.0.0.1[/dim]")]
Port = Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one. [dim]8420[/dim]")]
AllowRemote = Annotated[
    bool, typer.Option("--allow-remote", help="Let --host be an address that other machines can reach.")
]
MetricsPort = Annotated[
    int | None,
    typer.Option(help="A further port for /metrics, /healthz and /readyz, without a token. [dim]none[/dim]"),
]
Migrate = Annotated[
    bool, typer.Option("--migrate", help="Upgrade an older schema on PostgreSQL too. (SQLite's always is.)")
]
AppName = Annotated[
    str | None,
    typer.Argument(
        metavar="[MODULE:APP]", help="An app whose handlers to serve, such as billing:app.", show_default=False
    ),
]
Group = Annotated[
    str | None,
    typer.Option(help="The group to serve. [dim]the app's, or default[/dim]", autocompletion=completing.groups),
]
Concurrency = Annotated[int | None, typer.Option(help="How many instances at once. [dim]32[/dim]")]
Demo = Annotated[
    bool, typer.Option("--demo", help="Load sample tasks to look at; `hourhand demo remove` takes them away.")
]
Reload = Annotated[
    bool, typer.Option("--reload", help="Start again whenever a .py file in this folder changes; for development.")
]
