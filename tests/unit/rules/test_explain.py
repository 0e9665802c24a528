from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hourhand.model.explanation import Code, Reason
from hourhand.model.instance import AttemptRecord, Instance
from hourhand.model.pause import Pause, PauseScope
from hourhand.model.registry import BUILTIN, Executor, Lane
from hourhand.model.task import TaskDefinition
from hourhand.model.window import Opening, OpenWindow, Recurrence, Window
from hourhand.model.words import (
    BlockedBy,
    DependencyMode,
    ExecutorLossPolicy,
    OutcomeKind,
    SkipReason,
    Status,
    TaskType,
    UpstreamFailurePolicy,
)
from hourhand.rules.dependency import Release, Standing
from hourhand.rules.endings import REPLACED, cancelled, task_deleted, timed_out
from hourhand.rules.explain import explain
from hourhand.rules.facts import MOST_AHEAD, Awaited, Facts, Key, Lanes, Waiting

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
DEFINITION = TaskDefinition(name="t", type=TaskType.COMMAND, max_retries=2, timeout_seconds=5)
LANE = Lane(1, BUILTIN, "{}")
EXECUTOR = Executor(id="e1", group="default")
LANES = Lanes(group="default", lane=LANE, alive=((EXECUTOR, 1),))


def instance(status: Status, **changes: Any) -> Instance:
    values: dict[str, Any] = {
        "id": 42,
        "task_id": 7,
        "task_name": "t",
        "task_version": 1,
        "group_id": 1,
        "scheduled_time": NOW,
        "status": status,
        "created_at": NOW,
        "available_at": NOW,
        **changes,
    }
    return Instance(**values)


def facts(one: Instance, **changes: Any) -> Facts:
    return Facts(**{"looked_at": NOW, "instance": one, "definition": DEFINITION, "lanes": LANES, **changes})


def reasons(known: Facts) -> list[Reason]:
    found = explain(known)
    assert (found.instance_id, found.status) == (42, known.instance.status)
    assert found.summary.endswith(f": {found.reasons[0].text}.")
    return list(found.reasons)


def only(known: Facts) -> Reason:
    (found,) = reasons(known)
    return found


def test_every_reason_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/explain.md").read_text("utf-8")
    assert [one for one in Code if f"`{one.value}`" not in page] == []


# Planned


def waiting(*awaited: Awaited, **changes: Any) -> Facts:
    values: dict[str, Any] = {
        "awaited": awaited,
        "release": Release.WAIT,
        "mode": DependencyMode.ALL,
        "policy": UpstreamFailurePolicy.WAIT,
        "until": LATER,
        **changes,
    }
    return facts(instance(Status.PLANNED, blocked_by=BlockedBy.DEPENDENCIES), waiting=Waiting(**values))


def awaited(standing: Standing, **changes: Any) -> Awaited:
    values: dict[str, Any] = {"task_id": 3, "task_name": "load", "own": False, "instant": NOW, **changes}
    return Awaited(**values, standing=standing)


def test_what_is_held_waits_for_its_dispatch() -> None:
    assert only(facts(instance(Status.PLANNED, blocked_by=BlockedBy.DISPATCH))).code is Code.HELD


@pytest.mark.parametrize(
    ("one", "code", "said"),
    [
        (awaited(Standing.OPEN, to_come=True), Code.UPSTREAM_TO_COME, "still to come"),
        (awaited(Standing.OPEN, living=((9, Status.RUNNING),)), Code.UPSTREAM_OPEN, "instance 9 is running"),
        (awaited(Standing.OPEN), Code.UPSTREAM_OPEN, "on its way"),
        (awaited(Standing.OPEN, task_name=None), Code.UPSTREAM_OPEN, "a task of another group of"),
        (awaited(Standing.FAILED, outcome=Status.CANCELLED), Code.UPSTREAM_FAILED, "ended as cancelled"),
        (awaited(Standing.FAILED, instant=None), Code.UPSTREAM_MISSING, "no instant to wait for"),
        (awaited(Standing.FAILED, instant=None, deleted=True), Code.UPSTREAM_MISSING, "deleted"),
        (awaited(Standing.OPEN, own=True, living=((9, Status.RUNNING),)), Code.PREDECESSOR, "instance 9 (running)"),
        (awaited(Standing.OPEN, own=True), Code.PREDECESSOR, "an earlier instance"),
    ],
)
def test_a_wait_that_is_not_met_is_a_reason(one: Awaited, code: Code, said: str) -> None:
    found = only(waiting(one, awaited(Standing.MET)))
    assert found.code is code
    assert said in found.text


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (UpstreamFailurePolicy.WAIT, "goes on if that is retried and succeeds; it waits until 2026-11-15T13:00:00Z"),
        (UpstreamFailurePolicy.RUN, "goes on when nothing else is open, or waits until"),
    ],
)
def test_what_happens_then_follows_the_policy(policy: UpstreamFailurePolicy, said: str) -> None:
    assert said in only(waiting(awaited(Standing.FAILED), policy=policy, mode=DependencyMode.ANY)).text


