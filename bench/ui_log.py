"""A log that is tailed in Chromium while it is written: 100,000 lines within a minute.

python bench/ui_log.py [--lines 100000] [--seconds 60] [--shot PICTURE]

Build the UI first (`make ui`). Chromium has no graphics card here: it draws in software, on the cores that also execute
the server and the instance.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from playwright.sync_api import Page

from e2e.browsing import Complaints, chromium, open_page
from e2e.commands import command, run, until
from serving import Served

GOAL_MS, MOST_ROWS = 50, 200
WRITING = """
import time
begin = time.monotonic()
for number in range({lines}):
    print("line", number, "went to the ledger")  # so short that 100,000 are within what is kept of an attempt
    if number % 50 == 0:
        time.sleep(max(0.0, begin + {seconds} * number / {lines} - time.monotonic()))
print("line", {lines}, "is the last")
"""
WATCHING = """
() => {
  const seen = window.seen = { frames: [], rows: 0, long: 0 };
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    seen.rows = Math.max(seen.rows, document.querySelectorAll(".log-slot").length);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""
HELD = """
async () => {
  const box = document.querySelector(".log-box");
  const rows = document.querySelector(".log-all").clientHeight / 20;
  box.scrollTop = 0;
  for (let frame = 0; frame < 4; frame += 1) await new Promise(requestAnimationFrame);
  const first = document.querySelector(".log-slot[data-index='0'] .log-text, .log-slot[data-index='1'] .log-text");
  return { rows, first: first.textContent, heading: document.querySelector(".log-attempt") !== null };
}
"""


def _percentile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def _lost(page: Page, lines: int) -> tuple[int, int]:
    """How many lines the page should hold and does not: from the first that it holds on; and how many it holds."""
    page.route("**/logs?**", lambda route: route.abort())  # nothing older is to come while it is counted
    held = page.evaluate(HELD)
    rows = int(held["rows"]) - int(held["heading"])
    return lines + 1 - int(held["first"].split()[1]) - rows, rows


def main() -> int:
    """Measure, and say whether it was good enough."""
    parser = argparse.ArgumentParser(description="Tail a log in Chromium while it is written.")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--shot", type=Path)
    given = parser.parse_args()
    complaints = Complaints()
    with (
        tempfile.TemporaryDirectory() as folder,
        Served(Path(folder)) as served,
        served.client() as api,
        chromium() as browser,
    ):
        page = open_page(browser, served, complaints)
        task = command(api, WRITING.format(lines=given.lines, seconds=given.seconds))
        load = os.getloadavg()[0]
        instance = run(api, task)
        page.goto(f"/instances/{instance}")
        page.locator(".log-row").first.wait_for(timeout=30_000)
        page.evaluate(WATCHING)
        begin = time.monotonic()
        until(api, instance, "success", "failed", seconds=given.seconds * 5)
        took = time.monotonic() - begin
        last = page.get_by_text(f"line {given.lines} is the last", exact=True)
        last.wait_for(timeout=30_000)
        late = time.monotonic() - begin - took
        seen = page.evaluate("window.seen")
        if given.shot:
            page.screenshot(path=given.shot)
        heap = page.evaluate("performance.memory.usedJSHeapSize") / 2**20
        lost, held = _lost(page, given.lines)
    frames = seen["frames"][1:]
    print(f"{given.lines:,} lines in {took:.0f} s; the last was on the screen {late * 1000:.0f} ms after it ended")
    print(
        f"frames: {len(frames)}, p50 {_percentile(frames, 0.5):.1f} ms, p95 {_percentile(frames, 0.95):.1f} ms, "
        f"p99 {_percentile(frames, 0.99):.1f} ms, longest {max(frames):.0f} ms"
    )
    print(f"lines that the page holds: {held:,}; lost between the first of them and the last: {lost}")
    print(
        f"rows in the document: at most {seen['rows']}; heap {heap:.0f} MiB; load before {load:.1f}, "
        f"after {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; complaints: {complaints.left}"
    )
    return 0 if _percentile(frames, 0.95) <= GOAL_MS and seen["rows"] <= MOST_ROWS and lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
