from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.instance import Assignment
from hourhand.model.words import TriggeredBy
from hourhand.store.claim import BEGINNING, PRIORITIES
from hourhand.store.marks import FULL_PROBE_SECONDS, SLACK, Marks
from unit.rules.cron_oracle import examples

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CLAIMED = Assignment(
    instance_id=7,
    fence=1,
    task_id=1,
    task_version=1,
    scheduled_time=NOON,
    priority=0,
    available_at=NOON,
    lease_until=NOON,
    triggered_by=TriggeredBy.API,
    retry_count=0,
    loss_count=0,
    args=None,
    checkpoint=None,
    shard_index=0,
    shard_total=1,
    data_source_id=None,
    operation_kind=None,
    operation_config_id=None,
    lane_id=3,
)


class Time:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def marks() -> tuple[Marks, Time]:
    """Return marks that have made their first full probe."""
    time = Time()
    made = Marks(time)
    made.probes([3])
    return made, time


def test_the_first_probe_looks_at_everything() -> None:
    assert Marks().probes([3, 4]) == [BEGINNING] * 2 * len(PRIORITIES)


def test_what_was_claimed_raises_the_mark_of_its_lane_and_priority_alone() -> None:
    made, _ = marks()
    made.advance([CLAIMED, replace(CLAIMED, priority=1, available_at=NOON + timedelta(hours=1))])
    assert made.probes([3, 4])[:4] == [NOON - SLACK, BEGINNING, NOON + timedelta(hours=1) - SLACK, BEGINNING]


def test_probes_come_by_priority_first_as_the_claim_asks_for_them() -> None:
    made, _ = marks()
    made.advance([replace(CLAIMED, lane_id=4, priority=2)])
    probes = made.probes([3, 4])
    assert [probes.index(one) for one in probes if one != BEGINNING] == [2 * 2 + 1]


def test_a_mark_never_falls() -> None:
    made, _ = marks()
    made.advance([CLAIMED])
    made.advance([replace(CLAIMED, available_at=NOON - timedelta(hours=1))])
    assert made.probes([3])[0] == NOON - SLACK


def test_what_lost_its_executor_is_claimed_out_of_turn_and_raises_no_mark() -> None:
    made, _ = marks()
    made.advance([replace(CLAIMED, loss_count=2)])
    assert made.probes([3])[0] == BEGINNING


def test_every_half_minute_everything_is_looked_at_so_that_late_commits_are_only_delayed() -> None:
    made, time = marks()
    made.advance([CLAIMED])
    time.now += FULL_PROBE_SECONDS - 0.001
    assert made.probes([3])[0] == NOON - SLACK
    time.now += 0.001
    assert made.probes([3])[0] == BEGINNING
    made.advance([CLAIMED])
    assert made.probes([3])[0] == NOON - SLACK


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 10_000)), max_size=20))
@examples(200)
def test_a_mark_is_the_newest_claimed_less_the_slack(claimed: list[tuple[int, int, int]]) -> None:
    made, _ = marks()
    times = [(lane, priority, NOON + timedelta(seconds=late)) for lane, priority, late in claimed]
    made.advance(replace(CLAIMED, lane_id=lane, priority=priority, available_at=at) for lane, priority, at in times)
    expected = [
        max((at - SLACK for one, rank, at in times if (one, rank) == (lane, priority)), default=BEGINNING)
        for priority in PRIORITIES
        for lane in range(3)
    ]
    assert made.probes([0, 1, 2]) == expected
