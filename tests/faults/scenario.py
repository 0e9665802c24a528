"""Scenarios: a store with tasks, processes that work on it, and what is asked of them once the faults are over."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg

from faults import journal
from faults.checker import check
from faults.cluster import APP_NAME, Processes
from faults.history import History, Mark, MarkKind, Violation
from faults.marks import read_marks
from faults.witness import read_history
from hourhand.model.errors import StoreUnavailable
from hourhand.model.instance import Submission
from hourhand.model.task import Task, TaskDefinition
from hourhand.model.words import OverlapPolicy, TaskType, UpstreamFailurePolicy
from hourhand.store import Store, open_store
from hourhand.store.types import to_micros

START_SECONDS = 120.0
QUIET_SECONDS = 120.0
"""This long after the faults have stopped, nothing that was due may be left: seconds, unless the machine is busy."""
EVERY_SECOND = ("@every 1s", "* * * * * ?")
AWAY = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
"""What reading past the store may meet while the server is down."""


async def eventually(what: str, condition: Callable[[], Awaitable[Any]], seconds: float = START_SECONDS) -> Any:
    """Wait until a condition gives something, and return that; fail, naming it, when it takes too long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := await condition():
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds:g} s")


def definition(name: str, schedule: str = "@manual", **fields: Any) -> TaskDefinition:
    """A task whose work marks its start and its end; `args` are those of the handler."""
    payload = {"handler": "work", "app": APP_NAME, "args": fields.pop("args", {})}
    values = {"upstream_failure_policy": UpstreamFailurePolicy.RUN, "overlap_policy": OverlapPolicy.PARALLEL} | fields
    return TaskDefinition(name=name, type=TaskType.PYTHON, schedule=schedule, payload=payload, **values)


