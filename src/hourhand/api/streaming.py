"""The API's streams: answers that go on until somebody ends them, in the form of server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from hourhand.api.guarding import API
from hourhand.api.problems import RETRY_AFTER_SECONDS, Problem
from hourhand.model.errors import HourhandError
from hourhand.model.hints import Hint, Round, gather
from hourhand.service.loop import rest_until
from hourhand.service.metrics import STREAMS

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from hourhand.contracts.store import Store
    from hourhand.model.access import Principal

ROUND_SECONDS = 0.25
"""Streams are told of what was heard at most this often."""
KEEP_ALIVE_SECONDS = 15.0
RECHECK_SECONDS = 60.0
LAST_SECONDS = 1.0
RETRY_MILLISECONDS = 1_000
PIECE_BYTES = 64 * 1024
"""So much is written at a time: as much again waits in the connection for whoever reads slowly."""
WRITE_SECONDS = 30.0
"""Whoever does not take a piece within this time is cut off."""
LEAST_EACH = 10
"""So many streams everybody may have, however few a process allows in all; else a tenth of those."""
RECHECKS_AT_ONCE = 4
HEARD = tuple(hint for hint in Hint if hint not in (Hint.PENDING, Hint.CANCEL, Hint.WAKE))
"""What is of interest to clients; the others are for the engine."""
OK = 200
TOO_MANY = 429
UNAVAILABLE = 503
CUT = "hourhand.cut"
"""The extension of ASGI by which a connection is closed without waiting for its reader (`api.connection`)."""


def event(name: str, data: str, *, place: str | None = None, retry: int | None = None) -> bytes:
    """Write one event; the data is JSON, which has no line breaks."""
    lines = [f"event: {name}"]
    lines += [f"id: {place}"] if place is not None else []
    lines += [f"retry: {retry}"] if retry is not None else []
    return "\n".join([*lines, f"data: {data}", "", ""]).encode("utf-8", "backslashreplace")


class Exchange:
    """Hears for all the streams of this process, and hands it on to them in rounds.

    So the store has one listener per hint, however many streams there are, and none while there are none.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._streams: list[Callable[[Round], None]] = []
        self._unlisten: list[Callable[[], None]] = []
        self._heard: Round = {}
        self._told_at = 0.0
        self._next: asyncio.TimerHandle | None = None

    @contextmanager
    def listening(self, hear: Callable[[Round], None]) -> Iterator[None]:
        """Call `hear` with each round."""
        self._streams.append(hear)
        if len(self._streams) == 1:
            self._unlisten = [self._store.listen(hint, partial(self._hear, hint)) for hint in HEARD]
        try:
            yield
        finally:
            self._streams.remove(hear)
            if not self._streams:
                for quiet in self._unlisten:
                    quiet()

    def _hear(self, hint: Hint, ids: frozenset[int]) -> None:
        gather(self._heard, hint, ids)
        if self._next is None:
            rest = max(0.0, self._told_at + ROUND_SECONDS - time.monotonic())
            self._next = asyncio.get_running_loop().call_later(rest, self._tell)

    def _tell(self) -> None:
        self._next, self._told_at = None, time.monotonic()
        heard, self._heard = self._heard, {}
        for hear in tuple(self._streams):
            hear(heard)


class Streams:
    """All the streams of this process: how many there are, what they hear, and when they have to end."""

    def __init__(self, store: Store, most: int) -> None:
        self.most = most
        self.most_each = max(LEAST_EACH, most // 10)
        self.open: Counter[str] = Counter()
        """How many, by the id of who has them."""
        self.exchange = Exchange(store)
        self.stopping = asyncio.Event()
        self.rechecks = asyncio.Semaphore(RECHECKS_AT_ONCE)
        """Held around each look at a caller: all streams of one may have to look at the same time."""

    def stop(self) -> None:
        """Say good-bye to everybody, and take nobody new."""
        self.stopping.set()

    def refusal(self, caller: Principal) -> Problem | None:
        """Say why there can be no further stream, if so."""
        status, in_all, own = UNAVAILABLE, self.open.total(), self.open[caller.id]
        if self.stopping.is_set():
            detail = "this process is being stopped: try again, and reach another one"
        elif in_all >= self.most:
            detail = f"this process has {in_all} open streams and allows {self.most} (max_streams): try again later"
        elif own >= self.most_each:
            status = TOO_MANY
            detail = f"{caller.name!r} has {own} open streams here and may have {self.most_each}: close one first"
        else:
            return None
        return Problem(status, detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})

    @contextmanager
    def one_of(self, caller: Principal) -> Iterator[None]:
        """Count one while it is open."""
        self.open[caller.id] += 1
        STREAMS.inc()
        try:
            yield
        finally:
            STREAMS.dec()
            self.open[caller.id] -= 1
            self.open = +self.open  # who has none is forgotten


