"""Store: what every verb stands on: a transaction, and looking after what follows once it is committed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self, TypeVar

from hourhand.model.answers import Aftermath
from hourhand.model.audit import Author, Change, Once
from hourhand.model.errors import StoreError
from hourhand.model.hints import Hint
from hourhand.model.task import TaskDefinition
from hourhand.store import audit, definitions, permits, release, settle
from hourhand.store.counting import count
from hourhand.store.database import Database, Tx
from hourhand.store.hints import Hints
from hourhand.store.joining import Joiner
from hourhand.store.marks import Marks
from hourhand.store.once import once

T = TypeVar("T")
logger = logging.getLogger(__name__)
SETTLE_BATCH = 500
GIVEN_AT_ONCE = 1_000


class Transactions:
    """The database, and all that a process remembers from one verb to the next."""

    def __init__(self, database: Database, *, look_ahead_seconds: float = 10.0, lease_seconds: float = 15.0) -> None:
        self.database = database
        self.look_ahead = timedelta(seconds=look_ahead_seconds)
        self.lease_seconds = lease_seconds
        self._versions = definitions.Versions()
        self._marks: dict[str, Marks] = {}
        self._callback_key: bytes | None = None  # it never changes
        self._hints = Hints(database)
        self._joiner = Joiner(database, lease_seconds=lease_seconds)
        self._one_load = asyncio.Lock()
        self._author: Author | None = None
        self._once: Once | None = None

    def on_behalf(self, author: Author, *, once: Once | None = None) -> Self:
        bound = copy(self)  # of this thin shell: the database and all that is remembered are the same
        bound._author = author  # noqa: SLF001 - it is one of us
        bound._once = once  # noqa: SLF001
        return bound

    async def now(self) -> datetime:
        return await self._read(lambda tx: tx.now())

    async def follow(self, aftermath: Aftermath) -> None:
        """Look after what a committed change led to; what cannot be done now is left to the schedulers' sweep."""
        try:
            await self._count(aftermath)
            while aftermath:
                aftermath = await self._follow(aftermath)
                await self._count(aftermath)
        except StoreError as error:
            logger.warning("left to the sweep: %s", error)
        except Exception:
            # The change itself is committed: its caller must not take this for a failure of it.
            logger.exception("left to the sweep")

    async def _count(self, aftermath: Aftermath) -> None:
        await count(aftermath, self._look)

    async def _look(self, wanted: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        known = self._versions.known(wanted)
        return known if len(known) == len(set(wanted)) else await self._read(lambda tx: self._versions.get(tx, wanted))

    async def _follow(self, aftermath: Aftermath) -> Aftermath:
        following = Aftermath()
        if aftermath.waiting:
            waiting = sorted(aftermath.waiting)
            for begin in range(0, len(waiting), release.EVALUATED_AT_ONCE):
                some = waiting[begin : begin + release.EVALUATED_AT_ONCE]
                following.add(await self._write(partial(release.evaluate, instance_ids=some)))
        if aftermath.unsettled:
            _, more = await self._settle(aftermath.unsettled)
            following.add(more)
        if aftermath.freed_keys:
            await self._give_permits(sorted(aftermath.freed_keys))
        if aftermath.waiting or aftermath.unsettled:
            self._hints.ring(Hint.PENDING)
            self._hints.ring(Hint.INSTANCES)
        if aftermath.unsettled:
            self._hints.ring(Hint.WAKE)  # an `@after` task has its next instant
        return following

    async def _settle(self, points: Iterable[tuple[int, datetime]] | None) -> tuple[int, Aftermath]:
        return await self._write(
            lambda tx: settle.settle(
                tx, points, limit=SETTLE_BATCH, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
        )

    async def _give_permits(self, wanted: Sequence[str]) -> int:
        given = 0
        for begin in range(0, len(wanted), GIVEN_AT_ONCE):
            some = wanted[begin : begin + GIVEN_AT_ONCE]
            given += await self._write(
                partial(permits.give_permits, keys=some, lease_seconds=self.lease_seconds),
            )
        if given:
            self._hints.ring(Hint.PENDING)
            self._hints.ring(Hint.INSTANCES)
        return given

    async def _write(self, body: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.database.write(body)

    async def _read(self, body: Callable[[Tx], Awaitable[T]]) -> T:
        return await self.database.read(body)

    async def _create(
        self, create: Callable[[Tx], Awaitable[tuple[T, int]]], again: Callable[[Tx, int], Awaitable[T]]
    ) -> tuple[T, bool]:
        """Create, unless the same request has done so before; whether it was created now."""
        return await self._write(lambda tx: once(tx, self._once, create, again))

    async def _record(self, tx: Tx, action: str, resource_type: str, resource_id: object, **kept: Any) -> None:
        """Keep in the audit what a verb changes, in its own transaction; nothing when the engine calls it."""
        named = None if resource_id is None else str(resource_id)
        change = Change(action=action, resource_type=resource_type, resource_id=named, **kept)
        await audit.record(tx, self._author, [change])

    async def _change(self, body: Callable[[Tx], Awaitable[Aftermath]]) -> None:
        await self.follow(await self._write(body))
