"""What an alert rule says, and when."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from hourhand.model.alert import (
    AlertRule,
    Delivery,
    ExecutorLost,
    Facts,
    Failed,
    FailedInARow,
    Finding,
    Item,
    ItemKind,
    Memory,
    Notice,
    QueueLonger,
    QuietHours,
)
from hourhand.rules.alerts import (
    GIVE_UP_AFTER,
    LONGEST_WAIT,
    MOST_ITEMS,
    a_test,
    decide,
    item_from,
    item_json,
    notice_json,
    wait_after,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NIGHT = QuietHours(begin=time(22), end=time(7), timezone="UTC")


def rule(**changes: Any) -> AlertRule:
    values: dict[str, Any] = {
        "id": 3,
        "name": "books",
        "condition": FailedInARow(count=2),
        "targets": (),
        "active_since": NOON,
        "created_at": NOON,
        "updated_at": NOON,
        "created_by": "test",
        "updated_by": "test",
    }
    return AlertRule(**(values | changes))


def finding(subject: str = "task:7", text: str = "") -> Finding:
    return Finding(subject=subject, what=f"the {subject}", text=text or f"{subject} is bad", about={"n": 7})


def holding(*subjects: str) -> Facts:
    return Facts(holding={one: finding(one) for one in subjects})


class Story:
    """One rule through time."""

    def __init__(self, **changes: Any) -> None:
        self.rule = rule(**changes)
        self.memory = Memory()

    def at(self, seconds: float, facts: Facts | None = None, *, begin: datetime = NOON) -> Notice | None:
        now = begin + timedelta(seconds=seconds)
        self.memory, notice = decide(self.rule, facts or Facts(), self.memory, now)
        return notice

    @property
    def firing(self) -> set[str]:
        return {name for name, one in self.memory.states.items() if one.firing_since is not None}


def text(notice: Notice | None) -> str:
    assert notice is not None
    return notice.text


def test_it_fires_once_and_recovers_once() -> None:
    story = Story(group_seconds=0)
    first = story.at(0, holding("task:7"))
    assert first is not None
    assert (first.kind, first.title) == (ItemKind.FIRING, "books: task:7 is bad")
    assert story.at(2, holding("task:7")) is None
    assert story.firing == {"task:7"}
    last = story.at(4)
    assert last is not None
    assert (last.kind, last.title) == (ItemKind.RECOVERED, "books: recovered: the task:7 has succeeded")
    assert last.items[0].about == {"n": 7}
    assert story.memory.states == {}
    assert story.at(6) is None


def test_nothing_is_said_of_a_recovery_nobody_wants() -> None:
    story = Story(group_seconds=0, notify_recovery=False)
    assert story.at(0, holding("task:7"))
    assert story.at(2) is None
    assert story.memory.states == {}


def test_nothing_is_said_of_what_there_is_no_more() -> None:
    story = Story(group_seconds=0)
    assert story.at(0, holding("task:7"))
    assert story.at(2, Facts(forgotten=frozenset({"task:7"}))) is None
    assert story.memory.states == {}


def test_every_failure_is_told_while_it_fires() -> None:
    story = Story(condition=Failed(), group_seconds=0)
    for second in (0, 2):
        happened = Facts(happened=(finding(text=f"failure {second}"),), holding={"task:7": finding()})
        assert text(story.at(second, happened)).endswith(f"failure {second}")
    assert story.at(4, holding("task:7")) is None
    assert text(story.at(6)).endswith("recovered: the task:7 has succeeded")


def test_a_failure_that_was_over_when_it_was_seen_is_told_as_such() -> None:
    story = Story(condition=Failed())
    notice = story.at(0, Facts(happened=(finding(),)))
    assert notice is not None
    assert notice.text == "2026-11-15T12:00:00Z task:7 is bad (recovered 2026-11-15T12:00:00Z)"
    assert story.memory.states == {}


def test_the_first_goes_at_once_and_what_follows_within_the_window_goes_as_one() -> None:
    story = Story(group_seconds=60)
    assert story.at(0, holding("a"))
    assert story.at(10, holding("a", "b")) is None
    assert story.at(20, holding("a", "b", "c")) is None
    assert len(story.memory.delivery.collected) == 2
    notice = story.at(60, holding("a", "b", "c"))
    assert notice is not None
    assert notice.title == "books: 2 alerts"
    assert [one.subject for one in notice.items] == ["b", "c"]
    assert story.at(100, holding("a", "b", "c", "d")) is None  # the second notice has opened a window too
    assert story.at(125, holding("a", "b", "c", "d"))


def test_a_window_without_anything_in_it_closes() -> None:
    story = Story(group_seconds=60)
    assert story.at(0, holding("a"))
    assert story.at(61, holding("a")) is None
    assert story.memory.delivery == Delivery()
    assert story.at(62, holding("a", "b"))


def test_what_recovers_while_it_waits_to_be_told_is_told_once() -> None:
    story = Story(group_seconds=60)
    assert story.at(0, holding("a"))
    assert story.at(10, holding("a", "b")) is None
    assert story.at(20, holding("a")) is None
    assert story.at(30, holding("b")) is None  # a has recovered, b is back
    notice = story.at(60, holding("b"))
    assert notice is not None
    assert notice.title == "books: 2 alerts, 1 recovery"
    assert notice.text.splitlines() == [
        "2026-11-15T12:00:10Z b is bad (recovered 2026-11-15T12:00:20Z)",
        "2026-11-15T12:00:30Z b is bad",
        "2026-11-15T12:00:30Z recovered: the a has succeeded",
    ]


def test_several_recoveries_are_counted() -> None:
    story = Story(group_seconds=0)
    assert story.at(0, holding("a", "b"))
    notice = story.at(10)
    assert notice is not None
    assert notice.title == "books: 2 recoveries"
    assert notice.kind is ItemKind.RECOVERED


def test_a_flood_is_told_in_part_and_counted() -> None:
    story = Story()
    notice = story.at(0, holding(*(f"task:{number}" for number in range(MOST_ITEMS + 7))))
    assert notice is not None
    assert (len(notice.items), notice.more) == (MOST_ITEMS, 7)
    assert notice.title == f"books: {MOST_ITEMS + 7} alerts"
    assert notice.text.endswith("… and 7 more")


def test_a_long_title_is_cut() -> None:
    notice = Story().at(0, Facts(holding={"a": finding("a", "x" * 300)}))
    assert notice is not None
    assert notice.title == f"books: {'x' * 119}…"
    assert "x" * 300 in notice.text


def test_in_quiet_hours_everything_waits_for_their_end_and_goes_as_one() -> None:
    story = Story(quiet_hours=NIGHT, group_seconds=60, repeat_seconds=60)
    late = datetime(2026, 11, 15, 23, tzinfo=UTC)
    assert story.at(0, holding("a", "b"), begin=late) is None
    assert story.at(3600, holding("b"), begin=late) is None
    assert story.at(8 * 3600 - 1, holding("b"), begin=late) is None
    notice = story.at(8 * 3600, holding("b"), begin=late)
    assert notice is not None
    lines = notice.text.splitlines()
    assert lines[0] == "2026-11-15T23:00:00Z a is bad (recovered 2026-11-16T00:00:00Z)"
    assert lines[1] == "2026-11-15T23:00:00Z b is bad"
    assert lines[2].startswith("2026-11-16T07:00:00Z still: b is bad (since 2026-11-15T23:00:00Z)")
    assert len(lines) == 3


def test_a_reminder_comes_as_often_as_it_was_asked_for() -> None:
    story = Story(group_seconds=0, repeat_seconds=30)
    assert story.at(0, holding("a"))
    assert story.at(29, holding("a")) is None
    notice = story.at(30, holding("a"))
    assert notice is not None
    assert notice.title == "books: still: a is bad (since 2026-11-15T12:00:00Z)"
    assert notice.kind is ItemKind.REMINDER
    assert notice.items[0].about == {"n": 7}
    assert story.at(59, holding("a")) is None
    assert story.at(60, holding("a"))


def test_a_failure_that_was_just_told_needs_no_reminder() -> None:
    story = Story(condition=Failed(), group_seconds=0, repeat_seconds=30)
    again = Facts(happened=(finding(),), holding={"task:7": finding()})
    assert story.at(0, again)
    assert story.at(29, again)
    assert story.at(31, holding("task:7")) is None


def test_a_queue_must_be_long_for_a_while() -> None:
    story = Story(condition=QueueLonger(count=5, minutes=1), group_seconds=0)
    assert story.at(0, holding("group:1")) is None
    assert story.at(30) is None  # and all is forgotten
    assert story.memory.states == {}
    assert story.at(40, holding("group:1")) is None
    assert story.at(99, holding("group:1")) is None
    assert story.at(100, holding("group:1"))
    assert story.at(110)


def test_who_is_alive_is_remembered_and_told_of_only_when_lost() -> None:
    story = Story(condition=ExecutorLost(), group_seconds=0)
    about = {"executor_id": "e1"}
    assert story.at(0, Facts(known={"e1": about})) is None
    since = story.memory.states["e1"].since
    assert story.at(2, Facts(known={"e1": about})) is None
    assert story.memory.states["e1"].since == since
    assert story.at(4, holding("e1"))
    assert story.firing == {"e1"}
    assert text(story.at(6, Facts(known={"e1": about}))).endswith("the e1 is back, or another of its group has started")
    assert story.memory.states["e1"].about == about
    assert not story.firing
    assert story.at(8) is None  # it has left cleanly
    assert story.memory.states == {}


def test_a_notice_has_the_same_id_for_whoever_decides_and_another_one_later() -> None:
    ids = [notice.id for second in (0, 0, 1) if (notice := Story().at(second, holding("a")))]
    assert ids[0] == ids[1] != ids[2]


def test_a_notice_as_json_says_all_that_its_text_says() -> None:
    notice = Story().at(0, holding("a"))
    assert notice is not None
    written = notice_json(notice)
    assert written["rule"] == {"id": 3, "name": "books"}
    assert (written["kind"], written["more"], written["at"]) == ("firing", 0, "2026-11-15T12:00:00Z")
    assert written["items"][0]["text"] == "a is bad"
    assert written["notice"] == notice.id


@pytest.mark.parametrize("recovered", [None, NOON + timedelta(seconds=1)])
def test_an_item_is_stored_and_read_back(recovered: datetime | None) -> None:
    item = Item(kind=ItemKind.FIRING, subject="a", text="bad", at=NOON, recovered_at=recovered, about={"task_id": 7})
    assert item_from(item_json(item)) == item


def test_a_test_says_that_it_is_one() -> None:
    notice = a_test(rule(), NOON)
    assert notice.kind is ItemKind.TEST
    assert "this is a test of the alert rule 'books'" in notice.text


def test_tries_grow_rarer_up_to_an_hour_and_end_after_three_days() -> None:
    waits = [wait_after(tries, NOON, NOON) for tries in range(1, 13)]
    assert waits[:4] == [timedelta(seconds=one) for one in (10, 20, 40, 80)]
    assert waits[-1] == LONGEST_WAIT
    assert wait_after(100, NOON, NOON + GIVE_UP_AFTER - timedelta(seconds=1)) == LONGEST_WAIT
    assert wait_after(100, NOON, NOON + GIVE_UP_AFTER) is None
