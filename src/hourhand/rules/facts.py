"""Rules: what must be known of an instance to explain it; whoever keeps it gathers these facts in one look."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hourhand.model.instance import AttemptRecord, Instance
from hourhand.model.pause import Pause
from hourhand.model.registry import Executor, Lane
from hourhand.model.task import TaskDefinition
from hourhand.model.window import OpenWindow
from hourhand.model.words import DependencyMode, Status, UpstreamFailurePolicy
from hourhand.rules.dependency import Release, Standing

MOST_AHEAD = 10_000
"""Those who come first are counted up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """One wait of an instance, as it stands."""

    task_id: int
    task_name: str | None
    """None for a task of a group that is out of the reach of whoever asks: no more is told than that it is awaited."""
    own: bool
    """It waits for its turn, behind an earlier instance of its own task."""
    instant: datetime | None
    standing: Standing
    to_come: bool = False
    deleted: bool = False
    outcome: Status | None = None
    living: tuple[tuple[int, Status], ...] = ()
    """The instances of that instant that live."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """All that an instance waits for, and what is decided of it right now."""

    awaited: tuple[Awaited, ...]
    release: Release | None
    mode: DependencyMode
    policy: UpstreamFailurePolicy
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A concurrency key."""

    limit: int
    holders: tuple[int, ...]
    """The instances that have its permits, some of them if there are many, and none that is out of reach."""
    taken: int
    ahead: int
    """How many come first, at most MOST_AHEAD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Who could take it, and who comes first."""

    group: str
    lane: Lane
    alive: tuple[tuple[Executor, int], ...]
    """All executors within reach that have beaten within a lease, each with its group's id."""
    silent: tuple[str, ...] = ()
    """Executors of its group that are registered but have fallen silent."""
    ahead: int = 0
    """How many come first in its lane, at most MOST_AHEAD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One instance at one moment."""

    looked_at: datetime
    instance: Instance
    definition: TaskDefinition | None
    """None when this release cannot read it."""
    pauses: tuple[Pause, ...] = ()
    """Those that close its lane."""
    windows: tuple[OpenWindow, ...] = ()
    """Those that close it too."""
    waiting: Waiting | None = None
    key: Key | None = None
    lanes: Lanes | None = None
    attempt: AttemptRecord | None = None
    """The newest of those that did not end it."""
    earlier: int = 0
    """How many attempts are recorded before the one that runs or ended it."""
    lease_expired: bool = False
    cancelled_by: str | None = None

    @property
    def tries(self) -> int:
        """Which attempt runs or ended it: those that were lost or handed back count too, though not as retries."""
        counted = self.instance.retry_count + self.instance.loss_count  # the records are kept by days, and may be gone
        return max(self.earlier, counted) + 1


def moment(time: datetime) -> str:
    """A time as people read it in an explanation."""
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
