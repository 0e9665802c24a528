"""Runners: the pipe by which a command tells how far it has come, one line each time.

A line is `FRACTION [PHASE]`, such as `0.4 loading customers`, or a JSON object with `progress`, `phase` and
`checkpoint`. One that is neither is logged as a warning and ignored: a report is no reason to fail.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import HourhandError, StaleFence, shown

LONGEST_LINE = 256 * 1024
LONGEST_PHASE = 200
_KEYS = ("progress", "phase", "checkpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one line says."""

    fraction: float | None = None
    phase: str | None = None
    checkpoint: Any = None


def read_report(line: str) -> Report:
    """What the line says; raises ValueError with what is wrong with it."""
    if line.lstrip().startswith("{"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is not JSON: {error}") from None
        unknown = [name for name in found if name not in _KEYS]
        if unknown:
            raise ValueError(f"{shown(unknown[0])} is not one of {', '.join(_KEYS)}")
        return Report(
            fraction=_fraction(found.get("progress")),
            phase=_phase(found.get("phase")),
            checkpoint=found.get("checkpoint"),
        )
    number, _, phase = line.strip().partition(" ")
    try:
        fraction = float(number)
    except ValueError:
        raise ValueError(f"{shown(number)} is not a number from 0 to 1") from None
    return Report(fraction=_fraction(fraction), phase=_phase(phase.strip() or None))


def _fraction(value: object) -> float | None:
    if value is None:
        return None
    right = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
    if not right:
        raise ValueError(f"{shown(value)} is not a number from 0 to 1")
    return float(value)  # type: ignore[arg-type]  # just checked


def _phase(value: object) -> str | None:
    if value is None or (isinstance(value, str) and len(value) <= LONGEST_PHASE and value.isprintable()):
        return value
    raise ValueError(f"{shown(value)} is not a phase: a text of one line, of at most {LONGEST_PHASE} characters")


class ProgressPipe:
    """The pipe of one attempt."""

    def __init__(self, path: Path, attempt: Attempt) -> None:
        self.path = path
        self._attempt = attempt
        os.mkfifo(path, 0o600)
        # Open for writing too: so a writer never waits for a reader, and the last one to close it ends nothing.
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._buffer = bytearray()
        self._wake = asyncio.Event()
        self._finishing = False
        self._too_long = False
        self._superseded = False

    async def follow(self) -> None:
        """Report what is written, until told to finish; a report that waits to be stored makes its writer wait."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe, self._wake.set)
        try:
            while not self._finishing:
                await self._wake.wait()
                self._wake.clear()
                # Not looked at while a report waits to be stored: what is there would wake it again and again.
                loop.remove_reader(self._pipe)
                await self._take()
                loop.add_reader(self._pipe, self._wake.set)
        finally:
            loop.remove_reader(self._pipe)
        while await self._take():
            pass
        if self._buffer and not self._too_long:
            await self._line(bytes(self._buffer))

    def finish(self) -> None:
        """Let `follow` end with what was written until now, also a last line without an end."""
        self._finishing = True
        self._wake.set()

    def close(self) -> None:
        """Close the pipe."""
        os.close(self._pipe)

    async def _take(self) -> bool:
        """Read once, and report the lines that are whole; whether there was anything."""
        try:
            data = os.read(self._pipe, 64 * 1024)
        except BlockingIOError:
            return False
        self._buffer += data
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if self._too_long:
                self._too_long = False  # the rest of it
            else:
                await self._line(line)
        if len(self._buffer) > LONGEST_LINE:
            self._buffer.clear()
            if not self._too_long:
                self._ignored(f"it is longer than {LONGEST_LINE} bytes")
            self._too_long = True
        return True

    async def _line(self, line: bytes) -> None:
        if self._superseded or not line.strip():
            return
        try:
            report = read_report(line.decode())
        except ValueError as error:  # also a UnicodeDecodeError
            self._ignored(f"{error}; the line was {shown(line.decode(errors='replace'))}")
            return
        try:
            await self._attempt.progress(report.fraction, phase=report.phase, checkpoint=report.checkpoint)
        except StaleFence:
            self._superseded = True  # it will be stopped; until then its reports go nowhere, so that it is not held up
        except HourhandError as error:
            self._ignored(str(error))

    def _ignored(self, reason: str) -> None:
        self._attempt.log(f"a line written to HOURHAND_PROGRESS was ignored: {reason}", level="warning")
