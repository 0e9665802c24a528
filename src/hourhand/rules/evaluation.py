"""Rules: which words of an argument list an instance's arguments may be filled into, so that none becomes a program.

No list of programs is complete, so the rule is safe without one: whatever the program, the word behind an option that
looks like "run this text" (`-c`, `-e`, `--eval` …) is never filled, and what comes later only as a whole word. The tables
below make it stricter where a program takes such a text in other ways, and milder where `-c` is known to mean
something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hourhand.rules.shells import SHELLS, ShellReading, Word, is_option, program_name

_EVALUATES = re.compile(
    r"-[A-Za-z0-9]{0,2}[ceE]"  # -c, -lc, -qc, -ne; a longer one is rather a word, as in -name
    r"|--?(eval|exec|execute|command|commands|session-command|init-command|expression|expr|query|split-string)"
    r"|-(execdir|ok|okdir|Command|ex|eval-command|iex)"
    r"|--(eval-command|rsh|rsync-path|to-command|use-compress-program|checkpoint-action|init-eval-command)"
)
_JOINED = re.compile(r"-[ceE](?![A-Za-z][A-Za-z_-]*=).+", re.DOTALL)
"""`-cTEXT`; but not `-chdir=/x`, which is one long option."""
_HARMLESS = frozenset(
    """
    basename bzip2 cat cp curl cut date df diff dirname du echo egrep fgrep grep gzip gunzip head ls md5sum mkdir
    mysqldump mv pg_dump pg_dumpall pg_restore ping printf rm sha1sum sha256sum sha512sum sort stat tail tar tee touch tr
    uniq wc xz zcat zstd
    """.split()  # noqa: SIM905  # a list of names reads best as one
)
"""Programs whose -c, -e and -E run nothing."""
_SHELL_BEHIND_C = frozenset({"flock", "su", "runuser", "script", "sg"})
_READ_PROGRAMS = frozenset(
    """
    at batch bc duckdb ed ex ftp gdb lftp mariadb mongosh mysql parallel psql rsh sftp sqlcmd sqlite3 sqlplus ssh tclsh vi
    vim xargs
    """.split()  # noqa: SIM905
)
"""Programs that do what they read from stdin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operands:
    """Where a program has texts to run among its operands."""

    values: str = ""
    """The letters of options whose value is the next word."""
    instead: str = ""
    """The letters of options that take the place of the text, as awk's -f does."""
    first: int = 0
    last: float = math.inf
    shell: bool = False
    """Whether a shell of this machine runs it."""
    fills: bool = True
    """Whether values of options may be filled."""


_ALL = _Operands(shell=True, fills=False)
_AWK = _Operands(values="vF", instead="f", last=0)
_OPERANDS = {
    "awk": _AWK,
    "gawk": _AWK,
    "mawk": _AWK,
    "nawk": _AWK,
    "sed": _Operands(values="l", instead="ef", last=0, fills=False),
    "jq": _Operands(instead="f", last=0),
    "ssh": _Operands(values="BbcDEeFIiJLlmOopQRSWw", first=1, fills=False),
    "rsh": _Operands(values="l", first=1, fills=False),
    "sqlite3": _Operands(first=1, fills=False),
    "duckdb": _Operands(first=1, fills=False),
    "deno": _ALL,
    "eval": _ALL,
    "parallel": _ALL,
    "screen": _ALL,
    "sg": _Operands(shell=True, first=1, fills=False),
    "tmux": _ALL,
    "watch": _ALL,
}


