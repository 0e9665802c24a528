"""docs/reference/commands.md: every command, read off the Typer application."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer import Context
from typer.main import get_command

from hourhand.cli.helping import BY_DEFAULT, bounds_of, choices_of, default_of, value_of
from hourhand.cli.main import app
from reference.markdown import code, page, prose, table

_MARKUP = re.compile(r"\[/?(?:bold|dim|italic|cyan|yellow)\]")
INTRODUCTION = (
    "Every command with its arguments and options, as `--help` shows them. What holds for all of them, and examples, "
    "are in [the command line](cli.md). Every command also takes `--help`."
)


def commands() -> str:
    """Write the page."""
    return page("Commands", INTRODUCTION, *_sections(get_command(app), "hourhand", 2))


def _sections(command: Any, name: str, level: int, above: Context | None = None) -> Iterator[str]:  # noqa: ANN401 - Typer's own classes have no public names
    context = Context(command, info_name=name.rpartition(" ")[2], parent=above)
    yield f"{'#' * level} {name}"
    yield from _one(command, context)
    within = {key: one for key, one in getattr(command, "commands", {}).items() if not one.hidden}
    for key in sorted(within, key=lambda key: hasattr(within[key], "commands")):  # those that stand alone first
        yield from _sections(within[key], f"{name} {key}", 2 if level == 2 and name == "hourhand" else 3, context)  # noqa: PLR2004


def _one(command: Any, context: Context) -> Iterator[str]:  # noqa: ANN401
    for paragraph in _plain(command.help or "").split("\n\n"):
        yield prose(paragraph)
    shown = [param for param in command.params if not param.hidden and param.name != "help"]
    if not hasattr(command, "commands") or command.invoke_without_command:
        yield f"Usage: {code(' '.join([context.command_path, *_usage(shown)]))}"
    arguments = [param for param in shown if param.param_type_name == "argument"]
    yield table(["argument", "what"], [(code(_bare(param)), _what(param)) for param in arguments])
    options = [param for param in shown if param.param_type_name == "option"]
    for panel in dict.fromkeys(param.rich_help_panel for param in options):
        yield f"{panel}:" if panel else ""
        yield table(
            ["option", "value", "default", "what"],
            [
                (_names(param), _value(param), _default(param, context), _what(param))
                for param in options
                if param.rich_help_panel == panel
            ],
        )


def _usage(params: list[Any]) -> Iterator[str]:
    for param in params:
        if param.param_type_name == "argument":
            yield (_bare(param) if param.required else f"[{_bare(param)}]") + ("…" if param.nargs != 1 else "")
        elif param.required:
            yield f"{param.opts[0]} {param.metavar or 'TEXT'!s}"
    if any(param.param_type_name == "option" and not param.required for param in params):
        yield "[OPTIONS]"


def _bare(param: Any) -> str:  # noqa: ANN401
    return str(param.display_name_raw).strip("[]").removesuffix("...").removesuffix("…")


def _names(param: Any) -> str:  # noqa: ANN401
    return ", ".join(code(name) for name in [*param.opts, *param.secondary_opts])


def _value(param: Any) -> str:  # noqa: ANN401
    if param.is_flag:
        return ""
    named = "|".join(choices_of(param)) or value_of(param)
    said = "repeatable" in (param.help or "")
    return code(named) + (", repeatable" if param.multiple and not said else "")


def _default(param: Any, context: Context) -> str:  # noqa: ANN401
    if param.required:
        return "required"
    default = default_of(param, context)
    return code(default) if default and not BY_DEFAULT.search(param.help or "") else default


def _what(param: Any) -> str:  # noqa: ANN401
    text = prose(_plain(BY_DEFAULT.sub("", param.help or "")))
    return f"{text} {bounds_of(param)}".strip()


def _plain(text: str) -> str:
    return _MARKUP.sub("", text).replace("\\[", "[")
