"""`/api/v1/events`: what may be worth a look, as it happens."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from hourhand.api.guarding import guarded_router
from hourhand.api.reach import Reach
from hourhand.api.requests import TheReach
from hourhand.api.streaming import (
    KEEP_ALIVE_SECONDS,
    RETRY_MILLISECONDS,
    EventStream,
    Outlet,
    Streams,
    TheStreams,
    event,
)
from hourhand.model.errors import InvalidInput, shown
from hourhand.model.hints import Hint, Round, gather
from hourhand.service.loop import rest_until

router = guarded_router(tags=["events"])
TOPICS = (Hint.TASKS, Hint.INSTANCES, Hint.EXECUTORS, Hint.GROUPS, Hint.PAUSES, Hint.ALERTS)
OF_ALL_GROUPS = frozenset({Hint.ALERTS})
EXAMPLE = 'event: hello\nretry: 1000\ndata: {"topics": ["tasks"]}\n\nevent: tasks\ndata: {"ids": [7]}\n\n'


@router.get(
    "/events",
    status_code=200,
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}, "example": EXAMPLE}}}},
    summary="What may be worth a look, as it happens (server-sent events)",
)
async def events(
    request: Request,
    streams: TheStreams,
    reach: TheReach,
    topics: Annotated[
        str | None,
        Query(max_length=1_000, description="Which, with commas between; by default all", examples=["tasks"]),
    ] = None,
) -> EventStream:
    """Hints, each `{"ids": […]}` or `{}`: look for yourself. Whoever reconnects looks at everything again."""
    wanted = _wanted(topics, reach)
    return EventStream(request, streams, _Events(streams, wanted, naming=not reach.limited).play)


def _wanted(topics: str | None, reach: Reach) -> list[Hint]:
    if topics is None:
        return [hint for hint in TOPICS if not (reach.limited and hint in OF_ALL_GROUPS)]
    named = [one.strip() for one in topics.split(",")]
    unknown = [one for one in named if one not in TOPICS]
    if unknown:
        known = ", ".join(TOPICS)
        raise InvalidInput.one(
            "topics", topics, f"{shown(unknown[0])} is not a topic: the topics are {known}, with commas between"
        )
    wanted = [hint for hint in TOPICS if hint in named]
    for hint in wanted:
        if hint in OF_ALL_GROUPS:
            reach.whole(f"the topic {hint.value}")
    return wanted


class _Events:
    """What one client has not been told yet."""

    def __init__(self, streams: Streams, wanted: list[Hint], *, naming: bool) -> None:
        self._streams = streams
        self._wanted = wanted
        self._naming = naming
        """Whether it may know ids: they tell of other groups."""
        self._untold: Round = {}
        self._news = asyncio.Event()

    def _hear(self, heard: Round) -> None:
        for hint, ids in heard.items():
            if hint in self._wanted:
                gather(self._untold, hint, ids if self._naming else frozenset())
                self._news.set()

    async def play(self, outlet: Outlet) -> None:
        with self._streams.exchange.listening(self._hear):
            hello = json.dumps({"topics": [hint.value for hint in self._wanted]})
            await outlet.send(event("hello", hello, retry=RETRY_MILLISECONDS))
            while True:
                if await rest_until(self._news, KEEP_ALIVE_SECONDS):
                    untold, self._untold = self._untold, {}
                    await outlet.send(b"".join(_told(hint, ids) for hint, ids in untold.items()))
                else:
                    await outlet.keep_alive()


def _told(hint: Hint, ids: frozenset[int]) -> bytes:
    return event(hint.value, json.dumps({"ids": sorted(ids)} if ids else {}))
