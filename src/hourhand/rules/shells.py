"""Rules: which words of an argument list a shell, or an interpreter like it, would read as a program of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto

SHELLS = frozenset({"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "fish", "csh", "tcsh", "yash"})
INTERPRETERS: Mapping[str, tuple[str, str]] = {
    "R": ("e", ""),
    "Rscript": ("e", ""),
    "bun": ("ep", "r"),
    "elixir": ("e", "r"),
    "expect": ("c", ""),
    "groovy": ("e", ""),
    "julia": ("eE", "L"),
    "lua": ("e", "l"),
    "luajit": ("e", "l"),
    "node": ("ep", "r"),
    "nodejs": ("ep", "r"),
    "osascript": ("e", "l"),
    "perl": ("eE", ""),
    "php": ("rBRE", "dcz"),
    "powershell": ("cCe", ""),
    "pwsh": ("cCe", ""),
    "pypy": ("c", "WX"),
    "python": ("c", "WX"),
    "ruby": ("e", "rI"),
}
"""By name without version: the letters of options that a program follows, and of those that another value follows."""
_LONG_WITH_TEXT = ("--command", "--init-command", "--eval", "--print", "--run", "--process-code")
_LONG_WITH_VALUE = ("--rcfile", "--init-file", "--emulate")
_VERSION = re.compile(r"(?<=[A-Za-z])[0-9.]+\Z")


class Word(Enum):
    """What a word of an argument list is to the program it is given to."""

    ARGUMENT = auto()
    OPTION = auto()
    """An option of a shell or an interpreter, or the value of one."""
    TEXT = auto()
    """A program that a shell runs; `${name}` is a shell's own way to write a variable."""
    PROGRAM = auto()
    """A text that something else runs, or gives to a shell."""
    ALONE = auto()
    """An argument behind the text that an unknown program runs, and perhaps a part of it."""


class ShellReading:
    """Reads an argument list word by word, as a shell or an interpreter that occurs in it would.

    It may stand behind others (`env`, `timeout 5`, `busybox`), so every word that is named like one counts, even
    where it is an ordinary argument: the mistake on that side is harmless.
    """

    def __init__(self) -> None:
        self.has_shell = False
        """Whether a shell has occurred; what such a command reads from stdin may be its program."""
        self.has_text = False
        """Whether a shell was given a program in its arguments."""
        self.in_options = False
        """Whether the next word may be an option of a shell or an interpreter."""
        self._letters = ""
        """Of the interpreter whose options are read; a shell has none."""
        self._text_follows = False
        self._valued = ""
        self._values = 0
        """How many of the next words belong to options (`-o pipefail`)."""

    @property
    def text_follows(self) -> bool:
        """Whether an option has announced a program, which is still to come."""
        return self._text_follows

    @property
    def reads_stdin(self) -> bool:
        """Whether the program may be what is read from stdin."""
        return self.has_shell or self.in_options

    def kind(self, word: str) -> Word:
        """What this word would be, if it came next."""
        if not self.in_options:
            return Word.ARGUMENT
        # To a shell a single - ends its options; an interpreter reads its program from stdin then.
        if self._values or (is_option(word) and not (word == "-" and self._letters)):
            return Word.OPTION
        if not self._text_follows:
            return Word.ARGUMENT
        return Word.PROGRAM if self._letters else Word.TEXT

    def take(self, word: str) -> None:
        """Go on by one word."""
        kind = self.kind(word)
        if kind is Word.OPTION and self._values:
            self._values -= 1
        elif kind is Word.OPTION:
            self._option(word)
        elif not (word == "-" and self._letters):
            name = program_name(word) if kind is Word.ARGUMENT else ""
            self.has_shell |= name in SHELLS
            self._letters, self._valued = INTERPRETERS.get(name, ("", ""))
            self.in_options = name in SHELLS or name in INTERPRETERS
            self._text_follows = False

    def _option(self, word: str) -> None:
        name, equals, _ = word.partition("=")
        if word.startswith("--"):
            text, self._values = name in _LONG_WITH_TEXT, int(name in _LONG_WITH_VALUE and not equals)
        elif self._letters:
            text = any(letter in word for letter in self._letters)
            self._values = int(len(word) == len("-x") and word[1] in self._valued)
        else:
            # A cluster, such as -euo or -lc; in some shells the program may follow in the same word.
            text, self._values = "c" in word.lower(), word.lower().count("o")
        self.has_text |= text and not self._letters
        self._text_follows |= text and not equals


def is_option(word: str) -> bool:
    """Whether a shell would take the word for an option."""
    return word[:1] in ("-", "+")


def program_name(word: str) -> str:
    """The name by which a program is known: without its folder, an interpreter without its version."""
    name = word.rpartition("/")[2]
    bare = _VERSION.sub("", name)
    return bare if bare in INTERPRETERS else name
