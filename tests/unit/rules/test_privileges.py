from __future__ import annotations

from typing import Any

import pytest

from hourhand.model.words import TaskType
from hourhand.rules.privileges import privileged

STRING = "a shell string (payload.command); give a list of arguments instead"
PROGRAM = "a shell's program among the arguments (payload.command); call the program itself instead"

STDIN = "what a shell reads from stdin (payload.stdin); call the program itself instead"


def assigned(name: str) -> str:
    return f"the variable {name} among the arguments (payload.command), which decides what programs load or run"


def variable(name: str) -> str:
    return f"the variable {name} (payload.env), which decides what programs load or run"


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"command": ["echo", "hi"]}, ()),
        ({"command": ("bash", "script.sh", "-c")}, ()),
        ({"command": ["bash"], "stdin": "id"}, (STDIN,)),
        ({"command": ["env", "sh", "-s"], "stdin": "id"}, (STDIN,)),
        ({"command": ["sort"], "stdin": "b\na"}, ()),
        ({"command": "echo hi"}, (STRING,)),
        ({"command": ["sh", "-c", "echo hi"]}, (PROGRAM,)),
        ({"command": ("env", "bash", "-lc", "echo hi")}, (PROGRAM,)),
        ({"command": ["flock", "/lock", "-c", "echo hi"]}, (PROGRAM,)),
        ({"command": ["env", "-S", "sh -c id"]}, (PROGRAM,)),
        (
            {"command": ["env", "LD_PRELOAD=/tmp/evil.so", "PATH=/tmp", "DAY=x", "/bin/true"]},
            (assigned("LD_PRELOAD"), assigned("PATH")),
        ),
        ({"command": ["timeout", "5", "env", "-i", "BASH_FUNC_ls%%=() { id; }", "ls"]}, (assigned("BASH_FUNC_ls%%"),)),
        (
            {"command": ["docker", "run", "-ePYTHONPATH=/x", "--env=PATH=/x", "image"]},
            (assigned("PYTHONPATH"), assigned("PATH")),
        ),
        ({"command": ["env", "sh", "-c", "x", "PATH=/x"]}, (PROGRAM, assigned("PATH"))),
        ({"command": ["backup", "--PATH=/x", "a b PATH=/x", "DAY=PATH=/x", "=x", "PATH"]}, ()),
        ({"command": ["echo"], "env": {"DAY": "x", "PATHS": "x", "MY_PATH": "x"}}, ()),
        ({"command": "x", "env": {"PATH": "/x", "A": "b"}}, (STRING, variable("PATH"))),
        ({}, ()),
        ({"command": None, "env": None}, ()),
        ({"command": 5, "env": ["PATH"]}, ()),
        ({"command": [5, "sh", None, "-c"], "env": {5: "x"}}, (PROGRAM,)),
    ],
)
def test_what_only_an_admin_may_write_is_named(payload: dict[str, Any], found: tuple[str, ...]) -> None:
    assert privileged(TaskType.COMMAND, payload) == found


@pytest.mark.parametrize(
    "name",
    [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PATH",
        "Path",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "ENV",
        "IFS",
        "PERL5LIB",
        "PERL5OPT",
        "RUBYOPT",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "GCONV_PATH",
        "JAVA_TOOL_OPTIONS",
        "ld_preload",
    ],
)
def test_variables_that_decide_what_is_loaded_are_for_admins(name: str) -> None:
    assert privileged(TaskType.COMMAND, {"command": ["true"], "env": {name: "x"}}) == (variable(name),)


@pytest.mark.parametrize("kind", [kind for kind in TaskType if kind is not TaskType.COMMAND])
def test_other_types_have_nothing_of_the_kind(kind: TaskType) -> None:
    assert privileged(kind, {"command": "x", "env": {"PATH": "x"}}) == ()
