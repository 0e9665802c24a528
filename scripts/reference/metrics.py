"""docs/reference/metric-names.md: what `/metrics` tells, read off the registry."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Histogram
from prometheus_client.metrics import MetricWrapperBase

from hourhand.service.metrics import REGISTRY
from hourhand.service.scrape import OF_GROUPS
from reference.markdown import code, page, table

INTRODUCTION = (
    "What a scrape of `/metrics` answers. How to scrape, which of them to sum and which to take the maximum of, is in "
    "[metrics and health](metrics.md)."
)
OF_A_PROCESS = "Beside these there are the usual `process_…` figures: memory, processor time, open files."


def metrics() -> str:
    """Write the page."""
    groups = [(code(name), "gauge", code("group"), text, "") for name, (text, _) in OF_GROUPS.items()]
    answered = (code("hourhand_store_up"), "gauge", "", "Whether the store answered this process", "")
    head = ["metric", "type", "labels", "what", "buckets"]
    return page(
        "Metric names",
        INTRODUCTION,
        "## Of the cluster",
        "Every process tells the same.",
        table(head, [*groups, answered]),
        "## Of this process",
        table(head, [*_own()]),
        OF_A_PROCESS,
    )


def _own() -> Iterator[tuple[str, str, str, str, str]]:
    for metric in sorted(REGISTRY._collector_to_names, key=lambda one: str(getattr(one, "_name", ""))):  # noqa: SLF001
        if not isinstance(metric, MetricWrapperBase):
            continue  # the library's figures of the process, which differ by platform
        kind = str(metric._type).replace("info", "gauge")  # noqa: SLF001
        suffix = {"counter": "_total", "info": "_info"}.get(str(metric._type), "")  # noqa: SLF001
        labels = metric._labelnames or (("version",) if suffix == "_info" else ())  # noqa: SLF001
        buckets = metric._kwargs.get("buckets", ()) if isinstance(metric, Histogram) else ()  # noqa: SLF001
        yield (
            code(f"{metric._name}{suffix}"),  # noqa: SLF001
            kind,
            ", ".join(map(code, labels)),
            metric._documentation,  # noqa: SLF001
            " ".join(f"{float(bound):g}" for bound in buckets),
        )
