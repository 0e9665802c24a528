"""Pauses with a reason, an owner and an automatic end; windows that recur; calendars."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import Complaints
from e2e.conftest import Opens


def test_a_group_is_paused_with_a_reason_and_an_end_and_goes_on(page: Page, api: httpx.Client) -> None:
    api.post("/api/v1/groups", json={"name": "resting"})
    page.goto("/pauses")
    page.get_by_role("button", name="Pause …").click()
    page.get_by_role("menuitem", name="A group").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Group").click()
    page.get_by_title("resting").click()
    dialog.get_by_label("Reason").fill("the ledger is moving")
    dialog.get_by_text("15 min").click()
    dialog.get_by_role("button", name=re.compile("Pause")).click()
    row = page.get_by_role("row").filter(has_text="the ledger is moving")
    expect(row).to_contain_text("admin")
    expect(row).to_contain_text(re.compile(r"in 1[45] min"))
    expect(page.get_by_role("banner").get_by_text(re.compile(r"\d pauses?"))).to_be_visible()
    (pause,) = [one for one in api.get("/api/v1/pauses").json()["items"] if one["group"] == "resting"]
    assert (pause["scope"], pause["owner"]) == ("group", "admin")
    row.get_by_role("button", name="Resume").click()
    page.get_by_role("tooltip").get_by_role("button", name="Resume").click()
    expect(row).to_have_count(0)
    assert "resting" not in [one["group"] for one in api.get("/api/v1/pauses").json()["items"]]


def test_a_window_is_made_by_a_schedule_and_tells_when_it_opens(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append("422")  # the browser's own line about the refusal
    api.post("/api/v1/groups", json={"name": "backed-up"})
    page.goto("/pauses?tab=windows")
    page.get_by_role("button", name="Make a window").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("nightly backup")
    dialog.get_by_label("Reason").fill("the ledger is backed up")
    dialog.get_by_label("group").last.click()
    page.get_by_title("backed-up").click()
    dialog.get_by_label("Opens").fill("0 25 * * *")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").first).to_contain_text("25")
    dialog.get_by_label("Opens").fill("0 2 * * *")
    expect(dialog).to_contain_text("At 02:00")
    dialog.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="nightly backup")
    expect(row).to_contain_text("02:00")
    row.get_by_role("button", name="Edit").click()
    dialog.get_by_role("button", name="What was done to it").click()
    expect(dialog.get_by_role("button", name="admin create")).to_be_visible()
    (window,) = api.get("/api/v1/maintenance-windows").json()["items"]
    assert (window["group"], window["timezone"], window["duration_seconds"]) == ("backed-up", "Europe/Berlin", 3600)


def test_a_calendar_shows_its_days_of_a_year(page: Page) -> None:
    page.goto("/pauses?tab=calendars")
    page.get_by_role("button", name="Make a calendar").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Germany")
    dialog.get_by_label("Public holidays of a country").fill("DE")
    dialog.get_by_role("button", name="Save").click()
    year = page.get_by_role("region", name="Germany")
    expect(year.get_by_label(re.compile("^25 ")).first).to_be_visible()
    expect(year).to_contain_text("days")


def test_who_is_limited_to_a_group_is_offered_nothing_that_rests_everything(opens: Opens, api: httpx.Client) -> None:
    api.post("/api/v1/groups", json={"name": "limited"})
    given = {"name": "ui-limited", "role": "editor", "groups": ["limited"]}
    token = api.post("/api/v1/tokens", json=given).raise_for_status().json()["token"]
    scopes = ({"scope": "all", "reason": "all rest"}, {"scope": "group", "group": "limited", "reason": "some rest"})
    made: list[str] = []
    for scope in scopes:
        window = scope | {"name": scope["reason"], "schedule": "0 2 * * *", "duration_seconds": 60}
        for path, body in (("pauses", scope), ("maintenance-windows", window)):
            number = api.post(f"/api/v1/{path}", json=body).raise_for_status().json()["id"]
            made.append(f"/api/v1/{path}/{number}")
    try:
        page = opens(token=token)
        page.goto("/pauses")
        everything = page.get_by_role("row").filter(has_text="all rest")
        some = page.get_by_role("row").filter(has_text="some rest")
        expect(some.get_by_role("button", name="Resume")).to_be_visible()
        expect(everything).to_be_visible()
        expect(everything.get_by_role("button")).to_have_count(0)
        page.goto("/pauses?tab=windows")
        expect(some.get_by_role("button", name="Edit")).to_be_visible()
        expect(some.get_by_role("switch")).to_be_enabled()
        expect(everything.get_by_role("button")).to_have_count(0)
        expect(everything.get_by_role("switch")).to_be_disabled()
    finally:
        for path in made:
            api.delete(path)
