"""The log of an instance in a real browser: from the failure to its line, live, and however large."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from playwright.sync_api import Page, Route, expect

from e2e.browsing import NARROW
from e2e.commands import command, run, until
from e2e.conftest import Opens

MOST_ELEMENTS = 200
FAILING = """
import sys
for number in range(4000): print("row", number, "of the export")
sys.stdout.flush()
print("the ledger is locked", file=sys.stderr, flush=True)
for number in range(4000, 4400): print("row", number, "of the export")
sys.exit(3)
"""
UNEVEN = """
for number in range(9000): print("row", number, "of the export", "which goes on and on " * (number % 9))
"""
RUBBISH = r"""
import sys
print("\x1b[31mred\x1b[0m and \x1b[1mbold\x1b[0m")
print("10%\r20%\r100% done")
sys.stdout.flush()
sys.stdout.buffer.write(bytes(range(256)) * 40 + b"\n")
print("x" * 1_000_000)
print("<script>document.title = 'taken over'</script>")
print("the end")
"""
BURSTS = """
import pathlib, time
gate, number = pathlib.Path({gate!r}), 0
for burst in range(1, 4):
    for _ in range(300):
        print("tick", number); number += 1
    while not (gate / str(burst)).exists(): time.sleep(0.05)
print("tock")
"""


def test_a_failure_opens_at_the_failing_line_and_can_be_searched_filtered_linked_and_copied(
    page: Page, api: httpx.Client
) -> None:
    failed = run(api, command(api, FAILING))
    until(api, failed, "failed")
    page.goto(f"/instances/{failed}")
    expect(page.get_by_role("region", name="Error")).to_contain_text("exit code 3")
    chosen = page.locator(".log-chosen")
    expect(chosen).to_have_count(1)
    expect(chosen).to_contain_text("the ledger is locked")
    expect(chosen).to_be_in_viewport()
    assert page.locator(".log-slot").count() <= MOST_ELEMENTS

    # A command marks no errors: what came by stderr is shown in their place.
    page.get_by_role("switch", name="Errors only").click()
    expect(page).to_have_url(re.compile("log=errors"))
    expect(page.locator(".log-row")).to_have_count(1)
    expect(page.get_by_text("with all of stderr")).to_be_visible()
    page.get_by_role("switch", name="Errors only").click()

    # The beginning is not loaded: the server finds it.
    page.get_by_label("Search the log").first.fill("row 17 of")
    page.get_by_role("button", name="Previous match").click()
    expect(chosen).to_contain_text("row 17 of the export")
    expect(chosen.locator("mark")).to_have_text("row 17 of")
    page.get_by_label("Search the log").first.fill("nowhere at all")
    page.get_by_role("button", name="Next match").click()
    expect(page.get_by_text("nothing further found")).to_be_visible()

    # By keys: the line after, more lines, and a link to them.
    page.get_by_role("log").press("ArrowDown")
    expect(chosen).to_contain_text("row 18 of the export")
    page.get_by_role("log").press("Shift+ArrowDown")
    expect(chosen).to_have_count(2)
    page.get_by_role("log").press("Enter")
    expect(page.get_by_text("Link to the chosen lines copied")).to_be_visible()
    assert re.search(rf"/instances/{failed}\?line=\d+\.18&to=\d+\.19$", page.evaluate("navigator.clipboard.readText()"))
    page.get_by_role("log").press("ArrowUp")
    page.get_by_role("log").press("ArrowUp")

    # A line has an address, which holds after a reload.
    expect(chosen).to_contain_text("row 17 of the export")
    chosen.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"line=\d+"))
    page.reload()
    expect(chosen).to_contain_text("row 17 of the export")
    expect(chosen).to_be_in_viewport()
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("menuitem", name="The chosen line").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "row 17 of the export"

    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_text("row 4399 of the export", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="To the start").click()
    expect(page.get_by_text("row 0 of the export", exact=True)).to_be_in_viewport()


def test_a_running_log_is_followed_until_somebody_scrolls_up_and_again_when_they_wish(
    page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    running = run(api, command(api, BURSTS.format(gate=str(tmp_path))))
    page.goto(f"/instances/{running}")
    expect(page.get_by_text("tick 299", exact=True)).to_be_in_viewport()
    box = page.get_by_role("log")
    box.hover()
    page.mouse.wheel(0, -3_000)
    expect(page.get_by_role("button", name="Follow", exact=True)).to_be_visible()
    before = box.evaluate("box => box.scrollTop")
    (tmp_path / "1").touch()
    fresh = page.get_by_role("button", name="300 new lines")
    expect(fresh).to_be_visible()
    assert box.evaluate("box => box.scrollTop") == before
    fresh.click()
    expect(page.get_by_text("tick 599", exact=True)).to_be_in_viewport()
    (tmp_path / "2").touch()
    expect(page.get_by_text("tick 899", exact=True)).to_be_in_viewport()
    (tmp_path / "3").touch()
    expect(page.get_by_role("heading", level=1).locator("..")).to_contain_text("success")
    # It is known to have ended before its last line has come.
    expect(page.get_by_text("tock", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="To the start").click()
    expect(page.get_by_text("tick 0", exact=True)).to_be_in_viewport()


def test_what_is_read_stays_where_it_is_when_older_lines_come(page: Page, api: httpx.Client) -> None:
    ended = run(api, command(api, UNEVEN))
    until(api, ended, "success")
    # Pages so small that there are older ones, and those come when they are let.
    older: list[Route] = []

    def few(route: Route) -> None:
        asked = route.request.url
        if re.search(r"limit=(1|60)\b", asked):  # where the log ends, and its last page
            route.continue_(url=asked.replace("limit=60", "limit=3"))
        else:
            older.append(route)

    page.route("**/logs?**", few)
    page.goto(f"/instances/{ended}?wrap=1")
    box = page.get_by_role("log")
    expect(box.get_by_text("row 8999 of the export")).to_be_in_viewport()
    with page.expect_request(lambda request: "before=" in request.url):
        box.evaluate("box => { box.scrollTop = 400 }")
    expect(box.locator(".log-slot[data-index='0']")).to_have_count(1)
    seen = box.locator(".log-row", has_text=re.compile("row [0-9]+ of")).nth(12)
    read = box.get_by_text((seen.locator(".log-text").text_content() or "").strip(), exact=True)
    before = read.bounding_box()
    older[0].continue_()
    expect(box.locator(".log-slot[data-index='0']")).to_have_count(0)
    after = read.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 2  # pixels


def test_colours_rubbish_and_lines_of_a_megabyte_are_shown_and_do_no_harm(opens: Opens, api: httpx.Client) -> None:
    ended = run(api, command(api, RUBBISH))
    until(api, ended, "success")
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto(f"/instances/{ended}")
    expect(page.get_by_text("the end", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("log").get_by_text("<script>")).to_be_visible()
    assert page.locator(".log-slot").count() <= MOST_ELEMENTS
    page.get_by_role("button", name="跳到开头").click()
    expect(page.locator(".ansi-fg-red")).to_have_text("red")
    expect(page.get_by_text("100% done", exact=True)).to_be_visible()
    page.get_by_role("button", name="长行换行").click()
    page.get_by_role("button", name="跳到末尾").click()
    expect(page.get_by_text("the end", exact=True)).to_be_in_viewport()
    assert "taken over" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
