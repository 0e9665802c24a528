"""The list of tasks: run, paused and switched off from their rows, changed by filter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from e2e.browsing import NARROW

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

    from e2e.conftest import Opens


def add_task(api: httpx.Client, name: str, **fields: Any) -> int:
    """Make a task that runs at once and says so; answer with its id."""
    given = {"name": name, "type": "command", "payload": {"command": "echo done"}, "schedule": "@manual"} | fields
    answer = api.post("/api/v1/tasks", json=given)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def test_filters_live_in_the_address_and_a_row_says_when_and_whose(page: Page, api: httpx.Client) -> None:
    add_task(api, "ui-list-alpha", schedule="0 9 * * MON-FRI", timezone="Asia/Shanghai", owner="Lin", tags=["ledger"])
    add_task(api, "ui-list-beta", owner="Lin")
    page.goto("/tasks?q=ui-list&owner=Lin")
    rows = page.get_by_role("row").filter(has=page.get_by_role("link", name=re.compile("ui-list")))
    expect(rows).to_have_count(2)
    alpha = rows.filter(has_text="ui-list-alpha")
    expect(alpha).to_contain_text("At 09:00, Monday through Friday")
    expect(alpha).to_contain_text("Asia/Shanghai")
    expect(alpha).to_contain_text("Lin")

    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Name lacks").click()
    page.get_by_label("Name lacks").fill("beta")
    page.get_by_role("button", name="Apply").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("exclude=beta"))
    page.reload()
    expect(page.get_by_role("button", name="Name lacks beta")).to_be_visible()
    expect(rows).to_have_count(1)

    page.get_by_role("link", name="ledger").click()
    expect(page).to_have_url(re.compile(r"/tasks\?tag=ledger$"))
    page.get_by_role("textbox", name="Name contains").fill("nobody is called so")
    expect(page.get_by_text("No task fits all of these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear all").click()
    expect(page).to_have_url(re.compile("/tasks$"))


def test_a_task_is_run_paused_resumed_and_switched_off_from_its_row(page: Page, api: httpx.Client) -> None:
    number = add_task(api, "ui-row", schedule="@every 1h")
    page.goto("/tasks?q=ui-row")
    page.get_by_role("button", name="Run ui-row").click()
    dialog = page.get_by_role("dialog", name="Run ui-row")
    dialog.get_by_role("textbox", name="Arguments").fill("[1]")
    expect(dialog.get_by_text("Arguments are an object")).to_be_visible()
    expect(dialog.get_by_role("button", name="Run now")).to_be_disabled()
    dialog.get_by_role("textbox", name="Arguments").fill('{"day": "monday"}')
    dialog.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("button", name=re.compile(r"Open #\d+"))).to_be_visible()
    made = api.get("/api/v1/instances", params={"task_id": number, "triggered_by": "manual"}).json()["items"]
    assert [one["args"] for one in made] == [{"day": "monday"}]

    page.get_by_role("button", name="Pause ui-row").click()
    dialog = page.get_by_role("dialog", name="Pause ui-row")
    expect(dialog.get_by_role("button", name="Pause the task")).to_be_disabled()
    reason = dialog.get_by_role("textbox", name="Reason")
    expect(reason).to_be_focused()  # who types at once must not press the button that closes it
    reason.fill("the supplier is down")
    dialog.get_by_text("tomorrow 9:00").click()
    dialog.get_by_role("button", name="Pause the task").click()
    row = page.get_by_role("row").filter(has_text="ui-row")
    expect(row).to_contain_text(re.compile("paused.*until .* 09:00"))
    page.get_by_role("button", name="Resume ui-row").click()
    expect(page.get_by_role("button", name="Pause ui-row")).to_be_visible()

    page.get_by_role("button", name="More about ui-row").click()
    page.get_by_role("menuitem", name="Disable").click()
    expect(row).to_contain_text("disabled")
    assert api.get(f"/api/v1/tasks/{number}").json()["enabled"] is False


def test_all_that_match_are_counted_before_they_are_changed(page: Page, api: httpx.Client) -> None:
    base = add_task(api, "ui-bulk-base")
    add_task(api, "ui-bulk-more", dependency_ids=[base])
    add_task(api, "ui-bulk-off", enabled=False)
    page.goto("/tasks?q=ui-bulk")
    page.get_by_role("button", name="All matching").click()
    page.get_by_role("menuitem", name="Disable all that match").click()
    dialog = page.get_by_role("dialog", name="Disable all that match")
    expect(dialog).to_contain_text("2 enabled tasks fit")
    dialog.get_by_role("button", name="Disable 2 tasks").click()
    expect(dialog).to_contain_text("2 tasks were changed")
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("row").filter(has_text="disabled")).to_have_count(3)

    page.get_by_role("button", name="All matching").click()
    page.get_by_role("menuitem", name="Delete all that match").click()
    dialog = page.get_by_role("dialog", name="Delete all that match")
    expect(dialog.get_by_role("button", name="Delete 3 tasks")).to_be_disabled()
    dialog.get_by_role("textbox", name="Type 3 to confirm").fill("3")
    dialog.get_by_role("button", name="Delete 3 tasks").click()
    expect(dialog).to_contain_text("is needed by ui-bulk-more")
    expect(page.get_by_role("row").filter(has_text="ui-bulk")).to_have_count(1)


def test_on_a_phone_in_chinese_tasks_are_cards_that_fit(opens: Opens, api: httpx.Client) -> None:
    add_task(api, "ui-card", schedule="*/5 * * * *")
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto("/tasks?q=ui-card")
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="ui-card"))
    expect(card).to_contain_text("每隔5分钟")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    card.get_by_role("button", name="运行 ui-card").click()
    expect(page.get_by_role("dialog", name="运行 ui-card")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
