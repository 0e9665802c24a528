"""Executors and groups: slots, signs of life, what each is at."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect


def test_an_executor_shows_its_slots_its_heartbeat_and_what_it_executes(page: Page, api: httpx.Client) -> None:
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
    running.get_by_role("button", name=f"Cancel instance {instance}").click()
    expect(group.get_by_role("link", name="executors-sleeps")).to_have_count(0)
    assert api.get(f"/api/v1/instances/{instance}").json()["status"] in ("cancelled", "running")


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
