from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.words import DependencyMode, Requires, Status, UpstreamFailurePolicy
from hourhand.rules.dependency import (
    Release,
    Standing,
    Upstream,
    find_cycle,
    release,
    standing,
    still_to_come,
    upstream_instant,
)
from unit.rules.cron_oracle import examples

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
HOURLY = Upstream(
    task_id=1, schedule="0 * * * *", timezone="UTC", anchored_at=NOON - 10 * HOUR, next_fire_at=NOON, alive=True
)


def test_an_instant_is_still_to_come_from_the_next_one_on() -> None:
    assert still_to_come(HOURLY, NOON)
    assert still_to_come(HOURLY, NOON + HOUR)
    assert not still_to_come(HOURLY, NOON - HOUR)


def test_nothing_is_to_come_of_what_is_disabled_or_has_no_next_instant() -> None:
    assert not still_to_come(replace(HOURLY, alive=False), NOON)
    assert not still_to_come(replace(HOURLY, next_fire_at=None), NOON)


def test_of_two_tasks_due_in_the_same_second_the_order_of_making_does_not_matter() -> None:
    not_yet_made = upstream_instant(HOURLY, NOON, NOON - HOUR)
    already_made = upstream_instant(replace(HOURLY, next_fire_at=NOON + HOUR), NOON, NOON)
    assert not_yet_made == already_made == NOON


def test_an_upstream_whose_zone_is_unknown_here_has_only_its_past() -> None:
    unreadable = replace(HOURLY, timezone="Atlantis/Capital")
    assert upstream_instant(unreadable, NOON, NOON - HOUR) == NOON - HOUR
    assert upstream_instant(unreadable, NOON, None) is None


def test_skipped_instants_are_passed_over() -> None:
    skipped_at_noon = replace(HOURLY, next_fire_at=NOON + HOUR)
    assert upstream_instant(skipped_at_noon, NOON, NOON - 3 * HOUR) == NOON - 3 * HOUR


def test_a_newer_row_of_the_ledger_wins_over_what_is_to_come() -> None:
    """A backfill or an edit may have made an instant that the schedule does not have."""
    off_schedule = NOON + timedelta(minutes=5)
    assert upstream_instant(HOURLY, NOON + timedelta(minutes=10), off_schedule) == off_schedule


def test_what_is_to_come_is_waited_for_also_when_the_ledger_is_empty() -> None:
    assert upstream_instant(HOURLY, NOON + timedelta(minutes=10), None) == NOON


@pytest.mark.parametrize("schedule", ["@after 30s", "@upstream", "@manual"])
def test_what_the_clock_does_not_make_is_known_by_the_ledger_alone(schedule: str) -> None:
    upstream = replace(HOURLY, schedule=schedule)
    assert upstream_instant(upstream, NOON, NOON - HOUR) == NOON - HOUR
    assert upstream_instant(upstream, NOON, None) is None


def test_a_disabled_upstream_has_only_what_it_has_made() -> None:
    assert upstream_instant(replace(HOURLY, alive=False), NOON, NOON - HOUR) == NOON - HOUR


def test_before_its_first_instant_an_upstream_has_none() -> None:
    once = replace(HOURLY, schedule="@at 2026-11-15T13:00:00Z", next_fire_at=NOON + HOUR)
    assert upstream_instant(once, NOON, None) is None


def test_a_deleted_upstream_has_none_whatever_the_ledger_says() -> None:
    assert upstream_instant(replace(HOURLY, deleted=True, alive=False), NOON, NOON) is None


@pytest.mark.parametrize(
    ("requires", "outcome", "exists", "expected"),
    [
        (Requires.SUCCESS, None, True, Standing.OPEN),
        (Requires.SUCCESS, Status.SUCCESS, True, Standing.MET),
        (Requires.SUCCESS, Status.FAILED, True, Standing.FAILED),
        (Requires.SUCCESS, Status.CANCELLED, True, Standing.FAILED),
        (Requires.SUCCESS, None, False, Standing.FAILED),
        (Requires.END, None, True, Standing.OPEN),
        (Requires.END, Status.SUCCESS, True, Standing.MET),
        (Requires.END, Status.FAILED, True, Standing.MET),
        (Requires.END, Status.CANCELLED, True, Standing.MET),
        (Requires.END, None, False, Standing.MET),
    ],
)
def test_how_a_wait_stands(requires: Requires, outcome: Status | None, expected: Standing, *, exists: bool) -> None:
    assert standing(requires, outcome, exists=exists) is expected


MET, OPEN, FAILED = Standing.MET, Standing.OPEN, Standing.FAILED
ALL, ANY = DependencyMode.ALL, DependencyMode.ANY
WAIT, FAIL, RUN = UpstreamFailurePolicy.WAIT, UpstreamFailurePolicy.FAIL, UpstreamFailurePolicy.RUN


