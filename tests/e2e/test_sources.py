"""Data sources in a real browser: added, tested, changed and deleted, with what is refused said at its field."""

from __future__ import annotations

import os

import httpx
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW, Complaints
from e2e.commands import API
from e2e.conftest import Opens
from e2e.databases import source
from postgres import Cluster


def test_a_data_source_is_added_tested_changed_and_deleted(
    page: Page, api: httpx.Client, complaints: Complaints, cluster: Cluster
) -> None:
    complaints.expected += ["422", "409"]
    name = f"books-{os.getpid()}"
    page.goto("/data-sources?new=1")
    form = page.get_by_role("dialog")
    save = form.get_by_role("button", name="Test and save")
    expect(save).to_be_disabled()
    expect(form.get_by_label("Name")).to_be_focused()
    form.get_by_label("Name").fill(name)
    form.get_by_role("textbox", name="URL").fill("postgresql://postgres@127.0.0.1:1/postgres")
    save.click()
    expect(form.get_by_text("127.0.0.1:1/postgres cannot be reached")).to_be_visible()

    form.get_by_text("Single fields", exact=True).click()
    form.get_by_label("Host").fill("127.0.0.1")
    form.get_by_label("Port").fill(str(cluster.port))
    form.get_by_label("Database", exact=True).fill("postgres")
    form.get_by_label("User").fill("postgres")
    form.get_by_label("Password", exact=True).fill("seven-quiet-otters")
    form.get_by_text("Options of PostgreSQL").click()
    form.get_by_role("combobox", name="Sslmode").click()
    page.get_by_title("prefer", exact=True).click()
    save.click()
    expect(form).to_be_hidden()
    row = page.get_by_role("row", name=name)
    expect(row).to_contain_text(f"127.0.0.1:{cluster.port}")
    expect(row).to_contain_text("sealed")
    expect(row.get_by_role("status")).to_contain_text("as postgres")  # it was tested to be saved
    row.get_by_role("button", name="Test").click()
    expect(row.get_by_role("status")).to_contain_text("answers: PostgreSQL")

    # The password is kept unless another is typed, and goes to no other server.
    row.get_by_role("button", name=f"Edit {name}").click()
    expect(form.get_by_label("Password", exact=True)).to_have_value("")
    form.get_by_label("Host").fill("localhost")
    expect(form.get_by_text("Type the password again")).to_be_visible()
    save.click()
    expect(form.get_by_text("is needed again")).to_be_visible()
    form.get_by_label("Host").fill("127.0.0.1")
    form.get_by_label("Database", exact=True).fill("template1")
    save.click()
    expect(form).to_be_hidden()
    expect(row).to_contain_text("template1")
    (found,) = [one for one in api.get(f"{API}/data-sources").json()["items"] if one["name"] == name]
    assert (found["has_password"], found["options"]) == (True, {"sslmode": "prefer"})

    # Who needs it is said before it is gone.
    payload = {"kind": "statistics_update", "config": {"data_source": name, "tables": ["t"]}}
    nightly = {"name": f"{name}-stats", "type": "operation", "payload": payload}
    task = api.post(f"{API}/tasks", json=nightly).json()["id"]
    row.get_by_role("button", name=f"Delete {name}").click()
    form.get_by_role("button", name="Delete the data source").click()
    expect(form.get_by_role("alert")).to_contain_text(f"{name}-stats")
    assert api.delete(f"{API}/tasks/{task}").is_success
    form.get_by_role("button", name="Delete the data source").click()
    expect(row).to_have_count(0)


def test_one_that_does_not_answer_says_why_and_what_worked_on_it_is_told(opens: Opens, api: httpx.Client) -> None:
    name = f"away-{os.getpid()}"
    number = source(api, name, "postgresql://nobody@127.0.0.1:1/away", test=False)
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto(f"/data-sources?source={number}")
    drawer = page.get_by_role("dialog", name=name)
    expect(drawer).to_contain_text("还没有运维操作使用过它")
    drawer.get_by_role("button", name="测试").click()
    expect(drawer.get_by_role("status")).to_contain_text("127.0.0.1:1")
    drawer.get_by_role("button", name="操作记录").click()
    expect(drawer.get_by_role("button", name="admin 测试").first).to_be_visible()
    wide, seen = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    drawer.get_by_role("button", name="关闭").click()
    expect(page).to_have_url("/data-sources")
    assert api.delete(f"{API}/data-sources/{number}").status_code == 204
