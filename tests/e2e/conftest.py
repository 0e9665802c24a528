"""Fixtures of the browser tests: one server with the demo's tasks, one Chromium, a fresh window for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from e2e.browsing import Complaints, chromium, open_page
from serving import Served

Opens = Callable[..., Page]
expect.set_options(timeout=15_000)  # a busy machine is slow, not wrong
SHOTS = Path("/tmp/hourhand-e2e")  # noqa: S108  # where a failed test leaves what it saw


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the demo: tasks of every kind and a past to look at."""
    with Served(tmp_path_factory.mktemp("served"), "--demo", HOURHAND_GRACE_SECONDS="1") as running:
        yield running


@pytest.fixture
def api(served: Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """Whatever any window of the test complains about fails it, at its end."""
    heard = Complaints()
    yield heard
    assert heard.left == []


@pytest.fixture
def opens(browser: Browser, served: Served, complaints: Complaints, request: pytest.FixtureRequest) -> Iterator[Opens]:
    """Open a window: `opens()`, or `opens(language="zh", theme="dark", size=NARROW)`."""
    opened: list[Page] = []

    def opening(**wishes: Any) -> Page:
        page = open_page(browser, wishes.pop("served", served), complaints, **wishes)
        opened.append(page)
        return page

    yield opening
    report = getattr(request.node, "report_of_call", None)
    for number, page in enumerate(opened):
        if report is not None and report.failed:
            SHOTS.mkdir(exist_ok=True)
            page.screenshot(path=SHOTS / f"{request.node.name}-{number}.png")
        page.context.close()


@pytest.fixture
def page(opens: Opens) -> Page:
    return opens()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Let fixtures know how the test went."""
    report = yield
    if report.when == "call":
        item.report_of_call = report  # type: ignore[attr-defined]
    return report
