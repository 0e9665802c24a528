"""Wrong usage of the CLI, in one line: which option or argument, what is wrong with it, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Mapping

import typer

_PLAINER: Mapping[str, str] = {
    r"Input should be a valid integer.*": "is not a whole number: write one, such as 5",
    r"Input should be a valid number.*": "is not a number: write one, such as 2.5",
    r"Input should be greater than or equal to (\S+)": r"is too small: give at least \1",
    r"Input should be less than or equal to (\S+)": r"is too large: give at most \1",
    r"Value error, (.*)": r"\1",
}
"""What the checks of types say, and how a person would."""
_NO_SUCH_COMMAND = re.compile(r"No such command '([a-z]+)'.*")
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "rm": ("delete", "remove", "revoke", "resume", "task delete"),
    "ls": ("list", "task list"),
    "ps": ("list", "instance list"),
}
"""What people are used to from other programs, and what it is called here: the first that there is."""


def wrong_usage(error: typer.TyperException) -> str:
    """The line; empty where the help has been shown instead."""
    said = _said(error)
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"{said} (see `{context.command_path} --help`)" if said and context is not None else said


def _said(error: typer.TyperException) -> str:
    if meant := _meant(error):
        return meant
    if not isinstance(error, typer.BadParameter) or error.param is None:
        return _begun_small(error.format_message())
    name = error.param.get_error_hint().replace("'", "")
    return f"{name}: {_plainer(error.message) or 'is missing'}"


def _meant(error: typer.TyperException) -> str:
    """The command for what was typed in the word of another program; empty where it was not."""
    typed = _NO_SUCH_COMMAND.fullmatch(error.format_message())
    context: typer.Context | None = getattr(error, "ctx", None)
    if typed is None or context is None:
        return ""
    name = next((name for name in _ELSEWHERE.get(typed[1], ()) if _is_there(context.command, name)), None)
    return f"no such command {typed[1]!r}. Did you mean `{context.command_path} {name}`?" if name else ""


def _is_there(command: object, path: str) -> bool:
    for name in path.split():
        command = getattr(command, "commands", {}).get(name)
    return command is not None


def _plainer(message: str) -> str:
    for theirs, ours in _PLAINER.items():
        if (found := re.fullmatch(theirs, message, re.DOTALL)) is not None:
            return found.expand(ours).removesuffix(".")
    return _begun_small(message)


def _begun_small(message: str) -> str:
    return f"{message[:1].lower()}{message[1:]}".removesuffix(".")
