"""The list of instances in a browser, on a million execution logs: how soon the first row is there, how it scrolls.

python bench/ui_list.py [--rows 1000000] [--frames 600]

The built web UI is looked at: `make ui` or `npm run build` in ui/ first. Figures are reported, none is asserted.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from playwright.sync_api import Browser

from e2e.browsing import Complaints, chromium, open_page
from hourhand.store.types import to_micros
from serving import Served

DAYS = 10
RARE = "a needle"
PATHS = ("/instances", "/instances?status=failed", f"/instances?error={RARE.replace(' ', '+')}")
FILL = """
INSERT INTO execution_logs (id, instance_id, task_name, task_id, task_version, group_id, scheduled_time, status,
    created_at, lane_id, priority, available_at, triggered_by, start_time, end_time, duration_ms, executor_id,
    error_message)
WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < :rows),
    timed(n, t) AS (SELECT n, :now - (:rows - n) * :step FROM s)
SELECT n, n, 'report of branch ' || (n % 1000), n % 1000 + 1, 1, 1, t,
    CASE WHEN n % 20 = 3 THEN 'failed' ELSE 'success' END, t, 1, 5, t, 'scheduler', t, t,
    n % 5000, 'executor ' || (n % 50),
    CASE WHEN n = 23 THEN :rare WHEN n % 20 = 3 THEN 'exit code 1: branch ' || (n % 1000) || ' does not answer' END
FROM timed
"""
# When the first row is in the document and a frame with it was drawn.
FIRST_ROW = """
new MutationObserver((_, watching) => {
  if (!document.querySelector('[role="rowgroup"] [role="row"]')) return;
  watching.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.firstRow = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
SCROLL = """
async (frames) => {
  const box = document.querySelector('[role="table"]');
  const took = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames; frame++) {
    box.scrollTop += 150;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - before);
    before = now;
  }
  return {
    took,
    reached: Math.round(box.scrollTop / 34),
    inDocument: document.querySelectorAll('[role="rowgroup"] [role="row"]').length,
    nodes: document.querySelectorAll('*').length,
    heap: performance.memory.usedJSHeapSize,
  };
}
"""


def fill(path: Path, rows: int) -> None:
    """One statement."""
    step = DAYS * 86_400_000_000 // rows
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(FILL, {"rows": rows, "now": to_micros(datetime.now(UTC)), "step": step, "rare": RARE})
        counters = [("instance_ids", rows), ("execution_log_ids", rows)]
        connection.executemany("INSERT OR REPLACE INTO store_values (name, number) VALUES (?, ?)", counters)
    connection.close()


def look(browser: Browser, served: Served, path: str, frames: int) -> None:
    """First without anything in the browser's cache, then again; then scroll."""
    complaints = Complaints()
    page = open_page(browser, served, complaints)
    page.add_init_script(FIRST_ROW)
    rows = page.locator('[role="rowgroup"] [role="row"]')
    came = []
    for _ in range(6):
        page.goto(path)
        rows.first.wait_for(timeout=120_000)
        page.wait_for_timeout(500)  # the second frame after it
        came.append(float(page.evaluate("window.firstRow")))
    print(f"{path}\n  first row after {came[0]:.0f} ms, with the files in the cache after {median(came[1:]):.0f} ms")
    if rows.count() > 1:
        seen: dict[str, Any] = page.evaluate(SCROLL, frames)
        took = sorted(seen["took"])
        late = sum(1 for one in took if one > 2 * 1000 / 60)
        print(
            f"  {frames} frames down to row {seen['reached']:,}: median {median(took):.1f} ms, "
            f"95 % {took[int(len(took) * 0.95)]:.1f} ms, longest {took[-1]:.1f} ms, {late} longer than two frames\n"
            f"  {seen['inDocument']} rows in the document ({seen['nodes']:,} nodes), "
            f"heap {seen['heap'] / 1_000_000:.0f} MB"
        )
    print("".join(f"  complained: {one}\n" for one in complaints.said), end="")
    page.context.close()


def main() -> None:
    """Fill, serve, look."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--frames", type=int, default=600)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with Served(Path(folder)):
            pass  # it makes the store and the admin token
        fill(Path(folder) / "hourhand-data" / "hourhand.db", given.rows)
        print(f"SQLite, {given.rows:,} execution logs over {DAYS} days")
        with Served(Path(folder)) as served, chromium() as browser:
            for path in PATHS:
                look(browser, served, path, given.frames)


if __name__ == "__main__":
    main()
