"""A scheduler and executors in this process, on a store of their own, with short times."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from engine.handlers import app
from hourhand.bootstrap import engine
from hourhand.bootstrap.engine import Work
from hourhand.model.instance import Submission
from hourhand.rules.definition import definition_from
from hourhand.sdk.loading import load_app
from hourhand.service.outage import Outage
from hourhand.service.signals import Stopping
from hourhand.settings import Settings
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from hourhand.model.instance import Instance
    from hourhand.model.task import Task
    from hourhand.store import Store

PATIENCE = 60.0
HEARTBEAT, LEASE, GRACE = 0.3, 1.5, 1.0


class Engine:
    """Shorthand for what tests do with a running engine."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.stopping = Stopping()
        self.outage = Outage()
        self._parts: list[asyncio.Task[None]] = []

    def start(self, *groups: str, scheduling: bool = True, executors: int = 1) -> Stopping:
        """Start parts that stop together."""
        stopping = Stopping()
        handlers = load_app("engine.handlers:app").handlers
        for number in range(executors):
            work = Work(scheduling=scheduling and number == 0, groups=groups or ("default",), handlers=handlers)
            running = engine.run(self.store, self.settings, work, stopping, self.outage)
            self._parts.append(asyncio.create_task(running))
        return stopping

    async def stop(self, stopping: Stopping) -> None:
        """Let them drain."""
        stopping.stop.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._parts)
        self._parts.clear()

    async def task(self, handler: str = "answer", **fields: Any) -> Task:
        """Add a task for one of the handlers, or of another type."""
        given: dict[str, Any] = {
            "name": f"{handler}-{id(fields)}",
            "type": "python",
            "payload": {"handler": handler, "app": app.name},
        }
        return await self.store.create_task(definition_from(given | fields), by="test")

    async def submit(self, task: Task, **args: Any) -> int:
        """Submit one instance."""
        (done,) = await self.store.submit([Submission(task_id=task.id, args=args or None)])
        return done.instance_id

    async def until(self, instance_id: int, *states: str) -> Instance:
        """Wait for an instance to be in one of these states (or ended)."""
        async with asyncio.timeout(PATIENCE):
            while True:
                instance = await self.store.get_instance(instance_id)
                if instance.status in states or (not states and instance.status.ended):
                    return instance
                await asyncio.sleep(0.02)

    async def result(self, task: Task, **args: Any) -> Instance:
        """Submit, and wait for the end."""
        return await self.until(await self.submit(task, **args))


@asynccontextmanager
async def engine_on(url: str, folder: Path, **settings: Any) -> AsyncIterator[Engine]:
    """Open the store and build what the tests start."""
    chosen: dict[str, Any] = {
        "store": url,
        "data_dir": folder / "data",
        "heartbeat_seconds": HEARTBEAT,
        "lease_seconds": LEASE,
        "grace_seconds": GRACE,
        **settings,
    }
    store = await open_store(url, lease_seconds=chosen["lease_seconds"])
    one = Engine(store, Settings(**chosen))
    try:
        yield one
    finally:
        for part in one._parts:  # noqa: SLF001 - a test that failed leaves some
            part.cancel()
        await asyncio.gather(*one._parts, return_exceptions=True)  # noqa: SLF001
        await store.close()
