"""Rules: what is wrong with the machine that `hourhand doctor` is run on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from hourhand.model.checkup import MachineSeen, Seen
from hourhand.model.diagnosis import Finding, Program
from hourhand.rules.doctor_store import FREE_NOTED, FREE_WRONG
from hourhand.rules.doctor_words import MEGABYTE, fine, plural, problem, size, warning

FILES_LEAST = 1_024
MEMORY_LEAST = 256 * MEGABYTE
ZONES_OLD_YEARS = 2
OLDEST_PYTHON = (3, 11)
_YEAR = re.compile(r"(\d{4})")


def python(seen: Seen) -> Iterator[Finding]:
    """Whether Python is new enough."""
    parts = tuple(int(one) for one in seen.machine.python.split(".")[:2])
    if parts < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        yield problem("machine.python", f"Python is {seen.machine.python}, and {wanted} is the oldest that works")
    else:
        yield fine("machine.python", f"Hourhand {seen.version} on Python {seen.machine.python}")


def account(seen: Seen) -> Iterator[Finding]:
    """Who runs this."""
    if seen.machine.root:
        yield warning(
            "machine.root",
            "you are root",
            "A server that root starts runs every command task as root, and its files belong to root.",
            "run Hourhand as a user of its own, or set HOURHAND_COMMAND_USER for the commands",
        )


def limits(seen: Seen) -> Iterator[Finding]:
    """How many files a process may have open: each connection and each command needs some."""
    told = seen.told
    count = seen.machine.open_files if told is None else min(told.process.open_files, seen.machine.open_files)
    if count < FILES_LEAST:
        yield warning(
            "machine.files",
            f"a process may have {count} files open",
            f"Each connection and each command needs some; {FILES_LEAST:,} is little.",
            "ulimit -n 65536   (in a systemd unit: LimitNOFILE=65536)",
        )
    else:
        yield fine("machine.files", f"a process may have {count:,} files open")


def room(seen: Seen) -> Iterator[Finding]:
    """Whether there is memory, and a place for temporary files."""
    machine = seen.machine
    if not machine.temporary_writable:
        yield problem(
            "machine.temporary",
            f"{machine.temporary} cannot be written",
            "Every command task is given a folder of its own there, so that none can start.",
            f"ls -ld {shlex.quote(machine.temporary)}   (or set TMPDIR)",
        )
    else:
        yield _temporary(machine)
    if machine.memory_available is None:
        return
    if machine.memory_available < MEMORY_LEAST:
        yield warning(
            "machine.memory",
            f"{size(machine.memory_available)} of memory are left",
            "When there is none, the system kills what takes most: perhaps the server.",
            "free -h",
        )
    else:
        yield fine("machine.memory", f"{size(machine.memory_available)} of memory are left")


def _temporary(machine: MachineSeen) -> Finding:
    disk = machine.temporary_disk
    if disk is None or disk.free_bytes >= FREE_NOTED:
        left = "" if disk is None else f", where {size(disk.free_bytes)} are free"
        return fine("machine.temporary", f"temporary files go to {machine.temporary}{left}")
    return (problem if disk.free_bytes < FREE_WRONG else warning)(
        "machine.temporary",
        f"{size(disk.free_bytes)} of {size(disk.total_bytes)} are free where temporary files go, {machine.temporary}",
        "Command tasks and operations write there, and fail when it is full.",
        f"df -h {shlex.quote(machine.temporary)}   (or set TMPDIR)",
    )


def zones(seen: Seen) -> Iterator[Finding]:
    """Whether time zones are known, and their rules of today."""
    version = seen.machine.zones
    if version is None:
        yield problem(
            "clock.zones",
            "there is no time zone data",
            "No schedule in another zone than UTC can be used.",
            "pip install --upgrade tzdata",
        )
        return
    year = _YEAR.match(version)
    if year is not None and seen.machine.looked_at.year - int(year[1]) > ZONES_OLD_YEARS:
        yield warning(
            "clock.zones",
            f"the time zone data is of {version}",
            "Governments change their clocks at short notice: tasks there may fire an hour early or late.",
            "pip install --upgrade tzdata",
        )
    else:
        yield fine("clock.zones", f"time zone data {version}")


def synchronised(seen: Seen) -> Iterator[Finding]:
    """Whether something keeps this machine's clock right."""
    match seen.machine.synchronised:
        case True:
            yield fine("clock.ntp", "this machine's clock is kept right by NTP")
        case False:
            yield warning(
                "clock.ntp",
                "nothing keeps this machine's clock right, as far as systemd knows",
                "Tasks of a SQLite store fire by this clock. In a container, or with another NTP program, all may be "
                "well.",
                "timedatectl set-ntp true",
            )


def tools(seen: Seen) -> Iterator[Finding]:
    """Whether programs are there that executors on this machine would start."""
    for name, there in seen.machine.tools.items():
        if not there:
            yield problem(
                "tools.missing",
                f"{name} is not on this machine",
                "What is written for it cannot be executed here.",
                f"install {name}, such as: apt-get install {name}",
            )
    examined = seen.examined
    missing = [
        one
        for one in (() if examined is None else examined.programs)
        if one.name is not None and seen.machine.programs.get(one.name) is False
    ]
    for one in missing:
        yield _missing(one)
    if not missing and all(seen.machine.tools.values()):
        found = sum(seen.machine.programs.values())
        more = f", and {plural(found, 'program')} that tasks name" if found else ""
        yield fine("tools.missing", f"{', '.join(seen.machine.tools)} found{more}")


def backup_tools(seen: Seen) -> Iterator[Finding]:
    """Whether an executor on this machine could back up data sources: by which programs, or by none."""
    for database, tools in seen.machine.backup_tools.items():
        here = [f"{name} {version}" for name, version in tools.items() if version is not None]
        missing = [name for name, version in tools.items() if version is None]
        if not missing:
            yield fine("tools.backup", f"backups of {database} by {', '.join(here)}")
        elif here:
            yield warning(
                "tools.backup",
                f"{' and '.join(missing)} is not on this machine, though {', '.join(here)} is",
                f"An operation that backs up {database} needs both, and fails here.",
                f"install {' '.join(missing)}, or leave such tasks to another group",
            )
        else:
            yield fine(
                "tools.backup",
                f"no backups of {database} from here: there is no {' and no '.join(missing)}",
                "Only the operation database_backup on such a data source needs them.",
            )


def _missing(one: Program) -> Finding:
    which = f"{plural(one.tasks, 'task')} of group {one.group!r} (such as {one.example!r})"
    return warning(
        "tools.program",
        f"{one.name} is not found on this machine; it is started by {which}",
        "An executor of that group runs here. Commands are looked for in the usual folders, not in your own PATH, "
        "unless the task sets one.",
        f"hourhand task edit {shlex.quote(one.example)} --command …   (with the whole path of the program)",
    )
