"""SDK: the client, by which programs submit instances and look after them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypedDict

from hourhand.model.errors import HourhandError, InvalidInput, StoreUnavailable
from hourhand.rules.operation_tasks import kind_of
from hourhand.sdk import forking
from hourhand.sdk.asked import Asked
from hourhand.sdk.calls import Calls, Sought
from hourhand.sdk.lines import Lines
from hourhand.sdk.lives import Life
from hourhand.sdk.operations import Starting
from hourhand.sdk.waiting import Patience
from hourhand.settings import Settings, load_settings

if TYPE_CHECKING:
    from hourhand.contracts.store import Joining
    from hourhand.model.explanation import Explanation
    from hourhand.model.instance import Instance, SubmittedInstance
    from hourhand.model.operation import Preview
    from hourhand.model.task import Task
    from hourhand.model.words import Status
    from hourhand.sdk.sync import SyncClient

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.05, 1.0
OUTAGE_SECONDS = 60.0
"""How long `wait` goes on asking a store or server that does not answer."""


class _Given(TypedDict):
    store: str | None
    url: str | None
    token: str | None
    timeout: float
    patience: float


class Client:
    """A program's way to a Hourhand: straight to its store, or over REST.

    `Client(store="postgresql://…")` needs no server. `Client(url="http://…", token="…")` does; what is left out comes
    from HOURHAND_URL and HOURHAND_TOKEN, or is the local server with the token of its data folder. Use it as
    `async with Client(…) as client:`, or without and call `close` at the end; it connects at its first call and
    belongs to the event loop of that call. `client.sync` is for code without one.

    Over REST each request may take `timeout` seconds; one that nobody answers is made again for `patience` seconds
    where that cannot do a thing twice. Everything refused is the tree of `hourhand.errors`, in the same words both
    ways.
    """

    def __init__(
        self,
        store: str | None = None,
        *,
        url: str | None = None,
        token: str | None = None,
        timeout: float = 30.0,
        patience: float = 5.0,
    ) -> None:
        if store is not None and (url is not None or token is not None):
            raise InvalidInput.one("store", None, "is given together with url or token: give the one or the other")
        self._given: _Given = {"store": store, "url": url, "token": token, "timeout": timeout, "patience": patience}
        self._settings: Settings = load_settings(store=store, url=url, token=token)
        self._calls: Calls | None = None
        self._life: Life | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._sync: SyncClient | None = None
        forking.tell(self)

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
        life, self._life, self._calls, self._loop = self._life, None, None, None
        if life is not None:
            await life.end()

    @property
    def sync(self) -> SyncClient:
        """The same calls for synchronous code; with connections of its own."""
        if self._sync is None:
            from hourhand.sdk.sync import SyncClient  # noqa: PLC0415 - it imports this module

            self._sync = SyncClient(Client(**self._given))
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
    ) -> SubmittedInstance:
        """Submit one instance of a task; it is durable when this returns.

        While an instance with the same `key` lives, that one is the answer, and its `existing` is true. `conn` is your
        own connection to the store's PostgreSQL database, in a transaction: the instance is there if and when you
        commit.
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
        """Make an instance that stays planned until it is dispatched.

        `operation:split_boundary` and the like take the operation's configuration for arguments; what is dispatched
        later is the plan as it is now.
        """
        kind = kind_of(task_name)
        if kind is not None:
            return await self.start_operation(kind, args or {}, held=True)
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
        begin = time.monotonic()
        patience, found = Patience(FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS, OUTAGE_SECONDS), None
        while True:
            try:
                found = await self.get(instance_id)
                patience.answered()
            except StoreUnavailable as away:
                patience.bear(away)
            if found is not None and found.status.ended:
                return found
            waited = time.monotonic() - begin
            if timeout is not None and waited >= timeout:
                state = "not known" if found is None else found.status.value
                raise TimeoutError(f"instance {instance_id} is {state} after {timeout:g} s, and goes on")
            delay = patience.rest()
            await asyncio.sleep(delay if timeout is None else min(delay, timeout - waited))

    async def cancel(self, instance_id: int, reason: str | None = None) -> Instance:
        """End what has not started; ask what runs to stop. Refused once it has ended."""
        return await (await self._opened()).cancel(instance_id, reason)

    async def retry(self, instance_id: int, args: Mapping[str, Any] | None = None) -> Instance:
        """Revive what failed or was cancelled, with its id and checkpoint, and new arguments if given."""
        return await (await self._opened()).retry(instance_id, args)

    def logs(self, instance_id: int, after: int = -1, *, follow: bool = False) -> Lines:
        """What it wrote, after the line with that `seq`: `async for line in client.logs(…)`, or `await` it for a list.

        With `follow` it goes on until the instance has ended and everything was read.
        """
        return Lines(self._opened, instance_id, after=after, follow=follow)

    async def instances(
        self,
        task_name: str | None = None,
        *,
        status: Status | str | None = None,
        begin: datetime | None = None,
        end: datetime | None = None,
        limit: int = 50,
    ) -> list[Instance]:
        """The newest instances, of one task or of all: the living, then the ended.

        `begin` and `end` bound the end of what has ended and the instant of what lives.
        """
        sought = Sought.of(task_name, status, begin, end, limit)
        return await (await self._opened()).instances(sought)

    async def task(self, name: str) -> Task:
        """The task of that name, as it is now."""
        return await (await self._opened()).task(name)

    async def explain(self, instance_id: int) -> Explanation:
        """Why it has not started, still runs, or ended as it did."""
        return await (await self._opened()).explain(instance_id)

    async def preview_operation(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What an operation would do now: its plan, its impact, its script, and the hash by which it is approved."""
        return await (await self._opened()).preview_operation(kind, config)

    async def start_operation(
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
        """Start an operation; with the `plan_hash` of a preview only if the plan is still that one (PlanRefused).

        With `held` it stays planned until somebody dispatches it.
        """
        return await (await self._opened()).start_operation(
            Starting(
                kind=kind,
                config=config,
                plan_hash=plan_hash,
                priority=priority,
                run_at=run_at,
                held=held,
                notes=notes,
                key=key,
            )
        )

    async def _opened(self) -> Calls:
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop.is_closed():  # and with it the connections; see `Life`
            self.forked()
        if self._loop not in (None, loop):
            raise HourhandError(
                "this client belongs to another event loop: make one in each loop, or use client.sync without one"
            )
        async with self._opening:
            if self._calls is None:
                calls = await _open(self._settings, self._given)
                self._life = Life(calls.close)
                await self._life.begin(self)
                self._loop, self._calls = loop, calls
            return self._calls

    def forked(self) -> list[object]:
        """In a copy of the process: the connections stay with the original, and this one makes its own."""
        if self._life is not None:
            self._life.leave()
        left: list[object] = [self._calls, self._life, self._loop]
        self._calls = self._life = self._loop = None
        self._opening = asyncio.Lock()
        return left


async def _open(settings: Settings, given: _Given) -> Calls:
    """Import only the way that is used: a client over REST needs no database drivers."""
    if given["store"] is not None:
        from hourhand.sdk.client_store import StoreCalls  # noqa: PLC0415

        return await StoreCalls.open(settings)
    from hourhand.sdk.client_rest import RestCalls  # noqa: PLC0415

    return await RestCalls.open(settings, timeout_seconds=given["timeout"], patience_seconds=given["patience"])
