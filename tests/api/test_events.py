"""`/api/v1/events`: clients hear of what may be worth a look, from any process, as long as they may."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
import pytest

from api.answers import API, ok, problem, refused
from api.in_process import serving
from api.sse import Reader, reading
from contracts.rows import shift
from hourhand.api import events, streaming
from hourhand.bootstrap import hash_token
from hourhand.model.hints import MOST_IDS, Hint
from hourhand.model.words import Role
from hourhand.settings import Settings
from serving import Served

if TYPE_CHECKING:
    from pathlib import Path

    from contracts.world import World

EVENTS = f"{API}/events"
COMMAND = {"type": "command", "payload": {"command": ["true"]}}
TOKEN = "hh_of-somebody-else"  # noqa: S105 - of these tests
PATIENCE_SECONDS = 30


def holder_of(token: str, address: str | httpx.URL) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_SECONDS, trust_env=False
    )


async def settled(stream: Reader, world: World, last: str = "alerts") -> None:
    """On PostgreSQL the first to listen is told to look, once other processes are heard."""
    if world.store.database.shared:
        assert (await stream.until(last)).data == {}


async def test_a_client_is_greeted_with_the_topics_and_hears_of_a_new_task(
    rest: httpx.AsyncClient, world: World
) -> None:
    async with reading(rest, EVENTS) as stream:
        hello = await stream.next()
        assert (hello.name, hello.retry) == ("hello", "1000")
        assert hello.data == {"topics": ["tasks", "instances", "executors", "groups", "pauses", "alerts"]}
        await settled(stream, world)
        task = ok(await rest.post(f"{API}/tasks", json={"name": "one", **COMMAND}), 201)
        assert (await stream.until("tasks")).data == {"ids": [task["id"]]}


async def test_a_client_hears_of_its_topics_only(rest: httpx.AsyncClient, world: World) -> None:
    async with reading(rest, f"{EVENTS}?topics=groups,%20executors") as stream:
        assert (await stream.next()).data == {"topics": ["executors", "groups"]}
        await settled(stream, world, "groups")
        await world.submit(await world.task())
        group = await world.store.add_group("billing")
        told = await stream.next()
        assert (told.name, told.data) == ("groups", {"ids": [group.id]})


async def test_many_changes_are_told_seldom_and_none_is_left_out(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task()
    async with reading(rest, f"{EVENTS}?topics=instances") as stream:
        assert (await stream.next()).name == "hello"
        await settled(stream, world, "instances")
        ids = {await world.submit(task) for _ in range(100)}
        told: set[int] = set()
        number = 0
        while not ids <= told:
            event = await stream.until("instances")
            number += 1
            told |= set(event.data["ids"])
    assert told == ids
    assert number < 50


async def test_of_too_many_none_is_named(rest: httpx.AsyncClient, world: World) -> None:
    async with reading(rest, f"{EVENTS}?topics=instances") as stream:
        await stream.next()
        await settled(stream, world, "instances")
        world.store._hints.ring(Hint.INSTANCES, range(MOST_IDS + 1))  # noqa: SLF001 - what verbs call
        assert (await stream.until("instances")).data == {}


async def test_unknown_topics_are_refused_with_the_known_ones(rest: httpx.AsyncClient) -> None:
    for topics in ("tasks,jobs", "", "tasks,", "lines"):
        message = refused(await rest.get(EVENTS, params={"topics": topics}))["topics"]
        assert "tasks, instances, executors, groups, pauses, alerts" in message


async def test_who_is_limited_to_groups_is_told_no_ids_and_nothing_of_alerts(
    rest: httpx.AsyncClient, world: World
) -> None:
    await world.store.add_token("viewer", hash_token(TOKEN), role=Role.VIEWER, groups=["default"], by="test")
    async with holder_of(TOKEN, rest.base_url) as viewer:
        assert "limited" in problem(await viewer.get(f"{EVENTS}?topics=tasks,alerts"), 403)["detail"]
        async with reading(viewer, EVENTS) as stream:
            assert (await stream.next()).data == {"topics": ["tasks", "instances", "executors", "groups", "pauses"]}
            await settled(stream, world, "pauses")
            await world.task()
            assert (await stream.until("tasks")).data == {}


async def test_a_quiet_stream_shows_signs_of_life(
    rest: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "KEEP_ALIVE_SECONDS", 0.05)
    monkeypatch.setattr(streaming, "KEEP_ALIVE_SECONDS", 0.05)
    async with reading(rest, EVENTS) as stream:
        await stream.next()
        await settled(stream, world)
        assert (await stream.next()).name == ""
        assert (await stream.next()).name == ""


async def test_a_stream_ends_at_once_when_its_token_is_revoked(rest: httpx.AsyncClient, world: World) -> None:
    token, _ = await world.store.add_token("viewer", hash_token(TOKEN), role=Role.VIEWER, by="test")
    async with holder_of(TOKEN, rest.base_url) as viewer, reading(viewer, EVENTS) as stream:
        assert (await stream.next()).name == "hello"
        await world.store.revoke_token(token.id)  # the next look by itself would be after a minute
        bye = (await stream.rest())[-1]
        assert bye.name == "bye"
        assert "token" in bye.data["reason"]
        problem(await viewer.get(EVENTS), 401)


async def test_a_stream_ends_when_its_token_expires(
    rest: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "RECHECK_SECONDS", 0.05)
    later = await world.store.now() + timedelta(hours=1)
    await world.store.add_token("viewer", hash_token(TOKEN), role=Role.VIEWER, expires_at=later, by="test")
    async with holder_of(TOKEN, rest.base_url) as viewer, reading(viewer, EVENTS) as stream:
        assert (await stream.next()).name == "hello"
        await shift(world, "expires_at", -3_601, "expires_at IS NOT NULL", table="api_tokens")
        assert (await stream.rest())[-1].name == "bye"


@pytest.mark.parametrize("way", ["disabled", "edited", "deleted", "closed", "signed out", "replaced"])
async def test_a_stream_ends_at_once_when_its_session_does(rest: httpx.AsyncClient, world: World, way: str) -> None:
    user, _ = await world.store.add_user("ada", password_hash="$hash", role=Role.VIEWER)  # noqa: S106 - of nothing
    credential = await world.store.find_password("ada")
    assert credential is not None
    opened = await world.store.open_session(hash_token(TOKEN), credential, address="192.0.2.7")
    assert opened is not None
    async with (
        httpx.AsyncClient(
            base_url=rest.base_url, cookies={"hourhand_session": TOKEN}, timeout=PATIENCE_SECONDS, trust_env=False
        ) as visitor,
        reading(visitor, EVENTS) as stream,
        reading(rest, EVENTS) as other,
    ):
        assert [(await one.next()).name for one in (stream, other)] == ["hello", "hello"]
        match way:
            case "disabled":
                await world.store.edit_user(user.id, {"disabled": True})
            case "edited":
                await world.store.edit_user(user.id, {"role": "operator"})
            case "deleted":
                await world.store.delete_user(user.id)
            case "closed":
                await world.store.close_session(opened[1].id)
            case "signed out":
                await world.store.sign_out(hash_token(TOKEN))
            case _:
                replacing = hash_token(TOKEN)
                await world.store.open_session("next", credential, address="192.0.2.7", replacing=replacing)
        bye = (await stream.rest())[-1]
        assert bye.name == "bye"
        assert "session" in bye.data["reason"]
        group = await world.store.add_group("billing")  # whoever was not meant reads on
        while (await other.until("groups")).data != {"ids": [group.id]}:
            pass


async def test_a_revocation_through_one_process_ends_a_stream_of_another(tmp_path: Path, postgresql_url: str) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with (
        Served(tmp_path / "one", "--store", postgresql_url) as one,
        Served(tmp_path / "two", "--store", postgresql_url) as two,
    ):
        async with holder_of(one.token, one.address) as admin:
            made = ok(await admin.post(f"{API}/tokens", json={"name": "v", "role": "viewer"}), 201)
            async with holder_of(made["token"], two.address) as viewer, reading(viewer, EVENTS) as stream:
                making = asyncio.create_task(make_tasks(admin, set()))
                await stream.until("tasks")  # so other processes are heard
                making.cancel()
                ok(await admin.delete(f"{API}/tokens/{made['id']}"), 204)
                assert (await stream.rest())[-1].name == "bye"


async def test_one_caller_cannot_take_the_streams_of_all_others(rest: httpx.AsyncClient, world: World) -> None:
    most = streaming.LEAST_EACH
    await world.store.add_token("viewer", hash_token(TOKEN), role=Role.VIEWER, by="test")
    async with serving(world.store, Settings(max_streams=3 * most)) as small, AsyncExitStack() as stack:
        viewer = await stack.enter_async_context(holder_of(TOKEN, small.base_url))
        for _ in range(most):
            await stack.enter_async_context(reading(viewer, EVENTS))
        answer = await viewer.get(EVENTS)
        assert f"'viewer' has {most} open streams" in problem(answer, 429)["detail"]
        assert int(answer.headers["retry-after"]) > 0
        async with reading(small, EVENTS) as stream:
            assert (await stream.next()).name == "hello"
    async with holder_of(TOKEN, rest.base_url) as again, reading(again, EVENTS) as stream:
        assert (await stream.next()).name == "hello"


async def test_when_the_last_client_has_gone_nobody_listens_any_more(rest: httpx.AsyncClient, world: World) -> None:
    listeners = world.store._hints._listeners  # noqa: SLF001 - there is no other way to see it
    async with reading(rest, EVENTS) as first, reading(rest, EVENTS) as second:
        await first.next()
        await second.next()
        assert len(listeners[Hint.TASKS]) == 1
    async with asyncio.timeout(PATIENCE_SECONDS):
        while listeners[Hint.TASKS]:
            await asyncio.sleep(0.01)


async def test_a_change_through_one_process_is_heard_by_a_client_of_another(
    tmp_path: Path, postgresql_url: str
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with (
        Served(tmp_path / "one", "--store", postgresql_url) as one,
        Served(tmp_path / "two", "--store", postgresql_url) as two,
    ):
        async with (
            holder_of(one.token, one.address) as here,
            holder_of(one.token, two.address) as there,
            reading(there, f"{EVENTS}?topics=tasks,groups") as stream,
        ):
            assert (await stream.next()).name == "hello"
            made: set[int] = set()
            making = asyncio.create_task(make_tasks(here, made))
            # Again and again: whoever begins to listen is told to look, and that may swallow the first ones.
            while not made & set((await stream.until("tasks")).data.get("ids", [])):
                pass
            making.cancel()


async def make_tasks(client: httpx.AsyncClient, made: set[int]) -> None:
    while True:
        task = ok(await client.post(f"{API}/tasks", json={"name": f"task-{len(made)}", **COMMAND}), 201)
        made.add(task["id"])
        await asyncio.sleep(0.5)


async def test_so_many_streams_and_no_more_and_all_end_when_the_process_is_stopped(tmp_path: Path) -> None:
    with Served(tmp_path, HOURHAND_MAX_STREAMS="2") as served:
        async with holder_of(served.token, served.address) as client, AsyncExitStack() as stack:
            streams = [await stack.enter_async_context(reading(client, EVENTS)) for _ in range(2)]
            answer = await client.get(EVENTS)
            assert "2 (max_streams)" in problem(answer, 503)["detail"]
            assert int(answer.headers["retry-after"]) > 0
            served.process.send_signal(signal.SIGTERM)
            for stream in streams:
                last = (await stream.rest())[-1]
                assert (last.name, last.retry) == ("bye", "1000")
                assert "stopped" in last.data["reason"]
            assert await asyncio.to_thread(served.process.wait, 20) == 0
    assert "graceful" not in served.output  # as the server says when it has waited for requests in vain
    assert "Traceback" not in served.output


async def test_a_place_is_free_again_once_its_client_has_gone(tmp_path: Path) -> None:
    with Served(tmp_path, HOURHAND_MAX_STREAMS="1") as served:
        async with holder_of(served.token, served.address) as client:
            for _ in range(3):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while True:
                        async with client.stream("GET", EVENTS) as answer:
                            if answer.status_code == 200:
                                break
                        await asyncio.sleep(0.05)
