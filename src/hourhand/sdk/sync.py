"""SDK: the client for synchronous code: the same calls, made by an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from hourhand.model.errors import HourhandError
from hourhand.sdk import forking
from hourhand.sdk.context import running_loop

if TYPE_CHECKING:
    from hourhand.model.explanation import Explanation
    from hourhand.model.instance import Instance, LogLine, SubmittedInstance
    from hourhand.model.operation import Preview
    from hourhand.model.task import Task
    from hourhand.model.words import Status
    from hourhand.sdk.client import Client

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Side:
    """The loop, its thread, and the client that lives there."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    client: Client


class SyncClient:
    """`client.sync`: use it as `with client.sync as client:`, or call `close` at the end.

    May be called from any number of threads, but from none that runs an event loop: there, await the client itself.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._starting = threading.Lock()
        self._side: _Side | None = None
        self._end: weakref.finalize[[_Side], SyncClient] | None = None
        forking.tell(self)

    def __enter__(self) -> Self:
        """Connect at the first call."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Give everything back, and end the thread."""
        with self._starting:
            end, self._side, self._end = self._end, None, None
        if end is not None:
            end()

    def submit(
        self,
        task_name: str,
        args: Mapping[str, Any] | None = None,
        *,
        priority: int | None = None,
        run_at: datetime | None = None,
        key: str | None = None,
        conn: object = None,
    ) -> SubmittedInstance:
        """Submit one instance of a task; `conn` is a blocking connection, used in this very thread."""
        if conn is None:
            return self._run(self._client.submit(task_name, args, priority=priority, run_at=run_at, key=key))
        joining = self._run(self._client.joining(task_name, args, priority=priority, run_at=run_at, key=key))
        return joining.submit_blocking(conn)

    def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """Submit an instance for each of these arguments; their ids, in order."""
        return self._run(self._client.submit_many(task_name, many))

    def plan(self, task_name: str, args: Mapping[str, Any] | None = None) -> Instance:
        """Make an instance that stays planned until it is dispatched."""
        return self._run(self._client.plan(task_name, args))

    def dispatch(self, instance_id: int) -> Instance:
        """Let a planned instance go on."""
        return self._run(self._client.dispatch(instance_id))

    def dispatch_many(self, ids: Sequence[int]) -> None:
        """Let planned instances go on."""
        self._run(self._client.dispatch_many(ids))

    def get(self, instance_id: int) -> Instance:
        """The instance as it is now, living or ended."""
        return self._run(self._client.get(instance_id))

    def wait(self, instance_id: int, timeout: float | None = None) -> Instance:
        """The instance once it has ended; TimeoutError if that takes longer."""
        return self._run(self._client.wait(instance_id, timeout))

    def cancel(self, instance_id: int, reason: str | None = None) -> Instance:
        """End what has not started; ask what runs to stop."""
        return self._run(self._client.cancel(instance_id, reason))

    def retry(self, instance_id: int, args: Mapping[str, Any] | None = None) -> Instance:
        """Revive what failed or was cancelled."""
        return self._run(self._client.retry(instance_id, args))

    def logs(self, instance_id: int, after: int = -1, *, follow: bool = False) -> Iterator[LogLine]:
        """What it wrote, after the line with that `seq`; with `follow` until it has ended."""
        pages = self._client.logs(instance_id, after, follow=follow).pages()
        while page := self._run(_next(pages)):
            yield from page

    def instances(
        self,
        task_name: str | None = None,
        *,
        status: Status | str | None = None,
        begin: datetime | None = None,
        end: datetime | None = None,
        limit: int = 50,
    ) -> list[Instance]:
        """The newest instances, of one task or of all: the living, then the ended."""
        return self._run(self._client.instances(task_name, status=status, begin=begin, end=end, limit=limit))

    def task(self, name: str) -> Task:
        """The task of that name, as it is now."""
        return self._run(self._client.task(name))

    def explain(self, instance_id: int) -> Explanation:
        """Why it has not started, still runs, or ended as it did."""
        return self._run(self._client.explain(instance_id))

    def preview_operation(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What an operation would do now."""
        return self._run(self._client.preview_operation(kind, config))

    def start_operation(
        self,
        kind: str,
        config: Mapping[str, Any],
        *,
        plan_hash: str | None = None,
        priority: int | None = None,
        run_at: datetime | None = None,
        held: bool = False,
        notes: str | None = None,
        key: str | None = None,
    ) -> SubmittedInstance:
        """Start an operation; with the `plan_hash` of a preview only if the plan is still that one."""
        return self._run(
            self._client.start_operation(
                kind,
                config,
                plan_hash=plan_hash,
                priority=priority,
                run_at=run_at,
                held=held,
                notes=notes,
                key=key,
            )
        )

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        if running_loop() is not None:
            call.close()
            raise HourhandError(
                "client.sync was called inside a running event loop, which would stand still meanwhile: await the "
                "client itself (`await client.submit(…)`), or call this in a thread (`asyncio.to_thread`)"
            )
        future = asyncio.run_coroutine_threadsafe(call, self._started().loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C must not leave a call behind that nobody waits for
            raise

    def _started(self) -> _Side:
        with self._starting:
            if self._side is None:
                loop = asyncio.new_event_loop()
                thread = threading.Thread(target=_run, args=(loop,), name="hourhand-client", daemon=True)
                self._side = _Side(loop, thread, self._client)
                thread.start()
                # Also when it is collected, and at exit: connections must not be cut in the middle of something.
                self._end = weakref.finalize(self, _end, self._side)
            return self._side

    def forked(self) -> list[object]:
        """In a copy of the process: there is no thread here, and the loop belongs to the original."""
        side, self._side = self._side, None
        self._starting = threading.Lock()
        if self._end is not None:
            self._end.detach()
            self._end = None
        return [side]


async def _next(pages: AsyncIterator[T]) -> T | None:
    return await anext(pages, None)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _close(side: _Side) -> None:
    try:
        await side.client.close()
    finally:
        side.loop.stop()


def _end(side: _Side) -> None:
    """Close the client there, end its loop, and wait for its thread."""
    closing = asyncio.run_coroutine_threadsafe(_close(side), side.loop)
    if threading.current_thread() is not side.thread:  # where it may be collected, of all places
        side.thread.join()
        closing.result()
