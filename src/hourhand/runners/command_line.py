"""Runners: what a command is given: its arguments, environment, folder and input; and what the policy refuses."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any, cast

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import InvalidInput, shown
from hourhand.model.payload import CommandPayload
from hourhand.model.words import TaskType
from hourhand.rules.evaluation import ArgumentReading, mistaken_place, stands_alone
from hourhand.rules.payload import payload_from
from hourhand.rules.shells import Word
from hourhand.runners.accounts import Account
from hourhand.runners.scratch import Folders
from hourhand.runners.substituting import filled

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELL = "/bin/sh"
_LONGEST_VARIABLE = 120_000
"""Linux takes no variable of 128 KiB or more."""
_INSTEAD = 'pass it in env and read it there ("$NAME" in a shell), or as a word of its own behind the program ("$1")'


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPolicy:
    """What this executor lets commands be."""

    shell: bool
    allow: tuple[str, ...]
    user: Account


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A command, ready to be started."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: bytes | None
    success_codes: tuple[int, ...]


def command_line(attempt: Attempt, policy: CommandPolicy, folders: Folders) -> CommandLine:
    """Put the command together; raises InvalidInput for what is wrong with the payload, or forbidden here."""
    payload = cast("CommandPayload", payload_from(TaskType.COMMAND, attempt.definition.payload))
    argv, reading = _arguments(payload, attempt.args)
    if not policy.shell and (isinstance(payload.command, str) or reading.has_text):
        raise InvalidInput.one(
            "payload.command",
            None,
            "is a text for a shell, which this executor refuses: give a list of arguments, such as "
            '["backup", "--all"], or start the executor with HOURHAND_COMMAND_SHELL=true',
        )
    env = {name: filled(value, attempt.args, f"payload.env.{name}") for name, value in payload.env.items()}
    env = _surroundings(policy.user) | env | _facts(attempt, folders)
    cwd = str(folders.work) if payload.cwd is None else filled(payload.cwd, attempt.args, "payload.cwd")
    if not cwd.startswith("/"):
        raise InvalidInput.one("payload.cwd", cwd, f"{shown(cwd)} is not an absolute path: begin it with /")
    if policy.allow:
        argv = (_allowed(argv[0], policy.allow, env["PATH"], cwd), *argv[1:])
    stdin = _stdin(payload, attempt.args, reading)
    return CommandLine(
        argv=argv,
        env=env,
        cwd=cwd,
        stdin=None if stdin is None else stdin.encode("utf-8", "replace"),
        success_codes=payload.success_codes,
    )


def _arguments(payload: CommandPayload, args: Mapping[str, Any]) -> tuple[tuple[str, ...], ArgumentReading]:
    """The arguments with their places filled, never in what something would run; and how they were read."""
    words = (SHELL, "-c", payload.command) if isinstance(payload.command, str) else payload.command
    reading = ArgumentReading()
    argv = []
    for index, word in enumerate(words):
        field = "payload.command" if isinstance(payload.command, str) else f"payload.command[{index}]"
        given = _argument(word, payload, args, reading, field)
        reading.take(given, filled=given != word)
        argv.append(given)
    return tuple(argv), reading


def _argument(word: str, payload: CommandPayload, args: Mapping[str, Any], reading: ArgumentReading, field: str) -> str:
    """One word, filled if it may be; refused if it has places and may not."""
    if "${" not in word:
        return word
    kind = reading.kind(word)
    if kind is Word.TEXT:
        return _shell_text(word, payload, args, field)
    if kind is Word.OPTION:
        raise InvalidInput.one(
            field, None, "has a place in an option of an interpreter, which is not filled: write the option itself"
        )
    if kind is Word.PROGRAM:
        raise InvalidInput.one(
            field, None, f"has a place in what may be run as a program, where an argument could do anything: {_INSTEAD}"
        )
    if kind is Word.ALONE and not stands_alone(word):
        raise InvalidInput.one(
            field,
            None,
            "has a place inside a word behind an option such as -c or -e, and so perhaps in what is run as a program: "
            f"let ${{name}} be a word of its own, put the word before that option, or {_INSTEAD}",
        )
    given = filled(word, args, field)
    if (what := reading.becomes(word, given)) is not None:
        raise InvalidInput.one(
            field, None, f"would become {what} of a program that starts others: write the {what.split()[-1]} itself"
        )
    return given


def _stdin(payload: CommandPayload, args: Mapping[str, Any], reading: ArgumentReading) -> str | None:
    text = payload.stdin
    if text is None or "${" not in text:
        return text
    if reading.has_shell:
        return _shell_text(text, payload, args, "payload.stdin")
    if reading.reads_program:
        raise InvalidInput.one(
            "payload.stdin",
            None,
            f"has a place, and may be read as a program, where an argument could do anything: {_INSTEAD}",
        )
    return filled(text, args, "payload.stdin")


def _shell_text(text: str, payload: CommandPayload, args: Mapping[str, Any], field: str) -> str:
    """What a shell runs, untouched: ${name} is a variable there. Refused where it is meant to be an argument."""
    if (name := mistaken_place(text, args.keys() - payload.env.keys())) is not None:
        raise InvalidInput.one(
            field,
            None,
            f"has the place ${{{name}}} in what a shell runs, which is never filled: {_INSTEAD}",
        )
    return text


def _surroundings(user: Account) -> dict[str, str]:
    """What programs expect to find; nothing of the executor's own but where temporary files go."""
    found = {
        "PATH": DEFAULT_PATH,
        "HOME": user.home,
        "USER": user.name,
        "LOGNAME": user.name,
        "SHELL": user.shell,
        "LANG": "C.UTF-8",
    }
    if temporary := os.environ.get("TMPDIR"):
        found["TMPDIR"] = temporary
    return found


