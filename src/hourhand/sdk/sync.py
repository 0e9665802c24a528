"""SDK: the client for synchronous code: the same calls, made by an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar

from hourhand.model.instance import Instance, LogLine

if TYPE_CHECKING:
    from hourhand.sdk.client import Client

T = TypeVar("T")


class SyncClient:
    """`client.sync`: use it as `with client.sync as client:`, or call `close` at the end.

    May be called from any number of threads.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Connect at the first call."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Give everything back, and end the thread."""
        with self._starting:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        atexit.unregister(self.close)
        try:
            asyncio.run_coroutine_threadsafe(self._client.close(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    def submit(
        self,
        task_name: str,
        args: Mapping[str, Any] | None = None,
        *,
        priority: int | None = None,
        run_at: datetime | None = None,
        key: str | None = None,
        conn: object = None,
    ) -> Instance:
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

    def logs(self, instance_id: int, after: int = -1) -> list[LogLine]:
        """What it wrote, after the line with that `seq`."""
        return self._run(self._client.logs(instance_id, after))

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(call, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C must not leave a call behind that nobody waits for
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="hourhand-client", daemon=True)
                self._thread.start()
                atexit.register(self.close)  # else connections would be cut in the middle of something
            return self._loop
