"""The graph: what depends on what with its live state, what a failure would block, and another way to read it."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW, Complaints
from e2e.commands import command, run, until
from e2e.conftest import Opens


def chain(api: httpx.Client, name: str, code: str = "pass") -> list[int]:
    """Three tasks, each after the one before."""
    first = command(api, code, name=f"{name}-first")
    middle = command(api, "pass", name=f"{name}-middle", dependency_ids=[first], schedule="@upstream")
    last = command(api, "pass", name=f"{name}-last", dependency_ids=[middle], schedule="@upstream")
    return [first, middle, last]


def test_a_task_tells_how_it_stands_and_what_its_failure_blocks(page: Page, api: httpx.Client) -> None:
    first, middle, _ = chain(api, "graphed", "raise SystemExit(3)")
    until(api, run(api, first), "failed")
    page.goto("/graph?q=graphed")
    page.get_by_role("button", name="graphed-first: failed").click()
    side = page.get_by_role("region", name="About graphed-first")
    expect(side).to_contain_text("2 tasks are blocked")
    expect(page).to_have_url(re.compile(rf"open={first}\b"))
    blocked = page.get_by_role("button", name=re.compile("graphed-(middle|last): .*would be blocked"))
    expect(blocked).to_have_count(2)
    side.get_by_role("button", name="graphed-middle").click()
    expect(page.get_by_role("region", name="About graphed-middle")).to_contain_text("1 task is blocked")
    expect(page).to_have_url(re.compile(rf"open={middle}\b"))
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_role("region", name=re.compile("About"))).to_have_count(0)


def test_a_new_state_shows_by_itself_and_moves_nothing(page: Page, api: httpx.Client) -> None:
    first, _, _ = chain(api, "moveless")
    page.goto(f"/graph?task={first}")
    never = page.get_by_role("button", name="moveless-first: never ended yet")
    expect(never).to_be_visible()
    # What the demo does is left out: only what leads to and from the task is drawn.
    expect(page.locator("[data-task]")).to_have_count(3)
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    before = never.bounding_box()
    side = page.get_by_role("region", name="About moveless-first")
    side.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()
    ended = page.get_by_role("button", name="moveless-first: success")
    expect(ended).to_be_visible(timeout=20_000)
    assert ended.bounding_box() == before
    side.get_by_role("button", name="Whole graph").click()
    expect(page.get_by_role("button", name=re.compile("demo-orders-report"))).to_be_visible()


def test_arrow_keys_go_from_task_to_task_and_the_list_says_the_same(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    chain(api, "keyed")
    page.goto("/graph?q=keyed")
    page.get_by_role("button", name=re.compile("keyed-first")).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name=re.compile("keyed-middle"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="About keyed-middle")).to_be_visible()
    page.get_by_text("List", exact=True).click()
    expect(page).to_have_url(re.compile("as=list"))
    row = page.locator(".ant-table-row").filter(has=page.get_by_role("button", name="keyed-middle"))
    expect(row.get_by_role("link", name="keyed-first")).to_be_visible()
    expect(row.get_by_role("link", name="keyed-last")).to_be_visible()

    # Where the drawing cannot be made, as after another version was installed, it is said, and the list is there.
    complaints.expected.append("net::ERR_FAILED")
    page.route("**/assets/thread-*.js", lambda route: route.abort())
    page.goto("/graph?q=keyed")
    page.get_by_role("alert").get_by_role("button", name="List").click()
    expect(row.get_by_role("link", name="keyed-last")).to_be_visible()


def test_it_is_usable_on_a_narrow_screen_in_chinese(opens: Opens) -> None:
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto("/graph?q=demo-orders")
    page.get_by_role("button", name=re.compile("demo-orders-extract")).click()
    expect(page.get_by_role("dialog")).to_contain_text("会阻塞 3 个任务")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
