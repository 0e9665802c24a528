"""How the CLI ends when it has a fault itself, or nobody reads what it prints: in one line, never with a traceback."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
import traceback

from hourhand import __version__
from hourhand.model.errors import HourhandError, InvalidInput

DEBUG = "HOURHAND_DEBUG"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""No fault of ours, and not the time to write a file about it."""


def printable() -> None:
    """Let nothing be unprintable: what the terminal's encoding does not have is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def refuse_unreadable(arguments: list[str]) -> None:
    """Refuse what is not text in the encoding of this machine: no server would understand it."""
    for number, one in enumerate(arguments, 1):
        if any("\ud800" <= sign <= "\udfff" for sign in one):
            raise InvalidInput.one(f"argument {number}", one, f"{one!r} is not text: write it in UTF-8")


def cause(error: BaseException) -> BaseException:
    """What really happened, where several things that ran at once were ended by it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def fault(error: BaseException) -> HourhandError:
    """An unexpected error in one line, which says where its details are."""
    known = cause(error)
    if isinstance(known, OSError) and known.errno in _FULL:
        return HourhandError(f"it cannot be written: {known.strerror}")
    happened = "".join(traceback.format_exception_only(known)).strip().splitlines()[-1]
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        traceback.print_exception(error)
        return HourhandError(f"this is a fault of Hourhand: {happened}")
    try:
        where = f"the details are in {_kept(error)}"
    except OSError:
        where = "its details cannot be kept"
    return HourhandError(f"this is a fault of Hourhand: {happened}; {where} ({DEBUG}=1 shows them here)")


def _kept(error: BaseException) -> str:
    number, name = tempfile.mkstemp(prefix="hourhand-fault-", suffix=".txt")
    with os.fdopen(number, "w", encoding="utf-8", errors="replace") as kept:
        kept.write(f"hourhand {__version__}, Python {sys.version}\n")
        traceback.print_exception(error, file=kept)
    return name


def flushed(code: int) -> int:
    """The exit code, once everything printed is written; whoever reads no further, as `| head -1`, wants no words."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        _let_go()
        return code or 1
    except OSError as error:
        _let_go()
        if not code:  # else what is wrong has been said
            sys.stderr.write(f"Error: it cannot be written: {error.strerror}\n")
        return code or 1
    return code


def _let_go() -> None:
    """Else the interpreter would try once more at its end, and complain."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
