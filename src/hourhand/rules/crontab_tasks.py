"""Rules: the tasks that the lines of a crontab become: the same minutes, shell, folder and environment."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hourhand.model.errors import InvalidInput
from hourhand.model.words import OverlapPolicy, TaskType
from hourhand.rules.crontab import Crontab, Entry, Remark
from hourhand.rules.crontab_names import names_of
from hourhand.rules.definition import definition_from
from hourhand.rules.shells import SHELLS

_PLAIN_SHELLS = frozenset({"", "/bin/sh", "sh"})
_NOT_OF_THE_COMMAND = frozenset(
    {"CRON_TZ", "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", "RANDOM_DELAY", "LOGNAME", "USER"}
)
"""Settings that speak to cron, or that it does not let be set."""
_UNLIKE_SH = frozenset({"csh", "tcsh", "fish"})
_SUDO = re.compile(r"(^|[\s;&|(])(sudo|su|doas)\s")
_LEAVES_BEHIND = re.compile(r"(^|[\s;&|(])(nohup|setsid)\s|(?<![&>|])&\s*$")

Homes = Callable[[str | None], str | None]
"""The home of a user, or of whoever's crontab it is; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A line, and the task that it becomes."""

    entry: Entry
    fields: Mapping[str, Any]
    """As `POST /tasks` takes them."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a crontab becomes."""

    tasks: tuple[Planned, ...]
    refused: tuple[Remark, ...]
    remarks: tuple[Remark, ...]


def plan(
    crontab: Crontab,
    *,
    timezone: str,
    homes: Homes,
    prefix: str = "",
    group: str | None = None,
    enabled: bool = True,
) -> Plan:
    """Turn every line into a task, or say why it cannot be one."""
    tasks: list[Planned] = []
    refused = list(crontab.refused)
    for entry, name in zip(crontab.entries, names_of(crontab.entries, prefix), strict=True):
        fields: dict[str, Any] = {"name": name, "type": TaskType.COMMAND.value, "schedule": entry.schedule}
        fields["timezone"] = entry.settings.get("CRON_TZ") or timezone
        notes = _Notes(entry)
        try:
            more = {
                "payload": _payload(entry, homes, notes),
                "description": entry.description,
                "group": group,
                "enabled": None if enabled else False,
                # As cron does: a minute that comes while the last one's command still works is not left out.
                "overlap_policy": OverlapPolicy.PARALLEL.value,
            }
            fields |= {key: value for key, value in more.items() if value is not None}
            definition_from(fields)
        except InvalidInput as wrong:
            reasons = "; ".join(f"{each.field}: {each.message}" for each in wrong.errors)
            refused.append(Remark(number=entry.number, text=_line(entry), reason=reasons))
        else:
            tasks.append(Planned(entry=entry, fields=fields, notes=notes.all()))
    return Plan(tasks=tuple(tasks), refused=tuple(sorted(refused, key=lambda one: one.number)), remarks=crontab.remarks)


def _payload(entry: Entry, homes: Homes, notes: _Notes) -> dict[str, Any]:
    shell = entry.settings.get("SHELL", "")
    name = shell.rpartition("/")[2] or "sh"
    kept = {key: value for key, value in entry.settings.items() if key not in _NOT_OF_THE_COMMAND}
    if shell in _PLAIN_SHELLS:
        kept.pop("SHELL", None)
    literal = {key: value for key, value in kept.items() if "${" in value}
    if "${" in f"{entry.command}{entry.stdin}{''.join(literal.values())}":
        _refuse_unknown_shell(shell, name, literal)
    # In a payload ${name} is a place for an argument; between a shell's quotes it is what cron takes it for: a text.
    text = "".join(f"export {key}={shlex.quote(value)}; " for key, value in literal.items()) + entry.command
    payload: dict[str, Any] = {"command": text if shell in _PLAIN_SHELLS else [shell, "-c", text]}
    if env := {key: value for key, value in kept.items() if key not in literal}:
        payload["env"] = env
    home = entry.settings.get("HOME") or homes(entry.user)
    if home is not None and home.startswith("/"):
        payload["cwd"] = home
    else:
        notes.add("begins in a fresh, empty folder, since the home that cron would begin in is not known here")
    if entry.stdin:
        payload["stdin"] = entry.stdin
    return payload


def _refuse_unknown_shell(shell: str, name: str, literal: Mapping[str, str]) -> None:
    if name not in SHELLS:
        raise InvalidInput.one(
            "SHELL", shell, f"{shell!r} is not a shell that is known here: write the line for /bin/sh"
        )
    if literal and name in _UNLIKE_SH:
        wrong = ", ".join(literal)
        raise InvalidInput.one(
            "SHELL", shell, f"{name} cannot be given {wrong} with a ${{…}} in it: write the value out, or use /bin/sh"
        )


class _Notes:
    def __init__(self, entry: Entry) -> None:
        self._found = list(entry.notes)
        if entry.user is not None:
            self.add(f"runs as the executor's user, not as {entry.user} (HOURHAND_COMMAND_USER of an executor)")
        if _SUDO.search(entry.command):
            self.add("sudo, su and doas give a command no rights here: let an executor of that user run it (--group)")
        if _LEAVES_BEHIND.search(entry.command):
            self.add("what it leaves behind in the background is ended with it: use `systemctl start` for services")

    def add(self, note: str) -> None:
        self._found.append(note)

    def all(self) -> tuple[str, ...]:
        return tuple(self._found)


def _line(entry: Entry) -> str:
    return " ".join(word for word in (entry.schedule, entry.user, entry.command) if word)


def same_command(planned: Planned, payload: Mapping[str, Any]) -> bool:
    """Whether a task that is there already runs what the line runs."""
    return bool(payload.get("command") == planned.fields["payload"]["command"])


def differences(planned: Planned, task: Mapping[str, Any]) -> tuple[str, ...]:
    """Which fields of a task that is there already are not what the line would make of them."""
    return tuple(name for name, value in planned.fields.items() if task.get(name) != value)
