"""Service: what a scrape of `/metrics` is answered: this process's own metrics, and the cluster's figures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder

from hourhand.contracts.store import Store
from hourhand.model.errors import StoreError
from hourhand.model.figures import GroupFigures
from hourhand.service.metrics import REGISTRY

KEPT_SECONDS = 5.0
AT_MOST_A_FIFTIETH = 50
"""Reading them again waits this many times as long as they took to read: scrapers cannot load the store."""
ANSWER_SECONDS = 3.0
OF_GROUPS: dict[str, tuple[str, Callable[[GroupFigures], float]]] = {
    "hourhand_instances_due": ("Pending instances that could be claimed now", lambda one: one.due),
    "hourhand_instances_later": ("Pending instances whose time has not come", lambda one: one.later),
    "hourhand_instances_planned": ("Planned instances", lambda one: one.planned),
    "hourhand_instances_running": ("Running instances", lambda one: one.running),
    "hourhand_instances_zombie": ("Running instances whose lease has run out", lambda one: one.zombies),
    "hourhand_oldest_due_seconds": (
        "How long the oldest due instance has been waiting to be claimed",
        lambda one: one.oldest_due_seconds,
    ),
    "hourhand_executors": ("Executors that are alive", lambda one: one.executors),
    "hourhand_executor_slots": ("Instances that the executors alive can run at once", lambda one: one.slots),
    "hourhand_executor_slots_used": ("Slots of these that are taken", lambda one: one.slots_used),
}


class Scrape:
    """Answers scrapes. The cluster's figures are read once for many of them; when the store is away they are absent."""

    def __init__(self, store: Store | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.store = store
        self._clock = clock
        self._reading = asyncio.Lock()
        self._figures: Sequence[GroupFigures] | None = None
        self._until = 0.0

    async def answer(self, accept: str = "") -> tuple[bytes, str]:
        """Return the text and its content type, in the form that the scraper likes best."""
        figures = await self._read()
        encode, content_type = choose_encoder(accept)
        return encode(_Collected(figures)), content_type

    async def _read(self) -> Sequence[GroupFigures] | None:
        async with self._reading:  # of many scrapers one reads, and the others get what it read
            if self._clock() < self._until:
                return self._figures
            begun = self._clock()
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    self._figures = None if self.store is None else await self.store.figures()
            except (StoreError, TimeoutError):
                self._figures = None
            took = self._clock() - begun
            self._until = begun + max(KEPT_SECONDS, AT_MOST_A_FIFTIETH * took)
            return self._figures


class _Collected:
    """Everything there is, as the library's encoders want it."""

    def __init__(self, figures: Sequence[GroupFigures] | None) -> None:
        self._figures = figures

    def collect(self) -> Iterable[Metric]:
        """Return the metrics, without the library's times of birth: they would double the number of series."""
        for metric in (*REGISTRY.collect(), *self._of_the_cluster()):
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric

    def _of_the_cluster(self) -> Iterator[Metric]:
        answered = float(self._figures is not None)
        yield GaugeMetricFamily("hourhand_store_up", "Whether the store answered this process", value=answered)
        for name, (documentation, value) in OF_GROUPS.items():
            family = GaugeMetricFamily(name, documentation, labels=("group",))
            for one in self._figures or ():
                family.add_metric((one.group,), value(one))
            yield family
