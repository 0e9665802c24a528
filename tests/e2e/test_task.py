"""The page of one task: what it did and will do, what it is and was, who needs it, and what can be done with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from e2e.test_tasks import add_task

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

    from e2e.browsing import Complaints
    from e2e.conftest import Opens


def test_it_is_run_with_arguments_from_its_schema_and_shows_how_it_went(page: Page, api: httpx.Client) -> None:
    number = add_task(
        api,
        "ui-one",
        payload={"command": "false"},
        args_schema={"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
    )
    page.goto(f"/tasks/{number}")
    expect(page.get_by_role("heading", name="ui-one", level=1)).to_be_visible()
    expect(page.get_by_text("By hand only")).to_be_visible()
    expect(page.get_by_text("It has never run.")).to_be_visible()
    page.get_by_role("button", name="Run now").click()
    dialog = page.get_by_role("dialog", name="Run ui-one")
    expect(dialog.get_by_text("Still needed: colour")).to_be_visible()
    colour = dialog.get_by_role("textbox", name="colour")
    expect(colour).to_be_focused()
    colour.fill("red")
    dialog.get_by_role("button", name="Run now").click()
    failures = page.get_by_role("region", name="Failures")
    expect(failures.get_by_role("row").filter(has_text="exit code 1")).to_be_visible()
    expect(page.get_by_role("region", name="Lately")).to_contain_text("failed of the last one1")
    failures.get_by_role("link", name=re.compile(r"#\d+")).click()
    expect(page).to_have_url(re.compile(r"/instances/\d+"))

    # The strip of the list has the ending, and leads to it.
    page.goto("/tasks?q=ui-one")
    strip = page.get_by_role("row").filter(has_text="ui-one").get_by_role("group", name="The last ending")
    strip.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/instances/\d+"))


def test_next_fires_are_shown_by_its_own_clock_and_a_range_is_backfilled(page: Page, api: httpx.Client) -> None:
    number = add_task(api, "ui-clock", schedule="30 9 * * *", timezone="Asia/Shanghai")
    page.goto(f"/tasks/{number}")
    upcoming = page.get_by_role("region", name="Next fires")
    expect(upcoming).to_contain_text("At 09:30")
    expect(upcoming.get_by_role("listitem")).to_have_count(6)
    expect(upcoming.get_by_role("listitem").first).to_contain_text("09:30:00 GMT+8")
    # Who runs it by hand is told what does not follow.
    add_task(api, "ui-after-clock", dependency_ids=[number], schedule="@upstream")
    page.get_by_role("button", name="Run now").click()
    running = page.get_by_role("dialog", name="Run ui-clock")
    expect(running).to_contain_text("ui-after-clock will not follow this run")
    running.get_by_role("button", name="Cancel").click()

    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Backfill…").click()
    dialog = page.get_by_role("dialog", name="Backfill ui-clock")
    dialog.get_by_label("From").fill("2026-03-02T00:00")
    dialog.get_by_label("To").fill("2026-03-01T00:00")
    expect(dialog.get_by_text("The end lies before the beginning.")).to_be_visible()
    dialog.get_by_label("To").fill("2026-03-04T09:30")
    dialog.get_by_role("button", name="Backfill").click()
    expect(dialog.get_by_text("3 instances were made")).to_be_visible()
    made = api.get("/api/v1/instances", params={"task_id": number, "triggered_by": "backfill"}).json()["items"]
    assert sorted(one["scheduled_time"] for one in made) == [f"2026-03-0{day}T01:30:00Z" for day in (2, 3, 4)]


def test_an_old_version_is_compared_and_restored_and_the_audit_tells_of_it(page: Page, api: httpx.Client) -> None:
    number = add_task(api, "ui-versions", priority=3)
    run = api.post(f"/api/v1/tasks/{number}/run", json={}).raise_for_status().json()["id"]
    api.patch(f"/api/v1/tasks/{number}", json={"priority": 7, "owner": "Lin"}).raise_for_status()
    page.goto(f"/tasks/{number}?tab=versions")
    differs = page.get_by_role("region", name="What differs")
    expect(differs.get_by_role("row").filter(has_text="priority")).to_have_text("priority37")
    page.get_by_role("button", name=re.compile("^v1 ")).click()
    expect(page).to_have_url(re.compile("version=1"))
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("tooltip").get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name=re.compile("^v3 "))).to_contain_text("priority, owner")
    now = api.get(f"/api/v1/tasks/{number}").json()
    assert (now["priority"], now["owner"], now["version"]) == (3, None, 3)

    page.get_by_role("tab", name="Audit").click()
    expect(page).to_have_url(re.compile("tab=audit"))
    page.get_by_role("button", name=re.compile("admin edit")).first.click()
    expect(differs.get_by_role("row").filter(has_text="priority")).to_have_text("priority73")
    page.get_by_role("button", name=re.compile(f"admin run now instance {run}")).click()
    page.get_by_role("link", name=f"instance {run}", exact=True).click()
    page.get_by_role("button", name="What was done to it").click()
    expect(page.get_by_role("button", name=re.compile("admin run now"))).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="All that happened to it").click()
    expect(page.locator("main .ant-table-row")).to_have_count(4)  # create, run, edit, restore
    expect(page.get_by_text(f"Task {number} with its instances")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(f"{api.base_url}/audit")


def test_what_depends_on_it_is_named_before_it_is_deleted(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    # The event may be here before the answer: then the page asks once more for what is gone, and leaves.
    complaints.expected.append("status of 404")
    base = add_task(api, "ui-needed")
    middle = add_task(api, "ui-needs-it", dependency_ids=[base], schedule="@upstream")
    add_task(api, "ui-needs-both", dependency_ids=[middle], schedule="@upstream")
    page.goto(f"/tasks/{base}?tab=dependencies")
    expect(page.get_by_role("region", name="Needed by").get_by_role("link")).to_have_text(["ui-needs-it"])
    impact = page.get_by_role("region", name="What a failure would block")
    expect(impact).to_contain_text("2 tasks would be blocked")
    expect(impact.get_by_role("link")).to_have_text(["ui-needs-it", "ui-needs-both"])
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete ui-needed?")
    expect(dialog).to_contain_text("1 task depends on it")
    expect(dialog).to_contain_text("ui-needs-it")
    expect(dialog.get_by_role("button", name="Delete the task")).to_be_disabled()
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("button", name="Delete the task").click()
    expect(page).to_have_url(re.compile("/tasks$"))
    assert api.get("/api/v1/tasks", params={"name": "ui-needed"}).json()["items"] == []


def test_a_pause_says_who_and_why_and_a_viewer_is_offered_nothing(opens: Opens, api: httpx.Client) -> None:
    number = add_task(api, "ui-rests", schedule="@every 1h")
    api.post("/api/v1/pauses", json={"scope": "task", "task_id": number, "reason": "moving house"}).raise_for_status()
    token = api.post("/api/v1/tokens", json={"name": "ui-task-viewer", "role": "viewer"}).json()["token"]
    page = opens(language="zh", token=token)
    page.goto(f"/tasks/{number}")
    expect(page.get_by_role("alert").filter(has_text="moving house")).to_contain_text("admin")
    expect(page.get_by_role("button", name="立即运行")).to_have_count(0)
    expect(page.get_by_role("button", name="立即恢复")).to_have_count(0)
    page.get_by_role("tab", name="审计").click()
    expect(page.get_by_text("编辑者及以上角色可查看操作记录。")).to_be_visible()

    page = opens()
    page.goto(f"/tasks/{number}")
    page.get_by_role("button", name="Resume now").click()
    expect(page.get_by_text("moving house")).to_have_count(0)
    assert all(one["task_id"] != number for one in api.get("/api/v1/pauses").json()["items"])
