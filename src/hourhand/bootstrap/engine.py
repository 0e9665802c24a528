"""Bootstrap: the engine of a process: a scheduler, executors, or both, on one open store."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from hourhand import __version__
from hourhand.bootstrap.alerts import build_post
from hourhand.bootstrap.guest import Guest
from hourhand.bootstrap.listener import listening
from hourhand.bootstrap.opening import open_store
from hourhand.bootstrap.operations import build_desk
from hourhand.bootstrap.upkeep import DaysAhead
from hourhand.contracts.runner import Handler, Runner
from hourhand.executor import Executor, Timing
from hourhand.executor.claimer import CallbackUrl
from hourhand.model import registry
from hourhand.model.demo import DEMO_GROUP
from hourhand.model.words import TaskType
from hourhand.operations.runner import OperationRunner
from hourhand.rules.callback import signature
from hourhand.rules.lanes import handlers_of
from hourhand.runners.command import CommandRunner
from hourhand.runners.http import HttpRunner
from hourhand.runners.python import PythonRunner
from hourhand.scheduler import Scheduler
from hourhand.service.outage import Outage, persist
from hourhand.service.signals import Stopping, signals
from hourhand.settings import Settings, is_loopback
from hourhand.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What this process is to do."""

    scheduling: bool = False
    groups: tuple[str, ...] = ()
    """One executor for each."""
    handlers: Mapping[tuple[str, str], Handler] = field(default_factory=dict)
    """By app and name."""
    demo: Callable[[], Mapping[tuple[str, str], Handler]] | None = None
    """The demo's handlers, loaded once it is in the store; None: this process does not serve it."""

    @property
    def provides(self) -> tuple[str, ...]:
        """What its executors can execute, in the words of lanes."""
        return (registry.BUILTIN, *sorted({handlers_of(app) for app, _ in self.handlers}))


@asynccontextmanager
async def awaited_store(
    settings: Settings, outage: Outage, *, owner: str = "", migrate: bool = False
) -> AsyncIterator[Store]:
    """The store, waited for if it cannot be reached yet: whoever starts everything at once need not mind the order."""
    async with AsyncExitStack() as stack:

        async def enter() -> Store:
            return await stack.enter_async_context(open_store(settings, owner=owner, migrate=migrate))

        yield await persist(enter, outage)


async def run_alone(
    settings: Settings,
    work: Work,
    announce: Callable[[Store], None],
    *,
    prepare: Callable[[Store], Awaitable[None]] | None = None,
    migrate: bool = False,
) -> None:
    """A process that does nothing else: open the store, work until SIGTERM or SIGINT, drain."""
    outage = Outage()
    async with (
        listening(settings) as watched,
        awaited_store(settings, outage, owner=process_name("engine"), migrate=migrate) as store,
    ):
        watched.opened(store)
        if prepare is not None:
            await prepare(store)
        with signals() as stopping:
            announce(store)
            await run(store, settings, work, stopping, outage)


async def run(
    store: Store, settings: Settings, work: Work, stopping: Stopping, outage: Outage, *, address: str | None = None
) -> None:
    """Work until told to stop, then drain; `address` is where this process's own API listens."""
    async with AsyncExitStack() as stack:
        parts = [DaysAhead(store).run(stopping.stop, outage)]
        if address is not None:  # else `run_alone` listens already
            (await stack.enter_async_context(listening(settings))).opened(store)
        if work.scheduling:
            post = build_post(settings, store, serving=address is not None)
            stack.push_async_callback(post.close)
            scheduler = Scheduler(
                store,
                process_name("scheduler"),
                heartbeat_seconds=settings.heartbeat_seconds,
                retention_days=settings.retention_days,
                audit_retention_days=settings.audit_retention_days,
                outage=outage,
                post=post,
            )
            parts.append(scheduler.run(stopping.stop))
        if work.groups:
            runners = _runners(settings, store, work, stack, serving=address is not None)
            key = await persist(store.callback_key, outage)
            url = partial(_callback_url, (address or settings.url).rstrip("/"), key)
            build = partial(_executor, store, settings, outage=outage, callback_url=url)
            parts += [build(runners, group, work).run(stopping.stop, stopping.hurry) for group in work.groups]
            if work.demo is not None:
                demo = partial(_visit, settings, work.demo, build, stopping.hurry)
                visit = partial(demo, store=store, serving=address is not None)
                parts.append(Guest(store, outage, visit).run(stopping.stop))
        async with asyncio.TaskGroup() as together:
            for part in parts:
                together.create_task(part)


def _executor(
    store: Store,
    settings: Settings,
    runners: Mapping[TaskType, Runner],
    group: str,
    work: Work,
    *,
    outage: Outage,
    callback_url: CallbackUrl,
) -> Executor:
    known = identity(settings, group, work)
    return Executor(store, runners, known, _timing(settings), outage=outage, callback_url=callback_url)


async def _visit(
    settings: Settings,
    load: Callable[[], Mapping[tuple[str, str], Handler]],
    build: Callable[[Mapping[TaskType, Runner], str, Work], Executor],
    hurry: asyncio.Event,
    leave: asyncio.Event,
    *,
    store: Store,
    serving: bool,
) -> None:
    """Serve the demo's group, by runners of its own, until told to leave."""
    work = Work(groups=(DEMO_GROUP,), handlers=load())
    async with AsyncExitStack() as stack:
        await build(_runners(settings, store, work, stack, serving=serving), DEMO_GROUP, work).run(leave, hurry)


def identity(settings: Settings, group: str, work: Work) -> registry.Executor:
    """Who an executor of this process is."""
    return registry.Executor(
        id=process_name(group),
        group=group,
        hostname=socket.gethostname(),
        pid=os.getpid(),
        version=__version__,
        capacity=settings.concurrency,
        labels=settings.labels,
        provides=work.provides,
    )


def process_name(role: str) -> str:
    """Unlike any other, also after a restart with the same pid."""
    return f"{socket.gethostname()}-{os.getpid()}-{role}-{secrets.token_hex(3)}"


def _timing(settings: Settings) -> Timing:
    return Timing(
        heartbeat_seconds=settings.heartbeat_seconds,
        lease_seconds=settings.lease_seconds,
        grace_seconds=settings.grace_seconds,
    )


def _runners(
    settings: Settings, store: Store, work: Work, stack: AsyncExitStack, *, serving: bool
) -> Mapping[TaskType, Runner]:
    command = CommandRunner(settings)
    stack.callback(command.close)
    # Whoever may add tasks to an API on loopback is on this machine already, and may call it.
    http = HttpRunner(settings, loopback=serving and is_loopback(settings.host))
    stack.push_async_callback(http.close)
    python = PythonRunner(work.handlers, settings=settings)
    stack.push_async_callback(python.close)
    runners: tuple[Runner, ...] = (command, http, python, OperationRunner(build_desk(settings, store)))
    return {runner.type: runner for runner in runners}


def _callback_url(base: str, key: bytes, instance_id: int, fence: int) -> str:
    return f"{base}/api/v1/callbacks/{instance_id}/{fence}/{signature(key, instance_id, fence)}"
