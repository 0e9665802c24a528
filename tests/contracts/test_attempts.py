"""What a running attempt writes: progress, checkpoints and lines, each under its fence (guarantee 6)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import counts, difference, expire, living
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Held, LogLine, Progress
from hourhand.model.words import OutcomeKind
from hourhand.rules.lines import line_seq
from hourhand.store.attempts import MESSAGE_BYTES

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment


async def start(world: World, count: int = 1) -> list[Assignment]:
    await world.executor()
    task = await world.task(max_retries=9, retry_delay_seconds=0)
    for _ in range(count):
        await world.submit(task)
    return await world.claim()


async def superseded(world: World) -> tuple[Assignment, Assignment]:
    """An attempt whose lease ran out, and its successor."""
    (first,) = await start(world)
    await expire(world)
    await world.store.reap()
    (second,) = await world.claim()
    return first, second


def report(one: Assignment, **values: Any) -> Progress:
    return Progress(instance_id=one.instance_id, fence=one.fence, **values)


async def line(world: World, one: Assignment, counter: int, message: str = "", **more: Any) -> tuple[Held, LogLine]:
    values = {"logged_at": await world.store.now(), "message": message or f"line {counter}", **more}
    return Held(one.instance_id, one.fence), LogLine(seq=line_seq(one.fence, counter), **values)


# Progress


async def test_progress_phase_and_checkpoint_are_stored(world: World) -> None:
    (claimed,) = await start(world)

    late = await world.store.report_progress([report(claimed, progress=0.25, phase="copying", checkpoint={"page": 3})])

    instance = await world.store.get_instance(claimed.instance_id)
    assert late == []
    assert (instance.progress, instance.phase, instance.checkpoint) == (0.25, "copying", {"page": 3})


@pytest.mark.parametrize("checkpoint", [{"at": float("nan")}, {"at": "x\x00"}, {"pages": {1, 2}}, ["x" * 300_000]])
async def test_a_checkpoint_that_cannot_be_stored_is_refused_and_the_good_one_stays(
    world: World, checkpoint: Any
) -> None:
    (claimed,) = await start(world)
    await world.store.report_progress([report(claimed, checkpoint={"page": 3})])

    with pytest.raises(InvalidInput, match="checkpoint"):
        await world.store.report_progress([report(claimed, progress=0.5, checkpoint=checkpoint)])

    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.progress, instance.checkpoint) == (None, {"page": 3})


async def test_what_a_report_leaves_out_stays_as_it_was(world: World) -> None:
    (claimed,) = await start(world)
    await world.store.report_progress([report(claimed, progress=0.25, phase="copying", checkpoint={"page": 3})])

    await world.store.report_progress([report(claimed, progress=0.5)])

    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.progress, instance.phase, instance.checkpoint) == (0.5, "copying", {"page": 3})


@pytest.mark.parametrize("checkpoint", [0, "", [], {}, False, [1, {"a": None}], "text", 2**60])
async def test_any_json_is_a_checkpoint(world: World, checkpoint: object) -> None:
    (claimed,) = await start(world)
    await world.store.report_progress([report(claimed, checkpoint={"page": 3})])

    await world.store.report_progress([report(claimed, checkpoint=checkpoint)])

    assert (await world.store.get_instance(claimed.instance_id)).checkpoint == checkpoint


async def test_the_next_attempt_resumes_from_the_checkpoint(world: World) -> None:
    (claimed,) = await start(world)
    await world.store.report_progress([report(claimed, checkpoint={"page": 3})])
    await world.end([claimed], OutcomeKind.FAILED)

    (again,) = await world.claim()

    assert again.checkpoint == {"page": 3}


@pytest.mark.parametrize(("given", "stored"), [(-1.0, 0.0), (1.5, 1.0), (float("inf"), 1.0), (float("nan"), 0.0)])
async def test_progress_stays_between_nothing_and_all(world: World, given: float, stored: float) -> None:
    (claimed,) = await start(world)

    await world.store.report_progress([report(claimed, progress=given)])

    assert (await world.store.get_instance(claimed.instance_id)).progress == stored


async def test_of_several_reports_of_one_attempt_the_last_counts(world: World) -> None:
    (claimed,) = await start(world)
    reports = [report(claimed, progress=step / 10, checkpoint={"page": step}) for step in range(8)]

    await world.store.report_progress([report(claimed, phase="first"), *reports, report(claimed, progress=0.9)])

    instance = await world.store.get_instance(claimed.instance_id)
    assert (instance.progress, instance.phase, instance.checkpoint) == (0.9, "first", {"page": 7})


async def test_the_progress_of_a_superseded_attempt_changes_nothing(world: World) -> None:
    first, second = await superseded(world)
    row = await living(world, first.instance_id)

    late = await world.store.report_progress([report(first, progress=0.9, phase="late", checkpoint={"late": True})])

    assert late == [Held(first.instance_id, first.fence)]
    assert await living(world, first.instance_id) == row
    assert await world.store.report_progress([report(second, progress=0.1)]) == []


async def test_a_superseded_attempt_and_its_successor_in_one_batch_are_told_apart(world: World) -> None:
    first, second = await superseded(world)

    late = await world.store.report_progress([report(first, progress=0.9), report(second, progress=0.1)])

    assert late == [Held(first.instance_id, first.fence)]
    assert (await world.store.get_instance(first.instance_id)).progress == 0.1


async def test_progress_after_the_end_changes_nothing(world: World) -> None:
    (claimed,) = await start(world)
    await world.end([claimed])
    before = await world.store.get_instance(claimed.instance_id)

    late = await world.store.report_progress([report(claimed, progress=0.9)])

    assert late == [Held(claimed.instance_id, claimed.fence)]
    assert await world.store.get_instance(claimed.instance_id) == before


async def test_reports_in_opposite_order_never_see_a_deadlock(world: World) -> None:
    claimed = await start(world, 100)
    reports = [report(one, progress=0.5) for one in claimed]

    answers = await asyncio.gather(*[world.store.report_progress(order) for order in (reports, reports[::-1]) * 5])

    assert answers == [[]] * 10


# Lines


async def test_lines_are_stored_with_everything_they_say(world: World) -> None:
    (claimed,) = await start(world)
    said = {"level": "error", "phase": "copying", "stream": "stderr", "exception": "Traceback …"}
    held, written = await line(world, claimed, 0, "größe 中文 🙂", **said)

    assert await world.store.write_lines([(held, written)]) == 1

    assert await world.store.read_lines(claimed.instance_id) == [written]


async def test_lines_sent_twice_are_stored_once(world: World) -> None:
    (claimed,) = await start(world)
    lines = [await line(world, claimed, counter) for counter in range(5)]

    assert await world.store.write_lines(lines[:3]) == 3
    assert await world.store.write_lines(lines) == 2
    assert await world.store.write_lines([*lines, *lines]) == 0

    assert [one.message for one in await world.store.read_lines(claimed.instance_id)] == [
        f"line {counter}" for counter in range(5)
    ]


async def test_lines_sent_twice_at_once_are_stored_once(world: World) -> None:
    (claimed,) = await start(world)
    lines = [await line(world, claimed, counter) for counter in range(50)]

    stored = await asyncio.gather(*[world.store.write_lines(order) for order in (lines, lines[::-1]) * 4])

    assert sum(stored) == 50
    assert await world.count("instance_logs") == 50


async def test_lines_come_in_the_order_of_attempts_and_of_writing(world: World) -> None:
    (first,) = await start(world)
    lines = [await line(world, first, counter, f"first {counter}") for counter in (0, 1, 10**9)]
    await world.store.write_lines(lines[::-1])
    await world.end([first], OutcomeKind.FAILED)
    (second,) = await world.claim()
    early = await world.store.now() - timedelta(seconds=1)  # the second executor's clock is slow
    await world.store.write_lines([await line(world, second, 0, "second 0", logged_at=early)])

    messages = [one.message for one in await world.store.read_lines(first.instance_id)]

    assert messages == ["first 0", "first 1", "first 1000000000", "second 0"]


async def test_lines_are_read_from_a_sequence_number_on(world: World) -> None:
    (claimed,) = await start(world)
    await world.store.write_lines([await line(world, claimed, counter) for counter in range(10)])

    first = await world.store.read_lines(claimed.instance_id, limit=4)
    rest = await world.store.read_lines(claimed.instance_id, after=first[-1].seq)

    assert [one.message for one in first] == [f"line {counter}" for counter in range(4)]
    assert [one.message for one in rest] == [f"line {counter}" for counter in range(4, 10)]


async def test_the_lines_of_a_superseded_attempt_are_dropped(world: World) -> None:
    first, second = await superseded(world)
    before = await counts(world)

    assert await world.store.write_lines([await line(world, first, 0, "late")]) == 0
    assert difference(before, await counts(world)) == {}
    assert await world.store.write_lines([await line(world, first, 1), await line(world, second, 0, "mine")]) == 1

    assert [one.message for one in await world.store.read_lines(first.instance_id)] == ["mine"]


async def test_lines_after_the_end_are_dropped(world: World) -> None:
    (claimed,) = await start(world)
    await world.store.write_lines([await line(world, claimed, 0)])
    await world.end([claimed])

    assert await world.store.write_lines([await line(world, claimed, 1, "late")]) == 0

    assert [one.message for one in await world.store.read_lines(claimed.instance_id)] == ["line 0"]


async def test_what_no_database_can_hold_is_left_out_of_a_line_and_its_length_is_bounded(world: World) -> None:
    (claimed,) = await start(world)
    bad = {"level": "in\x00fo", "phase": "p\ud800", "stream": "std\x00out", "exception": "x\x00"}

    await world.store.write_lines([await line(world, claimed, 0, "a\x00b\ud800c" + "é" * MESSAGE_BYTES, **bad)])

    (stored,) = await world.store.read_lines(claimed.instance_id)
    assert (stored.level, stored.phase, stored.stream, stored.exception) == ("info", "p?", "stdout", "x")
    assert stored.message.startswith("ab?cé")
    assert stored.message.endswith("é… [truncated]")
    assert len(stored.message.encode()) <= MESSAGE_BYTES


@pytest.mark.parametrize("days", [-400, -2, 2, 40, 40_000])
async def test_lines_of_an_executor_whose_clock_is_wrong_are_stored_and_read_all_the_same(
    world: World, days: int
) -> None:
    wrong, right = await start(world, 2)
    off = await world.store.now() + timedelta(days=days)
    lines = [await line(world, wrong, 0, "wrong", logged_at=off), await line(world, right, 0, "right")]

    assert await world.store.write_lines(lines) == 2
    assert await world.store.write_lines(lines) == 0

    (read,) = await world.store.read_lines(wrong.instance_id)
    assert read.message == "wrong"
    assert abs(read.logged_at - await world.store.now()) < timedelta(days=1)
    assert [one.message for one in await world.store.read_lines(right.instance_id)] == ["right"]
