"""Runners: the user of this machine that a command runs as."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass

from hourhand.model.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user, as the machine knows it."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str
    groups: tuple[int, ...]
    other: bool
    """Whether the executor runs as somebody else, and has to change to it."""


def account(name: str | None) -> Account:
    """The user of that name, or the executor's own; refuses one that it cannot become."""
    me = os.geteuid()
    if name is None:
        return _own(me)
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise InvalidInput.one(
            "command_user", name, f"there is no user {name!r} on this machine: create it, or name one that exists"
        ) from None
    if me not in (0, found.pw_uid):
        raise InvalidInput.one(
            "command_user",
            name,
            f"this executor runs as {_own(me).name!r} and cannot become {name!r}: start it as root or as {name!r}",
        )
    return Account(
        name=name,
        uid=found.pw_uid,
        gid=found.pw_gid,
        home=found.pw_dir,
        shell=found.pw_shell or "/bin/sh",
        groups=tuple(os.getgrouplist(name, found.pw_gid)),
        other=found.pw_uid != me,
    )


def _own(uid: int) -> Account:
    try:
        found = pwd.getpwuid(uid)
        name, home, shell = found.pw_name, found.pw_dir, found.pw_shell or "/bin/sh"
    except KeyError:  # as in a container that was given any number for its user
        name, home, shell = str(uid), "/", "/bin/sh"
    groups = tuple(os.getgroups())
    return Account(name=name, uid=uid, gid=os.getegid(), home=home, shell=shell, groups=groups, other=False)
