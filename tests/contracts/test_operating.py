"""Operations that people start: instance, audit and first lines at once; what instances of operations carry."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.audit import AuditFilter, Author, Once
from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.model.instance import Held, LogLine, Submission
from hourhand.model.operation import Start
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.task_file import FileTask, TaskSet
from hourhand.model.words import BlockedBy, OutcomeKind, Status, TaskType, TriggeredBy
from hourhand.rules.lines import line_seq
from hourhand.rules.operation_tasks import BUILT_IN

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.data_source import DataSource

ANN = Author(id="user:1", name="ann", request_id="r1")
SCRIPT = "-- statistics_update on sqlite\nANALYZE orders;\n"
CONFIG = {"data_source": "shop", "tables": ["orders"], "key_columns": ["id"]}


async def source(world: World, name: str = "shop") -> DataSource:
    address = Address(dialect=Dialect.SQLITE, database=f"/srv/{name}.db")
    return await world.store.add_data_source(name, address, by="ann")


async def wanted(world: World, **changes: Any) -> Start:
    given = {
        "kind": "statistics_update",
        "data_source_id": (await world.store.find_data_source("shop")).id,
        "place": "shop/orders",
        "config": CONFIG,
        "plan_hash": "abc",
        "plan": {"kind": "statistics_update", "steps": []},
        "script": SCRIPT,
        "requested_by": "ann",
    }
    return Start(**{**given, **changes})


async def scheduled(world: World, name: str = "nightly", **changes: Any) -> int:
    payload = {"kind": "statistics_update", "config": {"data_source": "shop", "tables": ["orders"]}}
    task = await world.task(name, **{"type": TaskType.OPERATION, "payload": payload, **changes})
    return task.id


async def test_the_instance_carries_what_was_approved(world: World) -> None:
    shop = await source(world)
    made = await world.store.start_operation(await wanted(world, priority=2, notes="for the audit", key="once"))
    instance = await world.store.get_instance(made.instance_id)
    assert (instance.task_name, instance.operation_kind) == ("operation:statistics_update", "statistics_update")
    assert (instance.data_source_id, instance.concurrency_key) == (shop.id, f"datasource:{shop.id}")
    assert instance.args == {
        "config": CONFIG,
        "plan_hash": "abc",
        "plan": {"kind": "statistics_update", "steps": []},
        "data_source_id": shop.id,
    }
    assert (instance.priority, instance.notes, instance.requested_by) == (2, "for the audit", "ann")
    assert (instance.triggered_by, made.existing) == (TriggeredBy.MANUAL, False)
    again = await world.store.start_operation(await wanted(world, key="once"))
    assert (again.instance_id, again.existing) == (made.instance_id, True)


async def test_the_log_begins_with_who_asked_for_what(world: World) -> None:
    await source(world)
    await world.executor()
    long = SCRIPT + "".join(f"SELECT {number}; -- 中文\n" for number in range(5_000))
    made = await world.store.start_operation(await wanted(world, script=long))
    lines = await world.store.read_lines(made.instance_id)
    assert {line.phase for line in lines} == {"submitted"}
    assert lines[0].message == "statistics_update on shop/orders, asked for by ann: plan abc"
    assert "".join(line.message for line in lines[1:]) == long
    assert len(lines) > 3
    (claimed,) = await world.claim()
    line = LogLine(seq=line_seq(claimed.fence, 0), logged_at=datetime.now(UTC), message="begins")
    await world.store.write_lines([(Held(claimed.instance_id, claimed.fence), line)])
    assert (await world.store.read_lines(made.instance_id, after=lines[-1].seq))[0].message == "begins"


async def test_the_audit_keeps_the_whole_script(world: World) -> None:
    await source(world)
    made = await world.store.on_behalf(ANN).start_operation(await wanted(world))
    page = await world.store.list_audit(AuditFilter(resource_type="operation"))
    (entry,) = page.items
    assert (entry.action, entry.resource_id, entry.user_name) == ("start", str(made.instance_id), "ann")
    assert entry.summary == "operation:statistics_update on shop/orders"
    assert entry.script == SCRIPT
    assert entry.payload["plan_hash"] == "abc"  # type: ignore[call-overload,index]
    assert entry.payload["config"] == CONFIG  # type: ignore[call-overload,index]


async def test_what_is_held_waits_for_somebody_to_dispatch_it(world: World) -> None:
    await source(world)
    store = world.store.on_behalf(ANN)
    made = await store.start_operation(await wanted(world, held=True))
    assert made.status is Status.PLANNED
    assert (await store.get_instance(made.instance_id)).blocked_by is BlockedBy.DISPATCH
    (entry,) = (await store.list_audit(AuditFilter(resource_type="operation"))).items
    assert entry.action == "plan"
    bob = world.store.on_behalf(Author(id="user:2", name="bob"))
    await bob.dispatch([made.instance_id])
    entries = (await store.list_audit(AuditFilter(resource_type="instance"))).items
    assert [(one.action, one.user_name) for one in entries] == [("dispatch", "bob")]


async def test_the_same_request_starts_once(world: World) -> None:
    await source(world)
    request = Once(principal="user:1", route="/operations/statistics_update", key="k", request_hash="h")
    store = world.store.on_behalf(ANN, once=request)
    assert await world.store.started_before() is None
    assert await store.started_before() is None
    made = await store.start_operation(await wanted(world))
    again = await store.start_operation(await wanted(world))
    assert (again.instance_id, again.existing) == (made.instance_id, True)
    before = await store.started_before()
    assert before is not None
    assert before.instance_id == made.instance_id
    other = world.store.on_behalf(ANN, once=replace(request, request_hash="other"))
    with pytest.raises(InvalidInput, match="was used for another request"):
        await other.started_before()


async def test_many_at_once_make_one_task(world: World) -> None:
    await source(world)
    start = await wanted(world)
    made = await asyncio.gather(*(world.store.start_operation(start) for _ in range(8)))
    assert len({one.instance_id for one in made}) == 8
    assert await world.count("tasks") == 1


async def test_the_built_in_task_can_neither_be_changed_nor_run_without_a_plan(world: World) -> None:
    shop = await source(world)
    await world.store.start_operation(await wanted(world))
    task = await world.store.find_task("operation:statistics_update")
    assert (task.managed_by, task.schedule, task.max_retries) == (BUILT_IN, "@manual", 10)
    with pytest.raises(Conflict, match="is built in"):
        await world.store.edit_task(task.id, {"enabled": False}, by="ann")
    with pytest.raises(Conflict, match="is built in"):
        await world.store.delete_task(task.id, force=True, by="ann")
    with pytest.raises(InvalidInput, match="preview and start the operation"):
        await world.store.submit([Submission(task_id=task.id, args={"config": CONFIG, "data_source_id": shop.id})])
    definition = TaskDefinition(name=task.name, type=TaskType.COMMAND, payload={"command": ["true"]})
    file = TaskSet(name="x", tasks=(FileTask(place="tasks.0", declaration=Declaration(definition=definition)),))
    with pytest.raises(Conflict, match="is built in"):
        await world.store.apply(file, by="ann", take_over=True)


async def test_a_name_that_somebody_else_has_is_told(world: World) -> None:
    await source(world)
    await world.task("operation:statistics_update")
    with pytest.raises(Conflict, match="somebody else's task has it: rename that"):
        await world.store.start_operation(await wanted(world))


async def test_operations_on_one_data_source_take_turns(world: World) -> None:
    await source(world)
    await source(world, "other")
    await world.executor()
    start = await wanted(world)
    first, second = [await world.store.start_operation(start) for _ in range(2)]
    other = (await world.store.find_data_source("other")).id
    third = await world.store.start_operation(replace(start, kind="sample", data_source_id=other))
    claimed = await world.claim()
    assert {one.instance_id for one in claimed} == {first.instance_id, third.instance_id}
    await world.end(claimed)
    assert [one.instance_id for one in await world.claim()] == [second.instance_id]


async def test_what_a_schedule_makes_carries_kind_source_and_key(world: World) -> None:
    shop = await source(world)
    task_id = await scheduled(world, schedule=f"@at {datetime.now(UTC) + timedelta(seconds=2):%Y-%m-%dT%H:%M:%SZ}")
    await world.store.materialise()
    (instance,) = (await world.store.list_instances()).items
    assert (instance.task_id, instance.operation_kind) == (task_id, "statistics_update")
    assert (instance.data_source_id, instance.concurrency_key) == (shop.id, f"datasource:{shop.id}")
    assert instance.triggered_by is TriggeredBy.SCHEDULER


async def test_a_key_of_its_own_stays(world: World) -> None:
    shop = await source(world)
    task_id = await scheduled(world, concurrency_key="my own")
    instance = await world.store.get_instance(await _run(world, task_id))
    assert (instance.concurrency_key, instance.data_source_id) == ("my own", shop.id)


async def test_one_whose_data_source_is_not_there_is_made_all_the_same(world: World) -> None:
    task_id = await scheduled(world)
    instance = await world.store.get_instance(await _run(world, task_id))
    assert (instance.operation_kind, instance.data_source_id) == ("statistics_update", None)
    assert instance.concurrency_key is None


async def test_no_argument_makes_another_operation_of_it(world: World) -> None:
    await source(world)
    await world.executor()
    task_id = await scheduled(world)
    with pytest.raises(InvalidInput, match="an operation takes no arguments"):
        await world.store.submit([Submission(task_id=task_id, args={"config": {"tables": ["customers"]}})])
    instance_id = await _run(world, task_id)
    await world.end(await world.claim(), OutcomeKind.FAILED, retryable=False)
    for current in (False, True):
        with pytest.raises(InvalidInput, match="an operation takes no arguments"):
            await world.store.retry(instance_id, args={"config": {}}, current_version=current)
    revived = await world.store.retry(instance_id, current_version=True)
    assert revived.concurrency_key == (await world.store.get_instance(instance_id)).concurrency_key is not None


async def _run(world: World, task_id: int) -> int:
    (made,) = await world.store.submit([Submission(task_id=task_id)])
    return made.instance_id
