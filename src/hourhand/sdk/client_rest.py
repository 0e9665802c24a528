"""SDK: a client's calls, made over REST."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import httpx

from hourhand.contracts.store import Joining
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.explanation import Explanation
from hourhand.model.instance import Instance, LogLine, SubmittedInstance
from hourhand.model.operation import Preview
from hourhand.model.task import Task
from hourhand.rules.definition import check_args, check_json
from hourhand.sdk.address import API, Address, address_of
from hourhand.sdk.answers import explanation_from, instance_from, line_from, read, task_from, unreachable
from hourhand.sdk.asked import Asked
from hourhand.sdk.calls import AT_ONCE, Sought
from hourhand.sdk.operations import Starting, preview_from
from hourhand.settings import Settings

SUBMITTED_AT_ONCE = 8
DISPATCHED_AT_ONCE = 1_000
FIRST_REST_SECONDS, LAST_REST_SECONDS = 0.1, 1.0


class RestCalls:
    """What a program asks for, as requests.

    A request that was not answered is made again where that cannot do a thing twice: one that reads, one that
    submits (which carries an `Idempotency-Key`), and any that has not reached the server.
    """

    def __init__(self, address: Address, *, timeout_seconds: float, patience_seconds: float) -> None:
        self._address = address
        self._patience = patience_seconds
        self._http = httpx.AsyncClient(
            base_url=f"{address.url}{API}",
            headers=address.headers,
            timeout=timeout_seconds,
            trust_env=not address.local,  # a proxy has no business between two processes of one machine
            verify=address.verify,
        )

    @classmethod
    async def open(cls, settings: Settings, *, timeout_seconds: float, patience_seconds: float) -> RestCalls:
        """Nothing is asked before the first call."""
        return cls(address_of(settings), timeout_seconds=timeout_seconds, patience_seconds=patience_seconds)

    async def close(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    async def submit(self, asked: Asked) -> SubmittedInstance:
        """One instance."""
        return await self._submit(
            (await self._task(asked.task_name))["id"],
            asked.args,
            priority=asked.priority,
            run_at=_text("run_at", asked.run_at),
            key=asked.key,
            dispatch=not asked.held,
        )

    async def _submit(self, task_id: int, args: Mapping[str, Any] | None, **more: object) -> SubmittedInstance:
        check_args(args)  # what is no JSON could not even be sent
        given = {"task_id": task_id, "args": args, **more}
        body = {name: value for name, value in given.items() if value is not None}
        once = {"Idempotency-Key": str(uuid.uuid4())}
        answer = read(await self._answer("POST", "/instances", again=True, json=body, headers=once))
        # Without a key it can only be what this very request has made, when it was made before and not answered.
        existing = "key" in body and answer["existing"]
        return SubmittedInstance.of(instance_from(answer), existing=existing)

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
        task_id = (await self._task(task_name))["id"]
        turn = asyncio.Semaphore(SUBMITTED_AT_ONCE)

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
        return instance_from(await self._read(f"/instances/{instance_id:d}"))

    async def instances(self, sought: Sought) -> list[Instance]:
        """Page by page."""
        wanted = {
            "task_id": None if sought.task_name is None else (await self._task(sought.task_name))["id"],
            "status": sought.status,
            "from": _text("begin", sought.begin),
            "to": _text("end", sought.end),
        }
        found: list[Instance] = []
        cursor: str | None = None
        while len(found) < sought.limit:
            page = await self._read(
                "/instances", limit=min(AT_ONCE, sought.limit - len(found)), cursor=cursor, **wanted
            )
            found += [instance_from(one) for one in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return found

    async def task(self, name: str) -> Task:
        """One task."""
        return task_from(await self._task(name))

    async def explain(self, instance_id: int) -> Explanation:
        """Why it is where it is."""
        return explanation_from(await self._read(f"/instances/{instance_id:d}/explain"))

    async def cancel(self, instance_id: int, reason: str | None) -> Instance:
        """Stop it."""
        return instance_from(await self._ask("POST", f"/instances/{instance_id:d}/cancel", json={"reason": reason}))

    async def retry(self, instance_id: int, args: Mapping[str, Any] | None) -> Instance:
        """Revive it."""
        check_args(args)
        return instance_from(await self._ask("POST", f"/instances/{instance_id:d}/retry", json={"args": args}))

    async def lines(self, instance_id: int, after: int, limit: int) -> list[LogLine]:
        """Some lines from there on."""
        answer = await self._read(f"/instances/{instance_id:d}/logs", after=after, limit=limit)
        return [line_from(line) for line in answer["items"]]

    async def dispatch(self, ids: Sequence[int]) -> None:
        """All of them or none, up to a thousand."""
        for begin in range(0, len(ids), DISPATCHED_AT_ONCE):
            await self._ask("POST", "/instances/dispatch", json={"ids": list(ids[begin : begin + DISPATCHED_AT_ONCE])})

    async def preview_operation(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What it would do now; the server connects to the data source."""
        check_json(config, "config")
        body = {"config": dict(config)}
        return preview_from(
            read(await self._answer("POST", f"/operations/{_word(kind)}/preview", again=True, json=body))
        )

    async def start_operation(self, starting: Starting) -> SubmittedInstance:
        """Plan it again, and submit it."""
        check_json(starting.config, "config")
        given = {
            "config": dict(starting.config),
            "plan_hash": starting.plan_hash,
            "priority": starting.priority,
            "run_at": _text("run_at", starting.run_at),
            "held": starting.held,
            "notes": starting.notes,
            "key": starting.key,
        }
        body = {name: value for name, value in given.items() if value is not None}
        once = {"Idempotency-Key": str(uuid.uuid4())}
        path = f"/operations/{_word(starting.kind)}"
        answer = read(await self._answer("POST", path, again=True, json=body, headers=once))
        return SubmittedInstance.of(instance_from(answer), existing="key" in body and answer["existing"])

    async def _task(self, name: str) -> dict[str, Any]:
        found = (await self._read("/tasks", name=name))["items"]
        if not found:
            raise NotFound("task", name)
        return dict(found[0])

    async def _read(self, path: str, **params: object) -> Any:  # noqa: ANN401 - JSON
        wanted = {name: value for name, value in params.items() if value is not None}
        return read(await self._answer("GET", path, again=True, params=wanted))

    async def _ask(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
        return read(await self._answer(method, path, again=False, **more))

    async def _answer(self, method: str, path: str, *, again: bool, **more: Any) -> httpx.Response:  # noqa: ANN401
        """An answer; asked for again until the patience ends, by `again` also where the server may have heard it."""
        until = time.monotonic() + self._patience
        delay = FIRST_REST_SECONDS
        while True:
            try:
                response = await self._http.request(method, path, **more)
                if not (again and response.status_code in _PASSING) or time.monotonic() + delay > until:
                    return response
            except httpx.TransportError as error:
                unheard = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
                if not (again or unheard) or time.monotonic() + delay > until:
                    raise unreachable(self._address.url, error) from error
            await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311 - so that clients do not return together
            delay = min(2 * delay, LAST_REST_SECONDS)


_PASSING = frozenset({429, 502, 503, 504})


def _word(kind: str) -> str:
    return quote(kind, safe="")


def _text(name: str, moment: datetime | None) -> str | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise InvalidInput.one(name, moment, f"{moment} has no time zone: give one, such as UTC")
    return moment.astimezone(UTC).isoformat()
