"""Alerts end to end: a real process, real servers that are told, and a process that is killed between the two steps."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

from postgres import free_port
from serving import Served
from sinks import PATIENCE, http_sink, smtp_sink

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

API = "/api/v1"
FAST = {"HOURHAND_HEARTBEAT_SECONDS": "0.5", "HOURHAND_LEASE_SECONDS": "2"}


def ok(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def eventually(check: Callable[[], Any], *, seconds: float = PATIENCE) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come to pass")


class Told:
    """A served process and shorthand for what the tests do with it."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def rule(self, name: str, condition: dict[str, Any], *targets: Any, **more: Any) -> int:
        given = {"name": name, "condition": condition, "targets": targets, "group_seconds": 0, **more}
        number: int = ok(self.client.post(f"{API}/alert-rules", json=given))["id"]
        return number

    def task(self, name: str, script: str, **more: Any) -> int:
        given = {"name": name, "type": "command", "payload": {"command": ["/bin/sh", "-c", script]}, **more}
        number: int = ok(self.client.post(f"{API}/tasks", json=given))["id"]
        return number

    def run(self, task_id: int) -> int:
        number: int = ok(self.client.post(f"{API}/tasks/{task_id}/run", json={}))["id"]
        return number

    def ended(self, instance_id: int) -> None:
        states = ("success", "failed")
        eventually(lambda: ok(self.client.get(f"{API}/instances/{instance_id}"))["status"] in states)


def test_each_condition_fires_and_recovers_by_webhook_and_mail(tmp_path: Path) -> None:
    flag = tmp_path / "fails"
    flag.touch()
    with (
        http_sink() as sink,
        smtp_sink(free_port()) as mailbox,
        Served(tmp_path, "--concurrency", "4", **FAST) as served,
        served.client() as client,
    ):
        told = Told(client)
        hook = {"webhook": f"http://127.0.0.1:{sink.port}/alerts", "secret": "shared"}
        mail = f"mailto://127.0.0.1:{mailbox.port}?from=a@example.com&to=ops@example.com&mode=insecure"
        flaky = told.task("flaky", f"test ! -e {flag}")
        slow = told.task("slow", f"while test -e {flag}; do sleep 0.1; done")
        usual = told.task("usual", "true")
        group = ok(client.post(f"{API}/groups", json={"name": "idle"}))["name"]
        waiting = told.task("waiting", "true", group=group)
        told.task("due", "true", group=group, schedule="@every 1s", overlap_policy="skip")
        told.rule("r-failed", {"kind": "failed"}, hook, mail, scope={"task": "flaky"})
        told.rule("r-row", {"kind": "failed_in_a_row", "count": 2}, hook, scope={"task": "flaky"})
        told.rule("r-late", {"kind": "late", "seconds": 1}, hook, scope={"task": "waiting"})
        told.rule("r-never", {"kind": "never_started", "seconds": 3}, hook, scope={"task": "due"})
        told.rule("r-long", {"kind": "running_longer", "seconds": 1}, hook, scope={"task": "slow"})
        told.rule("r-median", {"kind": "running_longer", "times_median": 2}, hook, scope={"task": "usual"})
        told.rule("r-queue", {"kind": "queue_longer", "count": 0, "minutes": 0.02}, hook, scope={"group": group})
        told.rule("r-lost", {"kind": "executor_lost"}, hook)
        for _ in range(2):
            told.ended(told.run(flaky))
        told.run(slow)
        told.ended(told.run(usual))
        told.run(waiting)

        failure = sink.wait("task 'flaky' failed: ")
        assert failure["headers"]["x-hourhand-notice"] == failure["json"]["notice"]
        assert "task 'flaky' failed" in mailbox.wait("task 'flaky' failed")["text"]
        sink.wait("task 'flaky' failed 2 times in a row")
        sink.wait("of task 'waiting' was due")
        sink.wait("task 'due': nothing has started for its instant")
        sink.wait("of task 'slow' runs since")
        sink.wait("group 'idle' has had more than 0 instances waiting")
        ok(client.patch(f"{API}/tasks/{usual}", json={"payload": {"command": ["sleep", "4"]}}))
        told.run(usual)
        sink.wait("times its task's median")

        flag.unlink()
        told.ended(told.run(flaky))
        for task_id in (waiting, *[one["id"] for one in ok(client.get(f"{API}/tasks?name=due"))["items"]]):
            ok(client.patch(f"{API}/tasks/{task_id}", json={"enabled": False}))
        for instance in ok(client.get(f"{API}/instances?group=idle&status=pending"))["items"]:
            ok(client.post(f"{API}/instances/{instance['id']}/cancel", json={}))
        assert "recovered: " in mailbox.wait("task 'flaky' has succeeded")["text"]
        for words in (
            "task 'flaky' has succeeded",
            "of task 'waiting' is no longer late",
            "task 'due' has started, or its instant was skipped",
            "of task 'slow' runs no longer",
            "of task 'usual' runs no longer",
            "group 'idle' has few enough instances waiting again",
        ):
            sink.wait(words)
        eventually(lambda: not ok(client.get(f"{API}/alerts"))["firing"])
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
        with Served(tmp_path, **FAST) as again:
            sink.wait("did not stop cleanly")
            sink.wait("is back, or another of its group has started")
            assert again.stop() == 0
    assert "shared" not in served.output + again.output


def test_a_notice_arrives_though_the_process_is_killed_between_deciding_and_sending(tmp_path: Path) -> None:
    port = free_port()  # nobody listens there yet
    with Served(tmp_path, **FAST) as served, served.client() as client:
        told = Told(client)
        told.rule("r", {"kind": "failed"}, {"webhook": f"http://127.0.0.1:{port}/"})
        told.ended(told.run(told.task("broken", "exit 3")))

        def tried() -> Any:
            return [one for one in ok(client.get(f"{API}/alerts"))["items"] if one["last_error"]]

        (posted,) = eventually(tried)
        assert "Connection refused" in posted["last_error"]
        served.stop(signal.SIGKILL)
    with http_sink(port) as sink, Served(tmp_path, **FAST) as again, again.client() as client:
        arrived = sink.wait("task 'broken' failed")
        assert arrived["json"]["notice"] == posted["notice_id"]
        eventually(lambda: ok(client.get(f"{API}/alerts"))["items"][0]["sent_at"])
        assert again.stop() == 0


def test_a_failure_is_told_though_the_process_is_killed_before_it_was_decided(tmp_path: Path) -> None:
    with http_sink() as sink:
        with Served(tmp_path, **FAST) as served, served.client() as client:
            told = Told(client)
            told.rule("r", {"kind": "failed"}, {"webhook": f"http://127.0.0.1:{sink.port}/"})
            told.ended(told.run(told.task("broken", "exit 3")))
            served.stop(signal.SIGKILL)  # the first decision comes a heartbeat and two seconds after the start
        with Served(tmp_path, **FAST) as again:
            sink.wait("task 'broken' failed")
            assert again.stop() == 0
    assert len({one["json"]["notice"] for one in sink.arrived if "broken" in one["text"]}) == 1