@pytest.mark.parametrize(("release", "said"), [(Release.RUN, "goes on"), (Release.FAIL, "fails")])
def test_what_is_decided_follows_within_seconds(release: Release, said: str) -> None:
    found = only(waiting(awaited(Standing.MET), release=release))
    assert (found.code, said in found.text) == (Code.RELEASE_DUE, True)


def test_without_waits_nothing_is_waited_for() -> None:
    one = instance(Status.PLANNED, blocked_by=BlockedBy.DEPENDENCIES)
    assert only(facts(one)).code is Code.RELEASE_DUE


def permit(**changes: Any) -> Facts:
    key = {"limit": 2, "holders": (1, 2), "taken": 2, "ahead": 0, **changes}
    one = instance(Status.PLANNED, blocked_by=BlockedBy.PERMIT, concurrency_key="k")
    return facts(one, key=Key(**key))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "lets 2 at once, and instances 1, 2 hold its permits"),
        ({"limit": 1, "holders": (1,), "taken": 1, "ahead": 1}, "instance 1 holds its permit; 1 other waits for it"),
        ({"taken": 5, "ahead": 1_500}, "instances 1, 2 and 3 more hold its permits; 1,500 others wait"),
        ({"limit": 1, "holders": (), "taken": 1}, "and 1 other holds its permit"),
        ({"holders": ()}, "and 2 others hold its permits"),
    ],
)
def test_a_key_that_is_full_says_who_has_it(changes: dict[str, Any], said: str) -> None:
    found = only(permit(**changes))
    assert found.code is Code.CONCURRENCY_FULL
    assert said in found.text


def test_a_free_permit_is_given_next() -> None:
    assert only(permit(taken=1)).data == {"key": "k", "ahead": 0}
    assert only(replace(permit(), key=None)).code is Code.PERMIT_DUE


def test_no_permit_is_given_to_what_nobody_serves() -> None:
    known = replace(permit(), lanes=replace(LANES, alive=()))
    assert [one.code for one in reasons(known)] == [Code.NO_EXECUTOR, Code.CONCURRENCY_FULL]


# Pending


def pending(**changes: Any) -> Instance:
    return instance(Status.PENDING, **changes)


@pytest.mark.parametrize("at", [NOW, None])
def test_nothing_stands_in_its_way(at: datetime | None) -> None:
    found = only(facts(pending(available_at=at)))
    assert (found.code, found.data["executors"]) == (Code.CLAIMABLE, ["e1"])
    assert only(facts(pending(), lanes=None)).data["executors"] == []


def test_before_its_time_nothing_happens() -> None:
    found = only(facts(pending(available_at=LATER)))
    assert (found.code, found.until) == (Code.NOT_YET_DUE, LATER)


def attempt(outcome: OutcomeKind, **changes: Any) -> AttemptRecord:
    values: dict[str, Any] = {
        "instance_id": 42,
        "fence": 1,
        "executor_id": "e1",
        "start_time": NOW,
        "end_time": NOW,
        "error_message": "exit code 3",
        **changes,
    }
    return AttemptRecord(**values, outcome=outcome)


@pytest.mark.parametrize(
    ("one", "definition", "said"),
    [
        (attempt(OutcomeKind.FAILED), DEFINITION, "attempt 1 of 3 failed (exit code 3), and the next one is at"),
        (attempt(OutcomeKind.TIMED_OUT, error_message=None), None, "attempt 1 timed out (it did not say why)"),
    ],
)
def test_after_a_failed_attempt_the_next_one_waits(
    one: AttemptRecord, definition: TaskDefinition | None, said: str
) -> None:
    known = facts(pending(available_at=LATER, fence=2, retry_count=1), attempt=one, definition=definition)
    found = only(known)
    assert found.code is Code.RETRY_BACKOFF
    assert said in found.text


