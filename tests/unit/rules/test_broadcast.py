from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.words import Status
from hourhand.rules.broadcast import WHOLE, Shard, instant_outcome, retarget, shards
from unit.rules.cron_oracle import examples


def test_a_broadcast_has_one_shard_per_target_each_knowing_its_place() -> None:
    assert shards(["a", "b"]) == (Shard(0, 2, "a"), Shard(1, 2, "b"))


def test_without_a_target_there_is_no_shard() -> None:
    assert shards([]) == ()


def test_what_is_not_broadcast_is_one_shard_for_anybody() -> None:
    (whole,) = WHOLE
    assert whole == Shard(0, 1, None)


@pytest.mark.parametrize(
    ("left", "failed", "expected"),
    [(2, 0, None), (1, 3, None), (0, 0, Status.SUCCESS), (0, 1, Status.FAILED)],
)
def test_an_instant_counts_once_all_its_shards_have_ended(left: int, failed: int, expected: Status | None) -> None:
    assert instant_outcome(left, failed) is expected


def test_the_shard_of_a_lost_executor_goes_to_one_that_is_alive() -> None:
    assert retarget("lost", ["a", "b"]) == "a"


def test_a_shard_keeps_its_place_if_that_came_back_or_nobody_is_there() -> None:
    assert retarget("b", ["a", "b"]) == "b"
    assert retarget("lost", []) == "lost"


def test_what_was_for_anybody_stays_for_anybody() -> None:
    assert retarget(None, ["a"]) is None


@given(st.lists(st.text(min_size=1), unique=True, max_size=20), st.text(min_size=1))
@examples(200)
def test_a_shard_never_goes_to_an_executor_that_is_not_there(alive: list[str], target: str) -> None:
    assert retarget(target, alive) in (alive or [target])
