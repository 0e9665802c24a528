"""Patience: how often somebody who waits looks, and for how long they bear with nobody answering."""

from __future__ import annotations

import itertools

import pytest

from hourhand.model.errors import StoreUnavailable
from hourhand.sdk.waiting import Patience


def test_rests_grow_while_there_is_no_news() -> None:
    patience = Patience(0.2, 2.0, 60.0)
    rests = [patience.rest() for _ in range(10)]
    assert rests[0] == 0.2
    assert all(before <= after for before, after in itertools.pairwise(rests))
    assert rests[-1] == 2.0


def test_news_make_it_look_often_again() -> None:
    patience = Patience(0.2, 2.0, 60.0)
    for _ in range(10):
        patience.rest()
    assert patience.rest(news=True) == 0.2
    assert patience.rest() == pytest.approx(0.3)


def test_an_outage_is_borne_until_it_has_lasted_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    patience, away = Patience(0.2, 2.0, 60.0), StoreUnavailable("away")
    now = 60.0
    patience.bear(away)
    patience.answered()
    now = 120.0
    patience.bear(away)
    now = 120.1
    with pytest.raises(StoreUnavailable, match="away"):
        patience.bear(away)
