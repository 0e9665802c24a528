"""Reading what `/metrics` answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from prometheus_client.parser import text_string_to_metric_families

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Metric


@dataclass(frozen=True)
class Scraped:
    """One answer, read by the library's own parser."""

    families: tuple[Metric, ...]

    @classmethod
    def read(cls, text: str) -> Self:
        return cls(tuple(text_string_to_metric_families(text)))

    @property
    def names(self) -> set[str]:
        """The metrics by the names that `# TYPE` gives them."""
        return {f"{one.name}_total" if one.type == "counter" else one.name for one in self.families}

    def samples(self, name: str) -> Iterable[tuple[dict[str, str], float]]:
        return [(sample.labels, sample.value) for one in self.families for sample in one.samples if sample.name == name]

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples that have these labels; 0 where there are none."""
        return sum(value for found, value in self.samples(name) if labels.items() <= found.items())
