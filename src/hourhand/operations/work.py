"""Operations: an attempt at work: steps, the ladder of lock time-outs, positions, progress."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, Protocol, TypeVar

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Blocker, Plan, Side, Step
from hourhand.operations.config import Config
from hourhand.operations.failures import LockNotGained, OperationFailure, StatementFailed
from hourhand.operations.locking import limit_waits
from hourhand.operations.looking import LiveLook
from hourhand.operations.throttle import LOOK_SECONDS, Throttle
from hourhand.rules.operations import fraction, plan_to_json

T = TypeVar("T")
_LONGEST_PAUSE = 5.0
_LEAST_PAUSE = 0.05


class Reporter(Protocol):
    """What an attempt tells of itself; `hourhand.contracts.runner.Attempt` is one."""

    def log(self, message: str, *, level: str = "info") -> None:
        """Write to the instance log."""

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Tell how far it has come."""


class LiveWork:
    """One attempt at a plan; `hourhand.contracts.operation.Work` says what each part promises."""

    def __init__(
        self,
        look: LiveLook,
        config: Config,
        plan: Plan,
        reporter: Reporter,
        *,
        instance_id: int,
        kept: Mapping[str, Any],
    ) -> None:
        self._look = look
        self._reporter = reporter
        self._throttle = Throttle(config)
        self._done: list[str] = list(kept.get("done", ()))
        self._step: Step | None = None
        self._kept_step: str | None = kept.get("step")
        self._kept_position: Mapping[str, Any] = kept.get("position") or {}
        self.config = config
        self.plan = plan
        self.instance_id = instance_id
        self.position: Mapping[str, Any] = {}
        self.facts: dict[str, Any] = dict(kept.get("facts") or {})

    @property
    def source(self) -> Session:
        """The data source of the configuration."""
        return self._look.source

    @property
    def now(self) -> datetime:
        """The data source's clock when the attempt began."""
        return self._look.now

    async def open(self, data_source: str) -> Session:
        """A session to another data source."""
        return await self._look.open(data_source)

    async def address(self) -> Address:
        """Where the data source is."""
        return await self._look.address()

    async def side(self, step: Step) -> Session:
        """Where a step's statements are executed."""
        target = self.plan.config.get("target_data_source")
        return await self.open(str(target)) if step.side is Side.TARGET and target else self.source

    async def do(self, step: Step, body: Callable[[], Awaitable[object]]) -> None:
        """One step, unless it is done; a cancel stops it, or waits for what must be finished."""
        self._step = step
        resuming = self._kept_step is not None
        await self._reporter.progress(None if resuming else self._fraction(0.0), phase=step.phase)
        if await self._is_done(step):
            self.log(f"{step.name}: already done")
            if resuming and self._kept_step != step.name:
                return  # the position that was kept belongs to a later step, and stays the last one until then
        else:
            self.position = self._kept_position if self._kept_step == step.name else {}
            self.log(f"{step.name} …" if not self.position else f"{step.name}: goes on from {dict(self.position)}")
            await self._finished(step, body)
        if step.name not in self._done:
            self._done.append(step.name)
        self._kept_step, self._kept_position = None, {}
        await self._store({}, 1.0)

    def known_done(self, step: Step) -> bool:
        """Whether a checkpoint says that it is done; for kinds whose later steps may change what a check sees."""
        return step.name in self._done

    def begin_again(self) -> None:
        """Take no step for done: what they have made is on a machine that is not this one."""
        self._done.clear()
        self._kept_step, self._kept_position = None, {}

    async def _is_done(self, step: Step) -> bool:
        """The catalog's word counts; where there is none to ask, that of the last checkpoint."""
        if step.done_check is None:
            return step.name in self._done
        rows = await (await self.side(step)).fetch(step.done_check)
        return bool(rows and next(iter(rows[0].values())))

    async def _finished(self, step: Step, body: Callable[[], Awaitable[object]]) -> None:
        if step.cancellable:
            await body()
            return
        doing = asyncio.ensure_future(body())
        try:
            await asyncio.shield(doing)
        except asyncio.CancelledError:
            if not doing.done():
                self.log(f"{step.name}: finishing, since it must not be left half done")
                await self._reporter.progress(phase="finishing")
            with suppress(OperationFailure):
                await doing
            raise

    async def execute(self, step: Step) -> int:
        """Execute a step's statements up the ladder."""
        session = await self.side(step)

        async def body() -> int:
            return sum([await session.execute(sql) for sql in step.sql])

        return await self.climb(step, body)

    async def change(self, step: Step, sql: str, *params: object, session: Session | None = None) -> int:
        """Execute one statement of a step; what was not approved is not executed."""
        self.require_planned(step, sql)
        return await (session or await self.side(step)).execute(sql, *params)

    def require_planned(self, step: Step, sql: str) -> None:
        """Refuse what nobody has approved; for statements that only a driver can execute (COPY)."""
        if sql not in step.sql:
            raise StatementFailed(f"step {step.name!r} has no such statement, so that nobody has approved it: {sql}")

    async def climb(self, step: Step, body: Callable[[], Awaitable[T]]) -> T:
        """Try under the lock time-out, let others go first, try again."""
        session = await self.side(step)
        seen: list[Blocker] = []
        for rung in range(self.config.lock_retries + 1):
            try:
                async with self._watching(session, seen):
                    return await self._tried(step, session, body)
            except LockNotGained as error:
                told = "; ".join(f"{one.session} ({one.who}) {one.doing}" for one in seen) or str(error)
                if rung == self.config.lock_retries:
                    raise LockNotGained(
                        f"{step.name}: no lock within {self.config.lock_timeout_ms} ms, tried {rung + 1} times; "
                        f"held up by {told}: let that end, or try at a quieter time"
                    ) from error
                self.log(f"{step.name}: waits for a lock; held up by {told}", level="warning")
            await asyncio.sleep(min(0.1 * 2 ** min(rung, 6), _LONGEST_PAUSE) * random.uniform(0.5, 1.5))  # noqa: S311
        raise AssertionError  # the last rung returns or raises

    async def _tried(self, step: Step, session: Session, body: Callable[[], Awaitable[T]]) -> T:
        if not step.transaction or session.dialect is Dialect.SQLITE:  # whose BEGIN is what waits
            await limit_waits(session, self.config, locally=False)
        if not step.transaction:
            return await body()
        async with session.transaction():
            if session.dialect is not Dialect.SQLITE:
                await limit_waits(session, self.config, locally=True)
            return await body()

    @asynccontextmanager
    async def _watching(self, session: Session, seen: list[Blocker]) -> AsyncIterator[None]:
        """Look who holds it up while it waits: afterwards nobody can tell."""

        async def watch() -> None:
            pause = self.config.lock_timeout_ms / 2000
            while True:  # a statement may come to its lock late, or be one of several
                await asyncio.sleep(pause)
                pause = max(pause, _LEAST_PAUSE)
                found = await session.blockers()
                if found:
                    seen[:] = found

        watching = asyncio.ensure_future(watch())
        try:
            yield
        finally:
            watching.cancel()
            # Not suppressed: a cancel that comes just now is the operation's own, and would be lost for good.
            await asyncio.gather(watching, return_exceptions=True)

    async def save(self, position: Mapping[str, Any], fraction: float | None = None) -> None:
        """Make a position durable."""
        self.position = position
        await self._store(position, fraction)

    async def _store(self, position: Mapping[str, Any], within: float | None) -> None:
        kept = {
            "plan": plan_to_json(self.plan),
            "done": self._done,
            "step": self._step.name if self._step else None,
            "position": dict(position),
            "facts": self.facts,
        }
        await self._reporter.progress(None if within is None else self._fraction(within), checkpoint=kept)

    async def tell(self, fraction: float) -> None:
        """How much of this step is done."""
        await self._reporter.progress(self._fraction(fraction))

    def _fraction(self, within: float) -> float:
        index = self.plan.steps.index(self._step) if self._step in self.plan.steps else 0
        return fraction(self.plan, index, within)

    def log(self, message: str, *, level: str = "info") -> None:
        """Write to the instance log."""
        self._reporter.log(message, level=level)

    async def breathe(self) -> None:
        """Wait as long as there is a reason to."""
        told = None
        while (reason := await self._throttle.reason(self.source)) is not None:
            if told is None:
                self.log(f"waits: {reason}")
                told = reason
            await asyncio.sleep(LOOK_SECONDS)
        if told is not None:
            self.log("goes on")