def _facts(attempt: Attempt, folders: Folders) -> dict[str, str]:
    """What an attempt is told of itself; guarantee 4: its idempotency key and its fence among it."""
    assignment = attempt.assignment
    facts = {
        "HOURHAND_INSTANCE_ID": str(assignment.instance_id),
        "HOURHAND_FENCE": str(assignment.fence),
        "HOURHAND_ATTEMPT": f"{assignment.instance_id}-{assignment.fence}",
        "HOURHAND_IDEMPOTENCY_KEY": assignment.idempotency_key,
        "HOURHAND_TASK": attempt.definition.name,
        "HOURHAND_SCHEDULED_TIME": assignment.scheduled_time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "HOURHAND_RETRY_COUNT": str(assignment.retry_count),
        "HOURHAND_SHARD_INDEX": str(assignment.shard_index),
        "HOURHAND_SHARD_TOTAL": str(assignment.shard_total),
        "HOURHAND_PROGRESS": str(folders.progress),
    }
    facts |= _as_json("HOURHAND_ARGS", dict(attempt.args), folders)
    if assignment.checkpoint is not None:
        facts |= _as_json("HOURHAND_CHECKPOINT", assignment.checkpoint, folders)
    return facts


def _as_json(name: str, value: object, folders: Folders) -> dict[str, str]:
    """A value as a variable, or in a file that a variable names if it is too long for one."""
    text = json.dumps(value, separators=(",", ":"))
    if len(text) <= _LONGEST_VARIABLE:
        return {name: text}
    return {f"{name}_FILE": str(folders.file(f"{name.lower()}.json", text))}


def _allowed(program: str, allow: tuple[str, ...], path: str, cwd: str) -> str:
    """The path of a program that is on the list; what was compared is what is run."""
    found = shutil.which(program, path=path) if "/" not in program else os.path.join(cwd, program)  # noqa: PTH118
    permitted = {_place(one if "/" in one else shutil.which(one, path=DEFAULT_PATH)) for one in allow}
    place = _place(found)
    if place is None or place not in permitted:
        raise InvalidInput.one(
            "payload.command",
            None,
            f"{shown(program)} is not a program this executor allows: use one of {', '.join(allow)}, "
            "or add it to HOURHAND_COMMAND_ALLOW",
        )
    return str(place)


def _place(path: str | None) -> Path | None:
    """The one name of a program; its own name is kept, since programs such as busybox are many under several names."""
    return None if path is None else Path(path).parent.resolve() / Path(path).name
