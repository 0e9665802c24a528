"""Audit: every verb that changes something for somebody says so, in its own transaction and without secrets."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.audits import ADA, fill, kept, on_behalf
from contracts.elapse import elapse
from contracts.plans import statements
from hourhand.model.audit import AuditFilter, Change
from hourhand.model.errors import Conflict, HourhandError, InvalidInput, NotFound
from hourhand.model.instance import Submission
from hourhand.model.pause import PauseScope
from hourhand.model.task import Declaration, TaskDefinition
from hourhand.model.words import OutcomeKind, Status, TaskType
from hourhand.store import audit, paging
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.sqlite import SqliteTx
from hourhand.store.types import dump_json

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from contracts.world import World
    from hourhand.model.audit import AuditEntry

CANARY = "swordfish"


def said(entry: AuditEntry) -> tuple[str, str, str | None, str]:
    return entry.action, entry.resource_type, entry.resource_id, entry.result


# What is recorded


async def test_nobody_is_named_when_nobody_asked(world: World) -> None:
    task = await world.task()
    instance = await world.submit(task)
    await world.store.cancel(instance, reason="x")
    await world.store.add_group("g")
    await world.store.delete_task(task.id, by="test")
    assert await kept(world) == []


async def test_creating_a_task_is_recorded_with_who_and_what(world: World) -> None:
    before = await world.store.now()
    task = await on_behalf(world).task("nightly", priority=3)
    (entry,) = await kept(world)
    assert said(entry) == ("create", "task", str(task.id), "done")
    assert (entry.user_id, entry.user_name, entry.request_id) == (ADA.id, ADA.name, ADA.request_id)
    assert entry.summary == "task 'nightly'"
    assert entry.before is None
    assert isinstance(entry.after, dict)
    assert {
        "name": "nightly",
        "priority": 3,
        "version": 1,
        "type": "command",
        "tags": [],
    }.items() <= entry.after.items()
    assert before - timedelta(seconds=1) <= entry.occurred_at <= await world.store.now() + timedelta(seconds=1)
    assert (entry.sealed_no, entry.hash) == (None, None)


async def test_editing_a_task_is_recorded_with_what_it_was(world: World) -> None:
    task = await world.task(priority=3)
    await on_behalf(world).store.edit_task(task.id, {"priority": 4, "tags": ["x"]}, by="ada")
    (entry,) = await kept(world)
    assert said(entry) == ("edit", "task", str(task.id), "done")
    assert isinstance(entry.before, dict)
    assert isinstance(entry.after, dict)
    changed = {
        name: (entry.before[name], entry.after[name]) for name in entry.after if entry.before[name] != entry.after[name]
    }
    assert changed == {"priority": (3, 4), "tags": ([], ["x"]), "version": (1, 2)}


async def test_an_edit_that_changes_nothing_is_not_recorded(world: World) -> None:
    task = await world.task(priority=3)
    await on_behalf(world).store.edit_task(task.id, {"priority": 3}, by="ada")
    assert await kept(world) == []


async def test_deleting_a_task_is_recorded_with_what_it_was(world: World) -> None:
    task = await world.task("nightly")
    await on_behalf(world).store.delete_task(task.id, by="ada")
    (entry,) = await kept(world)
    assert said(entry) == ("delete", "task", str(task.id), "done")
    assert isinstance(entry.before, dict)
    assert entry.before["name"] == "nightly"
    assert (entry.after, entry.payload) == (None, {"force": False})


async def test_an_app_is_the_author_of_what_it_really_wrote(world: World) -> None:
    def declared(name: str, **changes: Any) -> Declaration:
        payload = {"handler": name}
        return Declaration(definition=TaskDefinition(name=name, type=TaskType.PYTHON, payload=payload, **changes))

    for tasks in ([declared("a"), declared("b")], [declared("a"), declared("b")], [declared("a", priority=1)]):
        await world.store.declare(tasks, app="billing", release=1)
    entries = await kept(world)
    assert [(each.action, each.summary, each.user_id, each.user_name) for each in entries] == [
        ("create", "task 'a'", "app:billing", "app:billing"),
        ("create", "task 'b'", "app:billing", "app:billing"),
        ("edit", "task 'a'", "app:billing", "app:billing"),
    ]
    assert isinstance(entries[2].before, dict)
    assert isinstance(entries[2].after, dict)
    assert (entries[2].before["priority"], entries[2].after["priority"]) == (5, 1)
    await on_behalf(world).store.declare([declared("c")], app="billing", release=2)
    assert (await kept(world))[-1].user_id == ADA.id


async def test_a_backfill_is_recorded_with_its_range_and_count(world: World) -> None:
    task = await world.task(schedule="@every 60s", misfire_policy="skip")
    await elapse(world, 330)
    await world.store.materialise()
    begin, end = task.anchored_at - timedelta(seconds=300), await world.store.now()
    made = await on_behalf(world).store.backfill(task.id, begin, end, by="ada")
    assert made > 0
    (entry,) = await kept(world)
    assert said(entry) == ("backfill", "task", str(task.id), "done")
    assert entry.after == {"made": made}
    assert isinstance(entry.payload, dict)
    assert entry.payload["from"] == begin.isoformat().replace("+00:00", "Z")
    assert await on_behalf(world).store.backfill(task.id, begin, end, by="ada") == 0
    assert len(await kept(world)) == 1


async def test_submitting_is_recorded_as_run_or_plan_for_what_is_new(world: World) -> None:
    task = await world.task("nightly")
    ada = on_behalf(world)
    submissions = [
        Submission(task_id=task.id, args={"day": "x"}, key="k"),
        Submission(task_id=task.id, held=True),
        Submission(task_id=task.id, key="k"),
    ]
    run, planned, again = await ada.store.submit(submissions)
    assert again.instance_id == run.instance_id
    first, second = await kept(world)
    assert said(first) == ("run", "instance", str(run.instance_id), "done")
    assert said(second) == ("plan", "instance", str(planned.instance_id), "done")
    assert isinstance(first.after, dict)
    assert {"id": run.instance_id, "task": "nightly", "status": "pending", "args": {"day": "x"}}.items() <= (
        first.after.items()
    )
    assert first.before is None


async def test_dispatching_is_recorded_for_each(world: World) -> None:
    task, keyed = await world.task(), await world.task(concurrency_key="one")
    ids = [await world.submit(task, held=True), await world.submit(keyed, held=True)]
    await on_behalf(world).store.dispatch(ids)
    entries = await kept(world)
    assert [said(each) for each in entries] == [("dispatch", "instance", str(one), "done") for one in ids]
    states = [
        (each.before["status"], each.before["blocked_by"], each.after["status"], each.after["blocked_by"])  # type: ignore[index,call-overload]
        for each in entries
    ]
    assert states == [("planned", "dispatch", "pending", None), ("planned", "dispatch", "planned", "permit")]


async def test_cancelling_is_recorded_with_its_reason(world: World) -> None:
    task = await world.task()
    waiting = await world.submit(task)
    await on_behalf(world).store.cancel(waiting, reason="not today")
    await world.executor()
    running = await world.submit(task)
    await world.claim()
    await on_behalf(world).store.cancel(running, reason="too slow")
    await on_behalf(world).store.cancel(running, reason="asked again")
    entries = await kept(world)
    assert [said(each) for each in entries] == [("cancel", "instance", str(one), "done") for one in (waiting, running)]
    states = [(each.before["status"], each.after["status"], each.after["reason"]) for each in entries]  # type: ignore[index,call-overload]
    assert states == [("pending", "cancelled", "not today"), ("running", "running", "too slow")]
    assert entries[1].after["cancel_requested"] is True  # type: ignore[index,call-overload]


async def test_retrying_is_recorded_with_how_it_ended(world: World) -> None:
    task = await world.task()
    await world.executor()
    instance = await world.submit(task, args={"n": 1})
    await world.end(await world.claim(), OutcomeKind.FAILED, error_message="broken")
    await on_behalf(world).store.retry(instance, args={"n": 2})
    (entry,) = await kept(world)
    assert said(entry) == ("retry", "instance", str(instance), "done")
    assert isinstance(entry.before, dict)
    assert isinstance(entry.after, dict)
    assert (entry.before["status"], entry.before["args"], entry.before["reason"]) == ("failed", {"n": 1}, "broken")
    assert (entry.after["status"], entry.after["args"], entry.after["reason"]) == ("pending", {"n": 2}, None)


async def test_a_new_group_is_recorded(world: World) -> None:
    group = await on_behalf(world).store.add_group("billing", title="Bills")
    (entry,) = await kept(world)
    assert said(entry) == ("create", "group", str(group.id), "done")
    assert isinstance(entry.after, dict)
    assert entry.after["title"] == "Bills"


# In the transaction of the change

REFUSED: list[tuple[str, Callable[[World], Coroutine[Any, Any, object]], type[HourhandError]]] = [
    ("create", lambda world: world.task("taken"), Conflict),
    ("edit", lambda world: world.store.edit_task(1, {"priority": 99}, by="ada"), InvalidInput),
    ("stale", lambda world: world.store.edit_task(1, {"priority": 1}, expected_version=9, by="ada"), Conflict),
    ("delete", lambda world: world.store.delete_task(99, by="ada"), NotFound),
    ("submit", lambda world: world.store.submit([Submission(task_id=1), Submission(task_id=99)]), NotFound),
    ("dispatch", lambda world: world.store.dispatch([1]), HourhandError),
    ("cancel", lambda world: world.store.cancel(2**63, reason="x"), NotFound),
    ("retry", lambda world: world.store.retry(99), NotFound),
    ("group", lambda world: world.store.add_group("default"), Conflict),
]


@pytest.mark.parametrize(("attempt", "error"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED])
async def test_a_verb_that_is_refused_leaves_no_record(world: World, attempt: Any, error: type[HourhandError]) -> None:
    await world.task("taken")
    with pytest.raises(error):
        await attempt(on_behalf(world))
    assert await kept(world) == []


async def test_a_record_that_cannot_be_written_undoes_the_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    task = await world.task(priority=3)
    instance = await world.submit(task)

    def broken(original: Any) -> Any:
        async def run(self: Any, statement: Any, **params: Any) -> Any:
            if statement is audit._ADD:  # noqa: SLF001 - this very statement is to fail
                raise RuntimeError("no record")
            return await original(self, statement, **params)

        return run

    for kind in (PostgresqlTx, SqliteTx):
        monkeypatch.setattr(kind, "run", broken(kind.run))
    ada = on_behalf(world)
    for change in (
        ada.store.edit_task(task.id, {"priority": 4}, by="ada"),
        ada.store.delete_task(task.id, by="ada"),
        ada.store.cancel(instance, reason="x"),
        ada.store.submit([Submission(task_id=task.id)]),
        ada.task("other"),
    ):
        with pytest.raises(RuntimeError, match="no record"):
            await change
    assert await world.store.get_task(task.id) == task
    assert (await world.store.get_instance(instance)).status is Status.PENDING
    assert (await world.count("task_instances"), await world.count("tasks")) == (1, 1)


async def test_record_and_change_are_of_one_transaction(cluster_world: World) -> None:
    task = await on_behalf(cluster_world).task()
    (made,) = await cluster_world.sql("SELECT CAST(xmin AS text) AS x FROM audit_logs")
    (changed,) = await cluster_world.sql("SELECT CAST(xmin AS text) AS x FROM tasks WHERE id = :id", id=task.id)
    assert made["x"] == changed["x"]


# Secrets


async def test_no_secret_is_kept(world: World) -> None:
    ada = on_behalf(world)
    payload = {"command": ["x", "--token", f"{CANARY}-1"], "env": {"A": f"{CANARY}-2"}}
    task = await ada.task(payload=payload)
    await ada.store.edit_task(task.id, {"payload": {**payload, "env": {"A": f"{CANARY}-3"}}}, by="ada")
    headers = {"Authorization": f"Bearer {CANARY}", "X-Api-Key": CANARY, "Accept": "text/plain"}
    url = f"https://me:{CANARY}@example.com/?token={CANARY}"
    http = await ada.task(type=TaskType.HTTP, payload={"url": url, "headers": headers, "json": {"password": CANARY}})
    instance = await ada.submit(http, args={"nested": [{"api_key": CANARY}]})
    await ada.store.cancel(instance, reason=f"password={CANARY} is wrong")
    await ada.store.record(
        Change(
            action="x",
            resource_type="y",
            resource_id=None,
            summary=f"token={CANARY}",
            script=f"-- postgresql://me:{CANARY}@db/",
            payload={"secret": CANARY},
            result="refused",
        )
    )
    entries = await kept(world)
    assert len(entries) == 6
    everything = repr([[getattr(one, name) for name in one.__dataclass_fields__] for one in entries])
    assert CANARY not in everything
    assert CANARY not in repr([dict(row) for row in await world.sql("SELECT * FROM audit_logs")])
    before, after = entries[1].before, entries[1].after
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert (before["payload"]["env"], after["payload"]["env"]) == ({"A": "***"}, {"A": "*** (changed)"})
    assert before["payload"]["command"] == after["payload"]["command"] == ["x", "--token", "***"]


async def test_what_no_database_holds_is_no_reason_to_refuse_a_record(world: World) -> None:
    payload: Any = {"a\x00": ["b\x00\ud800"], "when": await world.store.now(), "set": {"y", "x"}, "other": TaskType}
    await on_behalf(world).store.record(
        Change(action="x", resource_type="y", resource_id="z\x00", summary="s\x00" * 20_000, payload=payload)
    )
    (entry,) = await kept(world)
    assert entry.resource_id == "z"
    assert len(entry.summary or "") < 20_000
    assert isinstance(entry.payload, dict)
    assert (entry.payload["a"], entry.payload["set"]) == (["b?"], ["x", "y"])


async def test_a_record_is_bounded_whatever_is_changed(world: World) -> None:
    ada = on_behalf(world)
    body = "a" * 249_000
    payload = {"url": "https://example.com/", "body": body}
    task = await ada.task(type=TaskType.HTTP, payload=payload)
    many = {f"name {number}": "é" * 1_000 for number in range(100)}
    await ada.store.edit_task(task.id, {"payload": {"url": "https://example.com/", "json": many}}, by="ada")
    long = ["\x01" * 100_000] * 100
    await ada.store.record(
        Change(action="x", resource_type="y", resource_id=None, payload=long, before=list(range(100_000)), after=long)
    )
    created, edited, strange = await kept(world)
    assert isinstance(created.after, dict)
    assert created.after["payload"]["body"] == f"{'a' * audit.STRING_BYTES}… [cut: {len(body)} characters in all]"
    assert isinstance(edited.after, dict)
    assert "more left out" in edited.after["payload"]["json"]["…"]
    assert {"name", "priority", "version"} <= edited.after.keys()
    for entry in (created, edited, strange):
        for value in (entry.payload, entry.before, entry.after):
            assert len(dump_json(value).encode()) < 96 * 1024


async def test_many_that_are_cancelled_are_recorded_by_one_statement(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.task("nightly")
    await world.executor()
    running = await world.submit(task)
    await world.claim()
    ids = [running, *[await world.submit(task) for _ in range(5)]]
    with statements(monkeypatch) as seen:
        assert sorted(await on_behalf(world).store.cancel_many([*ids, 2**40], reason="no")) == sorted(ids)
    assert len([one for one, _ in seen if one is audit._ADD]) == 1  # noqa: SLF001 - this very statement is counted
    entries = await kept(world)
    assert sorted(int(each.resource_id or 0) for each in entries) == sorted(ids)
    states = {(each.before["status"], each.after["status"], each.after["reason"]) for each in entries}  # type: ignore[index,call-overload]
    assert states == {("running", "running", "no"), ("pending", "cancelled", "no")}


# The list


async def test_a_page_ends_where_it_would_be_too_long_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_BYTES", 10_000)
    await fill(world.store, 5, payload={"text": "x" * 4_000})
    seen, cursor, sizes = [], None, []
    while True:
        page = await world.store.list_audit(limit=5, cursor=cursor)
        seen += [entry.resource_id for entry in page.items]
        sizes.append(len(page.items))
        if (cursor := page.next_cursor) is None:
            break
    assert (seen, sizes) == (["4", "3", "2", "1", "0"], [3, 2])
    monkeypatch.setattr(paging, "PAGE_BYTES", 1)
    assert len((await world.store.list_audit(limit=5)).items) == 1  # never none
    assert await world.store.seal_audit() == 5
    found = await world.store.verify_audit()
    assert (found.ok, found.checked) == (True, 5)


async def test_a_page_of_versions_ends_where_it_would_be_too_long(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = await world.task(payload={"command": ["x", "y" * 4_000]})
    for number in range(1, 5):
        await world.store.edit_task(task.id, {"priority": number}, by="ada")
    monkeypatch.setattr(paging, "PAGE_BYTES", 6_000)
    seen, cursor, sizes = [], None, []
    while True:
        page = await world.store.list_versions(task.id, limit=4, cursor=cursor)
        seen += [one.version for one in page.items]
        sizes.append(len(page.items))
        if (cursor := page.next_cursor) is None:
            break
    assert (seen, sizes) == ([5, 4, 3, 2, 1], [2, 2, 1])


async def test_entries_are_listed_newest_first_by_pages(world: World) -> None:
    await fill(world.store, 7)
    seen, cursor = [], None
    while True:
        page = await world.store.list_audit(limit=3, cursor=cursor)
        seen += [entry.resource_id for entry in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == [str(number) for number in reversed(range(7))]


async def test_entries_are_found_by_each_filter(world: World) -> None:
    await fill(world.store, 2)
    await fill(world.store, 1, action="run", resource_type="instance", result="refused")
    task_0, task_1, instance = await kept(world)
    assert await kept(world, resource_type="task") == [task_0, task_1]
    assert await kept(world, resource_type="task", resource_id="1") == [task_1]
    assert await kept(world, action="run") == await kept(world, result="refused") == [instance]
    assert await kept(world, user_id=ADA.id, action="edit") == [task_0, task_1]
    assert await kept(world, user_id="user:9") == []
    assert await kept(world, begin=task_1.occurred_at) == [task_1, instance]
    assert await kept(world, end=task_1.occurred_at) == [task_0]
    assert await kept(world, begin=task_1.occurred_at, end=instance.occurred_at, action="edit") == [task_1]


async def test_what_concerns_a_task_is_found_with_its_instances_and_pauses(world: World) -> None:
    task, other = await world.task("nightly"), await world.task("other")
    await world.executor()
    ada = on_behalf(world)
    run = await ada.submit(task)
    await world.end(await world.claim(), OutcomeKind.FAILED)
    await ada.store.retry(run)
    await ada.store.cancel_many([run, await ada.submit(other)], reason="no")
    pause = await ada.store.pause(PauseScope.TASK, task.id, reason="rest", by="ada")
    await ada.store.pause(PauseScope.ALL, reason="rest", by="ada")
    await ada.store.resume(pause.id)
    await ada.store.edit_task(task.id, {"priority": 1}, by="ada")
    await fill(world.store, 1, action="read", resource_type="instance", result="refused")
    for strange in ("9" * 30, "x", "-7"):
        await ada.store.record(Change(action="read", resource_type="task", resource_id=strange))
    found = await kept(world, task_id=task.id)
    assert [(one.action, one.resource_type) for one in found] == [
        ("run", "instance"),
        ("retry", "instance"),
        ("cancel", "instance"),
        ("create", "pause"),
        ("delete", "pause"),
        ("edit", "task"),
    ]
    assert [one.action for one in await kept(world, task_id=other.id)] == ["run", "cancel"]
    assert [one.action for one in await kept(world, task_id=task.id, action="retry")] == ["retry"]
    assert await kept(world, task_id=2**62) == []


async def test_one_entry_is_read_by_its_number(world: World) -> None:
    await fill(world.store, 2)
    first, second = await kept(world)
    assert await world.store.get_audit(first.id) == first
    assert await world.store.get_audit(second.id) == second
    for strange in (0, -1, second.id + 1, 2**63):
        with pytest.raises(NotFound, match=f"there is no audit entry {strange}"):
            await world.store.get_audit(strange)


async def test_a_look_for_what_is_rare_goes_on_page_by_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "LOOKED_AT", 4)
    await fill(world.store, 1, action="rare")
    await fill(world.store, 9)
    pages, cursor = 0, None
    found: list[AuditEntry] = []
    while True:
        page = await world.store.list_audit(AuditFilter(action="rare"), limit=2, cursor=cursor)
        pages, found = pages + 1, [*found, *page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert pages == 3
    assert [entry.action for entry in found] == ["rare"]
    page = await world.store.list_audit(AuditFilter(action="edit"), limit=3)
    assert len(page.items) == 3  # as many as are wanted, before the look has come to its end
    rest = await world.store.list_audit(AuditFilter(action="edit"), limit=6, cursor=page.next_cursor)
    assert [entry.resource_id for entry in (*page.items, *rest.items)] == ["8", "7", "6", "5", "4", "3", "2"]


async def test_a_wrong_limit_or_cursor_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput, match="out of range"):
        await world.store.list_audit(limit=0)
    with pytest.raises(InvalidInput, match="not a cursor"):
        await world.store.list_audit(cursor="x")
