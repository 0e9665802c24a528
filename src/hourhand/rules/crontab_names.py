"""Rules: names for tasks out of the commands of a crontab: what a person would call the line."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from hourhand.rules.crontab import Entry

LONGEST = 60
_LONGEST_SUFFIX = 40
_OPERATORS = frozenset("();<>|&")
_REDIRECTIONS = frozenset("<>")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_EXTENSION = re.compile(r"\.(sh|bash|py|pyc|php|phar|pl|rb|js|mjs|ts|jar|R|lua)$")
_VERSIONED = re.compile(r"(python|php|perl|ruby|node|lua)[0-9.]*")
_PRELIMINARIES = frozenset(
    """
    . : [ [[ cd date echo exit export for mkdir printf set sleep source test true ulimit umask
    """.split()  # noqa: SIM905  # a list of names reads best as one
)
"""What a line does before what it is there for."""
_KEYWORDS = frozenset({"!", "{", "if", "then", "else", "do", "while", "until"})
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")
_WRAPPERS: Mapping[str, tuple[str, int]] = {
    "bundle": ("", 1),
    "chronic": ("", 0),
    "chrt": ("", 1),
    "command": ("", 0),
    "cronic": ("", 0),
    "doas": ("u", 0),
    "env": ("uC", 0),
    "exec": ("", 0),
    "flock": ("wE", 1),
    "ionice": ("cnp", 0),
    "nice": ("n", 0),
    "nohup": ("", 0),
    "run-one": ("", 0),
    "run-parts": ("", 0),
    "setlock": ("", 1),
    "setsid": ("", 0),
    "stdbuf": ("ioe", 0),
    "sudo": ("ugh", 0),
    "systemd-cat": ("tp", 0),
    "time": ("", 0),
    "timeout": ("ks", 1),
}
"""Programs that start another one: the letters of options with a value, and how many words stand before that one."""
_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_INTERPRETERS = frozenset({"python", "php", "perl", "ruby", "node", "lua", "java", "Rscript"}) | _SHELLS
_VALUED = {"php": "dcz", "python": "WX", "perl": "I", "ruby": "I", "node": "r", "java": ""}
_WITH_WORD = frozenset(
    """
    apt apt-get artisan aws az borg cake certbot composer console dnf docker docker-compose drush gcloud git kubectl
    magento manage npm occ podman rails rake rclone restic service systemctl wp wp-cli yarn yii yum
    """.split()  # noqa: SIM905
)
"""Programs whose first argument says what they do."""
_FETCHERS = frozenset({"curl", "wget", "http", "fetch", "lynx"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a command runs, and what it gives it."""

    name: str
    words: tuple[str, ...] = ()
    aside: bool = False
    """Whether a line rather does it on its way."""


def names_of(entries: Sequence[Entry], prefix: str = "") -> tuple[str, ...]:
    """One name per line, each its own, and the same whenever the same file is read.

    The first line of a name keeps it, so that lines which are added below change no earlier one.
    """
    given: dict[str, None] = {}
    for entry in entries:
        given[next(name for name in _candidates(entry, prefix) if name not in given)] = None
    return tuple(given)


def _candidates(entry: Entry, prefix: str) -> Iterator[str]:
    said = _said(entry.command)
    first = f"{prefix}{_slug(said.name)[:LONGEST].strip('-') or 'task'}"
    yield first
    more = "-".join(filter(None, (_slug(_base(word)) for word in said.words)))[:_LONGEST_SUFFIX].strip("-")
    if more:
        yield f"{first}-{more}"
    mark = hashlib.sha256(f"{entry.schedule}\n{entry.user}\n{entry.command}\n{entry.stdin}".encode()).hexdigest()[:6]
    yield f"{first}-{mark}"
    number = 2
    while True:
        yield f"{first}-{mark}-{number}"
        number += 1


def _said(command: str) -> _Said:
    pieces = [found for words in _simple(command) if (found := _of(words)) is not None]
    for found in pieces:
        if not found.aside:
            return found
    return pieces[0] if pieces else _Said(name="task")


def _simple(command: str) -> Iterator[list[str]]:
    """The simple commands of a line, each as its words; redirections are left out."""
    words: list[str] = []
    skip = False
    for word in _tokens(command):
        if skip:
            skip = False
        elif _OPERATORS.issuperset(word):
            if _REDIRECTIONS & set(word):
                skip = True
            else:
                yield words
                words = []
        else:
            words.append(word)
    yield words


def _tokens(command: str) -> list[str]:
    lexer = shlex.shlex(_SUBSTITUTION.sub("", command), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:  # a quote that is not closed: the shell will say so, a name can be had all the same
        return command.split()


def _of(words: Sequence[str]) -> _Said | None:
    """What a simple command is about, behind everything that only starts it."""
    rest = list(words)
    while rest and (_ASSIGNMENT.fullmatch(rest[0]) or rest[0] in _KEYWORDS or not rest[0]):
        rest.pop(0)
    if not rest:
        return None
    program = _base(rest.pop(0))
    if program in _WRAPPERS:
        letters, operands = _WRAPPERS[program]
        rest = _without_options(rest, letters)
        return _of(rest[operands:]) or _Said(name=program)
    kind = found[1] if (found := _VERSIONED.fullmatch(program)) else program
    if kind in _INTERPRETERS:
        return _script(program, kind, rest)
    if program in _FETCHERS:
        hosts = [urlsplit(word).hostname or "" for word in rest if "://" in word]
        return _Said(name=" ".join([program, *hosts[:1]]), words=tuple(rest))
    return _program(program, rest)


def _program(program: str, rest: list[str]) -> _Said:
    name = _EXTENSION.sub("", program)
    arguments = [word for word in rest if not word.startswith("-")]
    if name in _WITH_WORD and arguments:
        return _Said(name=f"{name} {arguments[0]}", words=tuple(word for word in rest if word != arguments[0]))
    return _Said(name=name, words=tuple(rest), aside=name in _PRELIMINARIES)


def _script(program: str, kind: str, rest: list[str]) -> _Said:
    if kind in _SHELLS and (text := _text(rest)) is not None:
        return _said(text)
    for option in ("-m", "-jar", "-f"):
        if option in rest[:-1]:
            place = rest.index(option) + 1
            name = rest[place].rpartition(".")[2] if option == "-m" else _base(rest[place])
            return _program(name, rest[place + 1 :])
    inline = kind not in _SHELLS and any(option in rest for option in ("-c", "-e", "-r"))
    rest = _without_options(rest, _VALUED.get(kind, ""))
    return _Said(name=program, aside=True) if inline or not rest else _program(_base(rest[0]), rest[1:])


def _text(rest: Sequence[str]) -> str | None:
    """What a shell is given to run behind its `-c`."""
    for place, word in enumerate(rest[:-1]):
        if word.startswith("-") and word.endswith("c"):
            return rest[place + 1]
    return None


def _without_options(words: Sequence[str], valued: str) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == len("-x") and option[1] in valued and rest:
            rest.pop(0)
    return rest


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2] or word


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", _EXTENSION.sub("", text).lower()).strip("-")
