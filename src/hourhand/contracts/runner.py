"""Contracts: a runner carries out one attempt; the executor gives it the attempt and takes its outcome.

Terminology
    attempt     one try at an instance, under a fence; everything it says is checked against that fence
    runner      how one type of task is executed
    handler     a user's Python function
    grace       how long what is being stopped may take to end by itself before it is killed

How an attempt is stopped: a cancel, a time-out and a lost lease all cancel the task in which `Runner.run` runs. The
runner then stops what it started, gently first and after the grace by force, and either lets CancelledError go on or
returns an outcome with what was written so far; why it was stopped is for the executor to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from hourhand.model.instance import Assignment, Outcome
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType

STDOUT, STDERR = "stdout", "stderr"


class Attempt(Protocol):
    """One attempt, as its runner sees it."""

    @property
    def assignment(self) -> Assignment:
        """What was claimed: ids, fence, checkpoint, shard."""

    @property
    def definition(self) -> TaskDefinition:
        """The version of the task that this instance runs."""

    @property
    def args(self) -> Mapping[str, Any]:
        """The instance's arguments, above those of the payload."""

    @property
    def cancelled(self) -> bool:
        """Whether it has been asked to stop; for code that cannot be interrupted and must look for itself."""

    @property
    def phase(self) -> str | None:
        """What it last said it was doing; lines written from now on carry it."""

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Write to the instance log; never waits, may be called from any thread.

        Bounded per attempt: past the bound one marker says that the rest is not kept.
        """

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Tell how far it has come.

        With a checkpoint this returns once that is durable, and raises InvalidInput if it cannot be stored as JSON and
        StaleFence if the attempt was superseded. Without one it never waits; the newest word is stored soon.
        """

    def callback_url(self) -> str | None:
        """Where work that goes on elsewhere may report its outcome; None if this executor knows no such address."""


class Runner(Protocol):
    """How one type of task is executed; one file each in `hourhand.runners`."""

    type: ClassVar[TaskType]

    async def run(self, attempt: Attempt) -> Outcome:
        """Carry the attempt out.

        Never raises for what the work itself did wrong: that is a failed outcome, with an error message that says what
        and `retryable=False` where trying again is pointless (the payload is wrong, the policy forbids it).
        """


class Handler(Protocol):
    """A user's Python function, as the python runner calls it; `hourhand.sdk` makes them."""

    @property
    def name(self) -> str:
        """By which tasks name it in their payload."""

    @property
    def isolation(self) -> str:
        """`loop` (async), `thread` (sync) or `process` (a child that can be killed)."""

    @property
    def source(self) -> str | None:
        """`module:app`, where a child process finds it; None if it can be reached in this process only."""

    async def call(self, attempt: Attempt) -> object:
        """Run it here, on the loop or in a thread, with a Context over the attempt; whatever it returns or raises.

        Raises InvalidInput when the arguments do not fit the function's signature.
        """
