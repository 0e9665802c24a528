"""The audit: what somebody did is found, compared, and proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page


def test_a_change_is_found_by_filters_of_the_address_and_shown_with_its_difference(
    page: Page, api: httpx.Client
) -> None:
    given = {"name": "e2e-audited", "type": "command", "payload": {"command": ["true"]}, "schedule": "0 9 * * *"}
    task = api.post("/api/v1/tasks", json=given).json()["id"]
    api.patch(f"/api/v1/tasks/{task}", json={"priority": 9, "version": 1}).raise_for_status()
    page.goto(f"/audit?type=task&id={task}&action=edit")
    rows = page.locator("main .ant-table-row")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("task 'e2e-audited'")
    rows.get_by_role("button", name="edit", exact=True).click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("row").filter(has_text="priority")).to_contain_text("9")
    expect(page).to_have_url(f"{api.base_url}/audit?type=task&id={task}&action=edit&entry={_newest(api, task)}")
    drawer.get_by_role("button", name="All that happened to it").click()
    expect(rows).to_have_count(2)
    rows.first.get_by_role("link", name=f"task {task}").click()
    expect(page.get_by_role("heading", name="e2e-audited", level=1)).to_be_visible()


def _newest(api: httpx.Client, task: int) -> int:
    found = api.get("/api/v1/audit-logs", params={"resource_type": "task", "resource_id": task, "limit": 1}).json()
    return int(found["items"][0]["id"])


def test_what_was_refused_is_told_apart_and_filters_are_cleared_in_one_go(page: Page, api: httpx.Client) -> None:
    api.post("/api/v1/tasks", json={"name": "e2e-refused", "type": "odd"})
    page.goto("/audit")
    rows = page.locator("main .ant-table-row")
    expect(rows.filter(has_text="done").first).to_be_visible()
    page.get_by_text("refused", exact=True).first.click()
    expect(rows.filter(has_text="refused").first).to_be_visible()
    expect(rows.filter(has_text="done")).to_have_count(0)
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(f"{api.base_url}/audit")
    expect(rows.filter(has_text="done").first).to_be_visible()


def test_the_chain_is_verified_in_words_and_against_a_place_noted_earlier(page: Page) -> None:
    page.goto("/audit")
    page.get_by_role("button", name="Verify the chain").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The chain is whole")).to_be_visible()
    dialog.get_by_label("A place you noted earlier").fill(f"1:{'0' * 64}")
    dialog.get_by_role("button", name="Compare").click()
    expect(dialog.get_by_text("The chain is broken at number 1")).to_be_visible()
    expect(dialog.get_by_text("The place that was noted earlier is not part of the chain.")).to_be_visible()
