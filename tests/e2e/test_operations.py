"""Operations in a real browser, on a real PostgreSQL: from the wizard to a verified end, and back again."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from e2e.browsing import NARROW, Complaints
from e2e.commands import API, until
from e2e.conftest import Opens
from e2e.databases import operated, source
from examples.test_operation_kind import installed
from mariadb import PASSWORD, MariaServer
from postgres import Cluster
from serving import Served

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "operation-kind"


@pytest.fixture(scope="module")
def shop(served: Served, cluster: Cluster) -> Iterator[str]:
    """The name of a data source, and of its database, with a partition of orders for each month of 2025."""
    url = cluster.create_database()
    name = url.rsplit("/", 1)[1]
    with served.client() as api:
        source(api, name, url)
        source(api, f"{name}-again", url)
        operated(api, "sample", {"data_source": name, "table": "orders", "rows": 3_000})
    yield name
    cluster.drop_database(url)


def test_an_operation_goes_from_the_wizard_to_its_verified_end_and_is_taken_back(
    page: Page, complaints: Complaints, cluster: Cluster, shop: str
) -> None:
    complaints.expected.append("422")
    page.goto("/operations")
    page.get_by_role("textbox", name="Search by name").fill("split")
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("link", name="Split a partition at a boundary").click()

    # What is wrong is said at its field.
    form = page.get_by_role("group", name="Configuration")
    form.get_by_role("combobox", name="Data source").click()
    page.get_by_title(shop, exact=True).click()
    form.get_by_label("Table").fill("order")
    form.get_by_label("Boundary").fill("2025-06-16")
    page.get_by_role("button", name="Preview").click()
    expect(form.get_by_role("alert")).to_contain_text("did you mean public.orders?")
    form.get_by_label("Table").fill("orders")
    page.get_by_role("button", name="Preview").click()

    # The preview says what it costs and what is executed.
    impact = page.get_by_role("region", name="Impact")
    expect(impact).to_contain_text("Nobody reads or writes")
    expect(impact).to_contain_text("ACCESS EXCLUSIVE on public.orders, for a moment")
    expect(page.get_by_role("region", name="Preconditions")).to_contain_text("owned by postgres")
    steps = page.get_by_role("region", name="Steps")
    swap = steps.get_by_role("row", name="swap in orders_2025_06")
    swap.get_by_role("button").click()
    expect(steps.get_by_label("swap in orders_2025_06")).to_contain_text("ATTACH PARTITION")
    script = page.get_by_role("region", name="Script")
    script.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert "ATTACH PARTITION" in page.evaluate("() => navigator.clipboard.readText()")

    # Back goes back to what was typed, and forward to the same plan; so does a reload.
    page.go_back()
    expect(form.get_by_label("Boundary")).to_have_value("2025-06-16")
    page.go_forward()
    page.get_by_role("button", name="Continue to approval").click()
    page.reload()
    words = page.get_by_role("region", name="What you approve")
    expect(words).to_contain_text("Nobody reads or writes: swap in orders_2025_06, orders_2025_06_16, for a moment")
    page.get_by_label("Notes").fill("June is too large")
    page.get_by_role("button", name=f"Start it on {shop}").click()
    end = page.get_by_role("region", name="How it ended")
    expect(end).to_contain_text("Done and verified", timeout=30_000)
    expect(page.get_by_text("the plan is the one that was approved")).to_be_visible()
    assert cluster.sql("SELECT to_regclass('orders_2025_06_16') IS NOT NULL", shop).strip() == "t"

    page.get_by_role("link", name="Undo the operation").click()
    expect(page.get_by_role("heading", name="Merge partitions at a boundary")).to_be_visible()
    expect(page.get_by_text("This takes back what was done by instance")).to_be_visible()
    page.get_by_role("button", name="Continue to approval").click()
    page.get_by_role("button", name=f"Start it on {shop}").click()
    expect(end).to_contain_text("Done and verified", timeout=30_000)
    assert cluster.sql("SELECT to_regclass('orders_2025_06_16') IS NULL", shop).strip() == "t"


def _cleanup(shop: str) -> str:
    config = f'{{"data_source": "{shop}", "table": "orders", "older_than": "400d", "time_column": "created_at"}}'
    return f"/operations/data_cleanup?step=preview&config={config}"


def test_what_deletes_is_confirmed_by_name_approved_as_it_is_now_and_dispatched_by_another(
    page: Page, api: httpx.Client, complaints: Complaints, cluster: Cluster, shop: str
) -> None:
    complaints.expected.append("409")
    page.goto(_cleanup(shop))
    expect(page.get_by_role("region", name="Steps")).to_contain_text("drop partition orders_2025_01")
    schedule = page.get_by_role("link", name="Make it a scheduled task")
    expect(schedule).to_have_attribute("href", re.compile("type=operation&payload=.*data_cleanup"))
    page.get_by_role("button", name="Continue to approval").click()
    expect(page.get_by_role("alert")).to_contain_text("drop partition orders_2025_01")
    start = page.get_by_role("button", name="Start it on")
    expect(start).to_be_disabled()
    page.get_by_label("to confirm").fill("shop")
    expect(start).to_be_disabled()
    page.get_by_label("to confirm").fill(shop)

    # Somebody else was faster: what has changed is said, and the new plan has to be read before it is approved.
    cluster.sql("DROP TABLE orders_2025_01", shop)
    start.click()
    refused = page.get_by_role("alert").filter(has_text="It was not started")
    expect(refused).to_contain_text("orders_2025_01")
    page.get_by_role("button", name="Look at the plan as it is now").click()
    expect(page.get_by_text("The plan has changed since you looked")).to_be_visible()
    steps = page.get_by_role("region", name="Steps")
    expect(steps).to_contain_text("drop partition orders_2025_02")
    expect(steps).not_to_contain_text("orders_2025_01")
    page.get_by_role("button", name="Continue to approval").click()
    page.get_by_label("to confirm").fill(shop)
    page.get_by_text("When somebody else dispatches it").click()
    page.get_by_role("button", name="Plan it, to be dispatched").click()

    expect(page.get_by_label("Why it is where it is")).to_contain_text("held until somebody dispatches it")
    expect(page.get_by_role("list", name="Phases of the plan")).to_contain_text("drop")
    assert cluster.sql("SELECT to_regclass('orders_2025_02') IS NOT NULL", shop).strip() == "t"
    page.get_by_role("button", name="Dispatch").click()
    end = page.get_by_role("region", name="How it ended")
    expect(end).to_contain_text("Nothing takes this one back", timeout=30_000)
    assert cluster.sql("SELECT to_regclass('orders_2025_02') IS NULL", shop).strip() == "t"
    instance = int(re.findall(r"instance=(\d+)", page.url)[0])
    assert until(api, instance, "success")["requested_by"] == "admin"
    page.goto("/operations")
    expect(page.get_by_role("region", name="Of late")).to_contain_text(f"data_cleanup #{instance}")


@pytest.fixture
def maria(api: httpx.Client) -> Iterator[str]:
    """The name of a data source on a MariaDB of its own, with a partition of orders for each month of 2025."""
    server = MariaServer()
    try:
        server.start()
        added = source(api, "maria-shop", server.create_database(), password=PASSWORD)
        operated(api, "sample", {"data_source": "maria-shop", "table": "orders", "rows": 1_200})
        yield "maria-shop"
        assert api.delete(f"{API}/data-sources/{added}").status_code == 204
    finally:
        server.stop()


def test_partitions_of_mariadb_go_from_the_wizard_to_their_verified_end(page: Page, maria: str) -> None:
    page.goto("/operations")
    page.get_by_role("link", name="Switch old partitions out of a table").click()
    form = page.get_by_role("group", name="Configuration")
    form.get_by_role("combobox", name="Data source").click()
    page.get_by_title(maria, exact=True).last.click()
    form.get_by_label("Table").first.fill("orders")
    form.get_by_text("optional settings").click()
    form.get_by_label("Older than").fill("400d")
    page.get_by_role("button", name="Preview").click()
    steps = page.get_by_role("region", name="Steps")
    expect(steps).to_contain_text("p2025_01")
    page.get_by_role("button", name="Continue to approval").click()
    page.get_by_role("button", name=f"Start it on {maria}").click()
    end = page.get_by_role("region", name="How it ended")
    expect(end).to_contain_text("Done and verified", timeout=30_000)


def test_a_kind_of_another_package_needs_no_code_of_the_ui(opens: Opens, tmp_path: Path) -> None:
    example = Path(shutil.copytree(EXAMPLE, tmp_path / "kind"))
    orders = tmp_path / "shop.db"
    with closing(sqlite3.connect(orders)) as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, note TEXT)")
        made.commit()
    with Served(example, PYTHONPATH=installed(example)) as served, served.client() as api:
        source(api, "shop", f"sqlite:///{orders}")
        page = opens(served=served)
        page.goto("/operations")
        added = page.get_by_role("region", name="Added by other packages")
        added.get_by_role("link", name="Give the room of deleted rows back").click()
        page.get_by_role("button", name="Fill in the example").click()
        expect(page.get_by_label("Table")).to_have_value("orders")
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_role("region", name="Worth knowing")).to_contain_text("SQLite vacuums the whole file")
        page.get_by_role("button", name="Continue to approval").click()
        page.get_by_role("button", name="Start it on shop").click()
        end = page.get_by_role("region", name="How it ended")
        expect(end).to_contain_text("bytes before", timeout=30_000)
        expect(end).to_contain_text("8 KiB")
        page.close()  # before its server goes, of which it would complain


def test_what_cannot_be_reached_or_is_a_script_says_what_to_do(
    opens: Opens, api: httpx.Client, complaints: Complaints
) -> None:
    complaints.expected.append("424")
    source(api, "gone", "postgresql://nobody@127.0.0.1:1/gone", test=False)
    source(api, "sold", "mssql://sa@127.0.0.1:1433/sold", test=False)
    page = opens(language="zh", theme="dark", size=NARROW)
    page.goto('/operations/statistics_update?config={"data_source": "gone", "tables": ["orders"]}')
    expect(page.get_by_role("heading", name="更新表的统计信息")).to_be_visible()
    expect(page.get_by_role("combobox", name="数据源")).to_be_visible()
    page.get_by_role("button", name="预览").click()
    expect(page.get_by_text("请测试数据源、修正其地址")).to_be_visible()
    _no_sideways(page)

    page.goto('/operations/statistics_update?step=preview&config={"data_source": "sold", "tables": ["orders"]}')
    expect(page.get_by_text("供审阅并手动执行的脚本")).to_be_visible()
    expect(page.get_by_role("region", name="脚本")).to_contain_text("UPDATE STATISTICS")
    expect(page.get_by_role("button", name="继续审批")).to_have_count(0)
    _no_sideways(page)
    page.goto("/operations")
    expect(page.get_by_role("region", name="归档")).to_be_visible()
    _no_sideways(page)
    for name in ("gone", "sold"):
        (found,) = [one for one in api.get(f"{API}/data-sources").json()["items"] if one["name"] == name]
        assert api.delete(f"{API}/data-sources/{found['id']}").status_code == 204


def _no_sideways(page: Page) -> None:
    wide, seen = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
