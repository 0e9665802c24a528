"""Submit: bad input is refused by its field, its value and what would be right; nothing of its batch is written."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from contracts.rows import counts, difference
from hourhand.model.errors import InvalidInput, NotFound
from hourhand.model.instance import Submission

if TYPE_CHECKING:
    from contracts.world import World

DEEP: dict[str, Any] = {}
for _ in range(40):
    DEEP = {"in": DEEP}
CIRCLE: dict[str, Any] = {}
CIRCLE["self"] = CIRCLE

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "priority too high": ({"priority": -1}, "priority", "give 0"),
    "priority too low": ({"priority": 10}, "priority", "give 0"),
    "priority between two": ({"priority": 2.5}, "priority", "give 0"),
    "priority a word": ({"priority": "high"}, "priority", "give 0"),
    "priority a truth": ({"priority": True}, "priority", "give 0"),
    "args not an object": ({"args": [1]}, "args", "give named arguments"),
    "args with NUL": ({"args": {"a": {"b": "x\x00y"}}}, "args", "NUL"),
    "args with NaN": ({"args": {"a": float("nan")}}, "args", "not JSON"),
    "args with a set": ({"args": {"a": {1}}}, "args", "not JSON"),
    "args with half a character": ({"args": {"a": "\ud800"}}, "args", "half of a surrogate pair"),
    "args too deep": ({"args": DEEP}, "args", "32 levels"),
    "args in a circle": ({"args": CIRCLE}, "args", "32 levels"),
    "args too large": ({"args": {"a": "x" * 300_000}}, "args", "at most 262144"),
    "key empty": ({"key": ""}, "key", "1 to 200"),
    "key too long": ({"key": "k" * 201}, "key", "1 to 200"),
    "key with NUL": ({"key": "a\x00b"}, "key", "NUL"),
    "key with half a character": ({"key": "\ud800"}, "key", "Unicode"),
    "notes with NUL": ({"notes": "a\x00b"}, "notes", "NUL"),
    "run_at without a zone": ({"run_at": datetime(2030, 1, 1)}, "run_at", "time zone"),  # noqa: DTZ001 - it is the point
    "held and waiting": ({"held": True, "wait": True}, "wait", "held"),
}


@pytest.mark.parametrize("said", REFUSED.values(), ids=REFUSED.keys())
async def test_bad_input_is_refused_by_field_and_nothing_of_its_batch_is_written(
    world: World, said: tuple[dict[str, Any], str, str]
) -> None:
    values, field, right = said
    task = await world.task()
    await world.submit(task)
    before = await counts(world)

    with pytest.raises(InvalidInput, match=right) as refused:
        await world.store.submit([Submission(task_id=task.id), Submission(task_id=task.id, **values)])

    assert [error.field for error in refused.value.errors] == [field]
    assert difference(before, await counts(world)) == {}


async def test_a_key_for_a_broadcast_is_refused(world: World) -> None:
    await world.executor()
    with pytest.raises(InvalidInput, match="takes no key"):
        await world.submit(await world.task(broadcast=True), key="k")


@pytest.mark.parametrize("deleted", [False, True], ids=["unknown", "deleted"])
async def test_a_task_that_is_not_there_refuses_the_whole_batch(world: World, *, deleted: bool) -> None:
    task, gone = await world.task(), await world.task()
    missing = gone.id if deleted else gone.id + 1_000
    await world.store.delete_task(gone.id, by="test")
    before = await counts(world)

    with pytest.raises(NotFound, match=f"there is no task {missing}"):
        await world.store.submit([Submission(task_id=task.id), Submission(task_id=missing)])

    assert difference(before, await counts(world)) == {}


@pytest.mark.parametrize(("values", "field"), [({"key": "k"}, "key"), ({"held": True}, "held")])
async def test_a_broadcast_takes_neither_a_key_nor_a_hold(world: World, values: dict[str, Any], field: str) -> None:
    await world.executor()
    task = await world.task(broadcast=True)

    with pytest.raises(InvalidInput, match="broadcast") as refused:
        await world.submit(task, **values)

    assert [error.field for error in refused.value.errors] == [field]


async def test_a_submission_without_what_its_concurrency_key_needs_is_refused(world: World) -> None:
    task = await world.task(concurrency_key="customer-${customer}")

    with pytest.raises(InvalidInput, match="needs the argument 'customer'") as refused:
        await world.submit(task, args={"order": 1})

    assert [error.field for error in refused.value.errors] == ["args"]
    assert await world.count("task_instances") == 0


async def test_arguments_of_the_task_itself_fill_its_concurrency_key_as_well(world: World) -> None:
    payload = {"handler": "bill", "args": {"region": "eu"}}
    task = await world.task(type="python", payload=payload, concurrency_key="${region}-${customer}")

    instance = await world.store.get_instance(await world.submit(task, args={"customer": 7}))

    assert instance.concurrency_key == "eu-7"
