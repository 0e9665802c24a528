"""The CLI's `--command`: split into a program and its arguments by a shell's quoting rules, without a shell.

Whoever writes `a | b` means a shell: passed on as an argument it would be a surprise when the task runs, so it is
refused now. `${name}` is no shell's here: it is filled from the instance's arguments.
"""

from __future__ import annotations

import re
import shlex

from hourhand.model.errors import InvalidInput

_PLACE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SYNTAX = frozenset("|&;<>*?()\n")
_EXPANSION = frozenset("$`")
"""A shell expands these between double quotes too."""


def split_command(text: str) -> list[str]:
    """The program and its arguments."""
    found = _shell_syntax(text)
    if found is not None:
        raise InvalidInput.one(
            "--command",
            text,
            f"contains {found!r}, which only a shell understands: add --shell, or put it in single quotes",
        )
    try:
        words = shlex.split(text)
    except ValueError as error:
        wrong = str(error)[:1].lower() + str(error)[1:]
        raise InvalidInput.one("--command", text, f"cannot be split into words ({wrong}): check its quotes") from None
    if not words or not words[0]:
        raise InvalidInput.one("--command", text, "names no program: write one, such as 'echo hi'")
    if assigned := _ASSIGNMENT.match(words[0]):
        raise InvalidInput.one(
            "--command",
            text,
            f"begins with the assignment {assigned[0]!r}, which only a shell understands: use --env, or add --shell",
        )
    return words


def _shell_syntax(text: str) -> str | None:
    """The first sign that a shell would not take literally, or None."""
    quote = ""
    begins_word = True
    position = 0
    while position < len(text):
        sign = text[position]
        if sign == "\\" and quote == '"' and text[position + 1 : position + 2] in _EXPANSION:
            return text[position : position + 2]  # a shell drops the backslash, what splits here would keep it
        if sign == "\\" and quote != "'":
            position += 2
            begins_word = False
            continue
        if place := _PLACE.match(text, position):
            position = place.end()
            begins_word = False
            continue
        if sign == quote:
            quote = ""
        elif not quote and sign in "'\"":
            quote = sign
        elif _meant_for_a_shell(sign, quote, begins_word=begins_word):
            return sign
        begins_word = not quote and sign.isspace()
        position += 1
    return None


def _meant_for_a_shell(sign: str, quote: str, *, begins_word: bool) -> bool:
    if quote:
        return quote == '"' and sign in _EXPANSION
    return sign in _EXPANSION or sign in _SYNTAX or (sign == "~" and begins_word)
