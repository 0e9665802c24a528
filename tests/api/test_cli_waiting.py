"""Waiting in the CLI beside `task run`: for a retry, for what is dispatched, for a whole backfill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from api.cli import Terminal, environment
from api.screen import Screen
from serving import Served


@pytest.fixture(scope="module")
def hourhand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with Served(tmp_path_factory.mktemp("waiting")) as served:
        terminal = Terminal(served)
        terminal.done("group", "add", "nobody")
        terminal.done("task", "add", "idle", "--command", "true", "--group", "nobody")
        terminal.done("task", "add", "good", "--command", "echo one")
        terminal.done("task", "add", "sour", "--command", "sh -c 'echo tried; exit $1' sh ${code}")
        terminal.done("task", "add", "days", "--command", "echo a day", "--schedule", "@daily", "--overlap", "parallel")
        yield terminal


def failed(hourhand: Terminal) -> str:
    ran = hourhand("task", "run", "sour", "--args", '{"code": 3}', "--wait", "--json")
    assert (ran.code, ran.json["status"]) == (1, "failed")
    return str(ran.json["id"])


def planned(hourhand: Terminal, task: str) -> str:
    return str(hourhand.done("instance", "plan", task, "--args", '{"code": 3}', "--json").json["id"])


def test_a_retry_is_waited_for(hourhand: Terminal) -> None:
    instance = failed(hourhand)
    again = hourhand("instance", "retry", instance, "--wait")
    assert (again.code, again.err) == (1, "")
    assert f"Instance {instance} of task 'sour': failed after" in again.out
    good = hourhand("instance", "retry", instance, "--wait", "--args", '{"code": 0}', "--json")
    assert (good.code, good.err, good.json["status"]) == (0, "", "success")


def test_a_retry_is_followed_from_its_first_attempt_on(hourhand: Terminal) -> None:
    instance = failed(hourhand)
    ran = hourhand("instance", "retry", instance, "--follow", "--args", '{"code": 0}')
    assert ran.code == 0
    assert ran.out == "tried\ntried\n"
    assert "success after" in ran.err


@pytest.mark.parametrize("option", ["--wait", "--follow"])
def test_of_many_at_once_none_is_waited_for(hourhand: Terminal, option: str) -> None:
    said = hourhand.refused("instance", "retry", "--all", "--yes", option, code=2)
    assert f"{option}: is for one instance: name it by its ID" in said


def test_what_is_dispatched_is_waited_for(hourhand: Terminal) -> None:
    ids = [planned(hourhand, "good") for _ in range(3)]
    assert hourhand.done("instance", "dispatch", *ids, "--wait").out == (
        "3 instances dispatched.\n3 instances ended: 3 success.\n"
    )


def test_one_that_fails_makes_the_exit_code_1(hourhand: Terminal) -> None:
    ids = [planned(hourhand, "good"), planned(hourhand, "sour")]
    ran = hourhand("instance", "dispatch", *ids, "--wait", "--json")
    assert (ran.code, ran.err) == (1, "")
    assert {name: ran.json[name] for name in ("dispatched", "success", "failed", "cancelled")} == {
        "dispatched": 2,
        "success": 1,
        "failed": 1,
        "cancelled": 0,
    }
    assert [str(one["id"]) for one in ran.json["items"]] == ids


def test_dispatched_without_waiting_is_json_too(hourhand: Terminal) -> None:
    assert hourhand.done("instance", "dispatch", planned(hourhand, "idle"), "--json").json == {"dispatched": 1}


def test_a_backfill_is_waited_for(hourhand: Terminal) -> None:
    first = hourhand("task", "backfill", "days", "--from", "2026-01-01", "--to", "2026-01-02", "--wait")
    assert first.code == 0, first
    made, ended = first.out.splitlines()
    assert made.startswith("2 instances made")
    assert ended == "2 instances ended: 2 success."
    more = hourhand("task", "backfill", "days", "--from", "2026-01-01", "--to", "2026-01-05", "--wait", "--json")
    assert (more.code, more.err) == (0, "")
    assert (more.json["made"], more.json["success"]) == (3, 3)
    times = sorted(one["scheduled_time"] for one in more.json["items"])
    assert times == [f"2026-01-0{day}T00:00:00Z" for day in (3, 4, 5)]
    none = hourhand("task", "backfill", "days", "--from", "2026-01-01", "--to", "2026-01-05", "--wait")
    assert (none.code, none.out.splitlines()[1:]) == (0, [])


def test_at_a_terminal_a_bar_shows_how_many_have_ended(hourhand: Terminal) -> None:
    ids = [planned(hourhand, "good"), planned(hourhand, "idle")]
    with Screen(
        hourhand.served.folder, "instance", "dispatch", *ids, "--wait", HOURHAND_URL=hourhand.served.address
    ) as screen:
        screen.wait_for("1 of 2 instances ended: 1 success")
        screen.wait_for("50%")
        hourhand.done("instance", "cancel", ids[1])
        assert screen.end() == 1
        assert "2 instances ended: 1 success, 1 cancelled." in screen.plain


def test_ctrl_c_leaves_them_alone(hourhand: Terminal) -> None:
    instance = planned(hourhand, "idle")
    with subprocess.Popen(
        [sys.executable, "-m", "hourhand", "instance", "dispatch", instance, "--wait"],
        cwd=hourhand.served.folder,
        env=environment(HOURHAND_URL=hourhand.served.address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "1 instance dispatched.\n"
        time.sleep(0.5)  # after this line it waits; were it not so far yet, Ctrl-C would end it all the same
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 1
        assert "Traceback" not in process.stderr.read()
    assert hourhand.done("instance", "show", instance, "--json").json["status"] == "pending"


def test_an_ended_instance_is_followed_to_its_end_at_once(hourhand: Terminal) -> None:
    instance = str(hourhand.done("task", "run", "good", "--wait", "--json").json["id"])
    ran = hourhand("instance", "follow", instance)
    assert (ran.code, ran.out) == (0, "one\n")
    assert "success" in ran.err
    assert hourhand("instance", "follow", failed(hourhand)).code == 1
    assert "there is no instance 999999" in hourhand.refused("instance", "follow", "999999", code=1)


def test_whether_an_instance_with_the_key_was_there_is_part_of_the_answer(hourhand: Terminal) -> None:
    first = hourhand.done("task", "run", "idle", "--key", "once", "--json").json
    again = hourhand.done("task", "run", "idle", "--key", "once", "--json").json
    assert (first["existing"], again["existing"]) == (False, True)
    assert first["id"] == again["id"]
