"""Store: hints between the processes of a cluster, and between the parts of one process.

NOTIFY takes a lock that all commits share (21 k → 5 k transactions/s when every one notifies), so each process sends
at most one message every 50 ms, outside any transaction. What the engine waits for, and who may no longer read, is
sent at once; what only people look at waits a little for more of its kind. Whoever listens also looks by itself from
time to time: a lost hint costs a second, never an instance.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress

from hourhand.model.errors import StoreError, StoreUnavailable
from hourhand.model.hints import Heard, Hint, Round, gather
from hourhand.service.metrics import HINTS_HEARD, HINTS_SENT
from hourhand.store.database import Database

logger = logging.getLogger(__name__)
APART_SECONDS = 0.05
GATHER_SECONDS = 0.1
RECONNECT_SECONDS = 1.0
MOST_BYTES = 7_900
"""PostgreSQL takes less than 8,000."""
URGENT = frozenset({Hint.PENDING, Hint.CANCEL, Hint.WAKE, Hint.ACCESS})


def message_of(sender: str, rung: Round) -> str:
    """What is sent; where it would be too long, the longest lists are left out."""
    named = {hint.value: sorted(ids) for hint, ids in rung.items()}
    while len(text := json.dumps([sender, named], separators=(",", ":"))) > MOST_BYTES:
        named[max(named, key=lambda hint: len(named[hint]))] = []
    return text


class Hints:
    """What this process rings, and who listens."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._name = secrets.token_hex(8)
        self._listeners: dict[Hint, list[Heard]] = {}
        self._unsent: Round = {}
        self._hurry = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None

    def ring(self, hint: Hint, ids: Iterable[int] = ()) -> None:
        """Tell this process at once and the others soon; without ids: look for yourself."""
        listeners = self._listeners.get(hint)
        if not listeners and not self._database.shared:
            return
        named = frozenset(ids)
        if listeners:
            self._tell(hint, named)
        if self._database.shared:
            gather(self._unsent, hint, named)
            if hint in URGENT:
                self._hurry.set()
            if self._sending is None:
                self._sending = asyncio.get_running_loop().create_task(self._send())

    def listen(self, hint: Hint, heard: Heard) -> Callable[[], None]:
        """Call `heard` at each such hint, until the function returned is called."""
        self._listeners.setdefault(hint, []).append(heard)
        if self._database.shared and self._hearing is None:
            self._hearing = asyncio.get_running_loop().create_task(self._hear())
        return lambda: self._listeners[hint].remove(heard)

    async def close(self) -> None:
        """Stop listening; what has not been sent is sent."""
        for task in (self._hearing, self._sending):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        with suppress(StoreError):
            await self._send_once()

    def _tell(self, hint: Hint, ids: frozenset[int]) -> None:
        for heard in tuple(self._listeners.get(hint, ())):
            heard(ids)

    async def _send(self) -> None:
        try:
            while self._unsent:
                if not self._hurry.is_set():
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._hurry.wait(), GATHER_SECONDS)
                with suppress(StoreError):  # who listens will look by itself
                    await self._send_once()
                await asyncio.sleep(APART_SECONDS)
        finally:
            self._sending = None

    async def _send_once(self) -> None:
        if not self._unsent:
            return
        unsent, self._unsent = self._unsent, {}
        self._hurry.clear()
        await self._database.notify(message_of(self._name, unsent))
        HINTS_SENT.inc()

    async def _hear(self) -> None:
        """Nothing ends it but cancellation: who has gone deaf would never know."""
        while True:
            try:
                with suppress(StoreUnavailable):  # as others in this process say
                    await self._database.hear(self._heard)
            except Exception:
                logger.exception("hints of other processes cannot be heard, trying again")
            await asyncio.sleep(RECONNECT_SECONDS)

    def _heard(self, message: str) -> None:
        if not message:  # hears from now on; whatever was rung before has not been heard
            for hint in Hint:
                self._tell(hint, frozenset())
            return
        try:
            sender, named = json.loads(message)
            rung = {Hint(hint): frozenset(map(int, ids)) for hint, ids in named.items() if hint in set(Hint)}
        except (ValueError, TypeError, AttributeError):
            logger.warning("a hint that cannot be read is ignored: %.200r", message)
            return
        if sender != self._name:
            HINTS_HEARD.inc()
            for hint, ids in rung.items():
                self._tell(hint, ids)
