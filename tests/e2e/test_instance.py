"""One instance in a real browser: why it stands where it does, its attempts, and what can be done about it."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW, Complaints
from e2e.commands import API, command, run, until
from e2e.conftest import Opens


def test_a_failed_instance_is_retried_with_other_arguments(page: Page, api: httpx.Client) -> None:
    task = command(api, "raise SystemExit('no ledger')")
    failed = run(api, task, args={"day": "2026-11-15"})
    until(api, failed, "failed")
    page.goto(f"/instances/{failed}?log=errors")
    expect(page.get_by_role("switch", name="Errors only")).to_be_checked()
    page.get_by_role("button", name="More ways to retry").click()
    page.get_by_role("menuitem", name="With changed arguments").click()
    form = page.get_by_role("dialog")
    editor = form.get_by_label("Arguments")
    expect(editor).to_have_value(re.compile("2026-11-15"))
    editor.fill("{day")
    expect(form.get_by_text("This is no JSON object")).to_be_visible()
    expect(form.get_by_role("button", name="Retry")).to_be_disabled()
    editor.fill('{"day": "2026-11-16"}')
    form.get_by_text("With the task as it is now").click()
    form.get_by_role("button", name="Retry").click()
    expect(form).to_be_hidden()
    expect(page.get_by_role("heading", name="2 attempts")).to_be_visible()
    # Who retries wants to see what comes, not the errors of before.
    expect(page.get_by_role("switch", name="Errors only")).not_to_be_checked()
    expect(page.locator(".log-row")).to_have_count(2)
    again = until(api, failed, "failed")
    assert (again["args"], again["manual_retries"]) == ({"day": "2026-11-16"}, 1)
    expect(page.get_by_label("Why it is where it is")).to_contain_text("retried by hand once")

    # Each attempt has its part of the log.
    page.get_by_role("button", name="Only its log").first.click()
    expect(page).to_have_url(re.compile("attempt="))
    expect(page.locator(".log-row")).to_have_count(1)
    page.get_by_role("button", name="The whole log").click()
    expect(page.locator(".log-row")).to_have_count(2)


def test_what_is_held_says_so_is_dispatched_and_what_runs_is_cancelled_with_a_reason(
    page: Page, api: httpx.Client
) -> None:
    task = command(api, "import time; print('at work'); time.sleep(600)")
    held = api.post(f"{API}/instances", json={"task_id": task}).json()["id"]
    page.goto(f"/instances/{held}")
    why = page.get_by_label("Why it is where it is")
    expect(why).to_contain_text("held until somebody dispatches it")
    page.get_by_role("button", name="Dispatch").click()
    expect(page.get_by_text("at work", exact=True)).to_be_visible()
    expect(why).to_contain_text("is at work on attempt 1")
    expect(page.get_by_label("Progress")).to_contain_text("running for")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_label("Reason").fill("wrong day")
    page.get_by_role("button", name="Cancel the instance").click()
    ended = until(api, held, "cancelled")
    assert ended["cancel_reason"] == "wrong day"
    expect(why).to_contain_text("admin cancelled it: wrong day")


def test_what_nobody_can_execute_says_why_in_both_languages_and_at_any_width(opens: Opens, api: httpx.Client) -> None:
    assert api.post(f"{API}/groups", json={"name": "instance-nobody"}).status_code == 201
    waiting = run(api, command(api, "print(1)", group="instance-nobody"))
    page = opens()
    page.goto(f"/instances/{waiting}")
    why = page.get_by_label("Why it is where it is")
    expect(why).to_contain_text("No executor of group instance-nobody is alive. Start one.")
    api.post(f"{API}/pauses", json={"scope": "group", "group": "instance-nobody", "reason": "moving house"})
    expect(why).to_contain_text("Its group is paused by admin until it is resumed: moving house")
    expect(why.get_by_role("link", name="Pause")).to_have_attribute("href", "/pauses")
    narrow = opens(language="zh", theme="dark", size=NARROW)
    narrow.goto(f"/instances/{waiting}")
    expect(narrow.get_by_label("当前状态的原因")).to_contain_text("执行器组 instance-nobody 没有在线的执行器")
    assert narrow.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_instance_that_is_not_there_is_told(page: Page, complaints: Complaints) -> None:
    complaints.expected.append("404")
    page.goto("/instances/999999999")
    expect(page.get_by_role("alert")).to_contain_text("There is no such thing")
