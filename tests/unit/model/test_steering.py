from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.model.steering import Fail, Retry


@pytest.mark.parametrize("after", [90, 90.0, timedelta(seconds=90)])
def test_a_retry_says_when_in_seconds_or_as_a_length_of_time(after: float | timedelta) -> None:
    assert Retry("the bank is closed", after=after).after == timedelta(seconds=90)
    assert str(Retry("the bank is closed", after=after)) == "the bank is closed"
    assert str(Retry(after=after)) == "to be tried again after 90 s"


@pytest.mark.parametrize("after", [-1, True, "soon", None, float("nan"), 1e12, timedelta(-1), timedelta(days=4_000)])
def test_what_is_no_time_to_wait_is_refused(after: Any) -> None:
    with pytest.raises(InvalidInput, match="is no time to wait: give seconds or a timedelta"):
        Retry(after=after)


def test_a_failure_for_good_says_why() -> None:
    assert str(Fail("there is no such customer")) == "there is no such customer"
