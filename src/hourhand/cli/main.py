"""The command `hourhand`: its groups of commands, and how it says that something is wrong."""

from __future__ import annotations

import os
import sys
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from hourhand import __version__
from hourhand.cli import (
    alert,
    audit,
    calendar,
    datasource,
    db,
    demo,
    group,
    importing,
    instance,
    operation,
    pause,
    schedule,
    secrets,
    sessions,
    stats,
    task,
    token,
    user,
    window,
)
from hourhand.cli.applying import apply
from hourhand.cli.commands import Commands
from hourhand.cli.doctor import doctor
from hourhand.cli.executors import executors
from hourhand.cli.exporting import export
from hourhand.cli.faults import cause, fault, flushed, printable, refuse_unreadable
from hourhand.cli.kinds import kinds
from hourhand.cli.printing import clean, note
from hourhand.cli.roles import api, executor, scheduler, serve
from hourhand.cli.usage import wrong_usage
from hourhand.model.errors import HourhandError, InvalidInput

DONE, FAILED, WRONG_USAGE = 0, 1, 2
INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""
COMPLETION = "_HOURHAND_COMPLETE"
"""Set by the shell that asks what a word may be completed to."""

app = typer.Typer(
    name="hourhand",
    cls=Commands,
    help="Decides when work is due, and gets it done on the right machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for role in (serve, scheduler, executor, api):
    app.command()(role)
for noun in (
    task,
    instance,
    group,
    pause,
    window,
    calendar,
    schedule,
    stats,
    alert,
    datasource,
    operation,
    audit,
    user,
    token,
    sessions,
    importing,
    demo,
    secrets,
    db,
):
    app.add_typer(noun.app)
app.command()(apply)
app.command()(export)
app.command()(executors)
app.command()(kinds)
app.command()(doctor)


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
    printable()
    if COMPLETION in os.environ:
        from hourhand.cli.completing import answer

        answer(app)
    _warn_of_misspelt_variables()
    sys.exit(flushed(_run(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    try:
        refuse_unreadable(arguments)
        code = app(arguments, prog_name="hourhand", standalone_mode=False)
    except typer.TyperException as error:
        _complain([escape(line) for line in [wrong_usage(error)] if line])
        return error.exit_code
    except typer.Abort:
        typer.echo("Aborted.", err=True)
        return FAILED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else DONE if ended.code is None else FAILED
    except Exception as error:  # noqa: BLE001 - whatever it is, nobody wants a traceback
        known = cause(error)
        complain(known if isinstance(known, HourhandError) else fault(error))
        return WRONG_USAGE if isinstance(known, InvalidInput) else FAILED
    if code == INTERRUPTED:
        typer.echo("Interrupted.", err=True)
        return FAILED
    return code if isinstance(code, int) else DONE


def _warn_of_misspelt_variables() -> None:
    if any(name.startswith("HOURHAND_") for name in os.environ):
        from hourhand.settings import misspelt_variables

        for name, meant in misspelt_variables(os.environ).items():
            note(f"Warning: {name} is no setting and has no effect: did you mean {meant}?")


def complain(error: HourhandError) -> None:
    """Say on standard error what is wrong and what to do, one line for each thing."""
    if isinstance(error, InvalidInput):
        _complain([f"[bold]{escape(each.field)}[/bold]: {escape(each.message)}" for each in error.errors])
    else:
        _complain([escape(str(error))])


def _complain(lines: list[str]) -> None:
    console = Console(stderr=True, highlight=False)
    for line in lines:
        console.print(f"[bold red]Error:[/bold red] {clean(line)}", soft_wrap=True)
