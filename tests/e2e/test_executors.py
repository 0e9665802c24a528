"""Executors and groups: slots, signs of life, what each is at."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import Complaints


def test_an_executor_shows_its_slots_its_heartbeat_and_what_it_executes(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    body = {"name": "executors-sleeps", "type": "command", "payload": {"command": ["sleep", "60"]}}
    task = api.post("/api/v1/tasks", json=body).json()
    instance = api.post(f"/api/v1/tasks/{task['id']}/run").json()["id"]
    page.goto("/executors?group=default")
    group = page.get_by_role("region", name="Group default")
    executor = group.get_by_role("row").filter(has_text="-default-")
    expect(executor).to_contain_text("/ 32")
    expect(executor).to_contain_text("ago")
    group.get_by_role("button", name="What", exact=False).click()
    running = group.get_by_role("row").filter(has_text="executors-sleeps").last
    expect(running).to_be_visible()
    # From its instance it is a click to the executor, and what that is at is open.
    page.goto(f"/instances/{instance}")
    one = api.get(f"/api/v1/instances/{instance}").json()["executor_id"]
    page.get_by_role("link", name=one).click()
    expect(page).to_have_url(re.compile(r"/executors\?executor="))
    expect(page.get_by_role("region")).to_have_count(1)
    expect(running).to_be_visible()
    # What is asked for while the server is away is not taken for an idle executor.
    complaints.expected.append("503")
    page.route("**/api/v1/instances?*executor_id*", lambda route: route.fulfill(status=503, json={}))
    page.reload()
    expect(group.get_by_role("alert")).to_be_visible()
    expect(group).not_to_contain_text("executes nothing")
    page.unroute("**/api/v1/instances?*executor_id*")
    group.get_by_role("button", name="Try again").click()

    running.get_by_role("button", name=f"Cancel instance {instance}").click()
    dialog = page.get_by_role("dialog", name=f"Cancel instance #{instance}?")
    dialog.get_by_label("Reason").fill("it sleeps")
    dialog.get_by_role("button", name="Cancel the instance").click()
    expect(group.get_by_role("link", name="executors-sleeps")).to_have_count(0)
    assert api.get(f"/api/v1/instances/{instance}").json()["status"] in ("cancelled", "running")

    page.goto("/executors?executor=gone-1-x")
    expect(page.get_by_role("alert")).to_contain_text("Executor gone-1-x is not registered any more")
    page.get_by_role("button", name="Show all groups").click()
    expect(group).to_be_visible()


def test_a_group_is_made_and_told_that_nobody_serves_it(page: Page) -> None:
    page.goto("/executors")
    page.get_by_role("button", name="Make a group").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("A group needs a name")
    dialog.get_by_label("Name").fill("pressing")
    dialog.get_by_role("button", name="Save").click()
    group = page.get_by_role("region", name="Group pressing")
    expect(group).to_contain_text("hourhand executor --group pressing")
    group.get_by_role("button", name="More on group pressing").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(group).to_have_count(0)
