"""The list of instances in a real browser: failures first, filters in the address, many at once, holding still."""

from __future__ import annotations

import os
import re

import httpx
from playwright.sync_api import Locator, Page, expect

from e2e.browsing import NARROW, Complaints
from e2e.commands import API, command, run, until
from e2e.conftest import Opens

MINE = f"listed-{os.getpid()}"


def held(api: httpx.Client, task: int, count: int) -> list[int]:
    """Make instances that stay planned, and return their ids, the newest last."""
    answers = [api.post(f"{API}/instances", json={"task_id": task}) for _ in range(count)]
    return [int(answer.json()["id"]) for answer in answers]


def rows(page: Page) -> Locator:
    return page.get_by_role("table", name="Instances").locator('[role="rowgroup"] > [role="row"]')


def row_of(page: Page, instance: int) -> Locator:
    return rows(page).filter(has=page.get_by_role("link", name=f"#{instance}", exact=True))


def test_from_a_failure_it_is_one_click_to_the_failing_line_and_one_to_retry(page: Page, api: httpx.Client) -> None:
    task = command(api, "raise SystemExit('the till of branch 7 is stuck')", name=f"{MINE}-till")
    failed = run(api, task)
    until(api, failed, "failed")
    page.goto("/instances")
    page.get_by_role("radiogroup", name="Status").get_by_text("Failed").click()
    expect(page).to_have_url(re.compile(r"/instances\?status=failed$"))
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Error").click()
    page.get_by_role("combobox", name="Error").fill("BRANCH 7 is stuck")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("error=BRANCH"))
    expect(rows(page)).to_have_count(1)
    listed = page.url
    error = row_of(page, failed).get_by_role("link", name="the till of branch 7 is stuck")
    expect(error).to_have_attribute("title", re.compile("stuck"))
    error.click()
    expect(page).to_have_url(re.compile(rf"/instances/{failed}\?log=errors$"))
    page.go_back()
    expect(page).to_have_url(listed)
    page.get_by_role("button", name=f"Retry #{failed}").click()
    expect(page.get_by_text(f"#{failed} is tried again")).to_be_visible()
    assert until(api, failed, "failed")["manual_retries"] == 1


def test_filters_live_in_the_address_and_are_shown_changed_and_removed(page: Page, api: httpx.Client) -> None:
    kept = held(api, command(api, "pass", name=f"{MINE}-ledger-a", owner="ada"), 1)[0]
    other = held(api, command(api, "pass", name=f"{MINE}-ledger-b"), 1)[0]
    page.goto(f"/instances?q={MINE}-LEDGER&exclude=ledger-b&owner=ada&from=-1h")
    expect(rows(page)).to_have_count(1)
    expect(row_of(page, kept)).to_contain_text("waits to be dispatched")
    for chip in ("Exclude ledger-b", "Owner ada", "Period last 1h"):
        expect(page.get_by_role("button", name=re.compile(chip.replace(" ", r"\s*", 1)))).to_be_visible()
    page.get_by_role("button", name="Remove the filter Owner").click()
    page.get_by_role("button", name="Remove the filter Exclude").click()
    expect(rows(page)).to_have_count(2)
    expect(page).not_to_have_url(re.compile("owner|exclude"))
    page.get_by_role("textbox", name="Task name").fill(f"{MINE}-ledger-b")
    expect(page).to_have_url(re.compile("q=.*-ledger-b"))
    expect(rows(page)).to_have_count(1)
    page.reload()
    expect(row_of(page, other)).to_be_visible()
    page.get_by_role("textbox", name="Task name").fill("no task has this name")
    expect(page.get_by_text("No instance fits these filters.")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page).to_have_url(re.compile("/instances$"))


def test_all_that_match_are_counted_then_cancelled_for_a_reason_and_the_selected_retried(
    page: Page, api: httpx.Client
) -> None:
    task = command(api, "pass", name=f"{MINE}-many")
    made = held(api, task, 12)
    page.goto(f"/instances?task_id={task}")
    expect(page.get_by_role("button", name=f"{MINE}-many")).to_be_visible()  # the filter says the task's name
    page.get_by_role("button", name="Cancel all matching…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("12 instances will be cancelled")
    expect(dialog).to_contain_text(f"#{made[-1]}")
    expect(dialog).to_contain_text("and 7 more")
    sure = dialog.get_by_role("button", name="Cancel 12 instances")
    expect(sure).to_be_disabled()
    assert until(api, made[0], "planned")  # so far it was counted only
    dialog.get_by_role("textbox", name="Reason").fill("the ledger is closed")
    sure.click()
    expect(dialog).to_contain_text("12 instances are cancelled or stopping")
    assert until(api, made[0], "cancelled")["error_message"] == "the ledger is closed"
    dialog.get_by_role("button", name="Close").last.click()

    page.goto(f"/instances?task_id={task}&status=cancelled")
    expect(rows(page)).to_have_count(12)
    page.get_by_role("checkbox", name=f"Select #{made[9]}").click()
    page.get_by_role("checkbox", name=f"Select #{made[7]}").click(modifiers=["Shift"])
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Retry 3").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry 3 instances").click()
    expect(page.get_by_role("dialog")).to_contain_text("3 instances are tried again")
    for instance in made[7:10]:
        until(api, instance, "pending", "running", "success")
    until(api, made[6], "cancelled")


def test_a_long_list_keeps_few_rows_in_the_document_and_new_ones_do_not_push_it(page: Page, api: httpx.Client) -> None:
    task = command(api, "pass", name=f"{MINE}-long")
    made = held(api, task, 130)
    page.goto(f"/instances?task_id={task}")
    table = page.get_by_role("table", name="Instances")
    expect(row_of(page, made[-1])).to_be_visible()
    table.focus()
    page.keyboard.press("End")
    expect(page.get_by_text("130 instances")).to_be_visible()
    page.keyboard.press("End")
    expect(row_of(page, made[0])).to_be_visible()
    assert rows(page).count() < 60
    place = row_of(page, made[0]).bounding_box()
    newest = held(api, task, 2)[-1]
    pill = page.get_by_role("button", name="2 new")
    expect(pill).to_be_visible()
    assert row_of(page, made[0]).bounding_box() == place
    pill.click()
    expect(row_of(page, newest)).to_be_in_viewport()
    expect(pill).to_be_hidden()


def test_on_a_telephone_in_chinese_the_rows_are_cards_and_nothing_is_cut_off(opens: Opens, api: httpx.Client) -> None:
    task = command(api, "pass", name=f"{MINE}-narrow")
    instance = held(api, task, 1)[0]
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto(f"/instances?task_id={task}")
    card = page.get_by_role("table", name="实例").get_by_role("row")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("等待下发")
    expect(card.get_by_role("button", name=f"取消 #{instance}")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_address_that_asks_for_no_time_is_no_broken_page(page: Page, complaints: Complaints) -> None:
    complaints.expected.append("422")  # the server says what is wrong with it
    page.goto("/instances?from=yesterday")
    expect(page.get_by_role("heading", level=1, name="Instances")).to_be_visible()
    page.goto("/audit?from=-24h")
    expect(page.get_by_role("heading", level=1, name="Audit")).to_be_visible()
