"""Alerts: what fires is on top, and a rule is made, tested, changed and deleted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

    from e2e.browsing import Complaints


@pytest.fixture
def hook() -> Iterator[str]:
    """Somebody who takes every notice."""

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/notices"
    server.shutdown()
    server.server_close()


def test_a_rule_is_made_in_words_tested_changed_and_deleted(
    page: Page, api: httpx.Client, hook: str, complaints: Complaints
) -> None:
    complaints.expected.append("422")
    page.goto("/alerts?tab=rules")
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("e2e: slow tills")
    form.get_by_label("Tell when", exact=True).click()
    page.get_by_title("An instance runs longer than usual").click()
    form.get_by_label("How many times the median").fill("4")
    form.get_by_text("A group", exact=True).click()
    form.get_by_role("combobox", name="A group").click()
    page.get_by_title("demo-shop").click()
    expect(form.get_by_role("status")).to_contain_text("an instance runs 4 times as long as its task's median")
    form.get_by_role("button", name="Add a target").click()
    page.get_by_role("menuitem", name="A webhook").click()
    form.locator(".alerts-target").get_by_role("textbox").first.fill("nowhere")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("its webhook is no address")).to_be_visible()
    form.locator(".alerts-target").get_by_role("textbox").first.fill(hook)
    form.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="e2e: slow tills")
    expect(row).to_contain_text("group demo-shop")

    row.get_by_role("button", name="Test").click()
    expect(page.get_by_role("dialog").get_by_text("It arrived.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    row.get_by_role("switch").click()
    expect(row.get_by_role("switch")).not_to_be_checked()
    row.get_by_role("button", name="Edit").click()
    form.get_by_label("Name").fill("e2e: slower tills")
    form.get_by_role("button", name="Save").click()
    renamed = page.get_by_role("row").filter(has_text="e2e: slower tills")
    expect(renamed).to_be_visible()
    rule = _rule(api, "e2e: slower tills")
    assert rule["condition"] == {"kind": "running_longer", "times_median": 4}
    assert rule["scope"] == {"group": "demo-shop"}
    assert len(rule["targets"]) == 1  # kept, although nobody can see what it holds
    assert rule["enabled"] is False
    renamed.get_by_role("button", name="Delete").click()
    page.get_by_role("tooltip").get_by_role("button", name="Delete").click()
    expect(renamed).to_have_count(0)


def _rule(api: httpx.Client, name: str) -> dict[str, Any]:
    found = [one for one in api.get("/api/v1/alert-rules").json()["items"] if one["name"] == name]
    return dict(found[0])


def test_what_fires_is_on_top_and_leads_to_its_task(page: Page) -> None:
    page.goto("/alerts")
    firing = page.get_by_role("region", name="Firing now")
    expect(firing.get_by_role("link", name="demo-card-terminal").first).to_be_visible(timeout=60_000)
    firing.get_by_role("link", name="demo-card-terminal").first.click()
    expect(page.get_by_role("heading", name="demo-card-terminal", level=1)).to_be_visible()
