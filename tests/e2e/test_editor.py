"""The editor: from a bad schedule to a good one, a task that runs after another, and what two people save at once."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Locator, Page, expect

from e2e.browsing import NARROW, Complaints

if TYPE_CHECKING:
    import httpx

    from e2e.conftest import Opens

REFUSED = "status of 422"
"""The browser's own line about a schedule that the server could not read."""


def new_task(api: httpx.Client, name: str, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/v1/tasks", json={"name": name, "type": "command", "payload": {"command": "true"}, **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def task_named(api: httpx.Client, name: str) -> dict[str, Any]:
    items = api.get("/api/v1/tasks", params={"name": name}).json()["items"]
    assert len(items) == 1
    found: dict[str, Any] = items[0]
    return found


def field(page: Page, label: str) -> Locator:
    return page.get_by_role("textbox", name=label, exact=True)


def pick(page: Page, label: str, typed: str, option: str) -> None:
    """Search in a list and choose from what it offers."""
    box = page.get_by_role("combobox", name=re.compile(f"^{label}"))
    box.click()
    box.press_sequentially(typed)
    page.locator(".ant-select-item-option", has_text=option).first.click()


def test_a_bad_schedule_is_told_at_its_field_and_a_good_one_shows_when_it_fires(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append(REFUSED)
    page.goto("/tasks/new")
    field(page, "Name").fill("editor-bad-then-good")
    expect(field(page, "Name")).to_be_focused()
    command = field(page, "Command")
    command.fill("echo hi | tee greeting")
    expect(page.get_by_role("alert")).to_contain_text("contains |, which only a shell understands")
    expect(page.get_by_role("button", name="Create task").first).to_be_disabled()
    page.get_by_role("button", name="Execute it in a shell").click()
    expect(page.get_by_role("alert")).to_have_count(0)

    page.get_by_text("Cron", exact=True).click()
    schedule = field(page, "Schedule")
    schedule.fill("61 2 * * *")
    expect(page.get_by_text("minute: '61' is out of range")).to_be_visible()
    expect(schedule).to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Create task").first.click()
    expect(page.get_by_role("alert").filter(has_text="schedule: minute: '61'")).to_be_visible()
    expect(schedule).to_be_focused()

    schedule.fill("30 2 * * *")
    expect(page.get_by_text("At 02:30", exact=True)).to_be_visible()
    instants = page.get_by_role("table", name="Next instants")
    expect(instants.locator("tbody tr")).to_have_count(8)
    expect(instants).to_contain_text("02:30:00")
    expect(page.get_by_text("fires at 03:00 instead")).to_be_visible()  # Europe/Berlin is the window's zone
    field(page, "Hour").fill("4")
    expect(schedule).to_have_value("30 4 * * *")
    expect(page.get_by_role("note", name="What will happen")).to_contain_text("At 04:30 (Europe/Berlin)")

    page.get_by_role("button", name="Create task").first.click()
    expect(page).to_have_url(re.compile(r"/tasks/\d+$"))
    made = task_named(api, "editor-bad-then-good")
    assert (made["schedule"], made["timezone"], made["payload"]) == (
        "30 4 * * *",
        "Europe/Berlin",
        {"command": "echo hi | tee greeting"},
    )


def test_a_task_by_another_clock_runs_after_another(opens: Opens, api: httpx.Client) -> None:
    upstream = new_task(api, "editor-upstream", schedule="0 1 * * *")
    page = opens(language="zh", theme="dark")
    page.goto("/tasks/new")
    field(page, "名称").fill("editor-上海")
    page.get_by_text("Cron", exact=True).click()
    field(page, "调度").fill("0 9 * * MON-FRI")
    pick(page, "时区", "中国", "Asia/Shanghai")
    expect(page.get_by_text("星期一至星期五").first).to_be_visible()
    expect(page.get_by_role("table", name="接下来的触发时刻")).to_contain_text("09:00:00")

    field(page, "命令").fill("echo -n '每日 报表'")
    page.get_by_role("button", name="依赖").click()
    pick(page, "在这些任务之后运行", "editor-upstream", "editor-upstream")
    page.keyboard.press("Escape")
    expect(page.get_by_role("group", name="它等待的任务")).to_contain_text("editor-upstream")
    page.get_by_role("button", name="重试与超时").click()
    page.get_by_role("spinbutton", name="重试次数").fill("3")
    story = page.get_by_role("note", name="将会发生什么")
    expect(story).to_contain_text("等待 editor-upstream 最近一次应触发的实例成功")
    expect(story).to_contain_text("分别等待 10 s, 20 s, 40 s")
    page.get_by_role("button", name="创建任务").first.click()
    expect(page).to_have_url(re.compile(r"/tasks/\d+$"))

    made = task_named(api, "editor-上海")
    assert made["timezone"] == "Asia/Shanghai"
    assert made["dependency_ids"] == [upstream["id"]]
    assert made["payload"] == {"command": ["echo", "-n", "每日 报表"]}
    assert made["max_retries"] == 3


def test_a_task_made_after_another_runs_when_that_has_succeeded(page: Page, api: httpx.Client) -> None:
    upstream = new_task(api, "editor-first", timezone="Asia/Shanghai")
    page.goto(f"/tasks/{upstream['id']}")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="New task after this one").click()
    field(page, "Name").fill("editor-second")
    field(page, "Command").fill("echo after")
    expect(page.get_by_role("combobox", name=re.compile("^Time zone"))).to_be_visible()
    around = page.get_by_role("group", name="What it waits for")  # open by itself, for who chose to run after others
    expect(around).to_contain_text("editor-first")
    page.get_by_role("button", name="About it").click()
    tags = page.get_by_role("textbox", name="Tags", exact=True)
    for tag in ("kept", "mistaken"):
        tags.fill(tag)
        tags.press("Enter")
    tags.press("Backspace")
    page.get_by_role("button", name="Create task").first.click()
    expect(page).to_have_url(re.compile(r"/tasks/\d+$"))
    made = task_named(api, "editor-second")
    assert (made["timezone"], made["schedule"], made["tags"]) == ("Asia/Shanghai", "@upstream", ["kept"])

    api.post(f"/api/v1/tasks/{upstream['id']}/run", json={}).raise_for_status()
    expect(page.get_by_role("row").filter(has_text="dependency")).to_contain_text("success")


def test_who_saves_second_sees_what_the_other_changed_and_decides(
    page: Page, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append("status of 409")
    task = new_task(api, "editor-two-people", description="first", priority=5)
    page.goto(f"/tasks/{task['id']}/edit")
    page.get_by_role("button", name="About it").click()
    field(page, "Description").fill("mine")
    page.get_by_role("button", name="Where and how many").click()
    page.get_by_role("spinbutton", name="Priority").fill("2")

    assert api.patch(f"/api/v1/tasks/{task['id']}", json={"description": "theirs", "owner": "Ada"}).status_code == 200
    page.get_by_role("button", name="Save as version 2").first.click()
    clash = page.get_by_role("dialog")
    expect(clash).to_contain_text("saved version 2 meanwhile")
    clash.get_by_role("radiogroup", name="Description").get_by_role("radio", name="Theirs").check()
    clash.get_by_role("button", name="Save as version 3").click()
    expect(page).to_have_url(re.compile(rf"/tasks/{task['id']}$"))

    saved = api.get(f"/api/v1/tasks/{task['id']}").json()
    assert (saved["description"], saved["priority"], saved["owner"], saved["version"]) == ("theirs", 2, "Ada", 3)


def test_leaving_with_something_unsaved_is_asked_about(page: Page, api: httpx.Client) -> None:
    task = new_task(api, "editor-leaving", description="kept")
    page.goto(f"/tasks/{task['id']}/edit")
    page.get_by_role("button", name="About it").click()
    field(page, "Description").fill("lost")
    page.get_by_role("link", name="Executors").click()
    asked = page.get_by_role("dialog", name="Leave without saving?")
    asked.get_by_role("button", name="Stay here").click()
    expect(field(page, "Description")).to_have_value("lost")
    page.get_by_role("link", name="Executors").click()
    asked.get_by_role("button", name="Discard changes").click()
    expect(page).to_have_url(re.compile("/executors$"))
    assert api.get(f"/api/v1/tasks/{task['id']}").json()["description"] == "kept"


def test_a_copy_has_another_name_and_sleeps(page: Page, api: httpx.Client, complaints: Complaints) -> None:
    complaints.expected.append("status of 409")
    task = new_task(api, "editor-copied", schedule="@every 1h", tags=["nightly"])
    page.goto(f"/tasks/new?copy={task['id']}")
    name = field(page, "Name")
    expect(name).to_have_value("editor-copied-copy")
    name.fill("editor-copied")
    page.get_by_role("button", name="Create task").last.click()
    expect(name).to_be_focused()
    expect(name).to_be_in_viewport()
    expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("editor-copied-copy")
    expect(name).not_to_have_attribute("aria-invalid", "true")
    page.get_by_role("button", name="Create task").first.click()
    expect(page).to_have_url(re.compile(r"/tasks/\d+$"))
    made = task_named(api, "editor-copied-copy")
    assert (made["enabled"], made["schedule"], made["tags"]) == (False, "@every 1h", ["nightly"])


def test_every_schema_of_every_kind_is_drawn_and_its_example_comes_back_as_it_was(
    page: Page, api: httpx.Client
) -> None:
    """All that `/kinds` has, in one schema: the examples go in as JSON, through the form, and out again."""
    kinds = api.get("/api/v1/kinds").json()["items"]
    schemas = {one["name"]: one["parameters"] for one in kinds}
    defined = {name: inner for schema in schemas.values() for name, inner in schema.get("$defs", {}).items()}
    whole = {"type": "object", "properties": schemas, "required": list(schemas), "$defs": defined}
    examples = {one["name"]: one["example"] for one in kinds}

    page.goto("/tasks/new")
    page.get_by_role("button", name="Arguments").click()
    field(page, "JSON Schema of the arguments").fill(json.dumps(whole))
    form = page.get_by_role("group", name="The form that people will see", exact=True)
    for name in ("command", "custom", "webhook"):
        drawn = form.get_by_role("group", name=name.capitalize(), exact=True).first
        for key in schemas[name]["required"]:
            expect(drawn.get_by_title(key, exact=True).first).to_be_visible()
    # Only what may be anything is left to JSON.
    assert form.locator("textarea.schema-json").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    ) == ["Json"]

    bar = form.get_by_label("Form or JSON", exact=True)
    bar.get_by_text("JSON", exact=True).click()
    text = form.get_by_role("textbox")
    text.fill(json.dumps(examples))
    bar.get_by_text("Form", exact=True).click()
    expect(form.get_by_role("group", name="Steps 1")).to_be_visible()
    expect(form.get_by_text("Other keys")).to_have_count(0)
    bar.get_by_text("JSON", exact=True).click()
    assert json.loads(text.input_value()) == examples


def test_half_written_json_is_told_and_not_saved(page: Page) -> None:
    page.goto("/tasks/new")
    payload = page.get_by_role("group", name="Payload", exact=True)
    payload.get_by_label("Form or JSON", exact=True).get_by_text("JSON", exact=True).click()
    text = payload.get_by_role("textbox")
    text.fill("{")
    expect(payload.get_by_text("This is not JSON")).to_be_visible()
    expect(page.get_by_role("button", name="Create task").first).to_be_disabled()
    text.fill('{"command": "true"}')
    expect(page.get_by_role("button", name="Create task").first).to_be_enabled()
    payload.get_by_label("Form or JSON", exact=True).get_by_text("Form", exact=True).click()
    expect(field(page, "Command")).to_have_value("true")


def test_on_a_telephone_nothing_is_cut_off(opens: Opens, api: httpx.Client) -> None:
    task = new_task(api, "editor-narrow", args_schema={"type": "object", "properties": {"day": {"type": "string"}}})
    page = opens(size=NARROW)
    page.goto(f"/tasks/{task['id']}/edit")
    for name in ("Dependencies", "Retries and time limit", "Missed and", "Where and how many", "Arguments", "About it"):
        page.get_by_role("button", name=name).click()
    expect(page.get_by_role("group", name="The form that people will see")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= NARROW[0]