@pytest.mark.parametrize(
    "one",
    [
        None,
        attempt(OutcomeKind.FAILED, fence=1),
        attempt(OutcomeKind.LOST, fence=3),
        attempt(OutcomeKind.HANDED_BACK, fence=3),
    ],
)
def test_what_was_handed_back_waits_for_another_executor(one: AttemptRecord | None) -> None:
    assert only(facts(pending(available_at=LATER, fence=4), attempt=one)).code is Code.HANDED_BACK


@pytest.mark.parametrize(
    ("scope", "until", "said"),
    [
        (PauseScope.ALL, None, "everything is paused by ann until it is resumed: moving"),
        (PauseScope.GROUP, LATER, "its group 'default' is paused by ann until 2026-11-15T13:00:00Z: moving"),
    ],
)
def test_a_pause_says_who_why_and_how_long(scope: PauseScope, until: datetime | None, said: str) -> None:
    pause = Pause(
        id=3,
        scope=scope,
        scope_id=1,
        reason="moving",
        owner="ann",
        created_at=NOW,
        until=until,
        group="default",
    )
    assert only(facts(pending(), pauses=(pause,))).text == said
    blocked = instance(Status.PLANNED, blocked_by=BlockedBy.DISPATCH)
    assert [one.code for one in reasons(facts(blocked, pauses=(pause,)))] == [Code.HELD, Code.PAUSED]


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (PauseScope.ALL, "the maintenance window 'w' of everything is open until 2026-11-15T13:00:00Z: moving"),
        (
            PauseScope.GROUP,
            "the maintenance window 'w' of its group 'default' is open until 2026-11-15T13:00:00Z: moving",
        ),
    ],
)
def test_a_window_says_which_why_and_how_long(scope: PauseScope, said: str) -> None:
    window = Window(
        id=3,
        name="w",
        scope=scope,
        scope_id=1,
        schedule="@hourly",
        duration_seconds=60,
        reason="moving",
        recurrence=Recurrence(schedule="@hourly", duration_seconds=60),
        active_since=NOW,
        created_at=NOW,
        updated_at=NOW,
        created_by="ann",
        updated_by="ann",
        group="default",
    )
    found = only(facts(pending(), windows=(OpenWindow(window, Opening(NOW, LATER)),)))
    assert (found.code, found.text, found.since, found.until) == (Code.WINDOW, said, NOW, LATER)


@pytest.mark.parametrize(
    ("lane", "alive", "silent", "code", "said"),
    [
        (LANE, [], (), Code.NO_EXECUTOR, "no executor of group 'default' is alive: start one"),
        (LANE, [], ("e9",), Code.NO_EXECUTOR, "is alive (e9 fell silent): start one"),
        (LANE, [(Executor(id="e2", group="b"), 2)], (), Code.NO_EXECUTOR, "there are some in 'b'"),
        (replace(LANE, target_executor_id="e9"), [], (), Code.TARGET_GONE, "waits for one to come"),
        (replace(LANE, target_executor_id="e9"), [(EXECUTOR, 1)], (), Code.TARGET_GONE, "goes to another"),
        (replace(LANE, requires="xxl"), [(EXECUTOR, 1)], (), Code.NOBODY_PROVIDES, "there are e1 (builtin)"),
        (
            replace(LANE, requires="xxl"),
            [(replace(EXECUTOR, provides=()), 1)],
            (),
            Code.NOBODY_PROVIDES,
            "there are e1 (nothing)",
        ),
        (
            replace(LANE, labels='{"zone":"us"}'),
            [(EXECUTOR, 1), (replace(EXECUTOR, id="e2", labels={"zone": "eu"}), 1)],
            (),
            Code.NOBODY_LABELLED,
            "the labels zone=us; there are e1 (no labels), e2 (zone=eu)",
        ),
    ],
)
def test_what_nobody_serves_says_what_is_missing_and_what_there_is(
    lane: Lane, alive: list[tuple[Executor, int]], silent: tuple[str, ...], code: Code, said: str
) -> None:
    lanes = Lanes(group="default", lane=lane, alive=tuple(alive), silent=silent, ahead=5)
    found = only(facts(pending(), lanes=lanes))
    assert found.code is code
    assert said in found.text


