"""What a browser must fetch before it shows a page for the first time: bytes as they are transferred, by page.

python bench/ui_load.py

Build the UI first (`make ui`). Charts are counted apart: they come when the page has been drawn without them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from e2e.browsing import Complaints, chromium, open_page
from serving import Served

GOAL_KB = 450
PAGES = ("/", "/instances", "/tasks", "/tasks/new", "/graph", "/timeline", "/calendar", "/executors", "/operations")
FETCHED = """
() => [performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource")]
  .filter((one) => !one.name.includes("/api/"))
  .map((one) => [one.name, one.transferSize])
"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def main() -> int:
    """Measure, and say whether the landing page is within the goal."""
    landing = 0.0
    with tempfile.TemporaryDirectory() as folder, Served(Path(folder), "--demo") as served, chromium() as browser:
        for path in PAGES:
            page = open_page(browser, served, Complaints())  # a window of its own: nothing is in its cache
            page.goto(path)
            page.get_by_role("heading", level=1).wait_for()
            page.wait_for_timeout(1_500)
            fetched = page.evaluate(FETCHED)
            charts = sum(size for name, size in fetched if "/charts-" in name) / 1000
            whole = sum(size for _, size in fetched) / 1000
            landing = whole - charts if path == "/" else landing
            painted = page.evaluate(PAINTED)
            files = f"{whole - charts:7.0f} kB in {len(fetched)} files, charts {charts:4.0f} kB"
            print(f"{path:<14}{files}, first paint {painted:5.0f} ms")
            page.context.close()
    return 0 if landing <= GOAL_KB else 1


if __name__ == "__main__":
    sys.exit(main())
