"""`/api/v1/callbacks`: work that goes on elsewhere reports under its fence, and its address is the only credential."""

from __future__ import annotations

import asyncio
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem, refused
from hourhand.model.instance import Assignment, Held, LogLine
from hourhand.rules.callback import signature
from hourhand.rules.lines import line_seq

if TYPE_CHECKING:
    import httpx

    from contracts.world import World
    from serving import Served


class Elsewhere:
    """Where the work of one attempt goes on: it knows an address, and nothing else."""

    def __init__(self, client: httpx.AsyncClient, claimed: Assignment, key: bytes) -> None:
        self.client = client
        self.claimed = claimed
        signed = signature(key, claimed.instance_id, claimed.fence)
        self.address = f"{API}/callbacks/{claimed.instance_id}/{claimed.fence}/{signed}"

    async def report(self, **body: Any) -> httpx.Response:
        return await self.client.post(self.address, json=body)


@pytest.fixture
async def anybody(rest: httpx.AsyncClient) -> httpx.AsyncClient:
    """The same server without a token."""
    del rest.headers["Authorization"]
    return rest


@pytest.fixture
async def elsewhere(anybody: httpx.AsyncClient, world: World) -> Elsewhere:
    await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    await world.executor()
    (claimed,) = await world.claim()
    return Elsewhere(anybody, claimed, await world.store.callback_key())


async def test_progress_and_lines_arrive_while_it_runs(elsewhere: Elsewhere, world: World) -> None:
    for number in range(3):
        told = {"progress": number / 4, "phase": "copying", "message": f"n {number}"}
        answer = ok(await elsewhere.report(status="running", **told))
        assert answer == {"status": "running", "cancel_requested": False}
    instance = await world.store.get_instance(elsewhere.claimed.instance_id)
    assert (instance.status, instance.progress, instance.phase) == ("running", 0.5, "copying")
    lines = await world.store.read_lines(instance.id)
    assert [(line.message, line.level, line.phase) for line in lines] == [
        (f"n {number}", "info", "copying") for number in range(3)
    ]


async def test_its_lines_come_after_those_of_the_executor_and_none_is_lost(elsewhere: Elsewhere, world: World) -> None:
    held = Held(elsewhere.claimed.instance_id, elsewhere.claimed.fence)
    own = LogLine(seq=line_seq(held.fence, 2**31 - 1), logged_at=await world.store.now(), message="own")
    assert await world.store.write_lines([(held, own)]) == 1
    reports = [elsewhere.report(status="running", message=f"n {number}") for number in range(12)]
    for answer in await asyncio.gather(*reports):
        ok(answer)
    lines = await world.store.read_lines(held.instance_id)
    assert lines[0].message == "own"
    assert sorted(line.message for line in lines[1:]) == sorted(f"n {number}" for number in range(12))
    assert len({line.seq for line in lines}) == 13
    assert all(line.seq < line_seq(held.fence + 1, 0) for line in lines)


async def test_success_ends_the_instance_with_its_result(elsewhere: Elsewhere, world: World) -> None:
    answer = ok(await elsewhere.report(status="success", result={"rows": 40}, message="done", progress=1))
    assert answer == {"status": "success", "cancel_requested": False}
    instance = await world.store.get_instance(elsewhere.claimed.instance_id)
    assert (instance.status, instance.progress, instance.error_message) == ("success", 1, None)
    assert instance.result == {"output": None, "error": None, "value": {"rows": 40}}
    assert instance.duration_ms is not None
    assert instance.duration_ms < 60_000
    assert [line.message for line in await world.store.read_lines(instance.id)] == ["done"]


async def test_failure_is_retried_as_any_other_is(elsewhere: Elsewhere, world: World) -> None:
    assert ok(await elsewhere.report(status="failed", error="disk full", message="oh"))["status"] == "pending"
    (attempt,) = await world.store.list_attempts(elsewhere.claimed.instance_id)
    assert (attempt.outcome, attempt.error_message) == ("failed", "disk full")
    (line,) = await world.store.read_lines(elsewhere.claimed.instance_id)
    assert (line.level, line.message) == ("error", "oh")
    await world.execute("UPDATE task_instances SET available_at = created_at")
    (second,) = await world.claim()
    again = Elsewhere(elsewhere.client, second, await world.store.callback_key())
    assert ok(await again.report(status="failed"))["status"] == "failed"
    instance = await world.store.get_instance(second.instance_id)
    assert "did not say" in (instance.error_message or "")
    assert instance.result == {"output": None, "error": instance.error_message, "value": None}


async def test_it_learns_that_it_was_cancelled(elsewhere: Elsewhere, world: World) -> None:
    await world.store.cancel(elsewhere.claimed.instance_id, reason="not today")
    assert ok(await elsewhere.report(status="running"))["cancel_requested"] is True
    assert ok(await elsewhere.report(status="failed", error="stopped"))["status"] == "cancelled"