def test_full_executors_and_those_ahead_are_told_together() -> None:
    busy = replace(EXECUTOR, capacity=2, running=2)
    known = facts(pending(), lanes=replace(LANES, alive=((busy, 1),), ahead=3))
    full, behind = reasons(known)
    assert (full.code, behind.code) == (Code.EXECUTORS_FULL, Code.BEHIND_OTHERS)
    assert "e1 has 2 of 2" in full.text
    assert "3 others come first" in behind.text


def test_those_ahead_are_counted_so_far_and_no_further() -> None:
    found = only(facts(pending(), lanes=replace(LANES, ahead=MOST_AHEAD)))
    assert "at least 10,000 others" in found.text
    assert found.data["more"] is True


def test_what_has_happened_before_is_told_beside() -> None:
    found = reasons(facts(pending(loss_count=2, manual_retries=1)))
    assert [one.code for one in found] == [Code.CLAIMABLE, Code.EXECUTOR_LOST_BEFORE, Code.RETRIED]
    assert "2 times and goes round again; one more ends it" in found[1].text
    (_, lost) = reasons(facts(pending(loss_count=1)))
    assert lost.text == "it has lost its executor once and goes round again"


def test_a_handler_that_nobody_provides_is_named_with_the_next_step() -> None:
    handled = replace(DEFINITION, type=TaskType.PYTHON, payload={"handler": "close_books"})
    lanes = replace(LANES, group="the books", lane=replace(LANE, requires="python:books"))
    found = only(facts(pending(), lanes=lanes, definition=handled))
    assert (found.code, found.data["handler"]) == (Code.NOBODY_PROVIDES, "close_books")
    assert "provides its handler 'close_books' (python:books); there are e1 (builtin). Start the server" in found.text
    assert "`hourhand serve MODULE:APP` (on a cluster `hourhand executor MODULE:APP --group 'the books'`)" in found.text
    found = only(facts(pending(available_at=LATER, fence=2), definition=handled))
    assert "it has no such handler ('close_books')" in found.text
    assert only(facts(pending(), lanes=lanes, definition=None)).data["handler"] is None


# Running


def test_what_runs_says_where_and_how_far() -> None:
    found = only(facts(instance(Status.RUNNING, executor_id="e1", start_time=NOW)))
    assert (found.code, found.since, found.text) == (Code.RUNNING, NOW, "executor e1 is at work on attempt 1")
    one = instance(Status.RUNNING, executor_id="e1", progress=0.5, phase="posting", last_heartbeat=NOW)
    assert "attempt 1, 50% done, in phase 'posting'; its last heartbeat was at 2026" in only(facts(one)).text


@pytest.mark.parametrize(
    ("by", "why", "said"), [("ann", "no need", "asked to stop by ann (no need)"), (None, None, "asked to stop, and")]
)
def test_what_was_asked_to_stop_says_by_whom(by: str | None, why: str | None, said: str) -> None:
    one = instance(Status.RUNNING, executor_id="e1", cancel_requested=True, cancel_reason=why)
    found, running = reasons(facts(one, cancelled_by=by))
    assert (found.code, running.code) == (Code.CANCEL_REQUESTED, Code.RUNNING)
    assert said in found.text


def test_a_silent_executor_is_taken_to_be_lost() -> None:
    known = facts(instance(Status.RUNNING, executor_id="e1"), lease_expired=True)
    assert [one.code for one in reasons(known)] == [Code.LEASE_EXPIRED, Code.RUNNING]


# Ended


