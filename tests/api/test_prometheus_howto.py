"""What the how-to about Prometheus asks is PromQL, and asks only for what `/metrics` answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import promql_parser as promql
import pytest
import yaml

from api.test_dashboard import asked, matches, scraped
from docs.blocks import ROOT, blocks_of

if TYPE_CHECKING:
    from scraping import Scraped

__all__ = ["scraped"]  # the fixture
PAGE = "docs/howto/prometheus.md"
FILES = {block.title: yaml.safe_load(block.text) for block in blocks_of(PAGE) if block.language == "yaml"}
RULES: list[dict[str, Any]] = FILES["hourhand-rules.yml"]["groups"][0]["rules"]
OF_PROMETHEUS = {"up"}
"""What Prometheus itself knows of each process."""
BY_EYE = re.findall(r"^\| [^|]+\? \| `([^`]+)` \|$", (ROOT / PAGE).read_text("utf-8"), re.MULTILINE)
QUERIES = [(rule["alert"], rule["expr"]) for rule in RULES] + [(query, query) for query in BY_EYE]


@pytest.mark.parametrize(("name", "query"), QUERIES, ids=[name for name, _ in QUERIES])
def test_a_query_of_the_page_asks_for_what_there_is(scraped: Scraped, name: str, query: str) -> None:
    selectors = list(asked(promql.parse(query)))
    assert selectors, name
    for selector, by in selectors:
        if selector.name in OF_PROMETHEUS:
            continue
        found = [
            labels
            for labels, _ in scraped.samples(str(selector.name))
            if all(one.name in labels and matches(one, labels[one.name]) for one in selector.matchers.matchers)
        ]
        assert found, f"no sample of {selector.name} has {selector.matchers}"
        assert by <= found[0].keys(), f"{selector.name} has no {by - found[0].keys()}"


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_a_rule_says_what_it_means_by_labels_that_are_left(rule: dict[str, Any]) -> None:
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    for selector, by in asked(promql.parse(rule["expr"])):
        assert selector.name in OF_PROMETHEUS or shown <= by


def test_the_page_has_rules_and_questions() -> None:
    assert len(RULES) >= 10
    assert len(BY_EYE) >= 4


def test_figures_of_the_cluster_are_never_summed_over_processes() -> None:
    for name, query in QUERIES:
        for metric in re.findall(r"hourhand_(?:instances_(?!ended)\w+|executor\w*|oldest\w+)", query):
            assert f"max by (group) ({metric}" in query, name
