"""Every page in both languages and both themes: nothing complains, no key is left raw, and everybody can use it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW

if TYPE_CHECKING:
    import httpx

    from e2e.browsing import Language, Theme
    from e2e.conftest import Opens

UI = Path(__file__).parents[2] / "ui"
AXE = UI / "node_modules" / "axe-core" / "axe.min.js"
RULES = """async () => {
  const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
  const found = await axe.run(document, { resultTypes: ["violations"], runOnly });
  const told = (one, node) => `${one.id}: ${node.html.slice(0, 160)} (${node.any[0]?.message ?? one.help})`;
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.slice(0, 3).map((node) => told(one, node)));
}"""
TEXTS = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode.nodeValue.trim());
  return texts.filter((text) => /^[A-Za-z][\\w-]*([.:][\\w-]+)+$/.test(text));
}"""
LEAST_PAGES = 14


def _namespaces() -> dict[str, Any]:
    return {file.stem: json.loads(file.read_text()) for file in (UI / "src" / "i18n" / "en").glob("*.json")}


def _raw_key() -> re.Pattern[str]:
    """What i18next shows where a text is missing: `page:key`, or a key that begins as those of some page do."""
    words = _namespaces()
    nested = {name for texts in words.values() for name, text in texts.items() if isinstance(text, dict)}
    return re.compile(rf"(?:(?:{'|'.join(words)}):[A-Za-z]\w*|(?:{'|'.join(nested)})\.[A-Za-z]\w*)(?:\.\w+)*")


RAW = _raw_key()


def _of_navigation(page: Page) -> list[str]:
    page.goto("/")
    links = page.get_by_role("navigation").get_by_role("link")
    expect(links.first).to_be_visible()
    paths = [str(link.get_attribute("href")) for link in links.all()]
    assert len(paths) >= LEAST_PAGES
    return paths


def _details(api: httpx.Client) -> list[str]:
    task = api.get("/api/v1/tasks", params={"q": "demo-backup"}).json()["items"][0]["id"]
    failed = api.get("/api/v1/instances", params={"status": "failed", "limit": 1}).json()["items"][0]["id"]
    operation = next(kind["name"] for kind in api.get("/api/v1/kinds").json()["items"] if kind["role"] == "operation")
    return [
        f"/tasks/{task}",
        f"/tasks/{task}/edit",
        "/tasks/new",
        f"/instances/{failed}",
        f"/operations/{operation}",
        "/alerts?tab=rules&rule=new",
        "/access?tab=tokens&token=new",
        "/access?tab=roles",
        "/sign-in",
        "/no-such-page",
    ]


def _settled(page: Page, path: str) -> None:
    """A page is there once it has a title and nothing of it is still awaited."""
    page.goto(path)
    expect(page.locator("h1, .ant-result-title").first).to_be_visible()
    expect(page.locator(".ant-skeleton, .ant-spin-spinning, .ant-skeleton-active")).to_have_count(0)


def _faults(page: Page, path: str, *, rules: bool) -> list[str]:
    try:
        _settled(page, path)
    except AssertionError as error:  # go on: all that is wrong is told at once
        return [f"{path}: {str(error).split('Aria')[0]}"]
    found = [f"{path}: a raw key: {text}" for text in page.evaluate(TEXTS) if RAW.fullmatch(text)]
    if rules:
        page.evaluate(AXE.read_text())
        found += [f"{path}: {fault}" for fault in page.evaluate(RULES)]
    return found


@pytest.mark.parametrize(
    ("language", "theme", "rules"),
    [("en", "light", True), ("en", "dark", False), ("zh", "light", False), ("zh", "dark", True)],
    ids=["en-light", "en-dark", "zh-light", "zh-dark"],
)
def test_every_page_is_whole(opens: Opens, api: httpx.Client, language: Language, theme: Theme, *, rules: bool) -> None:
    page = opens(language=language, theme=theme)
    paths = [*_of_navigation(page), *_details(api)]
    faults = [fault for path in paths for fault in _faults(page, path, rules=rules)]
    assert not faults, "\n".join(faults)
    assert page.locator("html").get_attribute("lang") == ("zh-CN" if language == "zh" else "en")
    assert page.locator("html").get_attribute("data-theme") == theme


def test_every_page_fits_a_phone(opens: Opens, api: httpx.Client) -> None:
    paths = [*_of_navigation(opens()), *_details(api)]
    page = opens(size=NARROW, language="zh")
    faults = []
    for path in paths:
        _settled(page, path)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > NARROW[0]:
            faults.append(f"{path} is {wide} px wide")
    assert not faults, "\n".join(faults)
