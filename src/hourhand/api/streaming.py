"""The API's streams: answers that go on until somebody ends them, in the form of server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from hourhand.api.guarding import API
from hourhand.api.problems import RETRY_AFTER_SECONDS, Problem
from hourhand.model.errors import HourhandError
from hourhand.model.hints import Hint
from hourhand.service.metrics import STREAMS

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from hourhand.contracts.store import Store

ROUND_SECONDS = 0.25
"""Streams are told of what was heard at most this often."""
KEEP_ALIVE_SECONDS = 15.0
RECHECK_SECONDS = 60.0
LAST_SECONDS = 1.0
RETRY_MILLISECONDS = 1_000
MOST_IDS = 300
HEARD = tuple(hint for hint in Hint if hint not in (Hint.PENDING, Hint.CANCEL, Hint.WAKE))
"""What is of interest to clients; the others are for the engine."""
OK = 200
UNAVAILABLE = 503

Round = dict[Hint, frozenset[int]]
"""What was heard, by hint; no ids means: look for yourself."""


def event(name: str, data: str, *, place: str | None = None, retry: int | None = None) -> bytes:
    """Write one event; the data is JSON, which has no line breaks."""
    lines = [f"event: {name}"]
    lines += [f"id: {place}"] if place is not None else []
    lines += [f"retry: {retry}"] if retry is not None else []
    return "\n".join([*lines, f"data: {data}", "", ""]).encode("utf-8", "backslashreplace")


def gather(heard: Round, hint: Hint, ids: frozenset[int]) -> None:
    """Add to what was heard; of too many ids none is kept."""
    if hint in heard and heard[hint] and ids:
        ids |= heard[hint]
    elif hint in heard:
        ids = frozenset()
    heard[hint] = ids if len(ids) <= MOST_IDS else frozenset()


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
        self.open = 0
        self.exchange = Exchange(store)
        self.stopping = asyncio.Event()

    def stop(self) -> None:
        """Say good-bye to everybody, and take nobody new."""
        self.stopping.set()

    def refusal(self) -> Problem | None:
        """Say why there can be no further stream, if so."""
        if self.stopping.is_set():
            detail = "this process is being stopped: try again, and reach another one"
        elif self.open >= self.most:
            detail = f"this process has {self.open} open streams and allows {self.most} (max_streams): try again later"
        else:
            return None
        return Problem(UNAVAILABLE, detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


async def _streams(request: Request) -> Streams:
    return cast("Streams", request.app.state.streams)


TheStreams = Annotated[Streams, Depends(_streams)]


class Outlet:
    """Where a stream writes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sent_at = time.monotonic()

    async def send(self, text: bytes) -> None:
        """Wait until there is room for it: whoever reads slowly is written to slowly."""
        await self._send({"type": "http.response.body", "body": text, "more_body": True})
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
        self._streams = streams
        self._play = play

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Play it."""
        if (refusal := self._streams.refusal()) is not None:
            await refusal(scope, receive, send)
            return
        self._streams.open += 1
        STREAMS.inc()
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            outlet = Outlet(send)
            bye = await self._until_it_ends(outlet, receive)
            with suppress(TimeoutError):  # whoever reads nothing holds up nobody
                async with asyncio.timeout(LAST_SECONDS):
                    if bye:
                        await outlet.send(event("bye", json.dumps({"reason": bye}), retry=RETRY_MILLISECONDS))
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._streams.open -= 1
            STREAMS.dec()

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
        """Wait until the caller is not who it was: revoked, expired, or with another role."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            if not await still_valid(self._request):
                return


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
