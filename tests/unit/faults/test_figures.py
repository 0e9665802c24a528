"""What the demonstration counts."""

from __future__ import annotations

from faults.figures import count, recoveries
from faults.history import MarkKind
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
    for instance_id, instant in ((1, 10), (2, 20), (3, 30)):
        story.make(instance_id, instant)
        story.claim(instance_id, instant)
        story.marks.pop()
    story.mark(MarkKind.START, 1, 10, fence=1)  # pid 1 is killed at 11
    story.mark(MarkKind.START, 1, 14, fence=3)
    story.mark(MarkKind.START, 2, 10, fence=1)  # this one it had ended
    story.mark(MarkKind.END, 2, 10.5, fence=1)
    story.mark(MarkKind.START, 2, 20, fence=3)
    story.mark(MarkKind.START, 3, 10, fence=1)  # and this one nobody took up

    assert recoveries(story.history(until=35), {1: at(11)}) == [3.0]
