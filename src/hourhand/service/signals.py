"""Service: how a process is told to stop: once gently, a second time without patience."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class Stopping:
    """What the signals have said so far."""

    stop: asyncio.Event = field(default_factory=asyncio.Event)
    hurry: asyncio.Event = field(default_factory=asyncio.Event)

    def told(self) -> None:
        """One more signal."""
        (self.hurry if self.stop.is_set() else self.stop).set()


@contextmanager
def signals() -> Iterator[Stopping]:
    """SIGTERM and SIGINT are for whoever is in this block."""
    stopping = Stopping()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stopping.told)
    try:
        yield stopping
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
