"""`/api/v1/instances/{id}/stream`: an instance as it goes: its state, and every line it writes, once.

Nothing is lost and nothing comes twice, because the lines are read from the store, in their order, from where the
reader is; hints only say when to look.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import Header, Query
from pydantic import create_model
from starlette.requests import Request
from starlette.responses import Response

from hourhand.api.group_names import GroupNames
from hourhand.api.guarding import guarded_router
from hourhand.api.instances import shown
from hourhand.api.requests import TheGroups, TheStore
from hourhand.api.shapes import INSTANCE, LINE, plain
from hourhand.api.streaming import PIECE_BYTES, RETRY_MILLISECONDS, EventStream, Outlet, Streams, TheStreams, event
from hourhand.contracts.store import Store
from hourhand.model.errors import InvalidInput
from hourhand.model.errors import shown as quoted
from hourhand.model.hints import Hint, Round
from hourhand.model.instance import Instance, LogLine
from hourhand.rules.lines import Place
from hourhand.service.loop import rest_until

router = guarded_router(prefix="/instances", tags=["events"])
LOOK_SECONDS = 2.0
PAGE = 200
FIRST_PAGE = 16
PAGE_BYTES = 256 * 1024
"""Pages are as short as that needs, going by the lines before: somebody who reads slowly may hold one for long."""
PAGES = 20
"""After so many pages the instance itself is looked at again."""
Told = tuple[LogLine, Place]
"""A line, and where its reader is after it."""
LINES = create_model("LineBatch", items=(list[LINE], ...))  # type: ignore[valid-type]  # made from the dataclass
END = ".end"
"""Marks the place of whoever was told of the end."""
EXAMPLE = (
    'event: instance\ndata: {"id": 42, "status": "running", …}\n\n'
    'event: line\nid: 4294967296\ndata: {"seq": 4294967296, "message": "40 posted\\n", …}\n\n'
    'event: end\nid: 4294967296.end\ndata: {"status": "success"}\n\n'
)


@router.get(
    "/{instance_id}/stream",
    status_code=200,
    response_class=EventStream,
    responses={
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}}},
        204: {"description": "It has ended, and the caller was told so"},
    },
    summary="An instance as it goes, with the lines it writes (server-sent events)",
)
async def stream(
    request: Request,
    instance_id: int,
    store: TheStore,
    groups: TheGroups,
    streams: TheStreams,
    *,
    after: Annotated[
        str | None, Query(max_length=50, description="The last `seq`, or the last event's `id`, that is known already")
    ] = None,
    batch: Annotated[
        bool, Query(description="Send `lines` events with up to 200 lines each in `items`, not a `line` event for each")
    ] = False,
    last_event_id: Annotated[str | None, Header(max_length=50, description="The same, as browsers send it")] = None,
) -> Response:
    """Events `instance`, `line` and, when all is said, `end`; then it closes, and the client must not come again."""
    place, ended = _place("Last-Event-ID", last_event_id) if last_event_id else _place("after", after or "-1")
    instance = await store.get_instance(instance_id)
    if ended and instance.status.ended and not await _page(store, instance_id, place, 1):
        return Response(status_code=204)  # so that a browser stops asking
    written = _in_batches if batch else _one_by_one
    return EventStream(request, streams, _Following(store, groups, streams, instance_id, place, written=written).play)


def _place(field: str, text: str) -> tuple[Place, bool]:
    try:
        return Place.read(text.removesuffix(END)), text.endswith(END)
    except ValueError:
        message = f"{quoted(text)} is no place in a log: give the `seq` of a line, or the `id` of the last event"
        raise InvalidInput.one(field, text, message) from None


async def _page(store: Store, instance_id: int, place: Place, limit: int) -> list[LogLine]:
    """Return lines that come next; none when all have been read."""
    if not place.mixed:
        return await store.read_lines(instance_id, after=place.own, limit=limit)
    later = await store.read_lines(instance_id, after=place.called, limit=limit)
    # The executor's own are looked for after that: where `later` tells of the next attempt, these are all there.
    own = await store.read_lines(instance_id, after=place.own, limit=1)
    if not own or not place.is_own(own[0].seq):
        return later
    page = await store.read_lines(instance_id, after=place.own, limit=limit)
    return [line for line in page if place.is_own(line.seq)]


def _one_by_one(lines: Sequence[Told]) -> Iterator[bytes]:
    for line, place in lines:
        yield event("line", LINE.model_validate(plain(line)).model_dump_json(), place=str(place))


def _in_batches(lines: Sequence[Told]) -> Iterator[bytes]:
    """For browsers, which need longer for an event than for what is in it."""
    if lines:
        items = LINES.model_validate({"items": [plain(line) for line, _ in lines]})
        yield event("lines", items.model_dump_json(), place=str(lines[-1][1]))


class _Following:
    """One client and how far it has come."""

    def __init__(
        self,
        store: Store,
        groups: GroupNames,
        streams: Streams,
        instance_id: int,
        place: Place,
        *,
        written: Callable[[Sequence[Told]], Iterator[bytes]],
    ) -> None:
        self._store = store
        self._groups = groups
        self._streams = streams
        self._instance_id = instance_id
        self._place = place
        self._written = written
        self._limit = FIRST_PAGE
        self._told: Instance | None = None
        self._news = asyncio.Event()

    def _hear(self, heard: Round) -> None:
        for hint in (Hint.LINES, Hint.INSTANCES):
            if hint in heard and (not heard[hint] or self._instance_id in heard[hint]):
                self._news.set()

    async def play(self, outlet: Outlet) -> None:
        """Look, tell, and rest until there is news; a hint that was lost costs `LOOK_SECONDS`."""
        with self._streams.exchange.listening(self._hear):
            await outlet.send(f"retry: {RETRY_MILLISECONDS}\n\n".encode())
            while True:
                self._news.clear()
                instance = await self._store.get_instance(self._instance_id)  # before its lines: see below
                await self._tell_state(outlet, instance)
                if await self._tell_lines(outlet):
                    continue
                if instance.status.ended:  # so no line can come any more, unless it is retried
                    ending = json.dumps({"status": instance.status.value})
                    await outlet.send(event("end", ending, place=f"{self._place}{END}"))
                    return
                await outlet.keep_alive()
                await rest_until(self._news, LOOK_SECONDS)

    async def _tell_state(self, outlet: Outlet, instance: Instance) -> None:
        state = replace(instance, last_heartbeat=None, lease_until=None)  # these change all the time
        if state != self._told:
            self._told = state
            (told,) = await shown(self._groups, [instance])
            await outlet.send(event("instance", INSTANCE.model_validate(told).model_dump_json()))

    async def _tell_lines(self, outlet: Outlet) -> bool:
        """Whether there were any."""
        for number in range(PAGES):
            lines = await _page(self._store, self._instance_id, self._place, self._limit)
            if not lines:
                return number > 0
            size = sum(len(line.message) for line in lines)
            self._limit = min(PAGE, max(1, PAGE_BYTES * len(lines) // max(1, size)))
            untold = bytearray()
            for one in self._written(list(self._new(lines))):
                untold += one
                if len(untold) >= PIECE_BYTES:
                    await outlet.send(bytes(untold))
                    untold.clear()
            await outlet.send(bytes(untold))
        return True

    def _new(self, lines: Iterable[LogLine]) -> Iterator[Told]:
        for line in lines:
            if not self._place.has(line.seq):
                self._place = self._place.then(line.seq)
                yield line, self._place
