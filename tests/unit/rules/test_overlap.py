from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.words import MisfirePolicy, OverlapPolicy
from hourhand.rules.overlap import Decision, Verdict, overlap, policy_for
from unit.rules.cron_oracle import examples

INSTANT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
EARLIER = INSTANT - timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("policy", OverlapPolicy)
def test_an_instant_with_no_living_predecessor_fires_also_ahead_of_its_time(policy: OverlapPolicy) -> None:
    assert overlap(policy, None, INSTANT, INSTANT - 5 * SECOND) == Decision(Verdict.FIRE)


def test_parallel_instants_never_look_at_each_other() -> None:
    assert overlap(OverlapPolicy.PARALLEL, EARLIER, INSTANT, INSTANT) == Decision(Verdict.FIRE)


@pytest.mark.parametrize("policy", [OverlapPolicy.SKIP, OverlapPolicy.SERIAL, OverlapPolicy.REPLACE])
def test_before_the_instant_itself_nothing_is_decided_against_it(policy: OverlapPolicy) -> None:
    assert overlap(policy, EARLIER, INSTANT, INSTANT - SECOND) == Decision(Verdict.LATER)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (OverlapPolicy.SKIP, Decision(Verdict.SKIP)),
        (OverlapPolicy.SERIAL, Decision(Verdict.SERIAL, EARLIER)),
        (OverlapPolicy.REPLACE, Decision(Verdict.REPLACE, EARLIER)),
    ],
)
def test_at_the_instant_the_policy_decides(policy: OverlapPolicy, expected: Decision) -> None:
    assert overlap(policy, EARLIER, INSTANT, INSTANT) == expected


@given(st.sampled_from(OverlapPolicy), st.none() | st.just(EARLIER), st.integers(-100, 100))
@examples(200)
def test_only_what_waits_names_whom_it_waits_for(policy: OverlapPolicy, newest: datetime | None, late: int) -> None:
    decision = overlap(policy, newest, INSTANT, INSTANT + late * SECOND)
    waits = decision.verdict in (Verdict.SERIAL, Verdict.REPLACE)
    assert decision.waits_on == (newest if waits else None)
    assert (decision.verdict is Verdict.LATER) <= (late < 0)


@pytest.mark.parametrize("policy", OverlapPolicy)
@pytest.mark.parametrize("misfire", MisfirePolicy)
@pytest.mark.parametrize("missed", [True, False])
def test_what_is_caught_up_takes_turns_where_it_would_be_skipped(
    policy: OverlapPolicy, misfire: MisfirePolicy, *, missed: bool
) -> None:
    turns = missed and misfire is MisfirePolicy.CATCH_UP and policy is OverlapPolicy.SKIP
    assert policy_for(policy, misfire, missed=missed) is (OverlapPolicy.SERIAL if turns else policy)
