"""The whole way of a first day, by hand: sign in, make a task, run it, watch, cancel, retry, see who did what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx

    from e2e.browsing import Complaints
    from e2e.conftest import Opens

PASSWORD = "nine-patient-herons"  # noqa: S105  # of a user that lives as long as the test
COUNTING = """echo counting; echo '{{"progress": 0.4, "phase": "aisle 4 of 10"}}' > "$HOURHAND_PROGRESS"; \
until test -e {gate}; do sleep 0.1; done; echo counted; exit 3"""


def test_from_signing_in_to_the_audit_of_what_was_done(
    opens: Opens, api: httpx.Client, complaints: Complaints, tmp_path: Path
) -> None:
    complaints.expected += ["401", "status of 422"]
    api.post("/api/v1/users", json={"name": "ida", "password": PASSWORD, "role": "admin"}).raise_for_status()
    gate = tmp_path / "gate"
    page = opens(token=None)
    page.goto("/")
    page.get_by_label("Name").fill("ida")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    page.get_by_role("navigation").get_by_role("link", name="Tasks").click()
    page.get_by_role("link", name="New task").or_(page.get_by_role("button", name="New task")).first.click()
    page.get_by_role("textbox", name="Name", exact=True).fill("count-the-shelves")
    page.get_by_text("shell", exact=True).click()
    page.get_by_role("textbox", name="Command", exact=True).fill(COUNTING.format(gate=gate))
    page.get_by_text("Cron", exact=True).click()
    schedule = page.get_by_role("textbox", name="Schedule", exact=True)
    schedule.fill("0 25 * * *")
    expect(page.get_by_text("hour: '25' is out of range")).to_be_visible()
    schedule.fill("0 23 * * *")
    expect(page.get_by_text("At 23:00", exact=True)).to_be_visible()
    page.get_by_role("button", name="Create task").first.click()
    expect(page).to_have_url(re.compile(r"/tasks/\d+$"))

    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Run")).click()
    page.get_by_role("button", name=re.compile("^Open #")).click()
    expect(page.get_by_label("Progress").first).to_contain_text("aisle 4 of 10")
    expect(page.get_by_role("log").get_by_text("counting", exact=True)).to_be_visible()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_label("Reason").fill("the shop opens")
    page.get_by_role("button", name="Cancel the instance").click()
    standing = page.get_by_role("heading", level=1).locator("..")
    expect(standing).to_contain_text("cancelled")

    gate.touch()
    page.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_role("heading", name="2 attempts")).to_be_visible()
    expect(page.get_by_role("log").get_by_text("counted", exact=True)).to_be_visible()
    expect(standing).to_contain_text("failed")

    page.goto("/audit")
    done = page.get_by_role("table").get_by_role("row").filter(has_text="ida")
    for action in ("sign in", "create", "run now", "cancel", "retry"):
        expect(done.get_by_text(action, exact=True).first).to_be_visible()
