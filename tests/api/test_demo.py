"""`hourhand serve --demo`: every sample task is seen in the state that it is there to show."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from api.answers import API, ok, problem
from api.cli import Terminal
from hourhand.demo import app, samples
from hourhand.model.demo import DEMO_GROUP
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

    from postgres import Cluster

QUICK = {"HOURHAND_HEARTBEAT_SECONDS": "0.5", "HOURHAND_LEASE_SECONDS": "2", "HOURHAND_GRACE_SECONDS": "1"}
BY_HAND = (
    *(samples.TILL, samples.SHELVES, samples.GREETING, samples.ALARM, samples.BACK_DOOR, samples.CARDS),
    *(samples.SCANNER, samples.CLOSING, app.COURIER, app.COURIER, app.COURIER, app.SHIFT, app.PHOTOS),
)
"""What the tests need not wait for until it falls due; all of it at once, so that they wait together."""
PATIENCE = 90


class Shop:
    """The API of a server with the demo."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.loaded_at = ok(client.get(f"{API}/demo"))["loaded_at"]

    def task(self, name: str) -> dict[str, Any]:
        (task,) = ok(self.client.get(f"{API}/tasks", params={"name": name}))["items"]
        return dict(task)

    def instances(self, name: str) -> list[dict[str, Any]]:
        """Return those of a sample task that are no samples themselves."""
        params = {"task_id": self.task(name)["id"], "limit": 50}
        found = ok(self.client.get(f"{API}/instances", params=params))["items"]
        return [one for one in found if one["notes"] is None]

    def seen(self, name: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait for an instance of which this holds."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.instances(name)
            if hits := [one for one in found if wanted(one)]:
                return hits[0]
            assert time.monotonic() < deadline, (name, found[:3])
            time.sleep(0.2)

    def ended(self, name: str, status: str = "success") -> dict[str, Any]:
        return self.seen(name, lambda one: one["status"] == status and not one["skip_reason"])

    def run(self, name: str, **asked: Any) -> None:
        ok(self.client.post(f"{API}/tasks/{self.task(name)['id']}/run", json=asked), 202)

    def lines(self, instance: dict[str, Any]) -> list[dict[str, Any]]:
        return list(ok(self.client.get(f"{API}/instances/{instance['id']}/logs"))["items"])


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("demo"), "--demo", **QUICK) as served:
        with served.client() as client:
            for name in BY_HAND:
                Shop(client).run(name)
        yield served


@pytest.fixture
def shop(night: Served) -> Iterator[Shop]:
    with night.client() as client:
        yield Shop(client)


def test_the_start_says_what_was_loaded_and_ends_with_the_sign_in_link(night: Served) -> None:
    lines = [line for line in night.lines if line.startswith(("Hourhand", "  "))]
    assert any(line.startswith("  demo        ") and "`hourhand demo remove`" in line for line in lines)
    assert lines[-1].startswith("  sign in ")


def test_the_audit_keeps_that_somebody_here_has_loaded_it(shop: Shop) -> None:
    found = ok(shop.client.get(f"{API}/audit-logs", params={"user_id": "local", "limit": 100}))["items"]
    kept = {(one["action"], one["resource_type"]) for one in found}
    assert {("load", "demo"), ("edit", "group"), ("create", "pause"), ("create", "alert-rule")} <= kept


def test_the_diamond_runs_one_after_the_other(shop: Shop) -> None:
    report = shop.ended(app.REPORT)
    ends = {name: shop.ended(name) for name in (app.EXTRACT, app.REVENUE, app.STOCK)}
    assert {one["scheduled_time"] for one in ends.values()} == {report["scheduled_time"]}
    assert all(one["end_time"] <= report["start_time"] for one in ends.values())
    assert report["triggered_by"] == "dependency"


def test_handlers_tell_how_far_they_are_and_write_lines(shop: Shop) -> None:
    extract = shop.ended(app.EXTRACT)
    assert extract["phase"] == "reading"
    assert {"debug", "info"} <= {line["level"] for line in shop.lines(extract)}
    assert {line["phase"] for line in shop.lines(extract)} >= {"connecting", "reading"}