@pytest.mark.parametrize(
    ("retries", "losses", "earlier", "said"),
    [
        (0, 0, 0, "at the first attempt"),
        (2, 0, 2, "at attempt 3"),
        (0, 1, 1, "at attempt 2"),
        (1, 1, 3, "at attempt 4"),  # one was handed back
        (1, 1, 0, "at attempt 3"),  # the records are gone
    ],
)
def test_a_success_says_at_which_attempt(retries: int, losses: int, earlier: int, said: str) -> None:
    one = instance(Status.SUCCESS, retry_count=retries, loss_count=losses, executor_id="e1")
    assert said in only(facts(one, earlier=earlier)).text


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"retry_count": 2, "error_message": "exit code 3"}, Code.FAILED, "after 3 attempts: exit code 3"),
        ({"error_message": None}, Code.FAILED, "after 1 attempt, since a further one would be in vain: it did not"),
        ({"error_message": timed_out(5)}, Code.TIMED_OUT, "timeout_seconds (5)"),
        ({"loss_count": 3}, Code.POISONOUS, "3 times"),
        ({"loss_count": 1, "error_message": "boom"}, Code.FAILED, "after 2 attempts, since a further one would be in"),
    ],
)
def test_a_failure_says_what_came_of_it(changes: dict[str, Any], code: Code, said: str) -> None:
    found = only(facts(instance(Status.FAILED, start_time=NOW, **changes)))
    assert found.code is code
    assert said in found.text


def test_a_lost_executor_ends_what_must_not_run_twice() -> None:
    once = replace(DEFINITION, executor_loss_policy=ExecutorLossPolicy.FAIL)
    one = instance(Status.FAILED, start_time=NOW, loss_count=1)
    assert only(facts(one, definition=once)).code is Code.EXECUTOR_LOST


def test_a_failure_without_a_definition_is_told_all_the_same() -> None:
    found = only(facts(instance(Status.FAILED, error_message="boom"), definition=None))
    assert (found.code, found.text) == (Code.FAILED, "after 1 attempt: boom")


@pytest.mark.parametrize(
    ("timed", "code", "outcome"),
    [(True, Code.DEPENDENCY_TIMEOUT, None), (False, Code.FAILED_UPSTREAM, "failed")],
)
def test_what_waited_in_vain_says_for_what(*, timed: bool, code: Code, outcome: str | None) -> None:
    unmet = [{"task_id": 3, "scheduled_time": None, "standing": "open", "outcome": outcome}]
    found = only(facts(instance(Status.FAILED, summary={"unmet": unmet, "timed_out": timed})))
    assert found.code is code
    assert f"task 3 of no instant ({outcome or 'not ended'})" in found.text


@pytest.mark.parametrize(
    ("changes", "by", "code", "said"),
    [
        ({"error_message": "no need"}, "ann", Code.CANCELLED, "ann cancelled it before it started (no need)"),
        ({"start_time": NOW}, None, Code.CANCELLED, "somebody cancelled it while it ran (without a reason)"),
        ({"error_message": cancelled("ann")}, "ann", Code.CANCELLED, "ann cancelled it before it started (without a"),
        ({"error_message": cancelled("ann")}, "bob", Code.CANCELLED, "bob cancelled it before it started (cancelled"),
        ({"error_message": REPLACED}, None, Code.REPLACED, "overlap_policy is replace"),
        ({"cancel_reason": REPLACED, "error_message": "killed"}, None, Code.REPLACED, "took its place"),
        ({"error_message": task_deleted("ann")}, None, Code.TASK_DELETED, "deleted by ann"),
    ],
)
def test_a_cancelled_one_says_by_whom_and_why(changes: dict[str, Any], by: str | None, code: Code, said: str) -> None:
    found = only(facts(instance(Status.CANCELLED, **changes), cancelled_by=by))
    assert found.code is code
    assert said in found.text


def test_an_ended_one_that_was_retried_says_so() -> None:
    found = reasons(facts(instance(Status.SUCCESS, manual_retries=2)))
    assert [one.code for one in found] == [Code.SUCCEEDED, Code.RETRIED]


@pytest.mark.parametrize("reason", SkipReason)
def test_a_skip_says_what_it_means_and_what_to_do(reason: SkipReason) -> None:
    found = explain(facts(instance(Status.CANCELLED, skip_reason=reason)))
    assert found.reasons[0].code == f"skipped_{reason.value}"
    assert found.summary.startswith("It never ran: ")
    assert "backfill" in found.summary


@pytest.mark.parametrize(("more", "said"), [(False, "(3 instants)"), (True, "(at least 3 instants)")])
def test_a_run_of_skips_says_how_many(*, more: bool, said: str) -> None:
    summary = {"count": 3, "last": NOW.isoformat(), **({"more": True} if more else {})}
    assert said in only(facts(instance(Status.CANCELLED, skip_reason=SkipReason.PAUSED, summary=summary))).text
