"""The calendar: how much is to come by the hour, where a spike is, and what rests."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW
from e2e.commands import command
from e2e.conftest import Opens

GROUP = "calendared"


@pytest.fixture(scope="module")
def spiked() -> list[int]:
    """What the tests of this file share: the ids of tasks, most of which fire at the same minute."""
    return []


@pytest.fixture
def spike(api: httpx.Client, spiked: list[int]) -> list[int]:
    if not spiked:
        api.post("/api/v1/groups", json={"name": GROUP}).raise_for_status()
        spiked += [
            command(api, "pass", name=f"{GROUP}-{number}", group=GROUP, schedule="17 3 * * *") for number in range(4)
        ]
        spiked.append(command(api, "pass", name=f"{GROUP}-hourly", group=GROUP, schedule="@hourly"))
    return spiked


def test_a_spike_is_told_and_its_minute_lists_the_tasks(page: Page, spike: list[int]) -> None:
    assert len(spike) == 5
    page.goto(f"/calendar?view=week&group={GROUP}")
    page.get_by_role("button", name="The week after").click()
    expect(page.get_by_text("4 tasks at 04:17")).to_be_visible()  # 03:17 UTC on the clock of Berlin
    page.get_by_role("button", name=re.compile("04:00, 5 to come")).first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("link", name=re.compile(f"{GROUP}-"))).to_have_count(5)
    drawer.get_by_role("button", name="04:17: 4 instants").click()
    expect(drawer.get_by_role("link", name=f"{GROUP}-hourly")).to_have_count(0)
    expect(drawer.get_by_role("link", name=f"{GROUP}-3")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog").get_by_role("link", name=re.compile(f"{GROUP}-"))).to_have_count(4)
    expect(page.get_by_role("region", name="Fire most often")).to_contain_text(f"{GROUP}-hourly")


def test_a_pause_and_a_window_are_drawn_in_and_instants_say_so(page: Page, api: httpx.Client, spike: list[int]) -> None:
    assert spike
    until = datetime.now(UTC) + timedelta(days=30)
    given = {"scope": "group", "group": GROUP, "reason": "the cellar is being swept", "until": until.isoformat()}
    pause = api.post("/api/v1/pauses", json=given).raise_for_status().json()
    given = {"scope": "group", "group": GROUP, "name": "new cellar locks", "reason": "locks", "schedule": "0 4 * * *"}
    window = api.post("/api/v1/maintenance-windows", json=given | {"duration_seconds": 3600}).raise_for_status().json()
    try:
        page.goto(f"/calendar?view=week&group={GROUP}&day={datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}")
        expect(page.get_by_role("region", name="Rests in this period")).to_contain_text("new cellar locks")
        page.goto(f"/calendar?view=week&group={GROUP}")
        page.get_by_role("button", name="The week after").click()
        expect(page.get_by_role("region", name="Rests in this period")).to_contain_text("the cellar is being swept")
        page.get_by_role("button", name=re.compile("04:00, 0 to come, schedules rest")).first.click()
        expect(page.get_by_role("dialog").get_by_text(re.compile("falls into the pause")).first).to_be_visible()
    finally:
        api.delete(f"/api/v1/pauses/{pause['id']}")
        api.delete(f"/api/v1/maintenance-windows/{window['id']}")


def test_arrow_keys_go_from_hour_to_hour_and_a_past_hour_leads_to_its_instances(page: Page) -> None:
    moment = datetime.now(ZoneInfo("Europe/Berlin")) - timedelta(hours=3)  # the demo's past has a day
    page.goto(f"/calendar?view=week&day={moment:%Y-%m-%d}")
    hour = page.get_by_role("button", name=re.compile(rf"{moment:%Y-%m-%d %H}:00, [1-9]\d* ended"))
    there, back = ("ArrowLeft", "ArrowRight") if moment.hour else ("ArrowRight", "ArrowLeft")
    hour.focus()
    page.keyboard.press(there)
    expect(hour).not_to_be_focused()
    page.keyboard.press(back)
    expect(hour).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("link", name=re.compile("success")).click()
    expect(page).to_have_url(re.compile("/instances.*status=success"))


def test_it_goes_by_the_chosen_clock_and_fits_a_narrow_screen(
    opens: Opens, api: httpx.Client, spike: list[int]
) -> None:
    assert spike
    page = opens(language="zh", theme="dark", size=NARROW, zone="Asia/Kolkata")  # whose hours begin at half past
    page.goto(f"/calendar?view=week&group={GROUP}")
    page.get_by_role("button", name="下一周").click()
    expect(page.get_by_text("08:47 有 4 个任务同时触发")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]

    begin = (datetime.now(ZoneInfo("Asia/Kolkata")) - timedelta(hours=3)).replace(minute=0, second=0, microsecond=0)
    asked = {"from": begin.isoformat(), "to": (begin + timedelta(hours=1)).isoformat(), "step": "1m"}
    minutes = api.get("/api/v1/stats/series", params=asked).raise_for_status().json()["items"]
    ended = sum(minute[status] for minute in minutes for status in ("success", "failed", "cancelled"))
    page.goto(f"/calendar?view=week&day={begin:%Y-%m-%d}")
    expect(page.get_by_role("button", name=re.compile(rf"{begin:%Y-%m-%d %H}:00, 已结束 {ended} 次"))).to_be_visible()
