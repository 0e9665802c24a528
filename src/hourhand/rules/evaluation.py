"""Rules: which words of an argument list an instance's arguments may be filled into, so that none becomes a program.

No list of programs is complete, so the rule is safe without one: whatever the program, the word behind an option that
looks like "run this text" (`-c`, `-e`, `--eval` …) is never filled, and what comes later only as a whole word. The
tables below make it stricter where a program takes such a text in other ways, and milder where `-c` is known to mean
something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hourhand.rules.shells import INTERPRETERS, SHELLS, ShellReading, Word, is_option, program_name

_SHORT = re.compile(r"-[A-Za-z0-9]{0,2}[ceE]")
"""`-c`, `-lc`, `-qc`, `-ne`; a longer one is rather a word, as in `-name`."""
_LONG = re.compile(
    r"--?(eval|exec|execute|command|commands|session-command|init-command|expression|expr|query)"
    r"|-(execdir|ok|okdir|Command|ex|iex)"
    r"|--(eval-command|rsh|rsync-path|to-command|use-compress-program|checkpoint-action)"
)
_JOINED = re.compile(r"-[ceE](?![A-Za-z][A-Za-z_-]*=).+", re.DOTALL)
"""`-cTEXT`; but not `-chdir=/x`, which is one long option."""
_SPLITS = re.compile(r"-[A-Za-z0-9]*S.*|--split-string.*", re.DOTALL)
_HARMLESS = frozenset(
    """
    basename bzip2 cat cp curl cut date df diff dirname du echo egrep fgrep grep gunzip gzip head ls md5sum mkdir
    mv mysqldump pg_dump pg_dumpall pg_restore ping printf rm sha1sum sha256sum sha512sum sort stat tail tar tee touch
    tr uniq wc xz zcat zstd
    """.split()  # noqa: SIM905  # a list of names reads best as one
)
"""Programs whose -c, -e and -E run nothing."""
_SHELL_BEHIND_C = frozenset({"flock", "runuser", "script", "su"})
_READ_PROGRAMS = frozenset(
    """
    at batch bc duckdb ed ex ftp gdb lftp mariadb mongosh mysql parallel psql rsh sftp sqlcmd sqlite3 sqlplus ssh tclsh
    vi vim xargs
    """.split()  # noqa: SIM905
)
"""Programs that do what they read from stdin."""
_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operands:
    """Where a program has texts to run among its operands."""

    values: str = ""
    """The letters of options whose value is the next word."""
    instead: str = ""
    """The letters of options whose value takes the place of the text, as that of awk's -f does."""
    first: int = 0
    last: float = math.inf
    locally: bool = False
    """Whether a shell of this machine runs it."""
    fills: bool = False
    """Whether options and their values may be filled."""

    def is_text(self, operand: int) -> bool:
        return self.first <= operand <= self.last


_ALL = _Operands(locally=True)
_AWK = _Operands(values="vF", instead="f", last=0, fills=True)
_OPERANDS = {
    "awk": _AWK,
    "duckdb": _Operands(first=1),
    "gawk": _AWK,
    "jq": _Operands(instead="f", last=0, fills=True),
    "mawk": _AWK,
    "nawk": _AWK,
    "parallel": _ALL,
    "rsh": _Operands(values="l", first=1),
    "screen": _ALL,
    "sed": _Operands(values="l", instead="ef", last=0),
    "sg": _Operands(locally=True, first=1),
    "sqlite3": _Operands(first=1),
    "ssh": _Operands(values="BbcDEeFIiJLlmOopQRSWw", first=1),
    "tmux": _ALL,
    "watch": _ALL,
}


class _OperandReading:
    """Reads on behind a program that has texts to run among its operands."""

    def __init__(self, form: _Operands) -> None:
        self._form = form
        self._operand = 0
        self._value_next = False
        self.shell_text = False
        """Whether a shell of this machine was given a text."""

    @property
    def in_options(self) -> bool:
        """Whether the next word may be an option."""
        return not self._operand and not self._value_next

    def is_text(self, word: str) -> bool:
        if self._value_next or self._is_option(word):
            return not self._form.fills
        return self._form.is_text(self._operand)

    def take(self, word: str) -> None:
        if self._value_next:
            self._value_next = False
        elif self._is_option(word):
            letter = word[1]
            self._value_next = len(word) == len("-x") and letter in self._form.values + self._form.instead
            if letter in self._form.instead:
                self._operand = 1
        else:
            self.shell_text |= self._form.locally and self._form.is_text(self._operand)
            self._operand += 1

    def _is_option(self, word: str) -> bool:
        # What follows a text that goes on to the end (`ssh host ls -l`) is part of it, whatever it looks like.
        ended = self._form.last == math.inf and self._operand > self._form.first
        return len(word) > 1 and word[0] == "-" and not ended


class _EnvReading:
    """Reads the variables that `env` sets, up to the program that it starts."""

    def __init__(self) -> None:
        self.is_over = False
        self.has_split = False
        """Whether it takes a text apart into a program and its arguments; the rest of the list follows these."""
        self._value_next = False

    def take(self, word: str) -> None:
        if self._value_next:
            self._value_next = False
        elif self.has_split or _SPLITS.fullmatch(word):
            self.has_split = True
        elif word in ("-u", "-C"):
            self._value_next = True
        else:
            self.is_over = not is_option(word) and "=" not in word


