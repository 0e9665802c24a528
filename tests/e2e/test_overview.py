"""The landing page: how it stands, failures first, and each figure a way to what it counts."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.conftest import Opens
from serving import Served


def fail(api: httpx.Client, name: str, message: str) -> int:
    """Make a task that fails with a message, and wait until it has."""
    command = ["sh", "-c", f"echo starting; echo '{message}' >&2; exit 3"]
    task = api.post("/api/v1/tasks", json={"name": name, "type": "command", "payload": {"command": command}}).json()
    instance: int = api.post(f"/api/v1/tasks/{task['id']}/run").json()["id"]
    with api.stream("GET", f"/api/v1/instances/{instance}/stream") as stream:
        for line in stream.iter_lines():
            if line.startswith("event: end"):
                return instance
    raise AssertionError("it never ended")


def test_a_failure_is_first_with_its_error_and_one_click_from_its_line(page: Page, api: httpx.Client) -> None:
    instance = fail(api, "overview-fails", "no ink in the printer")
    page.goto("/")
    failures = page.get_by_role("region", name="Failures")
    row = failures.get_by_role("row").filter(has_text="overview-fails")
    expect(row).to_contain_text("no ink in the printer")
    row.get_by_role("link", name=re.compile("no ink")).click()
    expect(page).to_have_url(re.compile(rf"/instances/{instance}\?log=errors$"))


def test_a_new_failure_appears_by_itself(page: Page, api: httpx.Client) -> None:
    page.goto("/")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    fail(api, "overview-fails-later", "the roof is leaking")
    expect(page.get_by_role("region", name="Failures")).to_contain_text("the roof is leaking")


def test_figures_lead_to_what_they_count_and_choices_stay_in_the_address(page: Page) -> None:
    page.goto("/")
    page.get_by_text("By reason").click()
    expect(page).to_have_url(re.compile("failures=reason"))
    expect(page.get_by_role("region", name="Failures")).to_contain_text(re.compile(r"\d+ \W"))
    page.get_by_text("24h").click()
    page.reload()
    expect(page.get_by_role("radio", name="24h")).to_be_checked()
    expect(page.get_by_role("img", name=re.compile("Endings")).locator("canvas")).to_be_visible()
    page.get_by_role("link", name=re.compile("Failed in 24 hours")).click()
    expect(page).to_have_url(re.compile(r"/instances\?status=failed&from=-24h$"))


def test_an_empty_store_says_what_to_do_first(opens: Opens, tmp_path_factory: pytest.TempPathFactory) -> None:
    with Served(tmp_path_factory.mktemp("empty"), HOURHAND_GRACE_SECONDS="1") as empty:
        page = opens(served=empty)
        page.goto("/")
        expect(page.get_by_text("There is no task yet")).to_be_visible()
        page.get_by_role("button", name="Load the sample tasks").click()
        expect(page.get_by_role("region", name="Upcoming")).to_contain_text("demo-")
        page.context.close()
