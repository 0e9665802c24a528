"""A real Chromium that looks at a real server, and remembers whatever it complains about."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import Browser, Page, sync_playwright

if TYPE_CHECKING:
    from serving import Served

Language = Literal["en", "zh"]
Theme = Literal["light", "dark"]
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
WIDE, NARROW = (1440, 900), (390, 844)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's browser."""
    path = shutil.which("chromium")
    assert path, "no chromium: run scripts/system-packages"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False, args=list(ARGUMENTS))
        yield browser
        browser.close()


@dataclass
class Complaints:
    """What a page complained about: errors of its own, what its policy forbade, requests that failed."""

    said: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    """Parts of what a test provokes on purpose, such as the browser's own line about a refused request."""

    def of(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("console", lambda line: self.said.append(f"{line.type}: {line.text}") if line.type == "error" else None)

    @property
    def left(self) -> list[str]:
        return [one for one in self.said if not any(part in one for part in self.expected)]


def open_page(
    browser: Browser,
    served: Served,
    complaints: Complaints,
    *,
    language: Language = "en",
    theme: Theme = "light",
    size: tuple[int, int] = WIDE,
    zone: str = "Europe/Berlin",
    token: str | None = "",
) -> Page:
    """Open a window of its own, signed in with the admin token (or another, or as nobody with None)."""
    context = browser.new_context(
        base_url=served.address,
        viewport={"width": size[0], "height": size[1]},
        timezone_id=zone,
        locale="zh-CN" if language == "zh" else "en-US",
        color_scheme=theme,
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(10_000)
    preferences = json.dumps({"theme": theme, "language": language, "clock": "browser"})
    # Only once: what a test chooses must survive a reload.
    context.add_init_script(
        f"localStorage.getItem('hourhand.preferences') ?? localStorage.setItem('hourhand.preferences', '{preferences}')"
    )
    page = context.new_page()
    complaints.of(page)
    if token is not None:
        answer = context.request.post("/api/v1/sessions", data={"token": token or served.token})
        assert answer.status == 201, answer.text()
    return page