class ArgumentReading:
    """Reads an argument list word by word, and says of each what it is to the programs in the list."""

    def __init__(self) -> None:
        self._shell = ShellReading()
        self._operands: _OperandReading | None = None
        self._env: _EnvReading | None = None
        self._relaxed: bool | None = None
        """Whether -c and the like are known to run nothing; None before the first word."""
        self._doubtful = False
        """Whether something named like a shell or an interpreter may be none but, say, a file."""
        self._names: set[str] = set()
        self._shell_behind = False
        self._text_next = False
        self._evaluated = False
        """Whether an unknown program was given a text."""

    @property
    def has_shell(self) -> bool:
        """Whether a shell has occurred; what such a command reads from stdin may be its program."""
        return self._shell.has_shell

    @property
    def has_text(self) -> bool:
        """Whether a shell of this machine was given a program in the list."""
        operands = self._operands is not None and self._operands.shell_text
        return self._shell.has_text or self._shell_behind or operands or self._has_split

    @property
    def reads_program(self) -> bool:
        """Whether what the command reads from stdin may be a program to something in the list."""
        return self._shell.reads_stdin or not self._names.isdisjoint(_READ_PROGRAMS)

    def kind(self, word: str) -> Word:
        """What this word would be, if it came next."""
        if (found := self._shell.kind(word)) is not Word.ARGUMENT:
            return found
        splits = self._has_split or (self._env is not None and _SPLITS.fullmatch(word) is not None)
        operand = self._operands is not None and self._operands.is_text(word)
        if self._text_next or splits or operand or self._is_joined(word):
            return Word.PROGRAM
        return Word.ALONE if self._evaluated else Word.ARGUMENT

    def becomes(self, word: str, given: str) -> str | None:
        """What a word would turn into by being filled, in words; None if it stays what it is."""
        in_options = (
            self._shell.in_options
            or self._env is not None
            or (self._operands is not None and self._operands.in_options)
        )
        if in_options and is_option(given) and not is_option(word):
            return "an option"
        if self._env is not None and "${" in word.partition("=")[0] and "=" in given:
            return "a variable"
        return None

    def take(self, word: str, *, filled: bool = False) -> None:
        """Go on by one word, as the command is given it; `filled` if an argument of the instance is part of it."""
        kind = self.kind(word)
        self._shell.take(word)
        name = program_name(word)
        # Trusted is only the word that is the program, and as it is written: elsewhere a name may mean anything.
        self._doubtful |= (filled and name in SHELLS) or (
            name in INTERPRETERS and (filled or self._relaxed is not None)
        )
        if self._relaxed is None:
            self._relaxed = not filled and (name in _HARMLESS or name in _OPERANDS)
        known = kind is Word.TEXT or (kind is Word.OPTION and (self._shell.text_follows or not self._doubtful))
        evaluates = not self._text_next and not known and self._evaluates(word)
        self._shell_behind |= (evaluates or self._is_joined(word)) and not self._names.isdisjoint(_SHELL_BEHIND_C)
        self._text_next = evaluates
        self._evaluated |= evaluates
        if kind not in (Word.OPTION, Word.TEXT):
            self._take_by_name(word, name)

    @property
    def _has_split(self) -> bool:
        return self._env is not None and self._env.has_split

    def _evaluates(self, word: str) -> bool:
        return _LONG.fullmatch(word) is not None or (not self._relaxed and _SHORT.fullmatch(word) is not None)

    def _is_joined(self, word: str) -> bool:
        name, equals, _ = word.partition("=")
        if equals and self._evaluates(name):
            return True
        return not self._relaxed and not self._evaluates(word) and _JOINED.fullmatch(word) is not None

    def _take_by_name(self, word: str, name: str) -> None:
        self._names.add(name)
        if self._operands is not None:
            self._operands.take(word)
        elif name in _OPERANDS:
            self._operands = _OperandReading(_OPERANDS[name])
        if self._env is not None:
            self._env.take(word)
        elif name == "env":
            self._env = _EnvReading()
        if self._env is not None and self._env.is_over:
            self._env = None


def runs_text(command: Sequence[str]) -> bool:
    """Whether an argument list has a shell run a program that is written in the list itself."""
    return _read(command).has_text


def has_shell(command: Sequence[str]) -> bool:
    """Whether a shell is among the words: what such a command reads from stdin may be its program."""
    return _read(command).has_shell


def _read(command: Sequence[str]) -> ArgumentReading:
    reading = ArgumentReading()
    for word in command:
        reading.take(word)
    return reading


def stands_alone(word: str) -> bool:
    """Whether a word is one place and nothing else."""
    return _PLACE.fullmatch(word) is not None


def mistaken_place(text: str, names: Collection[str]) -> str | None:
    """Which of the names a shell's text seems to expect in a place that will not be filled.

    `${name}` is how a shell writes its own variables, so one that the text itself sets is none.
    """
    for name in _PLACE.findall(text):
        sets = rf"\b{name}\+?=|\b(for|select)\s+{name}\b|\b(read|mapfile|getopts|printf\s+-v)\b[^;|&\n]*\b{name}\b"
        if name in names and not re.search(sets, text):
            return str(name)
    return None