@pytest.mark.parametrize(
    ("mode", "policy", "waits", "expected"),
    [
        (ALL, WAIT, [], Release.RUN),
        (ANY, WAIT, [], Release.RUN),
        (ALL, WAIT, [MET, MET], Release.RUN),
        (ALL, WAIT, [MET, OPEN], Release.WAIT),
        (ALL, WAIT, [MET, FAILED], Release.WAIT),
        (ALL, FAIL, [OPEN, FAILED], Release.FAIL),
        (ALL, RUN, [OPEN, FAILED], Release.WAIT),
        (ALL, RUN, [MET, FAILED], Release.RUN),
        (ANY, WAIT, [MET, OPEN], Release.RUN),
        (ANY, FAIL, [MET, FAILED], Release.RUN),
        (ANY, FAIL, [OPEN, FAILED], Release.WAIT),
        (ANY, FAIL, [FAILED, FAILED], Release.FAIL),
        (ANY, RUN, [OPEN, FAILED], Release.WAIT),
        (ANY, RUN, [FAILED, FAILED], Release.RUN),
        (ANY, WAIT, [FAILED, FAILED], Release.WAIT),
    ],
)
def test_what_the_waits_lead_to(
    mode: DependencyMode, policy: UpstreamFailurePolicy, waits: list[Standing], expected: Release
) -> None:
    assert release([], waits, mode, policy, timed_out=False) is expected


def test_a_time_out_ends_a_wait_for_dependencies() -> None:
    assert release([], [OPEN], ALL, WAIT, timed_out=True) is Release.FAIL
    assert release([], [FAILED], ALL, WAIT, timed_out=True) is Release.FAIL
    assert release([], [OPEN], ANY, RUN, timed_out=True) is Release.FAIL


def test_a_predecessor_is_waited_for_however_long_it_takes() -> None:
    assert release([OPEN], [FAILED], ALL, FAIL, timed_out=True) is Release.WAIT
    assert release([MET], [], ALL, WAIT, timed_out=True) is Release.RUN


standings = st.lists(st.sampled_from(Standing), max_size=5)
orders = st.lists(st.sampled_from([OPEN, MET]), max_size=2)
RANK = {Release.FAIL: 0, Release.WAIT: 1, Release.RUN: 2}


@given(
    order=orders,
    waits=standings,
    mode=st.sampled_from(DependencyMode),
    policy=st.sampled_from(UpstreamFailurePolicy),
    timed_out=st.booleans(),
    position=st.integers(0, 4),
)
@examples(1_000)
def test_a_wait_that_is_met_never_makes_matters_worse(
    *,
    order: list[Standing],
    waits: list[Standing],
    mode: DependencyMode,
    policy: UpstreamFailurePolicy,
    timed_out: bool,
    position: int,
) -> None:
    before = release(order, waits, mode, policy, timed_out=timed_out)
    if position < len(waits):
        better = [*waits[:position], MET, *waits[position + 1 :]]
        assert RANK[release(order, better, mode, policy, timed_out=timed_out)] >= RANK[before]
    # A time-out ends waiting and nothing else; the order of the waits decides nothing.
    assert before is not Release.WAIT or OPEN in order or not timed_out
    if not timed_out and before is not Release.WAIT:
        assert release(order, waits, mode, policy, timed_out=True) is before
    assert release(order, waits[::-1], mode, policy, timed_out=timed_out) is before


graphs = st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4), max_size=9)


def reaches(start: Sequence[int], goal: int, edges: Mapping[int, Sequence[int]]) -> bool:
    """Tell by brute force, closing the set of what is needed."""
    found = set(start)
    for _ in range(20):
        found |= {further for one in found for further in edges.get(one, ())}
    return goal in found


@given(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4), graphs)
@examples(1_000)
def test_a_cycle_is_found_exactly_when_there_is_one(task: int, wanted: list[int], edges: dict[int, list[int]]) -> None:
    cycle = find_cycle(task, wanted, edges)
    assert (cycle is not None) == reaches(wanted, task, edges)
    if cycle is not None:
        assert cycle[0] == cycle[-1] == task
        assert task not in cycle[1:-1]
        assert len(set(cycle[:-1])) == len(cycle) - 1
        needs = {**edges, task: wanted}
        assert all(further in needs[one] for one, further in pairwise(cycle))


def test_a_task_that_depends_on_itself_is_the_shortest_cycle() -> None:
    assert find_cycle(1, [1], {}) == (1, 1)


def test_the_cycle_is_named_in_the_order_in_which_each_needs_the_next() -> None:
    assert find_cycle(1, [2], {2: [3], 3: [4], 4: [1]}) == (1, 2, 3, 4, 1)


def test_a_long_chain_is_followed_without_recursion() -> None:
    assert find_cycle(0, [1], {one: [one + 1] for one in range(1, 50_000)}) is None
