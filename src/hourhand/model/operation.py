"""Model: an operation's plan: what will be executed, step by step, before anything is.

A plan is made by a pure function of a configuration and of what was found in the data source. It is what a preview
shows, what a person approves by its hash, what is executed, and what an executor that takes over goes on with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.words import TriggeredBy


class Support(StrEnum):
    """What a kind can do on a dialect."""

    DONE = "done"
    SCRIPT = "script"
    """A script to read and run by hand; it was never executed by Hourhand."""
    REFUSED = "refused"


class Duration(StrEnum):
    """How long a step takes, as far as that can be told beforehand."""

    MOMENT = "moment"
    """Changes the catalog only."""
    BY_SIZE = "by size"
    """Reads or writes the rows concerned."""
    UNKNOWN = "unknown"


class Side(StrEnum):
    """Where a step is executed."""

    SOURCE = "source"
    TARGET = "target"
    EXECUTOR = "executor"
    """On the executor's own machine: files and programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan."""

    name: str
    """Unlike any other of the plan; says what it does: `attach orders_2026_02`."""
    phase: str
    """One word, such as `prepare`, `copy`, `verify`, `swap`, `clean`."""
    sql: tuple[str, ...] = ()
    """The statements, in order. Of an action: those it executes, once for each chunk, with their parameters' marks."""
    side: Side = Side.SOURCE
    lock: str | None = None
    """What it locks and for whom, in the database's words: `ACCESS EXCLUSIVE on shop.orders`; None: nothing."""
    duration: Duration = Duration.MOMENT
    transaction: bool = True
    """Whether its statements are one transaction; some cannot be in one at all (`… CONCURRENTLY`)."""
    cancellable: bool = True
    """Whether a cancel interrupts it; what is not is finished first."""
    destructive: bool | None = None
    """Whether rows, tables or files of somebody's are deleted or overwritten by it; None: its kind does not say."""
    done_check: str | None = None
    """A query whose first value says whether it has been done: after a crash the catalog is the truth."""
    weight: float = 1.0
    """Its share of the progress."""
    action: str | None = None
    """The method of the kind that carries it out (`do_<action>`); None: its statements are all there is to it."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the action needs to know; plain JSON."""
    rows: int | None = None
    """An estimate, and so are the next two: they are not part of what is approved."""
    bytes: int | None = None
    disk_bytes: int | None = None
    """How much room it needs beside what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """Something that must hold, or the operation is refused before it changes anything."""

    name: str
    ok: bool
    detail: str
    """What was found; where it does not hold, also what would help."""
    side: Side = Side.SOURCE
    """Where it was looked for; what is true of one machine need not be of the executor's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an operation will do."""

    kind: str
    dialect: Dialect
    config: Mapping[str, Any]
    """The configuration with every default filled in; plain JSON."""
    steps: tuple[Step, ...]
    preconditions: tuple[Precondition, ...] = ()
    notes: tuple[str, ...] = ()
    """What whoever approves it should know."""
    script_only: bool = False
    """Whether it is to be read and run by hand: Hourhand never executed the like."""

    @property
    def unmet(self) -> tuple[Precondition, ...]:
        """What keeps it from being executed."""
        return tuple(one for one in self.preconditions if not one.ok)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """A session that would hold a step up, or does."""

    session: str
    """As the database names it, such as `pid 4711`."""
    who: str
    """User, program, address."""
    doing: str
    """Its statement, shortened, and for how long its transaction has been open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What the whole plan costs, as far as it can be told beforehand."""

    rows: int | None = None
    bytes: int | None = None
    disk_bytes: int | None = None
    strongest_lock: str | None = None
    blockers: tuple[Blocker, ...] = ()
    """Sessions that hold now what a step would wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A plan as it is shown to whoever approves it."""

    plan: Plan
    plan_hash: str
    impact: Impact
    script: str
    """The whole, as text to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The operation that takes another one back; it is previewed and approved as any other."""

    kind: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A plan that is to become an instance."""

    kind: str
    data_source_id: int
    place: str
    """What it works on, for people: `shop/public.orders`."""
    config: Mapping[str, Any]
    """With every default filled in."""
    plan_hash: str
    plan: Mapping[str, Any]
    """As plain JSON, so that whoever executes it can tell what has changed since."""
    script: str
    requested_by: str
    triggered_by: TriggeredBy = TriggeredBy.MANUAL
    priority: int | None = None
    run_at: datetime | None = None
    held: bool = False
    """Stay planned until somebody, perhaps somebody else, dispatches it."""
    notes: str | None = None
    key: str | None = None
