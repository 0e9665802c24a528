"""What surrounds every page: the search, the shortcuts, and that keys go where they should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Page

    from e2e.conftest import Opens


def test_the_search_finds_tasks_instances_groups_pages_and_deeds(page: Page, api: httpx.Client) -> None:
    page.goto("/settings")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.keyboard.press("/")
    search = page.get_by_role("combobox", name="A task, an instance's number, a page")
    expect(search).to_be_focused()
    page.keyboard.type("demo-back")
    expect(page.get_by_role("option", name="demo-backup")).to_be_visible()
    page.keyboard.press("Escape")
    expect(search).to_have_count(0)

    page.keyboard.press("/")
    instance = api.get("/api/v1/instances", params={"limit": 1}).json()["items"][0]["id"]
    page.keyboard.type(f"#{instance}")
    expect(page.get_by_role("option", selected=True)).to_have_text(f"Instance #{instance}")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{api.base_url}/instances/{instance}")

    page.keyboard.press("/")
    page.keyboard.type("demo-shop")
    page.get_by_role("group", name="Groups").get_by_role("option", name="demo-shop").click()
    expect(page).to_have_url(f"{api.base_url}/executors?group=demo-shop")

    page.keyboard.press("/")
    page.keyboard.type("dark")
    page.get_by_role("option", name="Dark theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    page.keyboard.press("/")
    page.keyboard.type("everything")
    page.get_by_role("option", name="Pause everything").click()
    expect(page.get_by_role("dialog")).to_contain_text("everything", ignore_case=True)


def test_keys_go_to_pages_and_along_rows_but_not_while_somebody_types(page: Page) -> None:
    page.goto("/audit")
    rows = page.locator("main .ant-table-row")
    expect(rows.first).to_be_visible()
    page.keyboard.press("j")
    expect(rows.first.get_by_role("button").first).to_be_focused()
    page.keyboard.press("j")
    expect(rows.nth(1).get_by_role("button").first).to_be_focused()
    page.keyboard.press("k")
    expect(rows.first.get_by_role("button").first).to_be_focused()

    page.get_by_role("combobox", name="Who").fill("gs")  # would lead to the settings
    expect(page.get_by_role("heading", name="Audit", level=1)).to_be_visible()
    page.get_by_role("combobox", name="Who").fill("")
    page.get_by_role("heading", name="Audit", level=1).click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="All shortcuts")).to_contain_text("Next row")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()


def test_who_may_little_is_offered_little(opens: Opens, api: httpx.Client) -> None:
    token = api.post("/api/v1/tokens", json={"name": "e2e-looks", "role": "viewer", "groups": ["demo-shop"]}).json()
    page = opens(token=token["token"])
    page.goto("/")
    names = page.get_by_role("navigation").get_by_role("link")
    expect(names.first).to_be_visible()
    assert not {"Users and tokens", "Audit", "Operations", "Alerts"} & set(names.all_inner_texts())
    page.keyboard.press("g")
    page.keyboard.press("x")  # the operations, which are not theirs
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("option", name="Sign out")).to_be_attached()
    expect(page.get_by_role("option", name="Pause everything")).to_have_count(0)
    expect(page.get_by_role("option", name="New task")).to_have_count(0)
