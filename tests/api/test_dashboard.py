"""The dashboard asks only for what `/metrics` answers: every metric, every label, every value it filters by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import promql_parser as promql
import pytest

from api.answers import API, ok
from api.test_metrics import ended, scrape
from serving import Served

if TYPE_CHECKING:
    from scraping import Scraped

DASHBOARD = Path(__file__).resolve().parents[2] / "deploy" / "grafana" / "hourhand.json"
PANELS: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
TARGETS = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
Asked = tuple[promql.VectorSelector, frozenset[str]]
"""One metric that is asked for, and the labels that its values are grouped by."""


def parsed(expression: str) -> promql.Expr:
    filled = expression.replace("$__rate_interval", "5m").replace("$group", ".*")
    assert "$" not in filled, "a variable that the dashboard does not have"
    return promql.parse(filled)


def asked(expression: promql.Expr, by: frozenset[str] = frozenset()) -> Iterator[Asked]:
    match expression:
        case promql.VectorSelector():
            yield expression, by
        case promql.MatrixSelector():
            yield expression.vector_selector, by
        case promql.AggregateExpr():
            labels = frozenset(expression.modifier.labels) if expression.modifier else frozenset()
            yield from asked(expression.expr, by | labels)
        case promql.Call():
            for argument in expression.args:
                yield from asked(argument, by)
        case promql.BinaryExpr():
            yield from asked(expression.lhs, by)
            yield from asked(expression.rhs, by)
        case promql.NumberLiteral():
            return
        case _:
            raise AssertionError(f"teach this test to read {type(expression).__name__}")


def matches(matcher: promql.Matcher, value: str) -> bool:
    if matcher.op == promql.MatchOp.Equal:
        return value == matcher.value
    assert matcher.op == promql.MatchOp.Re
    return re.fullmatch(matcher.value, value) is not None


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Scraped:
    with Served(tmp_path_factory.mktemp("dashboard")) as served, served.client() as client:
        given = {"name": "a", "type": "command", "payload": {"command": ["true"]}}
        task = ok(client.post(f"{API}/tasks", json=given), 201)
        ended(client, [ok(client.post(f"{API}/tasks/{task['id']}/run"), 202)["id"]])
        return scrape(client)


@pytest.mark.parametrize(("title", "target"), TARGETS, ids=[f"{title} {target['refId']}" for title, target in TARGETS])
def test_a_query_asks_for_what_there_is(scraped: Scraped, title: str, target: dict[str, Any]) -> None:
    selectors = list(asked(parsed(target["expr"])))
    assert selectors, title
    for selector, by in selectors:
        assert selector.name is not None
        samples = list(scraped.samples(selector.name))
        assert samples, f"{title}: there is no {selector.name}"
        found = [
            labels
            for labels, _ in samples
            if all(one.name in labels and matches(one, labels[one.name]) for one in selector.matchers.matchers)
        ]
        assert found, f"{title}: no sample of {selector.name} has {selector.matchers}"
        assert by <= found[0].keys(), f"{title}: {selector.name} has no {by - found[0].keys()}"


@pytest.mark.parametrize(("title", "target"), TARGETS, ids=[f"{title} {target['refId']}" for title, target in TARGETS])
def test_a_legend_names_labels_that_are_left(title: str, target: dict[str, Any]) -> None:
    shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    for _, by in asked(parsed(target["expr"])):
        assert shown <= by, title


def test_gauges_of_the_cluster_are_never_summed_over_processes() -> None:
    """Each process tells the same: a sum would be as many times too large as there are processes."""
    for title, target in TARGETS:
        for name in re.findall(r"hourhand_(?:instances_(?!ended)\w+|executor\w*)", target["expr"]):
            assert f"max by (group) ({name}" in target["expr"], title


def test_the_dashboard_shows_the_five_key_figures_first_and_lets_one_choose_its_source() -> None:
    titles = [panel["title"] for panel in PANELS[:5]]
    assert titles == ["Due, waiting to be claimed", "Running", "Failure rate", "Average duration", "Zombies"]
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    assert [one["name"] for one in dashboard["templating"]["list"]] == ["datasource", "group"]
    for panel in PANELS:
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["description"]
