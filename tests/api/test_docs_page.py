"""`/docs` in a real browser: the whole document is there, and nothing comes from another host."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from serving import Served


def test_the_page_and_its_parts_are_public_and_ours_alone(visitor: httpx.Client) -> None:
    page = visitor.get("/docs")
    assert page.status_code == 200
    assert "default-src 'none'; script-src 'self'" in page.headers["content-security-policy"]
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(parts) == 3
    for part in parts:
        assert part.startswith("/docs/")
        assert visitor.get(part).status_code == 200
    assert visitor.get("/api/v1/openapi.json").status_code == 200
    assert visitor.get("/docs/other.js").status_code == 401


def test_a_browser_shows_every_operation(served: Served, visitor: httpx.Client, tmp_path: Path) -> None:
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
         "--virtual-time-budget=20000", "--dump-dom", f"{served.address}/docs"],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    document = visitor.get("/api/v1/openapi.json").json()
    operations = sum(len(methods) for methods in document["paths"].values())
    assert len(re.findall(r'class="opblock opblock-(?:get|post|patch|delete|put)"', shown)) == operations
    assert "list_tasks" in shown
