"""Rules: which words of an argument list a shell would read as a program of its own."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

SHELLS = frozenset({"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "fish", "csh", "tcsh", "yash"})
_LONG_WITH_TEXT = ("--command", "--init-command")
_LONG_WITH_VALUE = ("--rcfile", "--init-file", "--emulate")


class Word(Enum):
    """What a word of an argument list is to the shell it is given to."""

    ARGUMENT = auto()
    OPTION = auto()
    TEXT = auto()
    """A program that the shell runs."""


class ShellReading:
    """Reads an argument list word by word, as a shell that occurs in it would.

    A shell may stand behind others (`env`, `timeout 5`, `busybox`), so every word that is named like one counts, even
    where it is an ordinary argument: the mistake on that side is harmless.
    """

    def __init__(self) -> None:
        self.has_shell = False
        """Whether a shell has occurred; what such a command reads from stdin may be its program."""
        self.has_text = False
        """Whether a shell was given a program in its arguments."""
        self.in_options = False
        """Whether the next word may be an option of a shell."""
        self._text_follows = False
        self._values = 0
        """How many of the next words belong to options (`-o pipefail`)."""

    def kind(self, word: str) -> Word:
        """What this word would be, if it came next."""
        if not self.in_options:
            return Word.ARGUMENT
        if self._values or is_option(word):
            return Word.OPTION
        return Word.TEXT if self._text_follows else Word.ARGUMENT

    def take(self, word: str) -> None:
        """Go on by one word."""
        kind = self.kind(word)
        if kind is Word.OPTION and self._values:
            self._values -= 1
        elif kind is Word.OPTION:
            self._option(word)
        else:
            shell = kind is Word.ARGUMENT and word.rpartition("/")[2] in SHELLS
            self.has_shell |= shell
            self.in_options = shell
            self._text_follows = False

    def _option(self, word: str) -> None:
        name, equals, _ = word.partition("=")
        if not word.startswith("--"):
            # A cluster, such as -euo or -lc; in some shells the program may follow in the same word.
            text, self._values = "c" in word.lower(), word.lower().count("o")
        else:
            text, self._values = name in _LONG_WITH_TEXT, int(name in _LONG_WITH_VALUE and not equals)
        self.has_text |= text
        self._text_follows |= text and not equals


def is_option(word: str) -> bool:
    """Whether a shell would take the word for an option."""
    return word[:1] in ("-", "+")


def runs_text(command: Sequence[str]) -> bool:
    """Whether an argument list has a shell run a program that is written in the list itself."""
    reading = ShellReading()
    for word in command:
        reading.take(word)
    return reading.has_text
