"""What the demonstration counts."""

from __future__ import annotations

from faults.figures import Recovery, count, recoveries
from unit.faults.stories import Story, at


def test_instants_are_counted_by_what_became_of_them() -> None:
    story = Story()
    story.task(1)
    story.task(2, "@upstream", dependency_ids=(1,))
    story.succeed(1, 10)
    story.skip(20, 30, 2)
    story.succeed(2, 40)
    story.succeed(3, 40)  # twice
    story.make(4, 50)  # never ends; 60 is never made
    story.succeed(5, 10, task_id=2, triggered_by="dependency")
    story.succeed(6, 70)  # after the end
    story.accepted.append(2)

    figures = count(story.history(until=65))

    assert (figures.due, figures.materialised, figures.skipped, figures.dependents) == (6, 3, 2, 1)
    assert (figures.ended, figures.duplicated, figures.lost, figures.submitted) == (3, 1, 2, 1)
    assert figures.started_again == 0


def test_an_attempt_cut_short_is_recovered_when_another_process_starts_it() -> None:
    story = Story()
    story.task(1)
    story.make(1, 10)
    story.claim(1, 10, fence=1)  # the fence is the pid, and pid 1 is killed at 11
    story.lose(1, 13, fence=1)
    story.claim(1, 14, fence=3)
    story.end(1, 15)
    story.make(2, 20)
    story.claim(2, 20, fence=1)
    story.end(2, 20.5)  # this one it had ended
    story.make(3, 30)
    story.claim(3, 30, fence=1)  # and this one nobody took up

    assert recoveries(story.history(until=35), {1: at(11)}) == [Recovery(2.0, 3.0)]
