"""What `--help` of the CLI shows: as Typer's own, but names are never cut, and the defaults are called defaults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer import Context

from hourhand.model.words import TaskType

COMMANDS, ARGUMENTS, OPTIONS = "Commands", "Arguments", "Options"
NAME, VALUE = "bold cyan", "yellow"
GAP, LEAST = 2, 30
Row = tuple[str, str, Text]
"""A name, what it takes, and what it is."""
BY_DEFAULT = re.compile(r"\s*\[dim\](.*?)\[/dim\]\s*$")
"""How the help of an option that is None unless it is given says what holds then."""
_NOT_YET = (TaskType.XXL,)
"""Accepted, since such tasks may be there, but offered to nobody until there is a runner for them."""
_WORDS = {
    "str": "TEXT",
    "int": "NUMBER",
    "float": "NUMBER",
    "path": "PATH",
    "file": "PATH",
    "directory": "FOLDER",
}
_NAMES = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


def print_help(command: Any, context: Context) -> None:  # noqa: ANN401 - Typer's classes of commands share no public one
    """The usage, what the command does, and a panel for each set of arguments, options and commands."""
    out = Console(highlight=False)
    out.print(Padding(Text(command.get_usage(context), style="bold"), 1))
    for paragraph in (command.help or "").split("\n\n"):
        out.print(Padding(Text.from_markup(" ".join(paragraph.split())), (0, 1, 1, 1)))
    for title, rows in _panels(command, context).items():
        table = _beside(rows) if _width(rows) + LEAST <= out.width else _below(rows)
        out.print(Panel(table, title=title, title_align="left", border_style="dim", box=box.ROUNDED))


def _width(rows: Sequence[Row]) -> int:
    return max(len(name) for name, _, _ in rows) + max(len(value) for _, value, _ in rows) + 2 * GAP


def _beside(rows: Sequence[Row]) -> Table:
    """What each is beside its name."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0), expand=True)
    table.add_column(no_wrap=True, style=NAME)
    valued = any(value for _, value, _ in rows)
    if valued:
        table.add_column(no_wrap=True, style=VALUE)
    table.add_column(ratio=1, overflow="fold")
    for name, value, what in rows:
        table.add_row(*(name, value) if valued else (name,), what)
    return table


def _below(rows: Sequence[Row]) -> Table:
    """What each is below its name, where there is no room beside it."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=0, expand=True)
    table.add_column(overflow="fold")
    for name, value, what in rows:
        table.add_row(Text.assemble((name, NAME), " ", (value, VALUE)))
        table.add_row(Padding(what, (0, 0, 0, 2 * GAP)))
    return table


def _panels(command: Any, context: Context) -> dict[str, list[Row]]:  # noqa: ANN401
    found: dict[str, list[Row]] = {ARGUMENTS: [], OPTIONS: []}
    for param in command.get_params(context):
        if not param.hidden:
            argument = param.param_type_name == "argument"
            panel = param.rich_help_panel or (ARGUMENTS if argument else OPTIONS)
            name = param.display_name_raw if argument else ", ".join(_names(param))
            value = "" if argument or param.is_flag else value_of(param)
            found.setdefault(panel, []).append((name, value, _what(param, context)))
    for name in command.list_commands(context) if hasattr(command, "commands") else ():
        one = command.get_command(context, name)
        if not one.hidden:
            what = (one.short_help or one.help or "").split("\n\n")[0]
            found.setdefault(one.rich_help_panel or COMMANDS, []).append((name, "", Text.from_markup(what)))
    return {title: rows for title, rows in found.items() if rows}


def _names(param: Any) -> Iterable[str]:  # noqa: ANN401
    """The short one first, as people look for it."""
    return sorted([*param.opts, *param.secondary_opts], key=lambda name: name.startswith("--"))


def choices_of(param: Any) -> list[str]:  # noqa: ANN401
    """The words that it may be; none where it may be anything."""
    choices = param.type_descriptor.choices if param.type_descriptor.is_choice else None
    return [str(one.value if isinstance(one, Enum) else one) for one in choices or () if one not in _NOT_YET]


def value_of(param: Any) -> str:  # noqa: ANN401
    """What an option takes, in one word."""
    if param.metavar:
        return str(param.metavar)
    if choices_of(param):
        return "WORD"
    shown: str = param.display_type_rich(None).strip("<>")
    named = shown.removeprefix("list[").removesuffix("]").removesuffix(" range")
    return _WORDS.get(named, named.upper())


def bounds_of(param: Any) -> str:  # noqa: ANN401
    """Within what a number must be, as a sentence; empty where it may be any."""
    least, most = param.min, param.max
    if least is not None and most is not None:
        return f"From {least} to {most}."
    return f"At least {least}." if least is not None else f"At most {most}." if most is not None else ""


def default_of(param: Any, context: Context) -> str:  # noqa: ANN401
    """What holds unless it is given; empty where that is nothing."""
    if context.command.name == "edit":
        return ""  # it leaves alone what it is not given
    if said := BY_DEFAULT.search(param.help or ""):
        return said[1]
    default = param.get_default(context, call=False)
    if param.required or default in (None, (), [], False) or not param.show_default:
        return ""
    return str(default.value if isinstance(default, Enum) else default)


def _what(param: Any, context: Context) -> Text:  # noqa: ANN401
    said = Text.from_markup(" ".join(BY_DEFAULT.sub("", param.help or "").split()))
    said.highlight_regex(_NAMES, "cyan")
    return Text(" ").join([said, *[Text(one, style="dim") for one in _more(param, context)]])


def _more(param: Any, context: Context) -> Iterator[str]:  # noqa: ANN401
    if choices := choices_of(param):
        yield f"One of {', '.join(choices)}."
    if bounds := bounds_of(param):
        yield bounds
    if default := default_of(param, context):
        yield f"[default: {default}]"
    if param.required:
        yield "[required]"
