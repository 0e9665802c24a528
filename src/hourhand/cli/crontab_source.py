"""A crontab for the CLI to read: its text, whose it is, and the clock that it goes by."""

from __future__ import annotations

import contextlib
import os
import pwd
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.rules.crontab import Crontab

STDIN = "-"
LARGEST_BYTES = 1024 * 1024
_USUAL_USERS = frozenset({"root", "nobody", "www-data", "postgres", "mysql", "nginx", "apache", "backup", "daemon"})
"""Users that a crontab of another machine may name."""


def read(file: str) -> str:
    """The text of a file, or of standard input; bytes that are no UTF-8 are kept for the line that has them."""
    try:
        given = _stdin() if file == STDIN else _bounded(Path(file))
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise InvalidInput.one("FILE", file, f"{file!r} cannot be read: {said}") from None
    if len(given) > LARGEST_BYTES:
        raise InvalidInput.one("FILE", file, f"{file!r} has more than 1 MiB: that is no crontab")
    return given.decode("utf-8", "surrogateescape")


def _bounded(path: Path) -> bytes:
    with path.open("rb") as opened:
        return opened.read(LARGEST_BYTES + 1)


def _stdin() -> bytes:
    binary = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read().encode() if binary is None else bytes(binary.read(LARGEST_BYTES + 1))


def is_system(file: str, text: str, *, told: bool | None) -> bool:
    """Whether each line names a user: as told, by where the file lies, or as it looks if that leaves no doubt."""
    from hourhand.rules.crontab import looks_like_system

    if told is not None:
        return told
    if is_of_the_system(file):
        return True
    looks = looks_like_system(text, _USUAL_USERS | {user.pw_name for user in pwd.getpwall()})
    if looks is None:
        raise InvalidInput.one(
            "FILE",
            file,
            "may be a system crontab (with a user before each command) or a user's own: say --system or --user",
        )
    return looks


def is_of_the_system(file: str) -> bool:
    """Whether cron reads it as a system crontab, because of where it lies."""
    path = Path(file).absolute()
    return path == Path("/etc/crontab") or path.parent == Path("/etc/cron.d")


def of_user(crontab: Crontab, name: str | None) -> Crontab:
    """The same, as the crontab of that user, if it is somebody else's."""
    if name is None or name == _own_name():
        return crontab
    return replace(crontab, entries=tuple(replace(entry, user=entry.user or name) for entry in crontab.entries))


def home_of(user: str | None) -> str | None:
    """Where cron would begin: the home of that user on this machine, or of whoever asks."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir if user is None else pwd.getpwnam(user.partition(":")[0]).pw_dir
    except KeyError:
        return None


def local_zone() -> str | None:
    """The zone of this machine's clock, by which its cron goes; None if it has no name."""
    from hourhand.rules import zones
    from hourhand.rules.cron_fields import Refused

    for name in _zone_names():
        try:
            return "UTC" if name == "Etc/UTC" else zones.check(name)
        except Refused:
            continue
    return None


def _zone_names() -> list[str]:
    found = [os.environ.get("TZ", "").removeprefix(":")]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found.append(Path("/etc/timezone").read_text("utf-8").strip())
    where = str(Path("/etc/localtime").resolve())
    if "/zoneinfo/" in where:
        found.append(where.partition("/zoneinfo/")[2])
    return [name for name in found if name]


def _own_name() -> str | None:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return None