def test_commands_of_several_kinds_succeed(shop: Shop) -> None:
    assert "the till answers" in shop.ended(samples.TILL)["result"]["output"]
    assert shop.ended(app.STOCK)["result"]["output"].startswith("cake\t3\n")
    for name, wanted in ((samples.SHELVES, "Lantern Lane 7: tea has 41 left"), (samples.GREETING, "switched on")):
        assert wanted in shop.ended(name)["result"]["output"]


def test_the_server_calls_itself(shop: Shop) -> None:
    assert shop.ended(samples.ALARM)["result"]["status_code"] == 200
    assert shop.ended(samples.BACK_DOOR)["result"]["status_code"] == 401


def test_one_always_fails_and_says_why(shop: Shop) -> None:
    failed = shop.ended(samples.CARDS, "failed")
    assert "no paper in the printer" in failed["error_message"]
    assert failed["retry_count"] == 1


def test_one_fails_now_and_then_and_is_tried_again(shop: Shop) -> None:
    tried = shop.seen(app.COURIER, lambda one: one["retry_count"] > 0 and one["status"] == "success")
    first, *_ = ok(shop.client.get(f"{API}/instances/{tried['id']}/attempts"))["items"]
    assert "hung up" in first["error_message"]


def test_one_takes_too_long(shop: Shop) -> None:
    assert shop.ended(samples.SCANNER, "failed")["error_message"] == "timed out after 4 s"


def test_the_long_one_stores_where_it_is(shop: Shop) -> None:
    counting = shop.seen(app.INVENTORY, lambda one: one["status"] == "running" and (one["checkpoint"] or {}) != {})
    assert counting["checkpoint"]["shelf"] >= 0
    assert counting["phase"].startswith("shelf ")


def test_one_is_broadcast(shop: Shop) -> None:
    said = shop.ended(samples.CLOSING)
    assert said["target_executor_id"] == said["executor_id"]
    assert DEMO_GROUP in said["executor_id"]


def test_one_is_paused_with_a_reason_and_an_end(shop: Shop) -> None:
    (pause,) = ok(shop.client.get(f"{API}/pauses"))["items"]
    assert (pause["task_name"], pause["reason"]) == (samples.NEWSLETTER, samples.PAUSED_BECAUSE)
    assert pause["until"] > shop.loaded_at


def test_others_wait_for_the_one_that_has_the_oven(shop: Shop) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        states = [one for name in (samples.BREAD, samples.BUNS, samples.CAKE) for one in shop.instances(name)]
        baking = [one for one in states if one["status"] == "running"]
        assert len(baking) <= 1
        if baking and any(one["blocked_by"] == "permit" for one in states):
            break
        assert time.monotonic() < deadline, states
        time.sleep(0.2)


def test_one_waits_for_what_never_comes_and_that_is_explained(shop: Shop) -> None:
    waiting = shop.seen(samples.PAYMENT, lambda one: one["status"] == "planned")
    explained = ok(shop.client.get(f"{API}/instances/{waiting['id']}/explain"))
    assert samples.INVOICE in explained["summary"]


def test_times_to_come_and_other_zones(shop: Shop) -> None:
    assert shop.task(samples.NEW_YEAR)["next_fire_at"].endswith("-01-01T08:00:00Z")
    tokyo = shop.task(samples.TOKYO)
    assert (tokyo["timezone"], tokyo["next_fire_at"][-10:]) == ("Asia/Tokyo", "T00:00:00Z")
    assert not shop.task(samples.LIGHTS)["enabled"]


def test_lines_of_every_level_in_chinese(shop: Shop) -> None:
    lines = shop.lines(shop.ended(app.SHIFT))
    assert {line["level"] for line in lines} == {"debug", "info", "warning", "error"}
    assert any("冰箱" in line["message"] for line in lines)


def test_one_runs_in_a_process_of_its_own_and_one_takes_arguments(shop: Shop) -> None:
    shop.run(app.LABEL, args={"order": 41, "copies": 2})
    assert shop.ended(app.PHOTOS)["result"]["value"] == {"pictures": 4}
    assert shop.ended(app.LABEL)["result"]["value"] == {"order": 41, "copies": 2}


