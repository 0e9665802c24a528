"""SDK: what becomes of clients in a copy of the process, which has their connections but none of their threads."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """What has connections or threads."""

    def forked(self) -> list[object]:
        """In the copy: let go of them, and return them."""


_alive: weakref.WeakSet[Forkable] = weakref.WeakSet()


def tell(one: Forkable) -> None:
    """Let it know of each copy, as long as it lives."""
    _alive.add(one)


def _forked() -> None:
    left = [thing for one in list(_alive) for thing in one.forked() if thing is not None]
    if left:
        import ctypes  # noqa: PLC0415 - copies are rare

        # Never closed and never collected, not even at the exit of the copy: they share sockets and their registration
        # with the original, which would lose them.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(left))


os.register_at_fork(after_in_child=_forked)
