"""The checker of fault runs: silent about a history that keeps every promise, and about no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faults.checker import check
from faults.history import MarkKind, Verb
from unit.faults.stories import Story


def two_instants() -> Story:
    """A task that fired twice and is about to fire again."""
    story = Story()
    story.task()
    story.succeed(1, 10)
    story.succeed(2, 20)
    return story


def diamond() -> Story:
    """Task 1, then 2 and 3 after it, then 4 after both, for one instant."""
    story = Story()
    story.task(1)
    story.task(2, "@upstream", dependency_ids=(1,))
    story.task(3, "@upstream", dependency_ids=(1,))
    story.task(4, "@upstream", dependency_ids=(2, 3))
    story.succeed(1, 10)
    for task_id, begin in ((2, 11), (3, 11.5), (4, 13)):
        story.make(task_id, 10, task_id, when=begin - 0.2, status="planned", triggered_by="dependency")
        story.release(task_id, begin - 0.1)
        story.claim(task_id, begin)
        story.end(task_id, begin + 1)
    return story


def broken(story: Story, until: float = 25) -> list[str]:
    return [violation.invariant for violation in check(story.history(until))]


def everything_at_once() -> Story:
    """Extended leases, a loss, a retry by hand, a skip, a submission, an instance still to come."""
    story = two_instants()
    story.skip(30, 40, 2)
    story.make(3, 50)
    story.claim(3, 50, fence=1, executor="e1")
    story.extend(3, 51)
    story.lose(3, 53.5, fence=1)
    story.claim(3, 54, fence=3, executor="e2")
    story.end(3, 55, "failed", superseded=True)
    story.change(3, Verb.INSERT, 56, status="pending", fence=4, lease_until=None, executor_id=None)
    story.claim(3, 57, fence=5)
    story.end(3, 58)
    story.make(4, 33.3, triggered_by="api", in_ledger=False)
    story.accepted.append(4)
    story.claim(4, 34)
    story.requeue(4, 34.5, fence=2)  # it failed and is tried again
    story.claim(4, 34.6, fence=3)
    story.end(4, 35)
    story.make(5, 60)
    return story


def test_a_clean_history_breaks_nothing() -> None:
    assert check(everything_at_once().history(until=55)) == []


def test_a_clean_diamond_breaks_nothing() -> None:
    assert check(diamond().history(until=15)) == []


def test_what_is_scheduled_later_may_still_be_under_way() -> None:
    story = two_instants()
    story.make(3, 30)
    story.claim(3, 30)
    assert broken(story, until=29) == []
    assert broken(story, until=30) == ["I2"]


def made_twice(story: Story) -> None:
    story.succeed(3, 20)


def made_off_schedule(story: Story) -> None:
    story.succeed(3, 17)


def missed(story: Story) -> None:
    story.skip(40, 40, 1)
    story.succeed(3, 50)  # and nobody says what became of 30


def skipped_and_made(story: Story) -> None:
    story.skip(20, 20, 1)


def skipped_twice(story: Story) -> None:
    story.skip(30, 40, 2)
    story.skip(40, 50, 2)


def skip_that_hides_instants(story: Story) -> None:
    story.skip(30, 50, 2)


@pytest.mark.parametrize(
    ("fault", "until"),
    [
        (made_twice, 25),
        (made_off_schedule, 25),
        (missed, 55),
        (skipped_and_made, 25),
        (skipped_twice, 55),
        (skip_that_hides_instants, 55),
    ],
)
def test_fires_that_are_not_the_intended_instants_are_caught(fault: Callable[[Story], None], until: float) -> None:
    story = two_instants()
    assert broken(story) == []
    fault(story)
    assert set(broken(story, until)) == {"I1"}


def test_shards_of_one_instant_are_not_the_same_instant_twice() -> None:
    story = two_instants()
    for shard in range(2):
        story.succeed(3 + shard, 30, shard_index=shard)
    assert broken(story, until=35) == []


def never_ends(story: Story) -> None:
    story.make(3, 30)


def lease_runs_for_ever(story: Story) -> None:
    story.make(3, 30)
    story.claim(3, 30)


def gone_without_a_log(story: Story) -> None:
    story.make(3, 30)
    story.change(3, Verb.DELETE, 31)


def acknowledged_and_lost(story: Story) -> None:
    story.succeed(3, 30)
    story.accepted.append(99)


def skip_without_a_reason(story: Story) -> None:
    story.skip(30, 30, 1, skip_reason=None)


@pytest.mark.parametrize(
    "fault", [never_ends, lease_runs_for_ever, gone_without_a_log, acknowledged_and_lost, skip_without_a_reason]
)
def test_what_neither_ends_nor_is_skipped_is_caught(fault: Callable[[Story], None]) -> None:
    story = two_instants()
    fault(story)
    assert broken(story, until=35) == ["I2"]


@pytest.mark.parametrize("summary", [None, {}, {"count": 1}, {"count": 1, "last": 3}])
def test_a_skip_that_does_not_say_how_many_and_until_when_is_caught(summary: object) -> None:
    story = two_instants()
    story.skip(30, 30, 1, summary=summary)
    assert "I2" in broken(story, until=35)


def test_a_success_that_was_never_started_is_caught() -> None:
    story = two_instants()
    story.make(3, 30)
    story.claim(3, 30, started=False)
    story.end(3, 31)
    assert broken(story, until=35) == ["I3"]


def test_a_success_of_which_the_work_knows_nothing_is_caught() -> None:
    story = two_instants()
    story.make(3, 30)
    story.claim(3, 30, started=False)
    story.end(3, 31, done=False)
    assert broken(story, until=35) == ["I3", "I5"]


def test_a_failure_needs_no_start() -> None:
    story = two_instants()
    story.make(3, 30, status="planned")
    story.end(3, 31, "failed", done=False)
    assert broken(story, until=35) == []


def taken_back_too_early(story: Story) -> None:
    story.lose(3, 31, fence=1)
    story.claim(3, 31.5, fence=3, executor="e2")


def taken_over_while_held(story: Story) -> None:
    story.claim(3, 31, fence=2, executor="e2")


def taken_over_after_an_extension(story: Story) -> None:
    story.extend(3, 31.5)
    story.lose(3, 32.5, fence=1)
    story.claim(3, 32.6, fence=3, executor="e2")


def two_under_one_fence(story: Story) -> None:
    story.extend(3, 31, executor_id="e2")


def running_without_a_lease(story: Story) -> None:
    story.change(3, Verb.UPDATE, 31, lease_until=None)


@pytest.mark.parametrize(
    "fault",
    [
        taken_back_too_early,
        taken_over_while_held,
        taken_over_after_an_extension,
        two_under_one_fence,
        running_without_a_lease,
    ],
)
def test_two_leases_at_once_are_caught(fault: Callable[[Story], None]) -> None:
    story = two_instants()
    story.make(3, 30)
    story.claim(3, 30)
    fault(story)
    story.end(3, 33)
    assert broken(story, until=35) == ["I4"]


def fence_stays(story: Story) -> None:
    story.requeue(3, 31, fence=1)
    story.claim(3, 32, fence=2)
    story.end(3, 33)


def fence_falls(story: Story) -> None:
    story.requeue(3, 31, fence=2)
    story.claim(3, 32, fence=1)
    story.end(3, 33)


def stale_success_is_believed(story: Story) -> None:
    story.lose(3, 32.5, fence=1)
    story.claim(3, 33, fence=3, executor="e2")
    story.mark(MarkKind.END, 3, 33.5, fence=1)  # the first attempt wakes up and reports
    story.end(3, 33.5, done=False)
    story.mark(MarkKind.END, 3, 34.5, fence=3)


def stale_success_ends_what_is_not_running(story: Story) -> None:
    story.lose(3, 32.5, fence=1)
    story.mark(MarkKind.END, 3, 33, fence=1)
    story.end(3, 33, done=False)


def deleted_under_another_fence(story: Story) -> None:
    story.mark(MarkKind.END, 3, 31, fence=1)
    story.change(3, Verb.DELETE, 31, fence=7)
    story.log(3, 31, fence=1)


def revived_under_the_same_fence(story: Story) -> None:
    story.end(3, 31, "failed", superseded=True)
    story.change(3, Verb.INSERT, 31.5, status="pending", fence=1)
    story.claim(3, 32, fence=2)
    story.end(3, 33)


@pytest.mark.parametrize(
    "fault",
    [
        fence_stays,
        fence_falls,
        stale_success_is_believed,
        stale_success_ends_what_is_not_running,
        deleted_under_another_fence,
        revived_under_the_same_fence,
    ],
)
def test_stale_writes_are_caught(fault: Callable[[Story], None]) -> None:
    story = two_instants()
    story.make(3, 30)
    story.claim(3, 30)
    fault(story)
    assert broken(story, until=35) == ["I5"]


def test_an_instance_that_ends_twice_is_caught() -> None:
    story = two_instants()
    story.log(2, 21, "failed")
    assert broken(story) == ["I6"]


def test_an_instance_that_ended_and_lives_is_caught() -> None:
    story = two_instants()
    story.make(3, 30)
    story.log(3, 31, "cancelled")
    assert broken(story, until=35) == ["I6"]


def test_a_superseded_ending_does_not_count() -> None:
    story = two_instants()
    story.make(3, 30)
    story.log(3, 31, "failed", superseded=True)
    assert broken(story, until=35) == ["I2"]


def without(story: Story, task_id: int) -> Story:
    """The same as if the instance of this task had never been."""
    story.changes = [one for one in story.changes if one.instance_id != task_id]
    story.logs = [one for one in story.logs if one.instance_id != task_id]
    story.marks = [one for one in story.marks if one.instance_id != task_id]
    return story


def test_a_dependent_that_was_never_made_is_caught() -> None:
    assert broken(without(diamond(), 4), until=15) == ["I9"]


def test_a_dependent_that_was_made_twice_is_caught() -> None:
    story = diamond()
    story.succeed(5, 10, task_id=4, triggered_by="dependency")
    assert broken(story, until=15) == ["I1", "I9"]


def test_a_dependent_that_was_never_released_is_caught() -> None:
    story = without(diamond(), 4)
    story.make(4, 10, 4, when=12.3, status="planned", triggered_by="dependency")
    assert broken(story, until=15) == ["I2", "I9"]


def test_a_dependent_that_was_released_twice_is_caught() -> None:
    story = without(diamond(), 4)
    story.make(4, 10, 4, when=12.3, status="planned", triggered_by="dependency")
    story.release(4, 13)
    story.change(4, Verb.UPDATE, 13.1, status="planned")
    story.release(4, 13.2)
    story.claim(4, 13.3)
    story.end(4, 14)
    assert broken(story, until=15) == ["I9"]


def test_a_dependent_that_starts_before_one_of_its_upstreams_has_ended_is_caught() -> None:
    story = without(diamond(), 4)
    story.make(4, 10, 4, when=12.3, status="planned", triggered_by="dependency")
    story.release(4, 12.2)
    story.claim(4, 12.2)  # task 2 has ended, task 3 has not
    story.end(4, 14)
    assert broken(story, until=15) == ["I9"]


@pytest.mark.parametrize(("needs_success", "violations"), [(True, ["I9"]), (False, [])])
def test_a_dependent_of_a_failure_starts_only_if_that_is_its_policy(
    needs_success: bool,  # noqa: FBT001 - a parameter of the test
    violations: list[str],
) -> None:
    story = Story()
    story.task(1)
    story.task(2, dependency_ids=(1,), needs_success=needs_success)
    story.make(1, 10)
    story.claim(1, 10)
    story.end(1, 11, "failed")
    story.make(2, 10, 2, status="planned")
    story.release(2, 11.1)
    story.claim(2, 11.2)
    story.end(2, 12)
    assert broken(story, until=15) == violations


def test_a_dependent_waits_for_the_latest_instant_that_was_made() -> None:
    story = Story()
    story.task(1)
    story.task(2, "@every 5s", dependency_ids=(1,))
    story.succeed(3, 5, task_id=2)  # nothing to wait for yet
    story.make(1, 10)
    story.claim(1, 10)
    story.end(1, 12)
    story.make(4, 10, 2)
    story.make(5, 15, 2)
    for instance_id, begin in ((4, 12.5), (5, 15)):
        story.claim(instance_id, begin)
        story.end(instance_id, begin + 0.5)
    assert broken(story, until=19) == []
    story.marks.clear()
    story.mark(MarkKind.START, 4, 11, 1)
    assert "I9" in broken(story, until=19)


def test_a_violation_says_what_and_where() -> None:
    story = two_instants()
    story.make(3, 30)
    (violation,) = check(story.history(until=35))
    assert str(violation) == (
        "I2: has not ended: it is still pending under fence 0 "
        "(task task-1, instant 2026-11-15T12:00:30+00:00, instance 3)"
    )
