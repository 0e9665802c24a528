"""Operations: what most kinds share: they do their plan's steps one after another."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Plan, Step, Support, Undo
from hourhand.operations.config import Config
from hourhand.operations.work import LiveWork

C = TypeVar("C", bound=Config)
S = TypeVar("S")
SCRIPT_ONLY = "SQL Server: a T-SQL script to read and run by hand; no server was there to execute it on"


class Kind(Generic[C, S]):
    """Derive from it, name the class's fields, and write `inspect`, `plan` and a `do_<action>` for each action."""

    kind: ClassVar[str]
    number: ClassVar[int]
    title: ClassVar[str]
    """What it does, in one line."""
    config: type[C]
    example: ClassVar[Mapping[str, Any]]
    refused: ClassVar[Mapping[Dialect, str]] = {}
    """Where it is not done: why, and what to do in its place."""
    scripts: ClassVar[frozenset[Dialect]] = frozenset({Dialect.SQLSERVER})
    """Where it only writes a script."""
    marks_destructive: ClassVar[bool] = False
    """Whether its plans mark every step that is `destructive`. Of a kind that does not say so each step is taken for
    one, and whoever approves it is asked to be sure."""

    def support(self, dialect: Dialect) -> tuple[Support, str]:
        """What it can do there."""
        if dialect in self.refused:
            return Support.REFUSED, self.refused[dialect]
        return (Support.SCRIPT, SCRIPT_ONLY) if dialect in self.scripts else (Support.DONE, "")

    async def inspect(self, config: C, look: Look) -> S:
        """Look at all that the plan depends on."""
        raise NotImplementedError

    def plan(self, config: C, state: S) -> Plan:
        """Decide, without looking."""
        raise NotImplementedError

    def script_state(self, config: C) -> S:
        """What is assumed of a server that nothing connects to; only of kinds that write scripts."""
        raise NotImplementedError

    async def estimate(self, look: Look, plan: Plan) -> Plan:  # noqa: ARG002 - for kinds that can tell
        """The same plan with estimates; by default without."""
        return plan

    async def execute(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """Do the steps; what they kept in `work.facts` is the summary, unless a kind makes its own."""
        for step in plan.steps:
            await work.do(step, self._body(work, step))
        return self.summary(work, plan)

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002
        """What is told of it in the end; counts come from the database, not from counters."""
        return dict(work.facts)

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:  # noqa: ARG002
        """What takes it back; by default nothing does."""
        return None

    def _body(self, work: LiveWork, step: Step) -> Callable[[], Awaitable[object]]:
        if step.action is None:
            return lambda: work.execute(step)
        action: Callable[[LiveWork, Step], Awaitable[object]] = getattr(self, f"do_{step.action}")
        return lambda: action(work, step)
