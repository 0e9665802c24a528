"""Runners: an http task calls a URL; the status of the answer, or a callback later on, is its outcome."""

from __future__ import annotations

import asyncio
import ssl
import time
from http import HTTPStatus
from typing import Any, ClassVar, cast

import httpcore

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.payload import HttpPayload
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.rules.payload import payload_from
from hourhand.runners.http_answer import Answer, read_answer
from hourhand.runners.http_request import CALLBACK, REDIRECTS, Call, call_from, redirected
from hourhand.service.addresses import AddressPolicy, AddressRefused, Resolve, Resolver
from hourhand.service.connection import CheckedNetwork, open_pool, reason, trusted_authorities
from hourhand.settings import Settings

MOST_REDIRECTS = 3
SILENCE_SECONDS = 60.0
"""How long a server may send nothing, where the task has no time-out of its own."""
_LONGEST_REASON = 300


class CallFailed(Exception):
    """A call that got no answer, or none that may be followed."""

    def __init__(self, message: str, *, retryable: bool = True, answer: Answer | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.answer = answer


class HttpRunner:
    """Runs http tasks."""

    type: ClassVar[TaskType] = TaskType.HTTP

    def __init__(
        self,
        settings: Settings,
        *,
        loopback: bool = False,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """With `loopback`, this machine's own services may be called.

        That is for a process whose own API listens there: who can reach that can reach the others too. The setting
        `host` alone does not say so, since an executor of a cluster has it and listens nowhere.
        """
        self._resolver = Resolver()
        self._network = CheckedNetwork(AddressPolicy.of(settings, resolve or self._resolver, loopback=loopback))
        self._tls = tls or trusted_authorities()

    async def close(self) -> None:
        """Give back the threads that look up names; connections end with their attempts."""
        self._resolver.close()

    async def run(self, attempt: Attempt) -> Outcome:
        """Make the call, follow its redirects, and judge the answer.

        Cancelled, it closes its connection and lets the cancellation go on: of an answer that is not complete there
        is nothing to keep.
        """
        started = time.monotonic()
        try:
            payload = cast("HttpPayload", payload_from(TaskType.HTTP, attempt.definition.payload))
            call, answer = await self._followed(attempt, payload, call_from(payload, attempt))
        except InvalidInput as error:
            return _failed(started, f"the call cannot be made: {error}", retryable=False)
        except AddressRefused as error:
            return _failed(started, f"the call is refused: {error}", retryable=False)
        except CallFailed as error:
            return _failed(started, str(error), error.answer, retryable=error.retryable)
        if not _expected(payload, answer.status):
            wanted = ", ".join(map(str, payload.expected_status)) or "200\N{EN DASH}299"
            line = f": {answer.first_line}" if answer.first_line else ""
            return _failed(started, f"{call.shown} answered {answer.told}, expected {wanted}{line}", answer)
        if _goes_on(call, answer):
            attempt.log(f"{answer.told}: the work goes on elsewhere; waits for its callback")
            await asyncio.get_running_loop().create_future()  # the callback ends the instance, and so this attempt
        return Outcome(
            kind=OutcomeKind.SUCCESS,
            result=_result(answer, None),
            output_summary=answer.summary,
            duration_ms=_since(started),
        )

    async def _followed(self, attempt: Attempt, payload: HttpPayload, call: Call) -> tuple[Call, Answer]:
        async with open_pool(self._network, self._tls) as pool:
            for redirects in range(MOST_REDIRECTS + 1):
                answer = await _answered(pool, call, payload, attempt)
                if not _leads_on(payload, answer.status, answer.headers):
                    break
                if redirects == MOST_REDIRECTS:
                    raise CallFailed(
                        f"{call.shown} answered {answer.told} again: at most {MOST_REDIRECTS} redirects are followed",
                        answer=answer,
                    )
                try:
                    call = redirected(call, answer.status, answer.headers["location"])
                except AddressRefused as error:
                    raise CallFailed(
                        f"{call.shown} answered {answer.told}, which is not followed: {error}",
                        retryable=False,
                        answer=answer,
                    ) from None
        return call, answer


async def _answered(pool: httpcore.AsyncConnectionPool, call: Call, payload: HttpPayload, attempt: Attempt) -> Answer:
    """Send one request and read its answer; everything that can go wrong on the way becomes words."""
    # Where the task has a time-out, that alone decides how long to wait: the executor cancels the attempt.
    silence = SILENCE_SECONDS if attempt.definition.timeout_seconds is None else None
    timeouts = {"connect": payload.connect_timeout_seconds, "read": silence, "write": silence, "pool": None}
    attempt.log(call.shown)
    started = time.monotonic()
    try:
        async with pool.stream(
            call.method,
            call.address(),
            headers=call.sent_headers(),
            content=call.body,
            extensions={"timeout": timeouts},
        ) as response:
            answer = await read_answer(response, wanted=lambda status, headers: not _leads_on(payload, status, headers))
    except AddressRefused as error:
        raise CallFailed(f"{call.shown} is refused: {error}", retryable=False) from None
    except httpcore.ConnectTimeout:
        raise CallFailed(
            f"{call.shown}: could not connect: no answer within {payload.connect_timeout_seconds:g} s"
        ) from None
    except httpcore.ConnectError as error:
        raise CallFailed(f"{call.shown}: could not connect: {_words(error)}") from None
    except httpcore.TimeoutException:
        raise CallFailed(f"{call.shown}: nothing came for {SILENCE_SECONDS:g} s") from None
    except httpcore.RemoteProtocolError as error:
        raise CallFailed(f"{call.shown}: no complete answer in HTTP came: {_words(error)}") from None
    except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol) as error:
        raise CallFailed(f"{call.shown}: cannot be sent: {_words(error)}", retryable=False) from None
    except (httpcore.NetworkError, OSError) as error:
        raise CallFailed(f"{call.shown}: the connection broke: {_words(error)}") from None
    attempt.log(f"answered {answer.told} in {_since(started)} ms, {answer.received} bytes")
    return answer


def _words(error: Exception) -> str:
    return reason(error)[:_LONGEST_REASON]


def _expected(payload: HttpPayload, status: int) -> bool:
    if payload.expected_status:
        return status in payload.expected_status
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _leads_on(payload: HttpPayload, status: int, headers: dict[str, str]) -> bool:
    return status in REDIRECTS and "location" in headers and not _expected(payload, status)


def _goes_on(call: Call, answer: Answer) -> bool:
    accepted = answer.headers.get(CALLBACK.lower(), "").strip().lower() == "accepted"
    return answer.status == HTTPStatus.ACCEPTED and accepted and call.offers_callback


def _failed(started: float, message: str, answer: Answer | None = None, *, retryable: bool = True) -> Outcome:
    return Outcome(
        kind=OutcomeKind.FAILED,
        result=_result(answer, message),
        error_message=message,
        output_summary=answer.summary if answer else None,
        duration_ms=_since(started),
        retryable=retryable,
    )


def _result(answer: Answer | None, error: str | None) -> dict[str, Any]:
    return {
        "output": answer.text if answer else "",
        "error": error,
        "status_code": answer.status if answer else None,
    }


def _since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
