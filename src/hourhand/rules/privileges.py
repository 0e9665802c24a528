"""Rules: what in a payload only an admin may write, since it decides what else runs on an executor's machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.words import TaskType
from hourhand.rules.evaluation import has_shell, runs_text

_NAMES = frozenset(
    """
    PATH IFS ENV BASH_ENV SHELLOPTS BASHOPTS BASH_LOADABLES_PATH PS4 PROMPT_COMMAND ZDOTDIR FPATH CDPATH HOME SHELL
    PERLLIB RUBYOPT RUBYLIB GEM_HOME GEM_PATH NODE_OPTIONS NODE_PATH PHPRC PHP_INI_SCAN_DIR
    CLASSPATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER
    GCONV_PATH LOCPATH HOSTALIASES GLIBC_TUNABLES OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES
    EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE MAKEFLAGS RSYNC_RSH SSH_ASKPASS SUDO_ASKPASS
    PGSYSCONFDIR PSQLRC PSQL_PAGER MYSQL_HOME WGETRC CURL_HOME
    """.split()  # noqa: SIM905  # a list of names reads best as one
)
_ASSIGNMENT = re.compile(r"(?:-e|--env=)?([A-Za-z_][^=\s]*)=")
_PREFIXES = ("LD_", "DYLD_", "PYTHON", "PERL5", "GIT_", "BASH_FUNC_", "LUA_", "ANSIBLE_")


def privileged(kind: TaskType, payload: Mapping[str, Any]) -> tuple[str, ...]:
    """What in the payload only an admin may write, in words; nothing, if everybody who edits tasks may write it."""
    if kind is not TaskType.COMMAND:
        return ()
    found = []
    command = payload.get("command")
    if isinstance(command, str):
        found.append("a shell string (payload.command); give a list of arguments instead")
    elif isinstance(command, Sequence):
        words = [word for word in command if isinstance(word, str)]
        found += _among(words)
        if payload.get("stdin") is not None and has_shell(words):
            found.append("what a shell reads from stdin (payload.stdin); call the program itself instead")
    env = payload.get("env")
    if isinstance(env, Mapping):
        found += [
            f"the variable {name} (payload.env), which decides what programs load or run"
            for name in env
            if isinstance(name, str) and _decides(name)
        ]
    return tuple(found)


def _among(words: Sequence[str]) -> list[str]:
    found = []
    if runs_text(words):
        found.append("a shell's program among the arguments (payload.command); call the program itself instead")
    # Whatever the program: env, sudo, make and others take variables so.
    names = [match[1] for word in words if (match := _ASSIGNMENT.match(word)) is not None]
    return found + [
        f"the variable {name} among the arguments (payload.command), which decides what programs load or run"
        for name in names
        if _decides(name)
    ]


def _decides(name: str) -> bool:
    """Whether a variable makes programs load or run something; in any case, since some programs read them so."""
    upper = name.upper()
    return upper in _NAMES or upper.startswith(_PREFIXES)
