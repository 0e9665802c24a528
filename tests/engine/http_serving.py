"""Real HTTP servers on loopback for tests of the http runner; what they answer may be anything but HTTP, too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from engine.attempts import PATIENCE, Recorded
from hourhand.model.words import TaskType
from hourhand.runners.http import HttpRunner
from hourhand.settings import Settings

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator
    from types import TracebackType

    from hourhand.model.instance import Outcome

Respond = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Asked:
    """One request, as it came over the wire; names of headers in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def answer(status: str = "200 OK", body: bytes = b"", /, **headers: str) -> bytes:
    """Return an answer as bytes; `_` in a header's name stands for `-`."""
    lines = [f"HTTP/1.1 {status}", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    if "Content_Length" not in headers:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Server:
    """Answers each path with fixed bytes or by a function; everything asked is kept in `asked`."""

    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.host, self.port = host, 0
        self.asked: list[Asked] = []
        self.connections = 0
        self.disconnected = asyncio.Event()
        self._tls = tls
        self._answers: dict[str, bytes | Respond] = {}

    def on(self, path: str, respond: bytes | Respond) -> str:
        """Answer a path so; its URL."""
        self._answers[path] = respond
        return self.url(path)

    def url(self, path: str, host: str | None = None) -> str:
        return f"{'https' if self._tls else 'http'}://{host or self.host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self._serving: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                asked = await self._read(reader)
                self.asked.append(asked)
                respond = self._answers.get(asked.target.partition("?")[0], answer("404 Not Found"))
                if isinstance(respond, bytes):
                    writer.write(respond)
                    await writer.drain()
                else:
                    await respond(asked, writer)
                    await writer.drain()
        finally:
            self._serving.discard(task)
            self.disconnected.set()
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    @staticmethod
    async def _read(reader: asyncio.StreamReader) -> Asked:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return Asked(method, target, headers, await reader.readexactly(int(headers.get("content-length", "0"))))


async def run(
    payload: dict[str, Any],
    *,
    settings: Settings | None = None,
    loopback: bool = True,
    resolve: Callable[[str, int], Awaitable[list[str]]] | None = None,
    tls: ssl.SSLContext | None = None,
    attempt: Recorded | None = None,
    **fields: Any,
) -> tuple[Outcome, Recorded]:
    """Run one attempt of an http task; its outcome, and the attempt with what it logged."""
    attempt = attempt or Recorded(TaskType.HTTP, payload, **fields)
    runner = HttpRunner(settings or Settings(), loopback=loopback, resolve=resolve, tls=tls)
    try:
        async with asyncio.timeout(PATIENCE):
            return await runner.run(attempt), attempt
    finally:
        await runner.close()


async def outcome_of(server: Server, respond: Any, **payload: Any) -> Outcome:
    """Run a task against a server that answers so."""
    outcome, _ = await run({"url": server.on("/", respond), **payload})
    return outcome


def output(outcome: Outcome) -> str:
    """Return what was kept of the answer."""
    assert outcome.result is not None
    text: str = outcome.result["output"]
    return text


@asynccontextmanager
async def under_way(attempt: Recorded) -> AsyncIterator[asyncio.Task[Outcome]]:
    """Start an attempt, which the test cancels."""
    runner = HttpRunner(Settings(), loopback=True)
    task = asyncio.create_task(runner.run(attempt))
    try:
        async with asyncio.timeout(PATIENCE):
            yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        await runner.close()


def resolving(**names: str | list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """Return a resolver that knows these names (`_` for `.`), each with its answer or one answer per question."""
    answers = {name.replace("_", "."): one for name, one in names.items()}

    async def resolve(host: str, port: int) -> list[str]:
        await asyncio.sleep(0)
        assert port
        found = answers[host]
        return found.split(",") if isinstance(found, str) else found.pop(0).split(",")

    return resolve
