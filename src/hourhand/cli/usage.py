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


def wrong_usage(error: typer.TyperException) -> str:
    """The line; empty where the help has been shown instead."""
    said = _said(error)
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"{said} (see `{context.command_path} --help`)" if said and context is not None else said


def _said(error: typer.TyperException) -> str:
    if not isinstance(error, typer.BadParameter) or error.param is None:
        return _begun_small(error.format_message())
    name = error.param.get_error_hint().replace("'", "")
    return f"{name}: {_plainer(error.message) or 'is missing'}"


def _plainer(message: str) -> str:
    for theirs, ours in _PLAINER.items():
        if (found := re.fullmatch(theirs, message, re.DOTALL)) is not None:
            return found.expand(ours).removesuffix(".")
    return _begun_small(message)


def _begun_small(message: str) -> str:
    return f"{message[:1].lower()}{message[1:]}".removesuffix(".")
