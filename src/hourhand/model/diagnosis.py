"""Model: what `hourhand doctor` looks at, and what it finds.

Facts are plain values that somebody has read; `rules.doctor` judges them. None of them is a secret: a process tells
its own over REST to operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hourhand.model.figures import GroupFigures


class Level(StrEnum):
    """How grave a finding is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and somebody should know."""
    PROBLEM = "problem"
    """Something does not work, or will not for long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    check: str
    """Its name, such as `store.schema`; what comes before the dot is the area."""
    level: Level
    summary: str
    detail: str = ""
    """What it means."""
    remedy: str = ""
    """What to do next: a command to copy, if one does it."""


class KeyState(StrEnum):
    """What is known of the key of secrets, as one process has it."""

    UNUSED = "unused"
    """No secret was ever stored."""
    FITS = "fits"
    MISSING = "missing"
    WRONG = "wrong"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenExecutor:
    """An executor of the registry."""

    id: str
    group: str
    hostname: str
    version: str
    silent_seconds: float
    capacity: int
    running: int
    labels: Mapping[str, str]
    provides: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What enabled tasks ask of an executor, and how many do so."""

    group: str
    requires: str
    labels: Mapping[str, str]
    tasks: int
    example: str
    """The name of one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What enabled command tasks start; None is a text for the shell."""

    group: str
    name: str | None
    tasks: int
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsent:
    """The last notice of an alert rule to one of its targets, if it did not arrive."""

    rule: str
    target: str
    error: str
    since: datetime
    given_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """A pause in force of a group, or of everything (None)."""

    group: str | None
    reason: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What the tables of a store tell of those who work on it."""

    looked_at: datetime
    groups: tuple[GroupFigures, ...] = ()
    executors: tuple[SeenExecutor, ...] = ()
    demands: tuple[Demand, ...] = ()
    programs: tuple[Program, ...] = ()
    tasks_left_out: bool = False
    """Whether there are more tasks than were looked at."""
    resting: tuple[Resting, ...] = ()
    cycle_seconds: float | None = None
    """How long ago some scheduler last completed a cycle."""
    tasks_due: int = 0
    """How many tasks a scheduler should have looked at by now."""
    overdue_seconds: float = 0.0
    """By how much the oldest of them."""
    days_ahead: int | None = None
    ledger_floor: datetime | None = None
    """Retention has removed what is older."""
    oldest_log: datetime | None = None
    alert_rules: int = 0
    unsent: tuple[Unsent, ...] = ()
    audit_sealed: int = 0
    audit_unsealed: int = 0
    audit_unsealed_seconds: float = 0.0
    """How long the oldest entry of the audit that is not part of the chain has been waiting."""
    secrets: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """A session that holds a transaction open and does nothing."""

    pid: int
    application: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseFacts:
    """What a database tells of itself, whether or not Hourhand's tables are in it."""

    dialect: str
    version: str
    """As people write it, such as 16.4."""
    major: int
    settings: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    connections: int = 0
    connections_of_ours: int = 0
    idle: tuple[Idle, ...] = ()
    tables_lacking: tuple[str, ...] = ()
    """Tables that this user may not read or write."""
    may_create: bool = True
    """Whether this user may make the partitions of days to come."""
    default_partitions: tuple[str, ...] = ()
    live_rows: int = 0
    dead_rows: int = 0
    """Of the table of living instances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFacts:
    """What a process that serves the API tells of itself."""

    version: str
    hostname: str
    looked_at: datetime
    """By the clock of its machine."""
    python: str
    root: bool
    loopback: bool
    """Whether only its own machine reaches it."""
    proxies: bool
    """Whether it believes a proxy in front of it."""
    open_files: int
    lease_seconds: float
    retention_days: int
    key: KeyState
    key_detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a running server tells of itself and of its store."""

    process: ProcessFacts
    database: DatabaseFacts
    store: Examined
