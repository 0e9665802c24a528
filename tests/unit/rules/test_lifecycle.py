from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.claim import Claim
from hourhand.model.errors import IllegalEdge
from hourhand.model.instance import Outcome
from hourhand.model.words import BlockedBy, ExecutorLossPolicy, OutcomeKind, RetryBackoff, Status
from hourhand.rules.lifecycle import EDGES, MAX_LOSSES, entry, finish, isolated, legal, require_edge
from hourhand.rules.retry import JITTER
from unit.rules.cron_oracle import examples

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

claims = st.builds(
    Claim,
    instance_id=st.integers(1, 2**40),
    fence=st.integers(1, 2**20),
    retry_count=st.integers(0, 1_000),
    loss_count=st.integers(0, MAX_LOSSES),
    cancel_requested=st.booleans(),
    concurrency_key=st.none() | st.just("key"),
    max_retries=st.none() | st.integers(0, 1_000),
    retry_delay_seconds=st.integers(0, 10 * 366 * 86_400),
    retry_backoff=st.sampled_from(RetryBackoff),
    executor_loss_policy=st.sampled_from(ExecutorLossPolicy),
)
outcomes = st.builds(
    Outcome,
    kind=st.sampled_from(OutcomeKind),
    error_message=st.none() | st.just("broken"),
    retryable=st.booleans(),
    delay_seconds=st.floats(0, 86_400),
    retry_after_seconds=st.none() | st.floats(0, 86_400),
)


def claim(**changes: object) -> Claim:
    return Claim(**{"instance_id": 7, "fence": 3, **changes})  # type: ignore[arg-type]


def outcome(kind: OutcomeKind, **changes: object) -> Outcome:
    return Outcome(kind=kind, **changes)  # type: ignore[arg-type]


def test_the_edges_are_exactly_those_of_the_lifecycle() -> None:
    assert {(state.value, to.value) for state, following in EDGES.items() for to in following} == {
        ("planned", "pending"),
        ("planned", "failed"),
        ("planned", "cancelled"),
        ("pending", "running"),
        ("pending", "cancelled"),
        ("running", "success"),
        ("running", "failed"),
        ("running", "cancelled"),
        ("running", "pending"),
        ("running", "planned"),
        ("failed", "pending"),
        ("failed", "planned"),
        ("cancelled", "pending"),
        ("cancelled", "planned"),
    }
    assert set(EDGES) == set(Status)


def test_the_edges_cannot_be_changed_by_anybody() -> None:
    with pytest.raises(TypeError):
        EDGES[Status.SUCCESS] = frozenset({Status.PENDING})  # type: ignore[index]


def test_every_state_can_be_reached_from_the_two_an_instance_is_born_in() -> None:
    reached = {Status.PLANNED, Status.PENDING}
    for _ in Status:
        reached |= {to for state in reached for to in EDGES[state]}
    assert reached == set(Status)


def test_the_living_can_always_be_cancelled_and_success_is_final() -> None:
    assert all(Status.CANCELLED in EDGES[state] for state in Status if not state.ended)
    assert legal(Status.SUCCESS) == ()


def test_legal_edges_are_named_in_the_order_of_the_life() -> None:
    assert legal(Status.RUNNING) == ("planned", "pending", "success", "failed", "cancelled")


@pytest.mark.parametrize("state", Status)
@pytest.mark.parametrize("to", Status)
def test_an_edge_is_refused_exactly_when_it_does_not_exist(state: Status, to: Status) -> None:
    if to in EDGES[state]:
        require_edge(7, state, to)
    else:
        with pytest.raises(IllegalEdge) as refused:
            require_edge(7, state, to)
        assert refused.value.legal == legal(state)


def test_a_refused_edge_names_the_instance_the_state_and_what_is_legal() -> None:
    with pytest.raises(IllegalEdge) as refused:
        require_edge(7, Status.PENDING, Status.SUCCESS)
    assert str(refused.value) == (
        "instance 7 is pending and cannot be success; from pending it may become: running, cancelled"
    )


