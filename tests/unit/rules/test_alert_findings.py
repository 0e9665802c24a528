"""For what each condition holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hourhand.model.alert import Facts, FailedInARow, QueueLonger, RunningLonger, SubjectState
from hourhand.rules import alert_findings as findings
from hourhand.rules.alert_findings import Failure, Queue, Registered, Subject, Waiting

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
CLOSE = Subject(task_id=7, task="close", group_id=1)
TASKS = {7: CLOSE}
THREE = FailedInARow(count=3)


def failure(number: int = 1, error: str | None = "boom") -> Failure:
    return Failure(task=CLOSE, instance_id=number, log_id=number, scheduled_time=NOW, end_time=NOW, error_message=error)


def waiting(**changes: Any) -> Waiting:
    values: dict[str, Any] = {"task": CLOSE, "instance_id": 42, "scheduled_time": NOW}
    return Waiting(**values | changes)


# Failures


@pytest.mark.parametrize(
    ("failures", "firing", "newest", "happened", "holding"),
    [
        ([], [], [], 0, False),
        ([failure(1)], [], ["failed"], 1, True),
        ([failure(1), failure(2)], ["task:7"], ["failed"], 2, True),
        ([failure(1)], [], ["success"], 1, False),  # it has succeeded since
        ([], ["task:7"], ["failed"], 0, True),
        ([], ["task:7"], [], 0, True),  # retention has taken its endings
        ([], ["task:7"], ["success", "failed"], 0, False),
    ],
)
def test_every_failure_is_told_and_holds_until_a_success(
    failures: list[Failure], firing: list[str], newest: list[str], happened: int, *, holding: bool
) -> None:
    facts = findings.failed(failures, firing, {7: newest}, TASKS)
    assert len(facts.happened) == happened
    assert list(facts.holding) == (["task:7"] if holding else [])
    assert not facts.forgotten


def test_a_failure_is_told_with_its_error_its_instance_and_its_time() -> None:
    (told,) = findings.failed([failure(3, "boom\n  bang")], [], {7: ["failed"]}, TASKS).happened
    assert told.text == "task 'close' failed: boom bang (instance 3, due 2026-11-15T12:00:00Z)"
    assert told.about["instance_id"] == 3
    assert told.about["task_id"] == 7


@pytest.mark.parametrize(("error", "told"), [(None, "no error message"), ("x" * 600, "x" * 499 + "…")])
def test_an_error_is_told_as_far_as_it_fits(error: str | None, told: str) -> None:
    (finding,) = findings.failed([failure(1, error)], [], {}, TASKS).happened
    assert f"failed: {told} (instance" in finding.text


@pytest.mark.parametrize("tasks", [{}, {7: Subject(task_id=7, task="close", group_id=1, deleted=True)}])
def test_of_a_deleted_task_nothing_holds_and_nothing_recovers(tasks: dict[int, Subject]) -> None:
    for facts in (
        findings.failed([failure()], ["task:7"], {7: ["success"]}, tasks),
        findings.failed_in_a_row(THREE, [failure()], ["task:7"], {7: ["success"]}, tasks),
    ):
        assert facts.forgotten == {"task:7"}
        assert not facts.holding


@pytest.mark.parametrize(
    ("failures", "firing", "newest", "holding"),
    [
        ([failure()], [], ["failed"] * 2, False),
        ([failure()], [], ["failed"] * 3, True),
        ([failure()], [], ["failed", "failed", "success"], False),
        ([failure()], [], ["failed", "failed", "failed", "success"], True),  # looked at for another rule
        ([], ["task:7"], ["failed"] * 3, True),
        ([], ["task:7"], ["failed"], True),  # retention has taken the others
        ([], ["task:7"], ["success", "failed", "failed"], False),
    ],
)
def test_failures_in_a_row_hold_from_their_number_until_a_success(
    failures: list[Failure], firing: list[str], newest: list[str], *, holding: bool
) -> None:
    facts = findings.failed_in_a_row(THREE, failures, firing, {7: newest}, TASKS)
    assert list(facts.holding) == (["task:7"] if holding else [])
    assert not facts.happened
    for finding in facts.holding.values():
        assert finding.text == "task 'close' failed 3 times in a row" + (": boom" if failures else "")


# The living


@pytest.mark.parametrize(
    ("blocked_by", "told"),
    [
        (None, "no executor has claimed it"),
        ("dependencies", "it waits for its dependencies"),
        ("permit", "it waits for its concurrency key"),
    ],
)
def test_what_is_late_is_told_with_what_it_waits_for(blocked_by: str | None, told: str) -> None:
    (finding,) = findings.late([waiting(blocked_by=blocked_by)]).holding.values()
    assert finding.subject == "instance:42"
    assert finding.text.endswith(f"was due 2026-11-15T12:00:00Z and has not started: {told}")


def test_a_task_is_told_of_whose_instant_has_passed_with_nothing_started() -> None:
    (finding,) = findings.never_started({CLOSE: NOW}).holding.values()
    assert finding.subject == "task:7"
    assert "nothing has started for its instant 2026-11-15T12:00:00Z" in finding.text


@pytest.mark.parametrize(
    ("condition", "started", "median", "holds"),
    [
        (RunningLonger(seconds=60), 61, None, True),
        (RunningLonger(seconds=60), 59, None, False),
        (RunningLonger(seconds=60), None, None, False),
        (RunningLonger(times_median=3), 31, 10, True),
        (RunningLonger(times_median=3), 29, 10, False),
        (RunningLonger(times_median=3), 10_000, None, False),  # nobody knows how long it takes
        (RunningLonger(), 10_000, 10, False),
    ],
)
def test_what_runs_longer_is_measured_by_seconds_or_by_its_median(
    condition: RunningLonger, started: float | None, median: float | None, *, holds: bool
) -> None:
    start = None if started is None else NOW - timedelta(seconds=started)
    one = waiting(start_time=start, median_seconds=median, executor_id="e1")
    facts = findings.running_longer(condition, [one], NOW)
    assert bool(facts.holding) is holds
    for finding in facts.holding.values():
        assert "runs since" in finding.text
        assert "on e1" in finding.text


@pytest.mark.parametrize(("count", "holds"), [(10, False), (11, True)])
def test_a_queue_holds_above_its_number(count: int, *, holds: bool) -> None:
    queue = Queue(subject="group:1", what="group 'default'", waiting=count, about={"group_id": 1})
    facts = findings.queue_longer(QueueLonger(count=10, minutes=2), [queue])
    assert bool(facts.holding) is holds
    for finding in facts.holding.values():
        assert finding.text == "group 'default' has had more than 10 instances waiting for 2 minutes"


# Executors


def executor(name: str = "e1", *, silent: bool = False, started: int = -100, beat: int = -30) -> Registered:
    return Registered(
        id=name,
        group_id=1,
        group="default",
        started_at=NOW + timedelta(seconds=started),
        last_heartbeat=NOW + timedelta(seconds=beat),
        silent=silent,
    )


def state(*, firing: bool = False, heard: int | None = None) -> dict[str, SubjectState]:
    about: dict[str, Any] = {"executor_id": "e1", "group_id": 1, "group": "default"}
    if heard is not None:
        about["last_heartbeat"] = (NOW + timedelta(seconds=heard)).isoformat()
    return {
        "executor:e1": SubjectState(subject="executor:e1", since=NOW, firing_since=NOW if firing else None, about=about)
    }


LOST = "executor:e1"
SUCCESSOR, ELDER = executor("e2", started=-10), executor("e2", started=-90)


@pytest.mark.parametrize(
    ("registry", "states", "last_look", "lost"),
    [
        ([executor()], {}, None, False),
        ([executor()], state(), None, False),
        ([executor()], state(firing=True), None, False),  # it beats again
        ([executor(silent=True)], {}, None, True),
        ([executor(silent=True)], state(), None, True),
        ([executor(silent=True), ELDER], state(firing=True), None, True),  # who was there before replaces nobody
        ([executor(silent=True), SUCCESSOR], state(), None, True),  # first it is told
        ([executor(silent=True), SUCCESSOR], state(firing=True), None, False),  # then it is over
        ([executor(silent=True), SUCCESSOR], {}, None, False),  # and stays over
        ([], {}, None, False),
        ([], state(), None, True),  # forgotten, not stopped: a clean stop takes the state along
        ([], state(), NOW - timedelta(seconds=40), True),
        ([SUCCESSOR], state(firing=True, heard=-30), None, False),
        ([ELDER], state(firing=True, heard=-30), None, True),
    ],
)
def test_an_executor_is_lost_until_it_or_a_successor_beats(
    registry: list[Registered], states: dict[str, SubjectState], last_look: datetime | None, *, lost: bool
) -> None:
    facts: Facts = findings.executor_lost(registry, states, last_look, NOW)
    assert (LOST in facts.holding) is lost
    assert facts.known.keys() == {one.subject for one in registry if not one.silent}


def test_a_lost_executor_is_told_with_when_it_was_last_heard_of() -> None:
    (finding,) = findings.executor_lost([executor(silent=True)], {}, None, NOW).holding.values()
    assert finding.text == (
        "executor e1 of group 'default' was last heard of 2026-11-15T11:59:30Z and did not stop cleanly"
    )
