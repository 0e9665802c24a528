"""Finish: one outcome that no database can hold never keeps the others from ending, nor its own instance."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from contracts.world import endings
from hourhand.model.instance import Ending, Outcome, Submission
from hourhand.model.words import OutcomeKind, Status

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.instance import Assignment, Finished, Instance

FLUSH = 500
CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


async def flush_with(world: World, poison: dict[str, Any]) -> tuple[Finished, Instance]:
    """Finish 499 good outcomes and a bad one among them; what became of the bad one."""
    await world.executor()
    task = await world.task()
    await world.store.submit([Submission(task_id=task.id) for _ in range(FLUSH)])
    claimed: list[Assignment] = await world.claim(limit=FLUSH)
    bad = claimed[333]
    outcomes = endings(claimed, result={"n": 1})
    values: dict[str, Any] = {"kind": OutcomeKind.SUCCESS, **poison}
    outcomes[333] = Ending(instance_id=bad.instance_id, fence=bad.fence, outcome=Outcome(**values))

    answers = await world.store.finish(outcomes)

    by_id = {one.instance_id: one for one in answers}
    assert len(answers) == len(by_id) == FLUSH
    assert not any(one.fenced for one in answers)
    assert [one.instance_id for one in answers if one.replaced] in ([], [bad.instance_id])
    assert all(one.status is Status.SUCCESS for one in answers if one.instance_id != bad.instance_id)
    assert await world.count("task_instances") == 0
    assert await world.count("execution_logs") == FLUSH
    assert await world.count("execution_logs", f"status = 'success' AND instance_id <> {bad.instance_id}") == FLUSH - 1
    return by_id[bad.instance_id], await world.store.get_instance(bad.instance_id)


NOT_JSON: dict[str, Any] = {
    "NaN": {"a": float("nan")},
    "infinity": {"a": [float("-inf")]},
    "a set": {"a": {1, 2}},
    "bytes": {"a": b"x"},
    "a decimal": {"a": Decimal(1)},
    "a tuple as a key": {("a", "b"): 1},
    "a circle": CIRCLE,
    "a number of 5000 digits": {"a": 10**5000},
    "nested 200 levels": nested(200),
    "nested 900 levels": nested(900),
    "nested 5000 levels": nested(5_000),
}


@pytest.mark.parametrize("field", ["result", "summary"])
@pytest.mark.parametrize("value", NOT_JSON.values(), ids=NOT_JSON.keys())
async def test_what_is_not_json_is_replaced_by_an_explanation(world: World, field: str, value: object) -> None:
    finished, instance = await flush_with(world, {field: value})

    assert finished.status is Status.SUCCESS
    stored = getattr(instance, field)
    assert set(stored) == {"error"}
    assert "not JSON" in stored["error"] or "nested more than" in stored["error"]


async def test_a_result_that_is_too_large_keeps_its_beginning(world: World) -> None:
    finished, instance = await flush_with(world, {"result": {"a": "x\x00" * 200_000}})

    assert finished.status is Status.SUCCESS
    assert instance.result is not None
    assert "at most 262144 are kept" in instance.result["error"]
    assert instance.result["truncated"].startswith('{"a":"x')


KEPT: dict[str, tuple[Any, Any]] = {
    "NUL": ({"a\x00b": ["c\x00", {"d": "\x00"}]}, {"ab": ["c", {"d": ""}]}),
    "half a character": ({"a": "x\ud800y"}, {"a": "x?y"}),
    "half a character as a key": ({"\udfff": 1}, {"?": 1}),
    "NUL and half a character": ({"a": "\x00\ud800"}, {"a": "?"}),
    "the six characters of an escaped NUL": ({"a": "\\u0000"}, {"a": "\\u0000"}),
    "NUL after a backslash": ({"a": "\\\x00"}, {"a": "\\"}),
    "NUL and the escape of one": ({"a": "\\u0000\x00\\\\u0000"}, {"a": "\\u0000\\\\u0000"}),
    "a number beyond 64 bits": ({"a": 2**80}, {"a": 2**80}),
    "a number beyond 64 bits and NUL": ({"a": 2**80, "b": "\x00"}, {"a": 2**80, "b": ""}),
    "nested 60 levels": (nested(60), nested(60)),
    "a list": ([1, {"a": None}], [1, {"a": None}]),
    "a list of lists": ([[1, 2], [3]], [[1, 2], [3]]),
    "an empty list": ([], []),
    "a text": ("text", "text"),
    "a number": (0, 0),
    "line separators": ({"a": "\u2028\u2029\x7f\x1f🙂"}, {"a": "\u2028\u2029\x7f\x1f🙂"}),
}


@pytest.mark.parametrize(("given", "stored"), KEPT.values(), ids=KEPT.keys())
async def test_a_result_is_stored_without_what_no_database_can_hold(
    world: World, given: object, stored: object
) -> None:
    finished, instance = await flush_with(world, {"result": given})

    assert finished.status is Status.SUCCESS
    assert instance.result == stored


TEXTS: dict[str, tuple[str, str]] = {
    "NUL": ("a\x00b", "ab"),
    "half a character": ("a\ud800b", "a?b"),
    "other control characters": ("a\x01\x1b[31m\r\n\tb", "a\x01\x1b[31m\r\n\tb"),
}


@pytest.mark.parametrize("field", ["error_message", "output_summary"])
@pytest.mark.parametrize(("given", "stored"), TEXTS.values(), ids=TEXTS.keys())
async def test_text_is_stored_without_what_no_database_can_hold(
    world: World, field: str, given: str, stored: str
) -> None:
    _, instance = await flush_with(world, {"kind": OutcomeKind.FAILED, field: given})

    assert getattr(instance, field) == stored


async def test_an_output_summary_keeps_its_last_4_kib_and_says_so(world: World) -> None:
    output = "begin" + "é" * 5_000 + "end"

    _, instance = await flush_with(world, {"output_summary": output})

    kept = instance.output_summary
    assert kept is not None
    assert kept.startswith("… [truncated]é")
    assert kept.endswith("éend")
    assert 4 * 1024 - 2 <= len(kept.encode()) <= 4 * 1024


async def test_an_error_message_keeps_its_first_16_kib_and_says_so(world: World) -> None:
    _, instance = await flush_with(world, {"kind": OutcomeKind.FAILED, "error_message": "begin" + "é" * 20_000})

    kept = instance.error_message
    assert kept is not None
    assert kept.startswith("beginé")
    assert kept.endswith("é… [truncated]")
    assert len(kept.encode()) <= 16 * 1024


@pytest.mark.parametrize("duration", [2**63, 2**64, 10**30, 2**50, 2**62])
async def test_an_impossible_duration_ends_its_instance_alone_as_replaced(world: World, duration: int) -> None:
    finished, instance = await flush_with(world, {"duration_ms": duration})

    assert (finished.status, finished.replaced) == (Status.FAILED, True)
    assert instance.error_message is not None
    assert "its outcome (success) could not be stored" in instance.error_message
    assert json.loads(json.dumps(instance.result)) == {"error": instance.error_message}


@pytest.mark.parametrize("duration", [-1, -(2**70)])
async def test_a_negative_duration_is_none(world: World, duration: int) -> None:
    finished, instance = await flush_with(world, {"duration_ms": duration})

    assert (finished.status, instance.duration_ms) == (Status.SUCCESS, 0)


@pytest.mark.parametrize("delay", [float("inf"), 1e300])
async def test_an_impossible_delay_ends_its_instance_alone_as_replaced(world: World, delay: float) -> None:
    finished, _ = await flush_with(world, {"kind": OutcomeKind.HANDED_BACK, "delay_seconds": delay})

    assert (finished.status, finished.replaced) == (Status.FAILED, True)


async def test_two_bad_outcomes_are_both_found(world: World) -> None:
    await world.executor()
    task = await world.task(max_retries=3)
    await world.store.submit([Submission(task_id=task.id) for _ in range(20)])
    claimed = await world.claim()
    outcomes = endings(claimed)
    for place in (0, 19):
        bad = Outcome(kind=OutcomeKind.SUCCESS, duration_ms=2**70)
        outcomes[place] = Ending(instance_id=claimed[place].instance_id, fence=claimed[place].fence, outcome=bad)

    answers = await world.store.finish(outcomes)

    assert {one.instance_id for one in answers if one.replaced} == {claimed[0].instance_id, claimed[19].instance_id}
    assert await world.count("execution_logs", "status = 'success'") == 18
    assert await world.count("execution_logs", "status = 'failed'") == 2  # and are not tried again
