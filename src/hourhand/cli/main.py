"""The command `hourhand`: its groups of commands, and how it says that something is wrong."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from hourhand import __version__
from hourhand.cli import alert, audit, db, group, instance, pause, schedule, sessions, stats, task, token, user
from hourhand.cli.executors import executors
from hourhand.cli.kinds import kinds
from hourhand.cli.roles import api, executor, scheduler, serve
from hourhand.cli.usage import wrong_usage
from hourhand.model.errors import HourhandError, InvalidInput

app = typer.Typer(
    name="hourhand",
    help="Decides when work is due, and gets it done on the right machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for role in (serve, scheduler, executor, api):
    app.command()(role)
for noun in (task, instance, group, pause, schedule, stats, alert, audit, user, token, sessions, db):
    app.add_typer(noun.app)
app.command()(executors)
app.command()(kinds)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # Typer calls it so
    if wanted:
        typer.echo(f"hourhand {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Decides when work is due, and gets it done on the right machine."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command and exit: 0 done, 1 the thing asked for failed, 2 wrong usage."""
    try:
        code = app(arguments, prog_name="hourhand", standalone_mode=False)
    except HourhandError as error:
        complain(error)
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
    except typer.TyperException as error:
        _complain([escape(line) for line in [wrong_usage(error)] if line])
        sys.exit(error.exit_code)
    except typer.Abort:
        typer.echo("Aborted.", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def complain(error: HourhandError) -> None:
    """Say on standard error what is wrong and what to do, one line for each thing."""
    if isinstance(error, InvalidInput):
        _complain([f"[bold]{escape(each.field)}[/bold]: {escape(each.message)}" for each in error.errors])
    else:
        _complain([escape(str(error))])


def _complain(lines: list[str]) -> None:
    console = Console(stderr=True, highlight=False)
    for line in lines:
        console.print(f"[bold red]Error:[/bold red] {line}", soft_wrap=True)
