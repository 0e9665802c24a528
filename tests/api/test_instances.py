"""`/api/v1/instances` and `/api/v1/execution-logs` on both stores; the test itself is the executor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from api.answers import API, ok, problem, refused
from hourhand.model.instance import Held, Instance, LogLine, Progress
from hourhand.model.words import OutcomeKind
from hourhand.rules.lines import line_seq

if TYPE_CHECKING:
    import httpx

    from contracts.world import World

INSTANCES = f"{API}/instances"
LOGS = f"{API}/execution-logs"


async def test_a_task_is_run_by_hand(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    later = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    given = {"args": {"day": "2026-11-15"}, "priority": 2, "run_at": later.isoformat(), "key": "k"}
    instance = ok(await rest.post(f"{API}/tasks/{task.id}/run", json=given), 202)
    assert (instance["task_id"], instance["task_name"], instance["task_version"]) == (task.id, task.name, 1)
    assert (instance["status"], instance["triggered_by"], instance["requested_by"]) == ("pending", "manual", "admin")
    assert (instance["args"], instance["priority"], instance["key"]) == ({"day": "2026-11-15"}, 2, "k")
    assert instance["available_at"] == later.isoformat().replace("+00:00", "Z")
    assert (instance["group"], instance["group_id"]) == ("default", task.group_id)
    assert instance.keys() == set(Instance.__dataclass_fields__) | {"group", "existing"}
    assert {**ok(await rest.get(f"{INSTANCES}/{instance['id']}")), "existing": False} == instance
    again = ok(await rest.post(f"{API}/tasks/{task.id}/run", json=given), 202)
    assert (again["id"], again["existing"]) == (instance["id"], True)


async def test_a_task_is_run_without_saying_how(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    first, second = [ok(await rest.post(f"{API}/tasks/{task.id}/run"), 202) for _ in range(2)]
    assert first["id"] != second["id"]
    assert (first["args"], first["priority"]) == (None, 5)


async def test_a_run_that_waits_waits_for_the_dependencies(rest: httpx.AsyncClient, world: World) -> None:
    upstream = await world.task(schedule="@daily", enabled=False)
    task = await world.task(dependency_ids=(upstream.id,))
    waiting = ok(await rest.post(f"{API}/tasks/{task.id}/run", json={"wait": True}), 202)
    assert (waiting["status"], waiting["blocked_by"]) == ("planned", "dependencies")
    assert ok(await rest.post(f"{API}/tasks/{task.id}/run"), 202)["status"] == "pending"


async def test_a_run_with_wrong_values_is_refused(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"key": ""}, "key"),
        ({"key": "\x00"}, "body"),
        ({"args": {"a": "x" * 300_000}}, "args"),
        ({"priority": 2.0}, "priority"),
        ({"run_at": "tomorrow"}, "run_at"),
        ({"wait": 1}, "wait"),
        ({"agrs": {}}, "agrs"),
    ]
    for given, field in wrong:
        assert refused(await rest.post(f"{API}/tasks/{task.id}/run", json=given)).keys() == {field}
    assert await world.count("task_instances") == 0


async def test_arguments_come_back_as_they_were_given(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    args = {"number": 10**400, "text": "\u2028 ü 🕐 \\u0000", "deep": [[[{"a": [None, True, 0.1, -0.0]}]]], "": {}}
    made = ok(await rest.post(f"{API}/tasks/{task.id}/run", json={"args": args}), 202)
    assert made["args"] == args
    assert ok(await rest.get(f"{INSTANCES}/{made['id']}"))["args"] == args


async def test_a_planned_instance_waits_until_it_is_dispatched(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    await world.executor()
    planned = ok(await rest.post(INSTANCES, json={"task_id": task.id, "args": {"a": 1}, "notes": "for later"}), 201)
    assert (planned["status"], planned["blocked_by"], planned["triggered_by"]) == ("planned", "dispatch", "api")
    assert (planned["args"], planned["notes"], planned["requested_by"]) == ({"a": 1}, "for later", "admin")
    assert await world.claim() == []
    dispatched = ok(await rest.post(f"{INSTANCES}/{planned['id']}/dispatch"))
    assert (dispatched["status"], dispatched["blocked_by"]) == ("pending", None)
    assert [one.instance_id for one in await world.claim()] == [planned["id"]]
    conflict = problem(await rest.post(f"{INSTANCES}/{planned['id']}/dispatch"), 409)
    assert "does not wait to be dispatched (it is running" in conflict["detail"]


async def test_a_batch_is_dispatched_as_a_whole_or_not_at_all(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    ids = [ok(await rest.post(INSTANCES, json={"task_id": task.id}), 201)["id"] for _ in range(3)]
    pending = ok(await rest.post(INSTANCES, json={"task_id": task.id, "dispatch": True}), 201)
    assert pending["status"] == "pending"
    problem(await rest.post(f"{INSTANCES}/dispatch", json={"ids": [*ids, pending["id"]]}), 409)
    problem(await rest.post(f"{INSTANCES}/dispatch", json={"ids": [*ids, 10**9]}), 404)
    assert ok(await rest.get(f"{INSTANCES}/{ids[0]}"))["status"] == "planned"
    assert ok(await rest.post(f"{INSTANCES}/dispatch", json={"ids": [*ids, ids[0]]})) == {"dispatched": 3}
    assert ok(await rest.get(INSTANCES, params={"status": "planned"}))["items"] == []


async def test_a_broadcast_cannot_be_planned_and_the_refusal_speaks_of_dispatch(
    rest: httpx.AsyncClient, world: World
) -> None:
    task = await world.task(broadcast=True)
    assert refused(await rest.post(INSTANCES, json={"task_id": task.id})).keys() == {"dispatch"}


async def test_what_has_not_started_is_cancelled_at_once(rest: httpx.AsyncClient, world: World) -> None:
    instance_id = await world.submit(await world.task())
    ended = ok(await rest.post(f"{INSTANCES}/{instance_id}/cancel", json={"reason": "not today"}))
    assert (ended["status"], ended["error_message"]) == ("cancelled", "not today")
    assert ended["end_time"].endswith("Z")
    conflict = problem(await rest.post(f"{INSTANCES}/{instance_id}/cancel"), 409)
    assert conflict["legal"] == ["planned", "pending"]
    revived = ok(await rest.post(f"{INSTANCES}/{instance_id}/retry", json={"args": {"a": 2}}))
    assert (revived["id"], revived["status"], revived["args"]) == (instance_id, "pending", {"a": 2})
    assert revived["manual_retries"] == 1
    assert problem(await rest.post(f"{INSTANCES}/{instance_id}/retry"), 409)["legal"] == ["running", "cancelled"]
    assert ok(await rest.post(f"{INSTANCES}/{instance_id}/cancel"))["error_message"] == "cancelled by admin"


async def test_what_runs_is_asked_to_stop(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    asked = ok(await rest.post(f"{INSTANCES}/{claimed.instance_id}/cancel", json={}))
    assert (asked["status"], asked["cancel_requested"], asked["executor_id"]) == ("running", True, "e1")
    assert (await world.store.beat("e1", [Held(claimed.instance_id, claimed.fence)])).cancelled


async def test_progress_and_the_result_are_shown(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    report = Progress(
        instance_id=claimed.instance_id, fence=claimed.fence, progress=0.5, phase="half", checkpoint={"page": 20}
    )
    await world.store.report_progress([report])
    running = ok(await rest.get(f"{INSTANCES}/{claimed.instance_id}"))
    assert (running["progress"], running["phase"], running["checkpoint"]) == (0.5, "half", {"page": 20})
    await world.end([claimed], OutcomeKind.SUCCESS, result={"value": [1, None]}, duration_ms=7)
    ended = ok(await rest.get(f"{INSTANCES}/{claimed.instance_id}"))
    assert (ended["status"], ended["result"], ended["duration_ms"]) == ("success", {"value": [1, None]}, 7)
    assert ended.keys() == running.keys()


async def test_each_attempt_is_shown_and_last_the_one_that_runs_or_ended_it(
    rest: httpx.AsyncClient, world: World
) -> None:
    instance_id = await world.submit(await world.task(max_retries=1, retry_delay_seconds=0))
    path = f"{INSTANCES}/{instance_id}/attempts"
    assert ok(await rest.get(path)) == {"items": [], "next_cursor": None}
    await world.end(await _claimed(world), OutcomeKind.FAILED, error_message="first")
    await world.execute("UPDATE task_instances SET available_at = created_at")
    (second,) = await world.claim()
    items = ok(await rest.get(path))["items"]
    assert [(each["outcome"], each["error_message"]) for each in items] == [("failed", "first"), (None, None)]
    assert (items[1]["fence"], items[1]["end_time"]) == (second.fence, None)
    await world.end([second], OutcomeKind.TIMED_OUT, error_message="timed out after 5 s")
    items = ok(await rest.get(path))["items"]
    expected = [("failed", "first"), ("timed_out", "timed out after 5 s")]
    assert [(each["outcome"], each["error_message"]) for each in items] == expected
    assert all(each["executor_id"] == "e1" and each["end_time"] for each in items)


async def test_lines_are_read_from_where_the_last_answer_ended(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    path = f"{INSTANCES}/{claimed.instance_id}/logs"
    assert ok(await rest.get(path)) == {"items": [], "next_after": -1, "next_before": None, "more": False}
    await _write(world, claimed, 5)
    first = ok(await rest.get(path, params={"limit": 3}))
    assert [each["message"] for each in first["items"]] == ["line 0\n", "line 1\n", "line 2\n"]
    assert first["items"][0]["seq"] == first["next_before"] == line_seq(claimed.fence, 0)
    assert first["more"]
    more = ok(await rest.get(path, params={"after": first["next_after"]}))
    assert [each["message"] for each in more["items"]] == ["line 3\n", "line 4\n"]
    nothing = ok(await rest.get(path, params={"after": more["next_after"]}))
    assert nothing == {"items": [], "next_after": more["next_after"], "next_before": None, "more": False}


async def test_a_log_is_read_backwards_from_its_end(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    path = f"{INSTANCES}/{claimed.instance_id}/logs"
    await _write(world, claimed, 5)
    last = ok(await rest.get(path, params={"before": 2**53, "limit": 2}))["items"]
    assert [each["message"] for each in last] == ["line 3\n", "line 4\n"]
    earlier = ok(await rest.get(path, params={"before": last[0]["seq"], "limit": 2}))["items"]
    assert [each["message"] for each in earlier] == ["line 1\n", "line 2\n"]
    between = {"after": earlier[0]["seq"], "before": last[1]["seq"]}
    assert [each["message"] for each in ok(await rest.get(path, params=between))["items"]] == ["line 2\n", "line 3\n"]


async def test_lines_are_read_by_level_and_text(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    path = f"{INSTANCES}/{claimed.instance_id}/logs"
    now, held = await world.store.now(), Held(claimed.instance_id, claimed.fence)
    lines = [
        LogLine(
            seq=line_seq(claimed.fence, number),
            logged_at=now,
            message=f"line {number}",
            level="error" if number % 10 == 5 else "info",
            stream="stdout",
        )
        for number in range(30)
    ]
    await world.store.write_lines([(held, line) for line in lines])
    errors = ok(await rest.get(path, params={"level": "error"}))
    assert [each["message"] for each in errors["items"]] == ["line 5", "line 15", "line 25"]
    assert (errors["next_after"], errors["more"]) == (lines[-1].seq, False)
    last = ok(await rest.get(path, params={"level": "error", "before": 2**53, "limit": 1}))
    assert [each["message"] for each in last["items"]] == ["line 25"]
    assert (last["next_before"], last["more"]) == (last["items"][0]["seq"], True)
    earlier = ok(await rest.get(path, params={"level": "error", "before": last["next_before"]}))
    assert [each["message"] for each in earlier["items"]] == ["line 5", "line 15"]
    assert (earlier["next_before"], earlier["more"]) == (lines[0].seq, False)
    found = ok(await rest.get(path, params={"q": "LINE 1", "level": "info"}))["items"]
    assert [each["message"] for each in found] == ["line 1", *[f"line {number}" for number in range(10, 20)]]
    assert ok(await rest.get(path, params={"q": "%"}))["items"] == []
    assert "debug, info, warning, error" in refused(await rest.get(path, params={"level": "fatal"}))["level"]
    problem(await rest.get(f"{INSTANCES}/77/logs", params={"level": "error"}), 404)


async def test_instances_and_logs_are_searched(rest: httpx.AsyncClient, world: World) -> None:
    await world.executor()
    ours = await world.task("load orders", owner="ada")
    theirs = await world.task("Load stock")
    failed = await world.submit(ours, args={"day": "Sunday"})
    await world.end(await world.claim(), OutcomeKind.FAILED, error_message="The disk is full")
    waiting = await world.submit(theirs, args={"day": "Monday"})
    for asked, expected in (
        ({"q": "LOAD"}, [waiting, failed]),
        ({"q": "load", "exclude": "stock"}, [failed]),
        ({"owner": "ada"}, [failed]),
        ({"args": '"day": "mon'}, [waiting]),
        ({"error": "DISK"}, [failed]),
        ({"q": "l%d"}, []),
    ):
        assert [each["id"] for each in ok(await rest.get(INSTANCES, params=asked))["items"]] == expected
        ended = [each["instance_id"] for each in ok(await rest.get(LOGS, params=asked))["items"]]
        assert ended == [one for one in expected if one == failed]


async def test_the_whole_log_is_downloaded_as_text(rest: httpx.AsyncClient, world: World) -> None:
    await world.submit(await world.task())
    (claimed,) = await _claimed(world)
    await _write(world, claimed, 450, phase="loading", stream="stdout")
    last = LogLine(
        seq=line_seq(claimed.fence, 1000),
        logged_at=await world.store.now(),
        message="broke",
        level="error",
        exception="Traceback\nValueError: x\n",
    )
    await world.store.write_lines([(Held(claimed.instance_id, claimed.fence), last)])
    answer = await rest.get(f"{INSTANCES}/{claimed.instance_id}/logs/download")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert f'filename="instance-{claimed.instance_id}.log"' in answer.headers["content-disposition"]
    lines = answer.text.splitlines()
    assert [line.partition(" ")[2] for line in lines[:450]] == [
        f"info [loading] [stdout] line {number}" for number in range(450)
    ]
    assert lines[450].endswith("Z error broke")
    assert lines[451:] == ["Traceback", "ValueError: x"]


async def test_an_unknown_instance_is_not_found(rest: httpx.AsyncClient) -> None:
    asked = {"GET": ("", "/attempts", "/logs", "/logs/download"), "POST": ("/dispatch", "/cancel", "/retry")}
    for instance_id in (0, -3, 77, 2**63, 10**30):
        for method, paths in asked.items():
            for path in paths:
                answer = await rest.request(method, f"{INSTANCES}/{instance_id}{path}")
                assert str(instance_id) in problem(answer, 404)["detail"]


async def test_instances_are_listed_in_pages_the_living_before_the_ended(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    await world.submit(await world.task(type="http", payload={"url": "http://127.0.0.1:1/"}))
    ids = [await world.submit(task) for _ in range(7)]
    await world.executor()
    claimed = [one for one in await world.claim(limit=4) if one.task_id == task.id]
    await world.end(claimed[:2], OutcomeKind.FAILED)
    ended = [one.instance_id for one in claimed[:2]]
    pages: list[list[int]] = []
    params: dict[str, Any] = {"task_id": task.id, "limit": 3}
    while True:
        page = ok(await rest.get(INSTANCES, params=params))
        pages.append([each["id"] for each in page["items"]])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    listed = [one for page_of_ids in pages for one in page_of_ids]
    assert [len(each) for each in pages] == [3, 3, 1]
    assert listed[:5] == sorted(set(ids) - set(ended), reverse=True)
    assert sorted(listed[5:]) == sorted(ended)
    failed = ok(await rest.get(INSTANCES, params={"status": "failed", "executor_id": "e1", "group": "default"}))
    assert sorted(each["id"] for each in failed["items"]) == sorted(ended)
    assert len(ok(await rest.get(INSTANCES, params={"type": "http"}))["items"]) == 1
    assert ok(await rest.get(INSTANCES, params={"to": "2020-01-01T00:00:00Z"}))["items"] == []


async def test_every_ending_has_its_execution_log_also_one_that_was_retried(
    rest: httpx.AsyncClient, world: World
) -> None:
    instance_id = await world.submit(await world.task())
    for _ in range(2):
        await world.end(await _claimed(world), OutcomeKind.FAILED, error_message="no")
        ok(await rest.post(f"{INSTANCES}/{instance_id}/retry"))
    first = ok(await rest.get(LOGS, params={"limit": 1, "status": "failed"}))
    second = ok(await rest.get(LOGS, params={"limit": 1, "status": "failed", "cursor": first["next_cursor"]}))
    (newest,), (oldest,) = first["items"], second["items"]
    assert second["next_cursor"] is None
    assert newest["id"] != oldest["id"]
    for each in (newest, oldest):
        assert (each["instance_id"], each["status"], each["error_message"]) == (instance_id, "failed", "no")
        assert each["superseded_at"].endswith("Z")
        assert (each["group"], each["triggered_by"], "log_id" in each) == ("default", "api", False)
    assert ok(await rest.get(LOGS, params={"triggered_by": "manual"}))["items"] == []


async def test_the_name_of_a_group_that_came_later_is_known_too(rest: httpx.AsyncClient, world: World) -> None:
    first = ok(await rest.get(f"{INSTANCES}/{await world.submit(await world.task())}"))
    assert first["group"] == "default"
    await world.store.add_group("later")
    later = ok(await rest.get(f"{INSTANCES}/{await world.submit(await world.task(group='later'))}"))
    assert later["group"] == "later"
    assert [each["id"] for each in ok(await rest.get(INSTANCES, params={"group": "later"}))["items"]] == [later["id"]]


async def _claimed(world: World) -> list[Any]:
    await world.executor()
    return await world.claim()


async def _write(world: World, claimed: Any, count: int, **more: Any) -> None:
    now = await world.store.now()
    held = Held(claimed.instance_id, claimed.fence)
    lines = [
        LogLine(seq=line_seq(claimed.fence, number), logged_at=now, message=f"line {number}\n", **more)
        for number in range(count)
    ]
    assert await world.store.write_lines([(held, line) for line in lines]) == count
