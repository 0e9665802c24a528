from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.words import RetryBackoff
from hourhand.rules.retry import JITTER, LONGEST_DELAY, retry_delay
from unit.rules.cron_oracle import examples

TEN_YEARS = 10 * 366 * 86_400
LONGEST = LONGEST_DELAY.total_seconds()

bases = st.integers(0, TEN_YEARS)
backoffs = st.sampled_from(RetryBackoff)
counts = st.integers(0, 5_000)


@given(bases, backoffs, counts, st.text())
@examples(500)
def test_a_delay_is_never_shorter_than_asked_for_and_grows_to_an_hour_at_most(
    base: int, backoff: RetryBackoff, count: int, seed: str
) -> None:
    delay = retry_delay(base, backoff, count, seed=seed).total_seconds()
    assert base <= delay <= max(base, LONGEST) * (1 + JITTER) + 1e-3
    if backoff is RetryBackoff.FIXED:
        assert delay <= base * (1 + JITTER) + 1e-3


@given(bases, backoffs, counts, st.text())
@examples(200)
def test_the_same_attempt_always_gets_the_same_delay(base: int, backoff: RetryBackoff, count: int, seed: str) -> None:
    assert retry_delay(base, backoff, count, seed=seed) == retry_delay(base, backoff, count, seed=seed)


@given(bases, counts, st.text())
@examples(300)
def test_an_exponential_delay_never_shrinks_from_one_attempt_to_the_next(base: int, count: int, seed: str) -> None:
    now, then = (retry_delay(base, RetryBackoff.EXPONENTIAL, one, seed=seed) for one in (count, count + 1))
    assert now <= then


def test_an_exponential_delay_doubles() -> None:
    delays = [retry_delay(10, RetryBackoff.EXPONENTIAL, count, seed="s") / timedelta(seconds=1) for count in range(4)]
    assert [round(delay / delays[0], 6) for delay in delays] == [1, 2, 4, 8]


@pytest.mark.parametrize("backoff", RetryBackoff)
def test_a_delay_longer_than_an_hour_is_kept_when_it_was_asked_for(backoff: RetryBackoff) -> None:
    assert retry_delay(7_200, backoff, 3, seed="s") >= timedelta(hours=2)


def test_what_failed_together_does_not_return_together() -> None:
    delays = {retry_delay(60, RetryBackoff.FIXED, 0, seed=f"{instance}/1") for instance in range(1_000)}
    assert len(delays) > 900
    assert max(delays) - min(delays) > timedelta(seconds=60 * JITTER * 0.9)


def test_no_delay_stays_no_delay() -> None:
    assert retry_delay(0, RetryBackoff.EXPONENTIAL, 1_000, seed="s") == timedelta(0)
