"""One operation for real, without a server: previewed, run, interrupted, gone on with.

    ran = await run("data_cleanup", {"table": "orders", …}, {"source": address})
    assert ran.summary["rows"] == 10

    with pytest.raises(Interrupted) as first:
        await run(kind, config, sources, stop_at=3)             # ends once the third checkpoint is stored
        await run(kind, config, sources, stop_after=3)          # ends once the third statement was executed
    ran = await run(kind, config, sources, checkpoint=first.value.checkpoint)

`killing.py` has the same for a process that is killed. Every run through here is held to what operations promise:
progress never goes back, checkpoints are plain JSON, and no password is ever told.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from hourhand.model.data_source import Address
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.operation import Preview
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.operations.catalogue import Catalogue
from hourhand.operations.desk import Desk
from hourhand.operations.kind import Kind
from hourhand.operations.runner import OperationRunner
from hourhand.operations.sessions.mariadb import MariaSession
from hourhand.operations.sessions.postgresql import PostgresSession
from hourhand.operations.sessions.sqlite import SqliteSession
from hourhand.testing.attempts import FakeAttempt

Sources = Mapping[str, Address]
"""Data sources by name; the first is the one that is worked on, unless the configuration names another."""

HOUSEKEEPING = ("SET ", "PRAGMA ", "START TRANSACTION", "BEGIN", "COMMIT", "ROLLBACK", "KILL ", "UNLOCK ")
"""Statements that change no data source, and that nobody approves."""


class Interrupted(BaseException):
    """The attempt was interrupted, as it is when its executor is lost; not an error that anybody should handle."""

    def __init__(self, checkpoint: Any) -> None:
        super().__init__()
        self.checkpoint = checkpoint
        """The last one that was stored."""


class InterruptedAttempt(FakeAttempt):
    """An attempt whose executor is lost at a checkpoint."""

    def __init__(
        self,
        definition: TaskDefinition,
        args: Mapping[str, Any] | None,
        *,
        checkpoint: object,
        cancel_after: int | None,
        stop_at: int | None,
        lose_last: bool,
    ) -> None:
        super().__init__(definition, args, checkpoint=checkpoint, cancel_after=cancel_after)
        self._left = stop_at
        self._lose_last = lose_last

    @property
    def stored(self) -> Any:
        """The last checkpoint that was stored, by this attempt or the one before."""
        kept = [one.checkpoint for one in self.reports if one.checkpoint is not None]
        return kept[-1] if kept else self.assignment.checkpoint

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Keep a report, and end where the test wants it."""
        if checkpoint is not None and self._left is not None:
            self._left -= 1
            if self._left <= 0:
                if not self._lose_last:
                    await super().progress(fraction, phase=phase, checkpoint=checkpoint)
                raise Interrupted(self.stored)
        await super().progress(fraction, phase=phase, checkpoint=checkpoint)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    outcome: Outcome
    attempt: InterruptedAttempt

    @property
    def summary(self) -> Mapping[str, Any]:
        """What is told of it in the end; a run that failed has none, so that asking for it fails with the reason."""
        assert self.outcome.kind is OutcomeKind.SUCCESS, f"{self.outcome.error_message}\n" + "\n".join(self.lines)
        return self.outcome.summary or {}

    @property
    def error(self) -> str:
        """Why it failed."""
        assert self.outcome.kind is not OutcomeKind.SUCCESS, f"it did not fail: {self.outcome.summary}"
        return self.outcome.error_message or ""

    @property
    def lines(self) -> list[str]:
        """The instance log."""
        return [line.message for line in self.attempt.lines]

    @property
    def checkpoint(self) -> Any:
        """The last one that was stored."""
        return self.attempt.stored

    @property
    def checkpoints(self) -> int:
        """How many were stored: at each of them a run may be interrupted."""
        return sum(one.checkpoint is not None for one in self.attempt.reports)

    @property
    def fractions(self) -> list[float]:
        """How far it said it had come."""
        return [one.fraction for one in self.attempt.reports if one.fraction is not None]

    @property
    def phases(self) -> list[str]:
        """What it said it was doing, each once in a row."""
        said = [one.phase for one in self.attempt.reports if one.phase is not None]
        return [one for number, one in enumerate(said) if number == 0 or said[number - 1] != one]