class ArgumentReading:
    """Reads an argument list word by word, and says of each what it is to the programs in the list."""

    def __init__(self) -> None:
        self._shell = ShellReading()
        self._head: str | None = None
        self._names: set[str] = set()
        self._text_next = False
        self._evaluated = False
        """Whether an unknown program was given a text."""
        self._only_text = False
        """Whether everything that follows is text."""
        self._operands: _Operands | None = None
        self._seen = 0
        self._value_next = False
        self._assigning = False
        """Whether this is still before the program that `env` starts."""

    @property
    def has_shell(self) -> bool:
        """Whether a shell has occurred; what such a command reads from stdin may be its program."""
        return self._shell.has_shell

    @property
    def has_text(self) -> bool:
        """Whether a shell of this machine was given a program in the list."""
        return self._shell.has_text

    @property
    def reads_program(self) -> bool:
        """Whether what the command reads from stdin may be a program to something in the list."""
        return self._shell.reads_stdin or not self._names.isdisjoint(_READ_PROGRAMS)

    def kind(self, word: str) -> Word:
        """What this word would be, if it came next."""
        found = self._shell.kind(word)
        if found is not Word.ARGUMENT:
            return found
        if self._only_text or self._text_next or self._is_joined(word) or self._is_operand_text(word):
            return Word.PROGRAM
        return Word.ALONE if self._evaluated else Word.ARGUMENT

    def becomes(self, word: str, given: str) -> str | None:
        """What a word must not become by being filled, in words; None if it stays what it is."""
        in_options = self._shell.in_options or (self._operands is not None and not self._seen)
        if (in_options or self._assigning) and is_option(given) and not is_option(word):
            return "an option of a shell or of a program that starts others"
        if self._assigning and "${" in word.partition("=")[0] and "=" in given:
            return "a variable of the program that env starts"
        return None

    def take(self, word: str, *, filled: bool = False) -> None:
        """Go on by one word, as it is given to the command; `filled` if an argument of the instance is part of it."""
        kind = self.kind(word)
        self._shell.take(word)
        if self._head is None:
            self._head = "" if filled else program_name(word)
        text_was_next, self._text_next = self._text_next, False
        if text_was_next or kind in (Word.OPTION, Word.TEXT):
            return
        self._take_operand(word)
        self._take_assignment(word)
        self._take_name(word)
        if self._evaluates(word):
            self._text_next = self._evaluated = True
            self._shell.has_text |= not self._names.isdisjoint(_SHELL_BEHIND_C)

    def _relaxed(self) -> bool:
        """Only by the word that is the program: elsewhere the name may be something else's argument."""
        return self._head in _HARMLESS or self._head in _OPERANDS

    def _evaluates(self, word: str) -> bool:
        return not self._relaxed() and _EVALUATES.fullmatch(word) is not None

    def _is_joined(self, word: str) -> bool:
        name, equals, _ = word.partition("=")
        return (bool(equals) and self._evaluates(name)) or (
            not self._relaxed() and _JOINED.fullmatch(word) is not None and not _EVALUATES.fullmatch(word)
        )

    def _is_operand_text(self, word: str) -> bool:
        form = self._operands
        if form is None:
            return False
        if self._value_next or (word[:1] == "-" and word != "-"):
            return not form.fills
        return form.first <= self._seen <= form.last

    def _take_operand(self, word: str) -> None:
        form = self._operands
        if form is None:
            return
        if self._value_next:
            self._value_next = False
        elif word[:1] == "-" and word not in ("-", "--"):
            letter = word[1:2]
            self._value_next = len(word) == len("-x") and letter in form.values + form.instead
            if letter and letter in form.instead:
                self._seen = max(self._seen, 1)  # no operand is the text any more
        elif word != "--":
            self._only_text |= form.first <= self._seen and form.last == math.inf
            self._shell.has_text |= form.shell and form.first <= self._seen
            self._seen += 1

    def _take_assignment(self, word: str) -> None:
        if not self._assigning:
            return
        if re.fullmatch(r"-[A-Za-z0-9]*S.*|--split-string.*", word, re.DOTALL):
            self._only_text = self._shell.has_text = True
        elif self._value_next:
            self._value_next = False
        elif word in ("-u", "-C"):
            self._value_next = True
        elif not is_option(word) and "=" not in word:
            self._assigning = False

    def _take_name(self, word: str) -> None:
        name = program_name(word)
        self._names.add(name)
        if name == "env":
            self._assigning = True
        elif self._operands is None and name in _OPERANDS:
            self._operands, self._seen, self._value_next = _OPERANDS[name], 0, False


def runs_text(command: Sequence[str]) -> bool:
    """Whether an argument list has a shell run a program that is written in the list itself."""
    reading = ArgumentReading()
    for word in command:
        reading.take(word)
    return reading.has_text


def has_place(word: str) -> bool:
    """Whether something is to be filled in."""
    return "${" in word


def stands_alone(word: str) -> bool:
    """Whether a word is one place and nothing else."""
    return re.fullmatch(r"\$\{[^{}]*\}", word) is not None


__all__ = ["SHELLS", "ArgumentReading", "Word", "has_place", "runs_text", "stands_alone"]
