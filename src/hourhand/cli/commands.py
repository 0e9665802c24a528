"""All commands of the CLI at once: how each shows its help, and what none of them accepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import typer
from typer.core import TyperGroup

PROCESSES = frozenset({"serve", "scheduler", "executor", "api"})
"""What is started by scripts and units, which put options before those of whoever calls them: the last one holds."""


class Commands(TyperGroup):
    """The command `hourhand`; what holds for it holds for every command and group of commands below it."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401 - whatever Typer gives its groups
        super().__init__(**more)
        for one in _all(self):
            # Typer makes them of classes of its own, of which there is no public way to choose for all at once.
            vars(one).update(format_help=partial(_help, one), parse_args=partial(_parse, one, one.parse_args))


def _all(command: Any) -> Iterator[Any]:  # noqa: ANN401 - Typer's classes of commands share no public one
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _all(below)


def _help(command: Any, context: typer.Context, _: object) -> None:  # noqa: ANN401
    from hourhand.cli.helping import print_help

    print_help(command, context)


def _parse(
    command: Any,  # noqa: ANN401
    parse: Callable[[typer.Context, list[str]], list[str]],
    context: typer.Context,
    given: list[str],
) -> list[str]:
    """Refuse a second value of what has one: of two that were typed, one would be dropped without a word."""
    if given and not context.resilient_parsing and command.name not in PROCESSES:
        _, _, order = command.make_parser(context).parse_args(args=list(given))
        for param, times in Counter(order).items():
            if times > 1 and _has_one_value(param):
                other = f", or together with {param.secondary_opts[0]}" if param.secondary_opts else ""
                raise typer.BadParameter(f"is given twice{other}: give it once", ctx=context, param=param)
    return parse(context, given)


def _has_one_value(param: Any) -> bool:  # noqa: ANN401
    harmless = param.param_type_name != "option" or (param.is_flag and not param.secondary_opts)
    return not (harmless or param.multiple or param.count)
