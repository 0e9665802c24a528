"""`/api/v1/maintenance-windows`, `/api/v1/calendars` and what they mean for `/api/v1/tasks/{id}/upcoming`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem, refused
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.words import Role
from hourhand.settings import Settings

if TYPE_CHECKING:
    from contracts.world import World

WINDOWS = f"{API}/maintenance-windows"
CALENDARS = f"{API}/calendars"
NIGHTLY: dict[str, Any] = {
    "name": "nightly backup",
    "scope": "all",
    "schedule": "0 2 * * *",
    "duration_seconds": 7200,
    "timezone": "Asia/Shanghai",
    "reason": "the ledger is backed up",
}


class Limited:
    """Everybody is an editor of the groups that are their token."""

    async def holder(self, token: str) -> Principal | None:
        return Principal(id="token:1", name="somebody", role=Role.EDITOR, groups=frozenset(token.split("+")))


def moment(text: str) -> datetime:
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


# Windows


async def test_a_window_is_made_shown_changed_and_deleted(rest: httpx.AsyncClient) -> None:
    answer = await rest.post(WINDOWS, json=NIGHTLY)
    made = ok(answer, 201)
    where = f"{WINDOWS}/{made['id']}"
    assert answer.headers["Location"] == where
    assert {name: made[name] for name in NIGHTLY} == NIGHTLY
    assert (made["task_id"], made["group"], made["calendar"], made["created_by"]) == (None, None, None, "admin")
    assert len(made["next"]) == 5
    for one in made["next"]:
        begin, end = moment(one["from"]), moment(one["to"])
        assert (begin.hour, end - begin) == (18, timedelta(hours=2)), "two o'clock in Shanghai"
    assert ok(await rest.get(where))["name"] == "nightly backup"
    edited = ok(await rest.patch(where, json={"name": "other", "enabled": False}))
    assert (edited["name"], edited["enabled"], edited["open"], edited["next"]) == ("other", False, False, [])
    assert [one["name"] for one in ok(await rest.get(WINDOWS))["items"]] == ["other"]
    assert (await rest.delete(where)).status_code == 204
    problem(await rest.get(where), 404)
    problem(await rest.delete(where), 404)


async def test_a_window_that_is_open_says_so_and_until_when(rest: httpx.AsyncClient) -> None:
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1)
    given = {**NIGHTLY, "schedule": f"@at {begin.isoformat()}", "duration_seconds": 3600}
    made = ok(await rest.post(WINDOWS, json=given), 201)
    assert made["open"] is True
    assert [(moment(one["from"]), moment(one["to"])) for one in made["next"]] == [(begin, begin + timedelta(hours=1))]


async def test_a_window_has_the_scope_of_a_pause(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task("close_books")
    made = ok(await rest.post(WINDOWS, json={**NIGHTLY, "scope": "task", "task_id": task.id}), 201)
    assert (made["task_id"], made["task_name"], made["group"]) == (task.id, "close_books", "default")
    where = f"{WINDOWS}/{made['id']}"
    moved = ok(await rest.patch(where, json={"scope": "group", "group": "default"}))
    assert (moved["scope"], moved["task_id"], moved["group"]) == ("group", None, "default")
    assert "scope" in refused(await rest.patch(where, json={"group": "default"}))
    assert ok(await rest.patch(where, json={"scope": "all"}))["group"] is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"reason": " "}, "reason"),
        ({"schedule": "nonsense"}, "schedule"),
        ({"schedule": "@every 60s"}, "schedule"),
        ({"duration_seconds": 0}, "duration_seconds"),
        ({"duration_seconds": 604_801}, "duration_seconds"),
        ({"duration_seconds": "60"}, "duration_seconds"),
        ({"timezone": "Asia/Shangai"}, "timezone"),
        ({"scope": "task"}, "task_id"),
        ({"scope": "task", "task_id": 1, "group": "default"}, "group"),
        ({"scope": "group", "group": "nowhere"}, "group"),
        ({"schedule": None, "duration_seconds": None, "calendar": "none"}, "calendar"),
        ({"enabled": "yes"}, "enabled"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_what_makes_no_sense_is_refused(rest: httpx.AsyncClient, changes: dict[str, Any], field: str) -> None:
    assert field in refused(await rest.post(WINDOWS, json={**NIGHTLY, **changes}))
    assert ok(await rest.get(WINDOWS))["items"] == []
    made = ok(await rest.post(WINDOWS, json=NIGHTLY), 201)
    assert field in refused(await rest.patch(f"{WINDOWS}/{made['id']}", json=changes))


async def test_the_same_request_makes_one(rest: httpx.AsyncClient) -> None:
    for where, given in (
        (WINDOWS, NIGHTLY),
        (CALENDARS, {"name": "weekend", "definition": {"weekdays": [6, 7]}}),
    ):
        key = {"Idempotency-Key": "k"}
        first, second = [ok(await rest.post(where, json=given, headers=key), 201) for _ in range(2)]
        assert first["id"] == second["id"]
        problem(await rest.post(where, json=given), 409)


async def test_who_is_limited_to_groups_makes_and_changes_windows_of_those_alone(world: World) -> None:
    await world.store.ensure_group("billing")
    mine = await world.task(group="billing")
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Limited()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:

        async def ask(method: str, path: str = "", group: str = "billing", /, **body: Any) -> httpx.Response:
            headers = {"Authorization": f"Bearer {group}"}
            return await client.request(method, f"{WINDOWS}{path}", headers=headers, json=body or None)

        own = ok(await ask("POST", **{**NIGHTLY, "scope": "group", "group": "billing"}), 201)
        ok(await ask("POST", **{**NIGHTLY, "name": "of my task", "scope": "task", "task_id": mine.id}), 201)
        foreign = ok(
            await ask("POST", "", "default", **{**NIGHTLY, "name": "x", "scope": "group", "group": "default"}), 201
        )
        problem(await ask("POST", **NIGHTLY), 403)
        problem(await ask("PATCH", f"/{own['id']}", scope="group", group="default"), 403)
        problem(await ask("PATCH", f"/{own['id']}", scope="all"), 403)
        for method in ("GET", "PATCH", "DELETE"):
            problem(await ask(method, f"/{foreign['id']}"), 403)
        assert [one["name"] for one in ok(await ask("GET"))["items"]] == ["nightly backup", "of my task"]
        assert (await ask("DELETE", f"/{own['id']}")).status_code == 204


async def test_a_window_of_everything_is_shown_to_all_and_changed_by_those_who_reach_all(
    rest: httpx.AsyncClient, world: World
) -> None:
    made = ok(await rest.post(WINDOWS, json=NIGHTLY), 201)
    transport = httpx.ASGITransport(create_app(world.store, Settings(), Limited()))
    headers = {"Authorization": "Bearer billing"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        assert [one["id"] for one in ok(await client.get(WINDOWS))["items"]] == [made["id"]]
        assert ok(await client.get(f"{WINDOWS}/{made['id']}"))["id"] == made["id"]
        problem(await client.patch(f"{WINDOWS}/{made['id']}", json={"enabled": False}), 403)
        problem(await client.delete(f"{WINDOWS}/{made['id']}"), 403)


# Calendars


async def test_a_calendar_is_made_shown_changed_and_deleted(rest: httpx.AsyncClient) -> None:
    definition = {"country": "CN", "weekdays": [6, 7], "include": ["2027-11-19"], "exclude": ["2027-01-01"]}
    made = ok(await rest.post(CALENDARS, json={"name": "China", "definition": definition}), 201)
    where = f"{CALENDARS}/{made['id']}"
    assert (made["name"], made["definition"]) == ("China", definition)
    days = ok(await rest.get(f"{where}/days", params={"year": 2027}))
    named = {one["date"]: one["name"] for one in days["items"]}
    assert days["year"] == 2027
    assert (named["2027-10-01"], named["2027-11-19"], named["2027-11-20"]) == ("National Day", "included", "Saturday")
    assert "2027-01-01" not in named
    assert ok(await rest.get(f"{where}/days"))["year"] in (datetime.now(UTC).year, datetime.now(UTC).year - 1)
    assert "year" in refused(await rest.get(f"{where}/days", params={"year": 1900}))
    edited = ok(await rest.patch(where, json={"definition": {"market": "nyse"}}))
    assert (edited["name"], edited["definition"]) == ("China", {"market": "NYSE"})
    assert ok(await rest.patch(where, json={"name": "New York"}))["definition"] == {"market": "NYSE"}
    assert [one["name"] for one in ok(await rest.get(CALENDARS))["items"]] == ["New York"]
    assert (await rest.delete(where)).status_code == 204
    problem(await rest.get(f"{where}/days"), 404)


async def test_an_unknown_country_is_refused_with_those_it_may_mean(rest: httpx.AsyncClient) -> None:
    answer = await rest.post(CALENDARS, json={"name": "x", "definition": {"country": "Chna"}})
    (error,) = problem(answer, 422)["errors"]
    assert error["field"] == "definition.country"
    assert "did you mean CN (China)" in error["message"]


@pytest.mark.parametrize(
    ("definition", "field"),
    [
        ({}, "definition"),
        ({"holidays": True}, "definition.holidays"),
        ({"weekdays": [0]}, "definition.weekdays"),
        ({"include": ["tomorrow"]}, "definition.include.0"),
        ({"country": ["CN"]}, "definition.country"),
        (None, "definition"),
    ],
)
async def test_what_is_no_calendar_is_refused(rest: httpx.AsyncClient, definition: Any, field: str) -> None:
    assert field in refused(await rest.post(CALENDARS, json={"name": "x", "definition": definition}))


async def test_a_calendar_that_a_window_needs_cannot_be_deleted(rest: httpx.AsyncClient) -> None:
    made = ok(await rest.post(CALENDARS, json={"name": "weekend", "definition": {"weekdays": [6, 7]}}), 201)
    given = {"name": "rest", "scope": "all", "calendar": "weekend", "reason": "nobody is there"}
    window = ok(await rest.post(WINDOWS, json=given), 201)
    assert {moment(one["from"]).isoweekday() for one in window["next"]} == {6}
    refusal = problem(await rest.delete(f"{CALENDARS}/{made['id']}"), 409)
    assert "'rest'" in refusal["detail"]


# Upcoming


async def test_what_falls_into_a_window_is_left_out_of_the_upcoming_instants(
    rest: httpx.AsyncClient, world: World
) -> None:
    task = await world.task(schedule="0 * * * *")
    where = f"{API}/tasks/{task.id}/upcoming"
    before = ok(await rest.get(where, params={"count": 24}))
    assert (len(before["instants"]), before["notes"]) == (24, [])
    # Some hours from now, whatever the time: were it open already, the first of its instants would have gone by.
    begin = moment(before["instants"][5]).hour
    ok(await rest.post(WINDOWS, json={**NIGHTLY, "schedule": f"0 {begin} * * *", "timezone": "UTC"}), 201)
    after = ok(await rest.get(where, params={"count": 22}))
    assert after["instants"] == [one for one in before["instants"] if moment(one).hour not in (begin, (begin + 1) % 24)]
    assert after["notes"] == ["2 instants fall into the maintenance window 'nightly backup' and are skipped"]


async def test_what_is_paused_has_no_upcoming_instants(rest: httpx.AsyncClient, world: World) -> None:
    task = await world.task(schedule="0 * * * *")
    ok(await rest.post(f"{API}/pauses", json={"scope": "all", "reason": "moving"}), 201)
    seen = ok(await rest.get(f"{API}/tasks/{task.id}/upcoming"))
    assert (seen["instants"], seen["notes"]) == ([], ["it is paused until somebody resumes it"])
