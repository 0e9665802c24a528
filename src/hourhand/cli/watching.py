"""What happens to an instance, as the CLI hears of it: its states, and every line it writes, once and in order.

They come by the server's stream of events. A stream that is cut is resumed from the last line; a server that has no
stream to spare is asked again and again instead; one that is away is waited for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hourhand.cli.json_options import Json
from hourhand.cli.rest import Rest
from hourhand.model.errors import StoreUnavailable
from hourhand.model.words import Status
from hourhand.rules.lines import Place, line_seq
from hourhand.sdk.waiting import Patience

FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS = 0.2, 2.0
OUTAGE_SECONDS = 600.0
"""A server may be restarted, and upgraded, while somebody waits."""
STREAM_AGAIN_SECONDS = 30.0
LINES_AT_ONCE = 1_000
_EVENT_END = b"\n\n"
_MOVES = ("status", "phase", "progress")


@dataclass(frozen=True, slots=True)
class State:
    """The instance as it is now."""

    instance: Json


@dataclass(frozen=True, slots=True)
class Line:
    """One line that it has written."""

    line: Json


@dataclass(frozen=True, slots=True)
class Away:
    """The server does not answer; told once, until it is back."""

    why: str


@dataclass(frozen=True, slots=True)
class Back:
    """It answers again."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no news."""


News = State | Line | Away | Back | Nothing


class _Event(NamedTuple):
    name: str
    data: Json


class Watch:
    """One instance, watched until it has ended and all its lines have been told."""

    def __init__(self, rest: Rest, instance_id: int, *, lines: bool = True) -> None:
        self._rest = rest
        self._path = f"/instances/{instance_id}"
        self._lines = lines
        self._place = Place.after(-1)
        self._patience = Patience(FIRST_LOOK_SECONDS, LAST_LOOK_SECONDS, OUTAGE_SECONDS)
        self._fence = 1  # the first attempt follows none
        self._ended = False

    def news(self) -> Iterator[News]:
        """Tell everything, the state it ended in before its last lines; then this ends."""
        away = False
        while not self._ended:
            try:
                for each in self._told():
                    self._patience.answered()
                    if away:
                        away = False
                        yield Back()
                    yield each
            except StoreUnavailable as error:
                self._patience.bear(error)
                if not away:
                    away = True
                    yield Away(str(error))
            if not self._ended:
                time.sleep(self._patience.rest())

    def _told(self) -> Iterator[News]:
        if self._lines:
            heard = False
            try:
                for each in self._streamed():
                    heard = True
                    yield each
            except StoreUnavailable:
                if heard:
                    return  # cut in the middle: another one goes on from here
            else:
                return
        # Streams are refused where there are too many already; where the server itself is away, asking shows it.
        yield from self._asked(time.monotonic() + STREAM_AGAIN_SECONDS)

    def _streamed(self) -> Iterator[News]:
        with self._rest.stream(f"{self._path}/stream", after=str(self._place)) as pieces:
            for event in _events(pieces):
                match event.name:
                    case "instance":
                        yield from self._reached(event.data)
                    case "line":
                        yield from self._line(event.data)
                    case "end":
                        self._ended = True
                    case _:
                        yield Nothing()

    def _asked(self, until: float) -> Iterator[News]:
        before: Json | None = None
        while True:
            # Looked at before its lines: those of one that has ended are all there.
            instance: Json = self._rest.get(self._path)
            news = before is not None and any(before[name] != instance[name] for name in _MOVES)
            yield from self._reached(instance)
            while self._lines and (page := self._page()):
                news = True
                for line in page:
                    yield from self._line(line)
            self._ended = Status(instance["status"]).ended
            if self._ended or (self._lines and time.monotonic() >= until):
                return
            before = instance
            time.sleep(self._patience.rest(news=news))

    def _reached(self, instance: Json) -> Iterator[News]:
        """Tell a state after what the attempts before it wrote: the server tells it before, and they are over."""
        fence: int = instance["fence"]
        while self._lines and fence > self._fence:
            page = [line for line in self._page() if line["seq"] < line_seq(fence, 0)]
            for line in page:
                yield from self._line(line)
            if not page:
                self._fence = fence
        yield State(instance)

    def _line(self, line: Json) -> Iterator[News]:
        if self._place.has(line["seq"]):
            yield Nothing()  # told before the state that it led to
            return
        self._place = self._place.then(line["seq"])
        yield Line(line)

    def _page(self) -> list[Json]:
        """Lines that come next, in the order of the stream: `Place` says why two questions may be needed."""
        if not self._place.mixed:
            return self._after(self._place.own)
        later = self._after(self._place.called)
        own = [line for line in self._after(self._place.own) if self._place.is_own(line["seq"])]
        return own or later

    def _after(self, seq: int) -> list[Json]:
        found: list[Json] = self._rest.get(f"{self._path}/logs", after=seq, limit=LINES_AT_ONCE)["items"]
        return found


def _events(pieces: Iterator[bytes]) -> Iterator[_Event]:
    """Each event once it is complete; split as bytes, since a text has line breaks that JSON does not escape."""
    rest = b""
    for piece in pieces:
        *complete, rest = (rest + piece).split(_EVENT_END)
        for one in complete:
            fields = dict(_field(line) for line in one.decode("utf-8", "replace").split("\n"))
            yield _Event(fields.get("event", ""), json.loads(fields.get("data", "{}")))


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")
