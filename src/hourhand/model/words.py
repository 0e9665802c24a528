"""Model: the closed vocabularies, one enum per word."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where an instance stands in its life."""

    PLANNED = "planned"
    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether the instance has moved to the execution logs."""
        return self in ENDED


ENDED = frozenset({Status.SUCCESS, Status.FAILED, Status.CANCELLED})


class BlockedBy(StrEnum):
    """What a planned instance waits for, in the order in which the obstacles are cleared."""

    DISPATCH = "dispatch"
    DEPENDENCIES = "dependencies"
    PERMIT = "permit"


class TaskType(StrEnum):
    """Which runner executes a task."""

    COMMAND = "command"
    HTTP = "http"
    PYTHON = "python"
    OPERATION = "operation"
    XXL = "xxl"


class TriggeredBy(StrEnum):
    """Who made an instance."""

    SCHEDULER = "scheduler"
    MANUAL = "manual"
    API = "api"
    DEPENDENCY = "dependency"
    BACKFILL = "backfill"


class MisfirePolicy(StrEnum):
    """What happens to instants that were missed by more than the grace."""

    FIRE_ONCE = "fire_once"
    SKIP = "skip"
    CATCH_UP = "catch_up"


class OverlapPolicy(StrEnum):
    """What happens when an instant comes while an earlier scheduler-made instance lives."""

    SKIP = "skip"
    SERIAL = "serial"
    REPLACE = "replace"
    PARALLEL = "parallel"


class DependencyMode(StrEnum):
    """Whether all dependencies are needed, or one."""

    ALL = "all"
    ANY = "any"


class UpstreamFailurePolicy(StrEnum):
    """What a waiting instance does when what it waits for has failed."""

    WAIT = "wait"
    FAIL = "fail"
    RUN = "run"


class ExecutorLossPolicy(StrEnum):
    """What happens to an attempt whose executor died."""

    REQUEUE = "requeue"
    FAIL = "fail"


class RetryBackoff(StrEnum):
    """How the delay between attempts grows."""

    FIXED = "fixed"
    EXPONENTIAL = "exponential"


class SkipReason(StrEnum):
    """Why an instant did not become an instance."""

    MISFIRE = "misfire"
    OVERLAP = "overlap"
    WINDOW = "window"
    PAUSED = "paused"
    NO_EXECUTOR = "no_executor"


class OutcomeKind(StrEnum):
    """What became of one attempt."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"
    HANDED_BACK = "handed_back"


class Requires(StrEnum):
    """What a wait needs of the instant it waits on."""

    SUCCESS = "success"
    END = "end"


class AddressType(StrEnum):
    """Whether a group's executors register themselves or are listed by hand."""

    AUTO = "auto"
    MANUAL = "manual"


class ExecutorKind(StrEnum):
    """How an executor is spoken to."""

    NATIVE = "native"
    XXL = "xxl"


class LineLevel(StrEnum):
    """How grave a line of an instance log is, the least first."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Role(StrEnum):
    """What somebody may do; each may do all that those before it may."""

    VIEWER = "viewer"
    """Look."""
    OPERATOR = "operator"
    """Run, cancel, retry, pause."""
    EDITOR = "editor"
    """Write tasks and alert rules."""
    ADMIN = "admin"
    """Everything: groups, users, tokens, the audit, and what reaches beyond an executor's policy."""

    def includes(self, other: Role) -> bool:
        """Whether this role may do what the other may."""
        order = list(Role)
        return order.index(self) >= order.index(other)