@dataclass
class Scenario:
    """One store, its processes and its tasks."""

    processes: Processes
    tasks: dict[str, Task] = field(default_factory=dict)
    accepted: list[int] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.processes.url

    async def prepare(self, tasks: Sequence[TaskDefinition], after: Sequence[tuple[str, ...]] = ()) -> None:
        """Begin the journal and create the tasks; `after` names, for each, itself and then what it depends on."""
        await journal.install(self.url)
        needed = {name: upstreams for name, *upstreams in after}
        store = await open_store(self.url)
        try:
            for one in tasks:
                fields = {name: getattr(one, name) for name in TaskDefinition.__dataclass_fields__}
                fields["dependency_ids"] = tuple(self.tasks[name].id for name in needed.get(one.name, ()))
                self.tasks[one.name] = await store.create_task(TaskDefinition(**fields), by="faults")
        finally:
            await store.close()

    async def submit(self, store: Store, name: str, **args: Any) -> int:
        """Submit an instance; from here on it may not be lost."""
        (submitted,) = await store.submit([Submission(task_id=self.tasks[name].id, args=args or None)])
        self.accepted.append(submitted.instance_id)
        return submitted.instance_id

    async def keep_submitting(self, name: str, seconds: float) -> None:
        """Submit ten times a second, whether or not the store is there; only what was acknowledged counts."""
        store = await open_store(self.url)
        deadline = time.monotonic() + seconds
        try:
            while time.monotonic() < deadline:
                with suppress(StoreUnavailable):
                    await self.submit(store, name)
                await asyncio.sleep(0.1)
        finally:
            await store.close()

    async def started(self, instance_id: int, *, above: int = 0) -> Mark:
        """Wait for the mark of an attempt at an instance whose fence is higher than that."""

        async def look() -> Mark | None:
            marks = (one for one in read_marks(self.processes.marks) if one.kind is MarkKind.START)
            return next((one for one in marks if one.instance_id == instance_id and one.fence > above), None)

        found: Mark = await eventually(f"a start of instance {instance_id} above fence {above}", look)
        return found

    async def under_way(self, ended: int = 20) -> None:
        """Wait until everybody has begun to work."""

        async def look() -> bool:
            (row,) = await journal.fetch(self.url, "SELECT count(*) AS n FROM execution_logs")
            return bool(row["n"] >= ended)

        try:
            await eventually(f"{ended} endings", look)
        except AssertionError as error:
            raise AssertionError(f"{error}; the processes' logs are in {self.processes.logs}") from None

    async def kill_at_random(self, dice: random.Random, seconds: float, rest: tuple[float, float] = (1.0, 2.0)) -> int:
        """Kill one process after the other, and start another in its place each time; how many."""
        deadline = time.monotonic() + seconds
        kills = 0
        while time.monotonic() < deadline:
            victim = dice.choice(self.processes.alive)
            self.processes.replace(victim)
            kills += 1
            await asyncio.sleep(dice.uniform(*rest))
        return kills

    async def quiet(self, until: datetime, seconds: float = QUIET_SECONDS) -> float | None:
        """Wait until nothing that was due by then is left; how long it took, or None if it took too long."""
        begun = time.monotonic()
        literal = str(to_micros(until)) if self.url.startswith("sqlite") else f"'{until.isoformat()}'::timestamptz"
        query = (
            f"SELECT (SELECT count(*) FROM task_instances WHERE scheduled_time <= {literal}) "  # noqa: S608 - our own
            f"+ (SELECT count(*) FROM task_instants WHERE unsettled IS NOT NULL AND scheduled_time <= {literal}) "
            f"+ (SELECT count(*) FROM tasks WHERE next_fire_at <= {literal}) AS unfinished"
        )
        while time.monotonic() - begun < seconds:
            try:
                (row,) = await journal.fetch(self.url, query)
            except AWAY:
                row = {"unfinished": -1}
            if row["unfinished"] == 0:
                return time.monotonic() - begun
            await asyncio.sleep(0.2)
        return None

    async def history(self, seconds: float = QUIET_SECONDS) -> History:
        """Let what is due end, stop everybody, and read what has become of it."""
        until = datetime.now(UTC)
        await self.quiet(until, seconds)
        await asyncio.to_thread(self.processes.stop)
        return await read_history(self.url, self.processes.marks, until, tuple(self.accepted))

    def explain(self, violations: Sequence[Violation]) -> str:
        """Say what was broken and where to look."""
        shown = "\n  ".join(str(one) for one in violations[:20])
        more = f"\n  … and {len(violations) - 20} more" if len(violations) > 20 else ""
        return f"{len(violations)} violations:\n  {shown}{more}\nthe processes' logs are in {self.processes.logs}"

    def require_clean(self, history: History) -> None:
        """Fail with all that is wrong."""
        violations = check(history)
        if violations:
            raise AssertionError(self.explain(violations))


def busy(count: int) -> tuple[list[TaskDefinition], list[tuple[str, ...]]]:
    """So many tasks due every second, by every overlap policy, and a diamond of dependents."""
    policies = (OverlapPolicy.PARALLEL, OverlapPolicy.SKIP, OverlapPolicy.PARALLEL, OverlapPolicy.SERIAL)
    tasks = [
        definition(
            f"busy-{number:03}",
            EVERY_SECOND[number % len(EVERY_SECOND)],
            overlap_policy=policies[number % len(policies)],
            # Some are long enough to be under way whenever somebody is killed; one after the other they would pile up.
            args={"seconds": 1.5 if number % 5 == 0 and policies[number % 4] is not OverlapPolicy.SERIAL else 0.02},
        )
        for number in range(count)
    ]
    diamond = [
        definition("top", "* * * * * ?"),
        definition("left", "@upstream"),
        definition("right", "@upstream", args={"seconds": 0.2}),
        definition("bottom", "@upstream"),
        definition("beside", "* * * * * ?"),
        definition("submitted"),
    ]
    after = [("left", "top"), ("right", "top"), ("bottom", "left", "right"), ("beside", "top")]
    return [*tasks, *diamond], after
