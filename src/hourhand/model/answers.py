"""Model: what the store answers to its verbs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from hourhand.model.instance import Finished, LogLine
from hourhand.model.words import OutcomeKind, SkipReason, Status


@dataclass(slots=True)
class Aftermath:
    """What follows from a committed change and is still to be looked after."""

    unsettled: set[tuple[int, datetime]] = field(default_factory=set)
    """Instants (task id, time) that have ended and that something may follow from."""
    freed_keys: set[str] = field(default_factory=set)
    """Concurrency keys that may have a free slot, or somebody new waiting for one."""
    waiting: set[int] = field(default_factory=set)
    """Instances that wait and have not been evaluated since they were made."""
    ended: list[tuple[int, int, Status, int | None]] = field(default_factory=list)
    """To be counted: the task and version of each instance that ended, how, and after how many milliseconds if it had
    started."""
    repeated: list[tuple[int, int, OutcomeKind]] = field(default_factory=list)
    """To be counted: the task and version of each attempt that was lost or is tried again."""

    def __bool__(self) -> bool:
        """Whether anything is left to look after."""
        return bool(self.unsettled or self.freed_keys or self.waiting)

    def add(self, other: Aftermath) -> None:
        """Take over what follows from another change."""
        self.unsettled |= other.unsettled
        self.freed_keys |= other.freed_keys
        self.waiting |= other.waiting
        self.ended += other.ended
        self.repeated += other.repeated


@dataclass(slots=True)
class Flush:
    """What one batch of endings led to."""

    finished: list[Finished] = field(default_factory=list)
    aftermath: Aftermath = field(default_factory=Aftermath)


@dataclass(slots=True)
class Materialised:
    """What one batch of due tasks led to."""

    tasks: int = 0
    instants: int = 0
    skipped: int = 0
    skips: Counter[SkipReason] = field(default_factory=Counter)
    """How many instants were skipped, and why; a run of them is one of `skipped`."""
    aftermath: Aftermath = field(default_factory=Aftermath)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaped:
    """Attempts whose executors were lost: how many go round again, how many ended."""

    requeued: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What retention removed: days on PostgreSQL, rows on SQLite; instants of the ledger on both."""

    execution_logs: int
    instance_attempts: int
    instance_logs: int
    instants: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What declaring an app's tasks led to, by name; those that were as declared already are in none of these."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Those that differ from what was declared and were left alone, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLines:
    """Lines that fit, in order, and which part of the log was looked at for them."""

    lines: tuple[LogLine, ...]
    first: int | None
    """The sequence number of the first line that was looked at; None where there was none."""
    last: int
    """That of the last one; where there was none, the place behind which was looked."""
    more: bool
    """Whether there may be more of them: behind `last`, or where the end of the log was asked for, before `first`."""