async def _streams(request: Request) -> Streams:
    return cast("Streams", request.app.state.streams)


TheStreams = Annotated[Streams, Depends(_streams)]


class _NotRead(Exception):
    """Nobody takes what is written."""


class Outlet:
    """Where a stream writes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sent_at = time.monotonic()

    async def send(self, text: bytes) -> None:
        """Wait until there is room for it: whoever reads slowly is written to slowly, and who reads nothing no more."""
        for begin in range(0, len(text), PIECE_BYTES):
            piece = text[begin : begin + PIECE_BYTES]
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            except TimeoutError:
                raise _NotRead from None
            self._sent_at = time.monotonic()

    async def keep_alive(self) -> None:
        """Show a sign of life if there has been none for a while: what stands between would cut the connection."""
        if time.monotonic() - self._sent_at >= KEEP_ALIVE_SECONDS:
            await self.send(b":\n\n")


class EventStream(Response):
    """An answer that goes on until it has nothing more to say, the reader goes, or may not read on."""

    media_type = "text/event-stream"

    def __init__(self, request: Request, streams: Streams, play: Callable[[Outlet], Awaitable[None]]) -> None:
        self.status_code = OK
        self.background = None
        self.init_headers({"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._request = request
        self._caller = cast("Principal", request.state.caller)
        self._streams = streams
        self._play = play

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Play it."""
        if (refusal := self._streams.refusal(self._caller)) is not None:
            await refusal(scope, receive, send)
            return
        with self._streams.one_of(self._caller):
            try:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                outlet = Outlet(send)
                bye = await self._until_it_ends(outlet, receive)
                async with asyncio.timeout(LAST_SECONDS):  # whoever reads nothing holds up nobody
                    if bye:
                        await outlet.send(event("bye", json.dumps({"reason": bye}), retry=RETRY_MILLISECONDS))
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            except (_NotRead, TimeoutError):
                await _cut(scope, receive)

    async def _until_it_ends(self, outlet: Outlet, receive: Receive) -> str | None:
        """Return why the stream ends before its end, if somebody should be told."""
        playing = asyncio.ensure_future(self._play(outlet))
        gone = asyncio.create_task(_gone(receive))
        stopping = asyncio.create_task(self._streams.stopping.wait())
        expired = asyncio.create_task(self._expired())
        tasks = {playing, gone, stopping, expired}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in tasks:
                each.cancel()
            results = dict(zip(tasks, await asyncio.gather(*tasks, return_exceptions=True), strict=True))
        match results[playing]:
            case HourhandError() as error:  # the store is away, or the instance has gone
                return f"it cannot go on: {type(error).__name__}"
            case Exception() as error:
                raise error
        if results[stopping] is True:
            return "this process is being stopped"
        return "the token or session is no longer what it was" if results[expired] is None else None

    async def _expired(self) -> None:
        """Wait until the caller is not who it was: revoked, expired, or with another role.

        Whoever changes that rings a hint. That a token expires rings none, and a hint may be lost.
        """
        number, changed = _number(self._caller), asyncio.Event()

        def hear(heard: Round) -> None:
            ids = heard.get(Hint.ACCESS)
            if ids is not None and (not ids or number in ids):
                changed.set()

        with self._streams.exchange.listening(hear):
            while True:
                changed.clear()
                async with self._streams.rechecks:
                    if not await still_valid(self._request):
                        return
                await rest_until(changed, RECHECK_SECONDS)


def _number(caller: Principal) -> int:
    """Return the caller as `Hint.ACCESS` names it."""
    kind, _, number = caller.id.partition(":")
    return -int(number) if kind == "token" else int(number)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cut(scope: Scope, receive: Receive) -> None:
    """Close the connection as it is: closed in good order, it would keep what nobody takes."""
    cut = scope.get("extensions", {}).get(CUT)
    if cut is not None:
        cut()
        await _gone(receive)


async def still_valid(request: Request) -> bool:
    """Let the gate look again at what the caller showed; while the store is away nobody can tell."""
    path = f"{API}/version"
    scope = {**request.scope, "path": path, "raw_path": path.encode(), "query_string": b"", "state": {}}
    answers: list[int] = []

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def answered(message: Message) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    await request.app(scope, nothing, answered)
    return answers == [UNAVAILABLE] or (answers == [OK] and scope["state"].get("caller") == request.state.caller)
