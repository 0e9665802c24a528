"""The timeline: what ran when by task, what is to come, and a period that lives in the address."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW
from e2e.commands import command, run, until
from e2e.conftest import Opens


def test_what_ran_is_a_bar_that_leads_to_its_instance(page: Page, api: httpx.Client) -> None:
    task = command(api, "raise SystemExit(1)", name="lined-fails")
    instance = run(api, task)
    until(api, instance, "failed")
    page.goto("/timeline?q=lined-")
    bar = page.get_by_role("link", name=f"#{instance} failed")
    bar.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(f"#{instance}")
    bar.click()
    expect(page).to_have_url(re.compile(rf"/instances/{instance}$"))


def test_what_begins_to_run_appears_by_itself(page: Page, api: httpx.Client) -> None:
    task = command(api, "import time; time.sleep(60)", name="lined-appears")
    page.goto(f"/timeline?task={task}")
    expect(page.get_by_role("button", name="Only lined-appears")).to_be_visible()
    expect(page.get_by_text("Nothing that matches ran")).to_be_visible()
    instance = run(api, task)
    expect(page.get_by_role("link", name=f"#{instance} running")).to_be_visible(timeout=20_000)
    api.post(f"/api/v1/instances/{instance}/cancel")
    expect(page.get_by_role("link", name=f"#{instance} cancelled")).to_be_visible(timeout=20_000)


def test_a_dragged_stretch_becomes_the_period_of_the_address(page: Page) -> None:
    page.goto("/timeline?from=-6h&q=demo-")
    expect(page.get_by_role("radio", name="Last 6h")).to_be_checked()
    rows = page.locator(".timeline-rows")
    expect(rows.get_by_role("link", name=re.compile("demo-orders-extract"))).to_be_visible()
    expect(rows.locator(".timeline-mark").first).to_be_attached()
    box = rows.bounding_box()
    assert box is not None
    middle = box["y"] + 60
    page.mouse.move(box["x"] + 500, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 560, middle)
    page.mouse.move(box["x"] + 700, middle)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=2\d{3}-.*to=2\d{3}-"))
    stretch = page.url
    page.get_by_role("button", name="Zoom in").click()
    expect(page).not_to_have_url(stretch)
    page.reload()
    expect(page.get_by_role("button", name="Back to now")).to_be_visible()
    page.get_by_role("button", name="Back to now").click()
    expect(page.get_by_role("radio", name="Last 1h")).to_be_checked()


def test_the_table_says_the_same_and_nothing_is_cut_off_on_a_narrow_screen(opens: Opens, api: httpx.Client) -> None:
    instance = run(api, command(api, "pass", name="lined-table"))
    until(api, instance, "success")
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto("/timeline?q=lined-table")
    expect(page.get_by_role("link", name=f"#{instance} 成功")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
    page.get_by_text("表格").click()
    page.get_by_role("link", name=f"#{instance}", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/instances/{instance}$"))