@pytest.mark.parametrize("status", ["running", "success", "failed"])
async def test_a_superseded_attempt_changes_nothing(elsewhere: Elsewhere, world: World, status: str) -> None:
    await world.store.hand_back_unheld("e1", [])
    (successor,) = await world.claim()
    assert successor.instance_id == elsewhere.claimed.instance_id
    refusal = problem(await elsewhere.report(status=status, progress=0.9, phase="x", message="late", result=1), 409)
    assert f"no longer running under fence {elsewhere.claimed.fence}" in refusal["detail"]
    instance = await world.store.get_instance(successor.instance_id)
    assert (instance.status, instance.fence, instance.progress, instance.phase) == (
        "running",
        successor.fence,
        None,
        None,
    )
    assert await world.store.read_lines(successor.instance_id) == []


async def test_a_second_outcome_is_refused(elsewhere: Elsewhere, world: World) -> None:
    answers = await asyncio.gather(*[elsewhere.report(status="success", result=number) for number in range(5)])
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    (winner,) = [number for number, answer in enumerate(answers) if answer.status_code == 200]
    instance = await world.store.get_instance(elsewhere.claimed.instance_id)
    assert instance.result == {"output": None, "error": None, "value": winner}


async def test_whatever_is_not_the_address_is_not_there(elsewhere: Elsewhere, world: World) -> None:
    instance_id, fence = elsewhere.claimed.instance_id, elsewhere.claimed.fence
    signed = elsewhere.address.rsplit("/", 1)[1]
    wrong = [
        f"{instance_id}/{fence}/{'0' * 32}",
        f"{instance_id}/{fence}/{signed[:-1]}",
        f"{instance_id}/{fence}/{signed}0",
        f"{instance_id}/{fence}/{signed.upper()}x",
        f"{instance_id}/{fence + 1}/{signed}",
        f"{instance_id + 1}/{fence}/{signed}",
        f"0{instance_id}/{fence}/{signed}",
        f"+{instance_id}/{fence}/{signed}",
        f"{instance_id}/{fence}/%C3%BC",
        f"{instance_id}/{fence}/%00",
        f"{10**30}/{fence}/{signed}",
        f"x/{fence}/{signed}",
        f"{instance_id}/{fence}",
        f"{instance_id}/{fence}/{signed}/x",
        f"../tasks/{instance_id}/run",
        "",
    ]
    for path in wrong:
        answer = await elsewhere.client.post(f"{API}/callbacks/{path}", json={"status": "success"})
        assert answer.status_code in (401, 404), path
    problem(await elsewhere.client.get(elsewhere.address), 405)
    assert (await world.store.get_instance(instance_id)).status == "running"


async def test_wrong_reports_are_refused_by_field(elsewhere: Elsewhere) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "status"),
        ({"status": "done"}, "status"),
        ({"status": "running", "progress": 1.5}, "progress"),
        ({"status": "running", "progress": "half"}, "progress"),
        ({"status": "running", "phase": "x" * 201}, "phase"),
        ({"status": "success", "value": 1}, "value"),
        ({"status": "success", "result": ["\x00"]}, "body"),
    ]
    for body, field in wrong:
        assert refused(await elsewhere.report(**body)).keys() == {field}


async def test_the_address_opens_nothing_else(elsewhere: Elsewhere) -> None:
    for path in (f"{API}/instances/{elsewhere.claimed.instance_id}", f"{API}/callbacks", f"{API}/callbacksx/1/1/1"):
        problem(await elsewhere.client.get(path), 401)


def test_an_http_task_that_goes_on_elsewhere_ends_with_its_callback(served: Served, client: httpx.Client) -> None:
    addresses: queue.Queue[str] = queue.Queue()

    class Accepting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            addresses.put(self.headers["Hourhand-Callback"])
            self.send_response(202)
            self.send_header("Hourhand-Callback", "accepted")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Accepting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            payload = {"url": f"http://127.0.0.1:{server.server_port}/work", "method": "POST"}
            task = ok(client.post(f"{API}/tasks", json={"name": "far", "type": "http", "payload": payload}), 201)
            instance = ok(client.post(f"{API}/tasks/{task['id']}/run"), 202)
            address = addresses.get(timeout=30)
        finally:
            server.shutdown()
            thread.join()
    assert address.startswith(f"{served.address}{API}/callbacks/{instance['id']}/")
    with served.visitor() as elsewhere:
        assert ok(elsewhere.post(address, json={"status": "running", "progress": 0.5, "message": "half"}))
        assert ok(elsewhere.post(address, json={"status": "success", "result": 42}))["status"] == "success"
        problem(elsewhere.post(address, json={"status": "failed"}), 409)
    ended = ok(client.get(f"{API}/instances/{instance['id']}"))
    assert (ended["status"], ended["result"]["value"], ended["progress"]) == ("success", 42, 0.5)
    lines = ok(client.get(f"{API}/instances/{instance['id']}/logs"))["items"]
    assert lines[-1]["message"] == "half"
