"""The audit: what somebody did is found, compared, and proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

    from e2e.browsing import Complaints
    from e2e.conftest import Opens


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


def test_a_link_opens_an_entry_that_the_list_does_not_show_or_says_that_it_is_not_there(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append("404")
    group = api.post("/api/v1/groups", json={"name": "e2e-linked"}).raise_for_status().json()["id"]
    found = api.get("/api/v1/audit-logs", params={"resource_type": "group", "resource_id": group}).json()
    entry = found["items"][0]["id"]
    page.goto(f"/audit?type=user&entry={entry}")
    expect(page.get_by_role("dialog")).to_contain_text("group 'e2e-linked'")
    page.goto("/audit?entry=999999999")
    expect(page.get_by_role("alert")).to_contain_text("there is no audit entry 999999999")
    page.get_by_role("alert").get_by_role("button", name="Close").click()
    expect(page).to_have_url(f"{api.base_url}/audit")
    page.goto("/access?user=999999999")
    expect(page.get_by_role("alert")).to_contain_text("there is no user 999999999")
    page.goto("/alerts?rule=999999999")
    expect(page.get_by_role("alert")).to_contain_text("there is no alert rule 999999999")

    page.goto("/executors?group=e2e-linked")
    page.get_by_role("button", name="More on group e2e-linked").click()
    page.get_by_role("menuitem", name="What was done to it").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="admin create")).to_be_visible()


def test_an_editor_of_one_group_sees_what_was_done_to_its_task_and_no_link_to_the_rest(
    opens: Opens, api: httpx.Client
) -> None:
    api.post("/api/v1/groups", json={"name": "e2e-ours"}).raise_for_status()
    given = {"name": "e2e-ours", "type": "command", "payload": {"command": ["true"]}, "group": "e2e-ours"}
    task = api.post("/api/v1/tasks", json=given).raise_for_status().json()["id"]
    asked = {"name": "e2e-limited", "role": "editor", "groups": ["e2e-ours"]}
    token = api.post("/api/v1/tokens", json=asked).raise_for_status().json()["token"]
    page = opens(token=token)
    page.goto(f"/tasks/{task}?tab=audit")
    page.get_by_role("button", name="admin create").click()
    expect(page.get_by_role("region", name="What differs")).to_contain_text("e2e-ours")
    expect(page.get_by_role("link", name="All that happened to it")).to_have_count(0)


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
