"""`hourhand doctor`: reads the machine that it runs on; what it means is for `rules.doctor` to say."""

from __future__ import annotations

import os
import platform
import pwd
import re
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
import zoneinfo
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hourhand.model.checkup import DiskSeen, MachineSeen, PathSeen
from hourhand.runners.command_line import DEFAULT_PATH

if TYPE_CHECKING:
    from hourhand.model.diagnosis import Examined
    from hourhand.settings import Settings

TOOLS = ("sh",)
"""What executors need on every machine; one more is one word more."""
BACKUP_TOOLS = {
    "PostgreSQL": (("pg_dump",), ("pg_restore",)),
    "MariaDB and MySQL": (("mariadb-dump", "mysqldump"), ("mariadb", "mysql")),
}
"""What executors need where they back up data sources; of names beside each other, the first that is found."""
_ANSWER_SECONDS = 3.0
_UNKNOWN = "of an unknown version"
_VERSION = re.compile(r"(?:\(PostgreSQL\)|Distrib|from|Ver(?!.*Distrib))\s+(\d[\w.]*)")
"""Of `mariadb-dump  Ver 10.19 Distrib 10.11.19-MariaDB` the second one, by which people know it."""


def machine(settings: Settings | None) -> MachineSeen:
    """Look around."""
    temporary = tempfile.gettempdir()
    return MachineSeen(
        looked_at=datetime.now(UTC),
        hostname=socket.gethostname(),
        python=platform.python_version(),
        root=os.geteuid() == 0,
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        temporary=temporary,
        temporary_writable=os.access(temporary, os.W_OK | os.X_OK),
        temporary_disk=_disk(Path(temporary)),
        memory_available=_memory(),
        synchronised=_synchronised(),
        zones=_zones(),
        tools={name: shutil.which(name, path=DEFAULT_PATH) is not None for name in TOOLS},
        backup_tools={database: dict(map(_backup_tool, tools)) for database, tools in BACKUP_TOOLS.items()},
        data_dir=seen_path(settings.data_dir) if settings else None,
        disk=_disk(settings.data_dir) if settings else None,
        admin_token=seen_path(settings.admin_token_file) if settings else None,
        secret_key=seen_path(settings.secret_key_path) if settings else None,
    )


def seen_path(path: Path) -> PathSeen | None:
    """Who may read and write it; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return PathSeen(
        path=str(path),
        mode=stat.S_IMODE(found.st_mode),
        owner=_user(found.st_uid),
        mine=found.st_uid == os.geteuid(),
        size=found.st_size,
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _memory() -> int | None:
    """What is left to this process: of the machine, or of the container that it is in."""
    left = [_kilobytes("MemAvailable"), _cgroup()]
    return min((one for one in left if one is not None), default=None)


def _kilobytes(name: str) -> int | None:
    for line in _text(Path("/proc/meminfo")).splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup() -> int | None:
    most, used = (_text(Path(f"/sys/fs/cgroup/memory.{name}")).strip() for name in ("max", "current"))
    return int(most) - int(used) if most.isdigit() and used.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _synchronised() -> bool | None:
    """What systemd says, where it runs."""
    program = shutil.which("timedatectl")
    said = _said(program, "show", "--property=NTPSynchronized", "--value") if program else None
    return {"yes": True, "no": False}.get(said or "")


def _backup_tool(names: tuple[str, ...]) -> tuple[str, str | None]:
    """Which of them is here, and its version."""
    for name in names:
        program = shutil.which(name)
        if program is not None:
            found = _VERSION.search(_said(program, "--version") or "")
            return name, found[1] if found else _UNKNOWN
    return names[0], None


def _said(*command: str) -> str | None:
    """What a program answers; None if it does not, or not in time."""
    try:
        return subprocess.run(  # noqa: S603 - of this machine's own
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWER_SECONDS, check=False
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None


def _zones() -> str | None:
    """The version of the data that Python reads: the machine's, or else that of the package."""
    try:
        zoneinfo.ZoneInfo.no_cache("Europe/Berlin")
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
    for folder in zoneinfo.TZPATH:
        if (Path(folder) / "Europe/Berlin").exists():
            words = _text(Path(folder) / "tzdata.zi").partition("\n")[0].split()
            return words[-1] if words[:2] == ["#", "version"] else _UNKNOWN
    return str(import_module("tzdata").IANA_VERSION)


def programs(examined: Examined | None) -> dict[str, bool]:
    """Of what executors on this machine may be asked to start, what they would find."""
    if examined is None:
        return {}
    here = {one.group for one in examined.executors if one.hostname == socket.gethostname()}
    names = {one.name for one in examined.programs if one.group in here and one.name is not None}
    return {name: shutil.which(name, path=DEFAULT_PATH) is not None for name in sorted(names) if _is_checkable(name)}


def _is_checkable(name: str) -> bool:
    """Whether it is the same wherever it is started: no place to be filled, no path from a folder of its own."""
    return "${" not in name and (name.startswith("/") or "/" not in name)


def _disk(folder: Path) -> DiskSeen | None:
    there = next((one for one in (folder, *folder.parents) if one.exists()), None)
    if there is None:
        return None
    usage = shutil.disk_usage(there)
    return DiskSeen(folder=str(there), kind=_filesystem(there), free_bytes=usage.free, total_bytes=usage.total)


def _filesystem(folder: Path) -> str:
    """The kind of filesystem that a folder is on: that of the mount nearest above it."""
    real, kinds = folder.resolve(), {}
    for line in _text(Path("/proc/self/mountinfo")).splitlines():
        words = line.split()
        kinds[Path(words[4].encode().decode("unicode_escape"))] = words[words.index("-") + 1]
    return next((kinds[one] for one in (real, *real.parents) if one in kinds), "")