@pytest.mark.parametrize(
    ("held", "waits", "key", "expected"),
    [
        (True, True, "k", (Status.PLANNED, BlockedBy.DISPATCH)),
        (True, False, None, (Status.PLANNED, BlockedBy.DISPATCH)),
        (False, True, "k", (Status.PLANNED, BlockedBy.DEPENDENCIES)),
        (False, False, "k", (Status.PLANNED, BlockedBy.PERMIT)),
        (False, False, "", (Status.PLANNED, BlockedBy.PERMIT)),
        (False, False, None, (Status.PENDING, None)),
    ],
)
def test_the_first_obstacle_decides_where_an_instance_stands(
    *, held: bool, waits: bool, key: str | None, expected: tuple[Status, BlockedBy | None]
) -> None:
    assert entry(held=held, waits=waits, concurrency_key=key) == expected


def test_what_lost_an_executor_once_is_executed_apart() -> None:
    assert [isolated(losses) for losses in (0, 1, 2)] == [False, False, True]


@given(claims, outcomes)
@examples(500)
def test_an_outcome_leads_along_a_legal_edge_only(claim: Claim, outcome: Outcome) -> None:
    result = finish(claim, outcome, NOW)
    require_edge(claim.instance_id, Status.RUNNING, result.to)
    # Planned exactly when something blocks it, as the table's own check demands.
    assert (result.to is Status.PLANNED) == (result.blocked_by is not None)
    # An instance that goes on says from when; one that has ended does not.
    assert (result.available_at is None) == result.to.ended
    assert result.available_at is None or result.available_at >= NOW
    # An attempt is recorded apart exactly when it was counted, or had started, and did not end its instance.
    counted = result.retry_count + result.loss_count > claim.retry_count + claim.loss_count
    handed_back = outcome.kind is OutcomeKind.HANDED_BACK and outcome.error_message is not None
    assert (result.attempt is not None) == ((counted or handed_back) and not result.to.ended)


@given(claims, outcomes)
@examples(500)
def test_counters_never_fall_and_rise_by_one_at_most(claim: Claim, outcome: Outcome) -> None:
    result = finish(claim, outcome, NOW)
    retries, losses = result.retry_count - claim.retry_count, result.loss_count - claim.loss_count
    assert (retries, losses) in {(0, 0), (1, 0), (0, 1)}
    assert (losses == 1) <= (outcome.kind is OutcomeKind.LOST)
    assert result.retry_count <= max(claim.retry_count, claim.max_retries or 0)


@given(claims, outcomes)
@examples(300)
def test_with_a_cancel_requested_anything_but_success_ends_as_cancelled(claim: Claim, outcome: Outcome) -> None:
    if claim.cancel_requested:
        expected = Status.SUCCESS if outcome.kind is OutcomeKind.SUCCESS else Status.CANCELLED
        assert finish(claim, outcome, NOW).to is expected


@given(claims, outcomes)
@examples(300)
def test_what_goes_on_with_a_concurrency_key_needs_a_new_permit(claim: Claim, outcome: Outcome) -> None:
    result = finish(claim, outcome, NOW)
    if not result.to.ended:
        keyed = claim.concurrency_key is not None
        assert (result.to, result.blocked_by) == (
            (Status.PLANNED, BlockedBy.PERMIT) if keyed else (Status.PENDING, None)
        )


def test_success_ends_without_an_error() -> None:
    result = finish(claim(retry_count=2, loss_count=1), outcome(OutcomeKind.SUCCESS), NOW)
    assert (result.to, result.retry_count, result.loss_count, result.error_message) == (Status.SUCCESS, 2, 1, None)


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.TIMED_OUT])
def test_a_failed_attempt_is_retried_after_its_delay_while_retries_are_left(kind: OutcomeKind) -> None:
    held = claim(max_retries=1, retry_delay_seconds=100, retry_backoff=RetryBackoff.FIXED)
    result = finish(held, outcome(kind, error_message="broken"), NOW)
    assert (result.to, result.retry_count, result.attempt, result.error_message) == (Status.PENDING, 1, kind, "broken")
    assert result.available_at is not None
    assert timedelta(seconds=100) <= result.available_at - NOW <= timedelta(seconds=100 * (1 + JITTER))


