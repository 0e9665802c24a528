"""`/metrics`: what is documented is there, what is there is documented, and nobody can make it grow or see too much."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from api.answers import API, ok, problem
from hourhand.api.app import create_app
from hourhand.model.access import Principal
from hourhand.model.words import Role
from hourhand.settings import Settings
from scraping import Scraped
from serving import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contracts.world import World
    from hourhand.store import Store

PATIENCE = 60.0
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(hourhand_\w+)` \| ([\w, ]*?) ?\| ", re.MULTILINE)


class Holders:
    """A token names the group that its holder is limited to; `all` is no limit."""

    async def holder(self, token: str) -> Principal | None:
        groups = frozenset({token}) - {"all"} or None
        return Principal(id="token:1", name="somebody", role=Role.VIEWER, groups=groups)


def client_of(store: Store, **settings: Any) -> httpx.AsyncClient:
    app = create_app(store, Settings(**settings), Holders())
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8420")


def scrape(client: httpx.Client) -> Scraped:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return Scraped.read(answer.text)


def ended(client: httpx.Client, instance_ids: list[int]) -> None:
    """Wait until all of these have ended."""
    deadline = time.monotonic() + PATIENCE
    for instance_id in instance_ids:
        while ok(client.get(f"{API}/instances/{instance_id}"))["end_time"] is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def worked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a store of each kind; five instances have succeeded there, and two have failed."""
    arguments: tuple[str, ...] = ()
    if request.param == "postgresql":
        cluster = request.getfixturevalue("cluster")
        url = cluster.create_database(template=request.getfixturevalue("postgresql_template"))
        arguments = ("--store", url)
    with Served(tmp_path_factory.mktemp("worked"), *arguments) as served:
        with served.client() as client:
            ids = []
            for name, times in (("true", 5), ("false", 2)):
                given = {"name": name, "type": "command", "payload": {"command": [name]}}
                task = ok(client.post(f"{API}/tasks", json=given), 201)
                ids += [ok(client.post(f"{API}/tasks/{task['id']}/run"), 202)["id"] for _ in range(times)]
            ended(client, ids)
        yield served
    if arguments:
        cluster.drop_database(url)


def test_five_that_succeeded_and_two_that_failed_are_told_as_such(worked: Served) -> None:
    with worked.visitor() as visitor:
        scraped = scrape(visitor)
    labels = {"group": "default", "type": "command"}
    counts = [
        scraped.value("hourhand_instances_ended_total", **labels, status=status)
        for status in ("success", "failed", "cancelled")
    ]
    assert counts == [5, 2, 0]
    assert scraped.value("hourhand_instance_duration_seconds_count", **labels) == 7
    assert scraped.value("hourhand_instance_lateness_seconds_count", group="default") == 7
    assert 0 <= scraped.value("hourhand_instance_lateness_seconds_sum", group="default") < 7 * PATIENCE
    assert scraped.value("hourhand_claim_batch_instances_sum", group="default") == 7
    assert scraped.value("hourhand_finish_batch_instances_sum", group="default") == 7
    assert scraped.value("hourhand_executors", group="default") == 1
    assert scraped.value("hourhand_executor_slots", group="default") == 32
    assert scraped.value("hourhand_instances_running", group="default") == 0
    assert scraped.value("hourhand_store_up") == 1
    assert scraped.value("hourhand_scheduler_cycle_seconds_count", chore="materialising") >= 1
    assert scraped.value("hourhand_api_requests_total", route=f"{API}/tasks", method="POST", status="2xx") == 2


def test_every_metric_is_documented_with_its_labels_and_nothing_else_is(worked: Served) -> None:
    documented = {name: {label for label in labels.split(", ") if label} for name, labels in ROW.findall(text())}
    with worked.visitor() as visitor:
        scraped = scrape(visitor)
    assert {name for name in scraped.names if name.startswith("hourhand_")} == documented.keys()
    assert all(name.startswith(("hourhand_", "process_")) for name in scraped.names)
    for family in scraped.families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {label for sample in family.samples for label in sample.labels} - {"le"}
        if family.samples and name in documented:
            assert labels == documented[name], name


def text() -> str:
    return DOCUMENT.read_text("utf-8")


def test_a_scraper_gets_the_form_that_it_asks_for(worked: Served) -> None:
    with worked.visitor() as visitor:
        plain = visitor.get("/metrics")
        open_metrics = visitor.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        head = visitor.head("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert open_metrics.text.endswith("# EOF\n")
    assert (head.status_code, head.text) == (200, "")


def test_whatever_is_asked_for_the_number_of_series_stays_what_the_routes_are(worked: Served) -> None:
    with worked.client() as client:
        for number in range(30):
            client.get(f"{API}/tasks/{1_000 + number}")
            client.get(f"{API}/no/such/thing/{number}")
            client.request(f"METHOD{number}", f"{API}/tasks")
        scraped = scrape(client)
    seen = [labels for labels, _ in scraped.samples("hourhand_api_requests_total")]
    assert {one["method"] for one in seen} <= {"GET", "HEAD", "POST", "other"}
    assert scraped.value("hourhand_api_requests_total", route=f"{API}/tasks/{{task_id}}", status="4xx") == 30
    assert scraped.value("hourhand_api_requests_total", route="other", method="GET") == 30
    assert not [one for one in seen if re.search(r"\d{2}", one["route"])]


async def test_other_machines_need_a_token_for_all_groups(store: Store) -> None:
    async with client_of(store, host="0.0.0.0", allow_remote=True) as client:  # noqa: S104 - nothing listens
        problem(await client.get("/metrics"), 401)
        refusal = problem(await client.get("/metrics", headers={"Authorization": "Bearer mine"}), 403)
        assert "is limited to some" in refusal["detail"]
        answer = await client.get("/metrics", headers={"Authorization": "Bearer all"})
        assert Scraped.read(answer.text).value("hourhand_store_up") == 1


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
async def test_a_proxy_on_this_machine_opens_nothing(store: Store, header: str) -> None:
    async with client_of(store) as client:
        assert (await client.get("/metrics")).status_code == 200
        problem(await client.get("/metrics", headers={header: "1.2.3.4"}), 401)


@pytest.mark.parametrize(
    ("host", "status"),
    [("evil.example", 401), ("127.0.0.1.evil.example:8420", 401), ("localhost", 200), ("[::1]:8420", 200)],
)
async def test_a_name_that_has_come_to_mean_this_machine_opens_nothing(store: Store, host: str, status: int) -> None:
    async with client_of(store) as client:
        assert (await client.get("/metrics", headers={"Host": host})).status_code == status


async def test_a_store_that_is_away_takes_only_its_own_figures_along(world: World) -> None:
    async with client_of(world.store) as client:
        await world.store.close()
        scraped = Scraped.read((await client.get("/metrics")).text)
    assert scraped.value("hourhand_store_up") == 0
    assert list(scraped.samples("hourhand_instances_due")) == []
    assert "hourhand_instances_due" in scraped.names
    assert list(scraped.samples("hourhand_store_outages_total")) != []
