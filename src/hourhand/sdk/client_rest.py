"""SDK: a client's calls, made over REST."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from hourhand.contracts.store import Joining
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.instance import Instance, LogLine
from hourhand.rules.definition import check_args
from hourhand.sdk.address import API, Address, address_of
from hourhand.sdk.answers import instance_from, line_from, read, unreachable
from hourhand.sdk.asked import Asked
from hourhand.settings import Settings

TIMEOUT_SECONDS = 30.0
AT_ONCE = 8
LINES_AT_ONCE = 1_000
DISPATCHED_AT_ONCE = 1_000


class RestCalls:
    """What a program asks for, as requests."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._http = httpx.AsyncClient(
            base_url=f"{address.url}{API}",
            headers=address.headers,
            timeout=TIMEOUT_SECONDS,
            trust_env=not address.local,  # a proxy has no business between two processes of one machine
        )

    @classmethod
    async def open(cls, settings: Settings) -> RestCalls:
        """Nothing is asked before the first call."""
        return cls(address_of(settings))

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def submit(self, asked: Asked) -> Instance:
        """One instance."""
        return await self._submit(
            await self._task_id(asked.task_name),
            asked.args,
            priority=asked.priority,
            run_at=_text(asked.run_at),
            key=asked.key,
            dispatch=not asked.held,
        )

    async def _submit(self, task_id: int, args: Mapping[str, Any] | None, **more: object) -> Instance:
        check_args(args)  # what is no JSON could not even be sent
        given = {"task_id": task_id, "args": args, **more}
        body = {name: value for name, value in given.items() if value is not None}
        return instance_from(await self._ask("POST", "/instances", json=body))

    async def joining(self, asked: Asked) -> Joining:
        """Refused: no request can be part of a transaction."""
        del asked
        raise InvalidInput.one(
            "conn",
            None,
            "this client speaks to a server, which cannot be part of your transaction: "
            'use Client(store="postgresql://…") with conn, or leave it out',
        )

    async def submit_many(self, task_name: str, many: Sequence[Mapping[str, Any] | None]) -> list[int]:
        """One request for each, some at a time; what was accepted before one is refused stays."""
        for args in many:
            check_args(args)
        task_id = await self._task_id(task_name)
        turn = asyncio.Semaphore(AT_ONCE)

        async def one(args: Mapping[str, Any] | None) -> int:
            async with turn:
                return (await self._submit(task_id, args, dispatch=True)).id

        try:
            async with asyncio.TaskGroup() as group:
                made = [group.create_task(one(args)) for args in many]
        except ExceptionGroup as refused:
            raise refused.exceptions[0] from None
        return [task.result() for task in made]

    async def get(self, instance_id: int) -> Instance:
        """One instance."""
        return instance_from(await self._ask("GET", f"/instances/{instance_id:d}"))

    async def cancel(self, instance_id: int, reason: str | None) -> Instance:
        """Stop it."""
        return instance_from(await self._ask("POST", f"/instances/{instance_id:d}/cancel", json={"reason": reason}))

    async def retry(self, instance_id: int, args: Mapping[str, Any] | None) -> Instance:
        """Revive it."""
        check_args(args)
        return instance_from(await self._ask("POST", f"/instances/{instance_id:d}/retry", json={"args": args}))

    async def logs(self, instance_id: int, after: int) -> list[LogLine]:
        """All lines from there on."""
        found: list[LogLine] = []
        while True:
            params = {"after": after, "limit": LINES_AT_ONCE}
            answer = await self._ask("GET", f"/instances/{instance_id:d}/logs", params=params)
            found += [line_from(line) for line in answer["items"]]
            if not answer["items"]:
                return found
            after = answer["next_after"]

    async def dispatch(self, ids: Sequence[int]) -> None:
        """All of them or none, up to a thousand."""
        for begin in range(0, len(ids), DISPATCHED_AT_ONCE):
            await self._ask("POST", "/instances/dispatch", json={"ids": list(ids[begin : begin + DISPATCHED_AT_ONCE])})

    async def _task_id(self, name: str) -> int:
        found = (await self._ask("GET", "/tasks", params={"name": name}))["items"]
        if not found:
            raise NotFound("task", name)
        return int(found[0]["id"])

    async def _ask(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
        try:
            return read(await self._http.request(method, path, **more))
        except httpx.TransportError as error:
            raise unreachable(self._address.url, error) from error


def _text(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InvalidInput.one("run_at", moment, f"{moment} has no time zone: give one, such as UTC")
    return moment.astimezone(UTC).isoformat()
