"""SDK: the client, by which programs submit instances and look after them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, Self

from hourhand.model.errors import HourhandError, InvalidInput, StoreUnavailable
from hourhand.sdk.asked import Asked
from hourhand.settings import Settings, load_settings

if TYPE_CHECKING:
    from hourhand.contracts.store import Joining
    from hourhand.model.instance import Instance, LogLine
    from hourhand.sdk.sync import SyncClient

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.05, 1.0
OUTAGE_SECONDS = 60.0
"""How long `wait` goes on asking a store or server that does not answer."""


class Calls(Protocol):
    """What both ways to a Hourhand offer; the client's methods say what each does."""

    async def close(self) -> None: ...  # noqa: D102
    async def submit(self, asked: Asked) -> Instance: ...  # noqa: D102
    async def joining(self, asked: Asked) -> Joining: ...  # noqa: D102
    async def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]: ...  # noqa: D102
    async def get(self, instance_id: int) -> Instance: ...  # noqa: D102
    async def cancel(self, instance_id: int, reason: str | None) -> Instance: ...  # noqa: D102
    async def retry(self, instance_id: int, args: Mapping[str, Any] | None) -> Instance: ...  # noqa: D102
    async def logs(self, instance_id: int, after: int) -> list[LogLine]: ...  # noqa: D102
    async def dispatch(self, ids: Sequence[int]) -> None: ...  # noqa: D102


class Client:
    """A program's way to a Hourhand: straight to its store, or over REST.

    `Client(store="postgresql://…")` needs no server. `Client(url="http://…", token="…")` does; what is left out comes
    from HOURHAND_URL and HOURHAND_TOKEN, or is the local server with the token of its data folder. Use it as
    `async with Client(…) as client:`, or without and call `close` at the end; it connects at its first call and
    belongs to the event loop of that call. `client.sync` is for code without one.

    Everything refused is the tree of `hourhand.model.errors`, in the same words both ways.
    """

    def __init__(self, store: str | None = None, *, url: str | None = None, token: str | None = None) -> None:
        if store is not None and (url is not None or token is not None):
            raise InvalidInput.one("store", None, "is given together with url or token: give the one or the other")
        self._given = (store, url, token)
        self._settings: Settings = load_settings(store=store, url=url, token=token)
        self._calls: Calls | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._sync: SyncClient | None = None

    async def __aenter__(self) -> Self:
        """Connect."""
        await self._opened()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close."""
        await self.close()

    async def close(self) -> None:
        """Give everything back."""
        if self._sync is not None:
            await asyncio.to_thread(self._sync.close)
        calls, self._calls, self._loop = self._calls, None, None
        if calls is not None:
            await calls.close()

    @property
    def sync(self) -> SyncClient:
        """The same calls for synchronous code; with connections of its own."""
        if self._sync is None:
            from hourhand.sdk.sync import SyncClient  # noqa: PLC0415 - it imports this module

            store, url, token = self._given
            self._sync = SyncClient(Client(store, url=url, token=token))
        return self._sync

    async def submit(
        self,
        task_name: str,
        args: Mapping[str, Any] | None = None,
        *,
        priority: int | None = None,
        run_at: datetime | None = None,
        key: str | None = None,
        conn: object = None,
    ) -> Instance:
        """Submit one instance of a task; it is durable when this returns.

        While an instance with the same `key` lives, that one is the answer. `conn` is your own connection to the
        store's PostgreSQL database, in a transaction: the instance is there if and when you commit.
        """
        if conn is not None:
            return await (await self.joining(task_name, args, priority=priority, run_at=run_at, key=key)).submit(conn)
        asked = Asked(task_name=task_name, args=args, priority=priority, run_at=run_at, key=key)
        return await (await self._opened()).submit(asked)

    async def joining(
        self,
        task_name: str,
        args: Mapping[str, Any] | None = None,
        *,
        priority: int | None = None,
        run_at: datetime | None = None,
        key: str | None = None,
    ) -> Joining:
        """Prepare a submission for your own transaction; what `submit` does first when it is given `conn`."""
        asked = Asked(task_name=task_name, args=args, priority=priority, run_at=run_at, key=key)
        return await (await self._opened()).joining(asked)

    async def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """Submit an instance for each of these arguments; their ids, in order.

        Straight to the store it is all or none. Over REST each is a request of its own.
        """
        return await (await self._opened()).submit_many(task_name, many)

    async def plan(self, task_name: str, args: Mapping[str, Any] | None = None) -> Instance:
        """Make an instance that stays planned until it is dispatched."""
        return await (await self._opened()).submit(Asked(task_name=task_name, args=args, held=True))

    async def dispatch(self, instance_id: int) -> Instance:
        """Let a planned instance go on."""
        await self.dispatch_many([instance_id])
        return await self.get(instance_id)

    async def dispatch_many(self, ids: Sequence[int]) -> None:
        """Let planned instances go on, all or none (over REST: by the thousand)."""
        await (await self._opened()).dispatch(ids)

    async def get(self, instance_id: int) -> Instance:
        """The instance as it is now, living or ended."""
        return await (await self._opened()).get(instance_id)

    async def wait(self, instance_id: int, timeout: float | None = None) -> Instance:  # noqa: ASYNC109 - as promised
        """The instance once it has ended; TimeoutError if that takes longer. It goes on in any case.

        A store or server that does not answer is asked again for a minute.
        """
        loop = asyncio.get_running_loop()
        begin = answered = loop.time()
        delay, found = FIRST_LOOK_SECONDS, None
        while True:
            try:
                found = await self.get(instance_id)
                answered = loop.time()
            except StoreUnavailable:
                if loop.time() - answered > OUTAGE_SECONDS:
                    raise
            if found is not None and found.status.ended:
                return found
            if timeout is not None and loop.time() - begin >= timeout:
                state = "not known" if found is None else found.status.value
                raise TimeoutError(f"instance {instance_id} is {state} after {timeout:g} s, and goes on")
            left = delay if timeout is None else max(0.0, begin + timeout - loop.time())
            await asyncio.sleep(min(delay, left))
            delay = min(delay * 1.5, LAST_LOOK_SECONDS)

    async def cancel(self, instance_id: int, reason: str | None = None) -> Instance:
        """End what has not started; ask what runs to stop. Refused once it has ended."""
        return await (await self._opened()).cancel(instance_id, reason)

    async def retry(self, instance_id: int, args: Mapping[str, Any] | None = None) -> Instance:
        """Revive what failed or was cancelled, with its id and checkpoint, and new arguments if given."""
        return await (await self._opened()).retry(instance_id, args)

    async def logs(self, instance_id: int, after: int = -1) -> list[LogLine]:
        """What it wrote, after the line with that `seq`."""
        return await (await self._opened()).logs(instance_id, after)

    async def _opened(self) -> Calls:
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise HourhandError(
                "this client belongs to another event loop: make one in each loop, or use client.sync without one"
            )
        async with self._opening:
            if self._calls is None:
                self._loop, self._calls = loop, await _open(self._settings, straight=self._given[0] is not None)
            return self._calls


async def _open(settings: Settings, *, straight: bool) -> Calls:
    """Import only the way that is used: a client over REST needs no database drivers."""
    if straight:
        from hourhand.sdk.client_store import StoreCalls  # noqa: PLC0415

        return await StoreCalls.open(settings)
    from hourhand.sdk.client_rest import RestCalls  # noqa: PLC0415

    return await RestCalls.open(settings)