def test_a_failed_attempt_may_say_itself_when_to_try_again() -> None:
    held = claim(max_retries=1, retry_delay_seconds=100)
    result = finish(held, outcome(OutcomeKind.FAILED, retry_after_seconds=7.5), NOW)
    assert (result.to, result.retry_count, result.available_at) == (Status.PENDING, 1, NOW + timedelta(seconds=7.5))


@pytest.mark.parametrize("max_retries", [None, 0, 2])
def test_the_last_attempt_fails_the_instance_with_its_message(max_retries: int | None) -> None:
    held = claim(max_retries=max_retries, retry_count=max_retries or 0)
    result = finish(held, outcome(OutcomeKind.FAILED, error_message="broken"), NOW)
    assert (result.to, result.error_message, result.attempt) == (Status.FAILED, "broken", None)


def test_a_failure_that_retrying_cannot_mend_uses_up_no_retry() -> None:
    result = finish(claim(max_retries=5), outcome(OutcomeKind.FAILED, retryable=False), NOW)
    assert (result.to, result.retry_count) == (Status.FAILED, 0)


def test_a_loss_is_requeued_at_once_and_uses_up_no_retry() -> None:
    result = finish(claim(max_retries=0), outcome(OutcomeKind.LOST), NOW)
    assert (result.to, result.available_at, result.attempt) == (Status.PENDING, NOW, OutcomeKind.LOST)
    assert (result.retry_count, result.loss_count, result.error_message) == (0, 1, "its executor was lost")


def test_the_third_loss_fails_the_instance_as_poisonous() -> None:
    states = [finish(claim(loss_count=losses), outcome(OutcomeKind.LOST), NOW) for losses in range(MAX_LOSSES)]
    assert [state.to for state in states] == [Status.PENDING, Status.PENDING, Status.FAILED]
    assert states[-1].error_message == "its executor was lost; given up as poisonous after 3 lost executors"
    assert states[-1].loss_count == 3


def test_work_that_must_not_run_twice_fails_at_its_first_loss() -> None:
    held = claim(executor_loss_policy=ExecutorLossPolicy.FAIL)
    result = finish(held, outcome(OutcomeKind.LOST, error_message="host-7 is gone"), NOW)
    assert (result.to, result.loss_count) == (Status.FAILED, 1)
    assert result.error_message == "host-7 is gone; executor_loss_policy is fail"


def test_a_hand_back_returns_uncounted_after_its_delay() -> None:
    result = finish(claim(retry_count=1, loss_count=1), outcome(OutcomeKind.HANDED_BACK, delay_seconds=15.0), NOW)
    assert (result.to, result.retry_count, result.loss_count, result.attempt) == (Status.PENDING, 1, 1, None)
    assert result.available_at == NOW + timedelta(seconds=15)


def test_a_hand_back_of_what_had_started_is_an_attempt_that_counts_for_nothing() -> None:
    result = finish(claim(retry_count=1), outcome(OutcomeKind.HANDED_BACK, error_message="stopped"), NOW)
    assert (result.to, result.retry_count, result.loss_count) == (Status.PENDING, 1, 0)
    assert (result.attempt, result.error_message) == (OutcomeKind.HANDED_BACK, "stopped")


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (OutcomeKind.HANDED_BACK, None, "cancelled before it started"),
        (OutcomeKind.HANDED_BACK, "its executor was stopped", "its executor was stopped"),
        (OutcomeKind.FAILED, None, "cancelled on request"),
        (OutcomeKind.LOST, "killed by a person", "killed by a person"),
        (OutcomeKind.CANCELLED, None, "cancelled on request"),
    ],
)
def test_a_cancelled_instance_says_how_it_came_to_that(kind: OutcomeKind, given: str | None, told: str) -> None:
    result = finish(claim(cancel_requested=True, max_retries=9), outcome(kind, error_message=given), NOW)
    assert (result.to, result.error_message) == (Status.CANCELLED, told)


def test_a_runner_may_report_cancelled_without_a_request() -> None:
    assert finish(claim(max_retries=9), outcome(OutcomeKind.CANCELLED), NOW).to is Status.CANCELLED
