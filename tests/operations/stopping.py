"""An attempt that ends at its so-manieth statement, on whichever data source, before it or after, which nobody knows.

    moments = await moments_of(kind, config, sources)           # "statement", "statement", "commit", …
    checkpoint = await stopped(kind, config, sources, at=17)
    ran = await run(kind, config, sources, checkpoint=checkpoint)

The statements are real, and so are the sessions: they are only counted.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.operations import looking
from hourhand.operations.runner import OperationRunner
from hourhand.operations.sessions import open_session
from operations.running import Interrupted, InterruptedAttempt, Sources, desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from hourhand.contracts.operation import Row, Session
    from hourhand.model.data_source import Address


@dataclass
class _Counter:
    """Counts the moments at which an attempt may end."""

    at: int | None
    passed: list[str] = field(default_factory=list)

    def moment(self, what: str = "statement") -> None:
        self.passed.append(what)
        if len(self.passed) == self.at:
            raise Interrupted(None)


class _Counted:
    """A session whose statements, commits included, are counted; all else is the session's own."""

    def __init__(self, session: Session, counter: _Counter) -> None:
        self._session = session
        self._counter = counter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    @property
    def driver(self) -> Any:
        self._counter.moment()
        return self._session.driver

    async def fetch(self, sql: str, *params: object) -> list[Row]:
        self._counter.moment()
        return await self._session.fetch(sql, *params)

    async def execute(self, sql: str, *params: object) -> int:
        touched = await self._session.execute(sql, *params)
        self._counter.moment()
        return touched

    @asynccontextmanager
    async def transaction(self, *, isolation: str | None = None) -> AsyncIterator[None]:
        async with self._session.transaction(isolation=isolation):
            yield
            self._counter.moment("commit")
        self._counter.moment("commit")


async def moments_of(kind: str, config: Mapping[str, Any], sources: Sources) -> list[str]:
    """Return the moments at which a whole run may end: next to a commit, or to another statement."""
    counter = _Counter(None)
    await _run(kind, config, sources, counter)
    return counter.passed


async def stopped(kind: str, config: Mapping[str, Any], sources: Sources, *, at: int, checkpoint: object = None) -> Any:
    """Run one attempt until a moment, and return the last checkpoint that it stored."""
    return await _run(kind, config, sources, _Counter(at), checkpoint)


async def _run(
    kind: str, config: Mapping[str, Any], sources: Sources, counter: _Counter, checkpoint: object = None
) -> Any:
    async def counted(address: Address) -> Any:
        return _Counted(await open_session(address), counter)

    payload = {"kind": kind, "config": {"data_source": next(iter(sources)), **config}}
    definition = TaskDefinition(name=kind, type=TaskType.OPERATION, payload=payload)
    attempt = InterruptedAttempt(
        definition, None, checkpoint=checkpoint, cancel_after=None, stop_at=None, lose_last=False
    )
    attempt.begins()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "open_session", counted)
        try:
            outcome = await OperationRunner(desk(sources)).run(attempt)
        except Interrupted:
            return attempt.stored
    assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message
    return attempt.stored