async def preview(kind: str, config: Mapping[str, Any], sources: Sources, *, extra: Sequence[str] = ()) -> Preview:
    """Plan and show."""
    shown = await desk(sources, extra).preview(kind, _named(config, sources))
    _assert_nothing_told(json.dumps(asdict(shown), default=str, ensure_ascii=False), sources)
    return shown


async def run(
    kind: str,
    config: Mapping[str, Any],
    sources: Sources,
    *,
    checkpoint: object = None,
    args: Mapping[str, Any] | None = None,
    cancel_after: int | None = None,
    stop_at: int | None = None,
    lose_last: bool = False,
    stop_after: int | None = None,
    extra: Sequence[str] = (),
) -> Ran:
    """Run one attempt.

    Args:
        kind: The operation's.
        config: Its configuration; `data_source` may be left out.
        sources: The data sources that it may ask for.
        checkpoint: Where the attempt before was.
        args: The instance's arguments, such as `{"plan_hash": …}`.
        cancel_after: Cancel it at its so-manieth report; CancelledError is raised.
        stop_at: Lose its executor at its so-manieth checkpoint; Interrupted is raised, with what was stored.
        lose_last: Whether that checkpoint is lost too.
        stop_after: Lose its executor once its so-manieth statement was executed; a transaction that is open then ends
            without a commit. A run that executes fewer is not interrupted.
        extra: Kinds beside the built-in ones, as `module:Class`.
    """
    definition = TaskDefinition(
        name=kind, type=TaskType.OPERATION, payload={"kind": kind, "config": _named(config, sources)}
    )
    attempt = InterruptedAttempt(
        definition, args, checkpoint=checkpoint, cancel_after=cancel_after, stop_at=stop_at, lose_last=lose_last
    )
    attempt.begins()
    try:
        with _lost_after(attempt, stop_after):
            ran = Ran(await OperationRunner(desk(sources, extra)).run(attempt), attempt)
    finally:
        told = [*(asdict(line) for line in attempt.lines), *(asdict(report) for report in attempt.reports)]
        _assert_nothing_told(json.dumps(told, default=str, ensure_ascii=False), sources)
    _assert_nothing_told(json.dumps(asdict(ran.outcome), default=str, ensure_ascii=False), sources)
    assert ran.fractions == sorted(ran.fractions), f"progress went back: {ran.fractions}"
    assert all(0 <= one <= 1 for one in ran.fractions), ran.fractions
    return ran


@contextmanager
def _lost_after(attempt: InterruptedAttempt, statements: int | None) -> Iterator[None]:
    """Have the executor lost right after a statement: the database has it, and nobody was told."""
    sessions: tuple[Any, ...] = (PostgresSession, MariaSession, SqliteSession)
    kept = [one.execute for one in sessions]
    left = statements or 0

    def lost(execute: Callable[..., Any]) -> Callable[..., Any]:
        async def then_lost(self: Any, sql: str, *params: object) -> Any:
            nonlocal left
            touched = await execute(self, sql, *params)
            if not sql.lstrip().upper().startswith(HOUSEKEEPING):
                left -= 1
                if left == 0:
                    raise Interrupted(attempt.stored)
            return touched

        return then_lost

    try:
        for one, execute in zip(sessions, kept, strict=True):
            one.execute = lost(execute) if statements is not None else execute
        yield
    finally:
        for one, execute in zip(sessions, kept, strict=True):
            one.execute = execute


def desk(sources: Sources, extra: Sequence[str] = ()) -> Desk:
    """Return a desk that knows these data sources."""

    async def address(name: str) -> Address:
        if name not in sources:
            raise InvalidInput.one("config.data_source", name, f"there is no data source {name!r}")
        return sources[name]

    return Desk(address, _Wider(extra))


class _Wider(Catalogue):
    """The built-in kinds, and those of a test."""

    def __init__(self, extra: Sequence[str]) -> None:
        super().__init__()
        for one in extra:
            module, _, name = one.partition(":")
            found: Kind[Any, Any] = getattr(importlib.import_module(module), name)()
            self._kinds[found.kind] = found


def _named(config: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    return {"data_source": next(iter(sources)), **config}


def _assert_nothing_told(text: str, sources: Sources) -> None:
    for source in sources.values():
        assert not source.password or source.password not in text, f"a password was told: {text[:2000]}"
