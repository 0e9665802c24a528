"""Settings: what is chosen holds, and the server tells of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page


def test_language_theme_and_clock_hold_after_a_reload(page: Page) -> None:
    page.goto("/settings")
    example = page.get_by_test_id("clock-example")
    expect(example).to_contain_text("GMT+")
    page.get_by_text("UTC", exact=True).click()
    expect(example).to_contain_text("UTC")
    page.locator("main").get_by_text("Dark", exact=True).click()
    page.locator("main").get_by_text("中文", exact=True).click()
    expect(page.get_by_role("heading", name="设置", level=1)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="设置", level=1)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(example).to_contain_text("UTC")


def test_the_server_tells_what_it_is_and_how_it_stands(page: Page, api: httpx.Client) -> None:
    page.goto("/settings")
    version = api.get("/api/v1/version").json()["version"]
    expect(page.get_by_text(f"Hourhand {version} on")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="demo-shop")).to_contain_text("/ 32")
    expect(page.get_by_text("You signed in with a token")).to_be_visible()
    expect(page.get_by_text("sample tasks are in the group demo-shop")).to_be_visible()