def test_there_is_an_alert_rule_that_bothers_nobody(shop: Shop) -> None:
    (rule,) = ok(shop.client.get(f"{API}/alert-rules"))["items"]
    assert (rule["name"], rule["targets"]) == (samples.RULE_NAME, [])


def test_loaded_into_a_server_that_runs_it_survives_a_crash_and_is_removed(tmp_path: Path) -> None:
    with Served(tmp_path, **QUICK) as served, served.client() as client:
        hourhand = Terminal(served)
        assert "  demo        " not in served.output
        assert "is not loaded" in hourhand.done("demo", "status").out
        assert hourhand.done("demo", "load", "--json").json["new"] is True
        assert "was loaded before" in hourhand.done("demo", "load").out
        counting = Shop(client).seen(app.INVENTORY, lambda one: (one["checkpoint"] or {}).get("shelf", 0) >= 1)
        served.stop(signal.SIGKILL)
    with Served(tmp_path, **QUICK) as served, served.client() as client:  # plainly: the store knows that it is loaded
        hourhand = Terminal(served)
        assert "  demo        " in served.output
        shop = Shop(client)
        again = shop.seen(app.INVENTORY, lambda one: one["status"] == "running" and one["fence"] > counting["fence"])
        assert again["id"] == counting["id"]
        assert again["checkpoint"]["shelf"] >= counting["checkpoint"]["shelf"]
        assert shop.task(samples.ALARM)["payload"]["url"] == f"{served.address}/healthz"
        assert DEMO_GROUP in hourhand.done("demo", "status").out
        assert hourhand.done("demo", "status", "--json").json["executors"] == 1
        mine = {"name": "mine", "condition": {"kind": "failed"}, "scope": {"group": DEMO_GROUP}}
        rule = ok(client.post(f"{API}/alert-rules", json=mine), 201)
        assert "(mine)" in hourhand.refused("demo", "remove", code=1)
        assert "(mine)" in problem(client.delete(f"{API}/demo"), 409)["detail"]
        assert shop.task(app.INVENTORY)["enabled"]
        ok(client.delete(f"{API}/alert-rules/{rule['id']}"), 204)
        assert "The demo is removed: " in hourhand.done("demo", "remove").out
        for path in ("tasks", "instances", "execution-logs", "pauses", "alert-rules"):
            assert ok(client.get(f"{API}/{path}"))["items"] == [], path
        assert [one["name"] for one in ok(client.get(f"{API}/groups"))["items"]] == ["default"]
        assert [one["group"] for one in ok(client.get(f"{API}/executors"))["items"]] == ["default"]
        assert "nothing to remove" in hourhand.refused("demo", "remove", code=1)
        assert "nothing to remove" in problem(client.delete(f"{API}/demo"), 409)["detail"]
    assert "Traceback" not in served.output


def test_it_works_on_postgresql_and_needs_an_admin(cluster: Cluster, tmp_path: Path) -> None:
    with Served(tmp_path, "--demo", "--store", cluster.create_database(), **QUICK) as served, served.client() as client:
        shop = Shop(client)
        shop.ended(app.EXTRACT)
        assert ok(client.get(f"{API}/stats/overview"))["success"] > 5_000
        editor = ok(client.post(f"{API}/tokens", json={"name": "editor", "role": "editor"}), 201)["token"]
        with served.client(editor) as another:
            assert ok(another.get(f"{API}/demo"))["loaded"]
            problem(another.post(f"{API}/demo"), 403)
            problem(another.delete(f"{API}/demo"), 403)
        removed = ok(client.delete(f"{API}/demo"))
        assert removed["tasks"] > 20
        assert ok(client.get(f"{API}/tasks"))["items"] == []
    assert "Traceback" not in served.output


def test_what_comes_while_another_runs_is_skipped_and_recorded(shop: Shop) -> None:
    # The last of this module: it takes two of its intervals, which the other servers have used meanwhile.
    skipped = shop.seen(samples.WEBSITE, lambda one: one["skip_reason"] == "overlap")
    assert skipped["status"] == "cancelled"
