"""Model: alert rules, what the engine remembers of each, and the notices that come of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An instance of the task ended failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedInARow:
    """The task's last `count` endings were all failures; what was cancelled does not count."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """An instance is due for so many seconds and has not started."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverStarted:
    """So many seconds after an instant of its schedule, nothing of it has started and no skip was recorded."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningLonger:
    """An instance runs for longer than so many seconds, or than so many times its task's median."""

    seconds: float | None = None
    times_median: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorLost:
    """An executor fell silent without having stopped cleanly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLonger:
    """More than `count` instances have been waiting to be claimed for so many minutes."""

    count: int
    minutes: float


Condition = Failed | FailedInARow | Late | NeverStarted | RunningLonger | ExecutorLost | QueueLonger


class ScopeKind(StrEnum):
    """How much an alert rule looks at."""

    ALL = "all"
    GROUP = "group"
    TASK = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What an alert rule looks at; a group or a task is named by its id, its name, or both."""

    kind: ScopeKind = ScopeKind.ALL
    id: int | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """When notices are held back; `days` are those on which the hours begin, 0 = Monday."""

    begin: time
    end: time
    timezone: str
    days: frozenset[int] = frozenset(range(7))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where notices go; what is secret of it is sealed."""

    id: str
    kind: str
    """Which notifier sends to it: `apprise` or `webhook`."""
    shown: str
    """Its address, fit to be shown."""
    sealed: str = field(repr=False)
    sealed_with: str | None = None
    """Of a new one the check value of the key that sealed it, which must be the store's; None once it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDefinition:
    """What somebody wrote of an alert rule, but for its targets."""

    name: str
    condition: Condition
    scope: Scope = field(default_factory=Scope)
    enabled: bool = True
    notify_recovery: bool = True
    quiet_hours: QuietHours | None = None
    group_seconds: int = 60
    repeat_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule(AlertDefinition):
    """An alert rule as it is stored."""

    id: int
    targets: tuple[Target, ...]
    active_since: datetime
    """What ended before this is none of its business."""
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a rule's condition holds for, or that has happened."""

    subject: str
    """`task:7`, `instance:42`, `executor:host-1`, `group:1`: what it is the state of."""
    what: str
    """The subject in words: `task 'close_books'`."""
    text: str
    about: Mapping[str, Any] = field(default_factory=dict)
    """Ids and names, for programs that read the notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that one rule needs to know of the store at one moment."""

    happened: tuple[Finding, ...] = ()
    """What is told each time, such as every failure."""
    holding: Mapping[str, Finding] = field(default_factory=dict)
    """By subject: for what the condition holds."""
    known: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By subject: what is to be remembered though all is well with it."""
    forgotten: frozenset[str] = frozenset()
    """Subjects that there are no more: nothing is said of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """What is remembered of a rule and one subject."""

    subject: str
    since: datetime
    firing_since: datetime | None = None
    last_notified_at: datetime | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


class ItemKind(StrEnum):
    """What one item of a notice tells."""

    FIRING = "firing"
    REMINDER = "reminder"
    RECOVERED = "recovered"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to be told."""

    kind: ItemKind
    subject: str
    text: str
    at: datetime
    recovered_at: datetime | None = None
    """When it recovered while it was waiting to be told."""
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What of a rule waits to be told, and until when it waits."""

    open_until: datetime | None = None
    collected: tuple[Item, ...] = ()
    dropped: int = 0
    """How many more there were than are kept in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """All that is remembered of one rule."""

    states: Mapping[str, SubjectState] = field(default_factory=dict)
    delivery: Delivery = field(default_factory=Delivery)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One message; every target of the rule gets it, at least once."""

    id: str
    """The same for every try, so that receivers can drop doubles."""
    rule_id: int
    rule_name: str
    kind: ItemKind
    """Of its items, the gravest."""
    at: datetime
    title: str
    text: str
    items: tuple[Item, ...]
    more: int = 0
    """How many items there were beside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A notice on its way to one target."""

    outbox_id: int
    target: Target | None
    """None when the rule or the target has been removed since."""
    event: Mapping[str, Any]
    created_at: datetime
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """Something that an alert rule's condition holds for just now."""

    rule_id: int
    rule_name: str
    subject: str
    text: str
    firing_since: datetime
    last_notified_at: datetime | None
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A notice and what became of it at one target."""

    id: int
    notice_id: str
    rule_id: int
    rule_name: str
    kind: str
    title: str
    text: str
    target: str | None
    """As it may be shown; None when it has been removed."""
    created_at: datetime
    sent_at: datetime | None
    given_up_at: datetime | None
    next_try_at: datetime
    tries: int
    last_error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What came of looking at all alert rules once."""

    notices: int = 0
    more: bool = False
    """Whether there is more to look at right away."""
