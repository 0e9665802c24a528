"""The agreement by which an http task is ended by a callback instead of by its answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from engine.attempts import Recorded
from engine.http_serving import Server, answer, run, under_way
from hourhand.model.words import OutcomeKind, TaskType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CALLBACK = "https://hourhand.example/api/v1/callbacks/canary"


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as started:
        yield started


async def until_logged(attempt: Recorded, text: str) -> None:
    while not any(text in line.message for line in attempt.lines):
        await asyncio.sleep(0.02)


async def test_an_accepted_callback_keeps_the_attempt_running_until_it_is_cancelled(server: Server) -> None:
    url = server.on("/", answer("202 Accepted", b"later", Hourhand_Callback="Accepted"))
    attempt = Recorded(TaskType.HTTP, {"url": url, "method": "POST"}, callback_url=CALLBACK)
    async with under_way(attempt) as task:
        await until_logged(attempt, "waits for its callback")
        await server.disconnected.wait()
        done, _ = await asyncio.wait([task], timeout=0.2)
        assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert server.asked[0].headers["hourhand-callback"] == CALLBACK
    assert not any("canary" in line.message for line in attempt.lines)


@pytest.mark.parametrize(
    ("status", "header", "callback", "expected"),
    [
        ("202 Accepted", "", CALLBACK, []),
        ("202 Accepted", "refused", CALLBACK, []),
        ("202 Accepted", "accepted", None, []),
        ("200 OK", "accepted", CALLBACK, []),
        ("202 Accepted", "", CALLBACK, [202]),
    ],
)
async def test_without_the_whole_agreement_an_answer_is_just_an_answer(
    server: Server, status: str, header: str, callback: str | None, expected: list[int]
) -> None:
    url = server.on("/", answer(status, Hourhand_Callback=header))
    payload = {"url": url, "expected_status": expected or None}
    outcome, _ = await run(payload, callback_url=callback)
    assert outcome.kind is OutcomeKind.SUCCESS


async def test_a_202_that_is_not_expected_is_a_failure_with_or_without_callback(server: Server) -> None:
    url = server.on("/", answer("202 Accepted", Hourhand_Callback="accepted"))
    outcome, _ = await run({"url": url, "expected_status": [200]}, callback_url=CALLBACK)
    assert outcome.kind is OutcomeKind.FAILED
