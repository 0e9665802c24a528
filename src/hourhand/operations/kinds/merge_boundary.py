"""Operations: merge_boundary: partitions side by side become one, with their rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from hourhand.model.operation import Plan, Undo
from hourhand.operations.partitions.kind import BoundaryKind, taken_back
from hourhand.operations.partitions.shapes import BoundaryState, MergeConfig, PartitionPlan


class MergeBoundary(BoundaryKind[MergeConfig]):
    """Merge partitions that lie side by side into one, while others read and write."""

    kind: ClassVar[str] = "merge_boundary"
    number: ClassVar[int] = 12
    title: ClassVar[str] = "Merge partitions at a boundary"
    config = MergeConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "table": "orders", "boundary": "2026-02-01"}

    def planned(self, module: ModuleType, config: MergeConfig, state: BoundaryState) -> PartitionPlan:
        """Have the dialect's module plan."""
        made: PartitionPlan = module.plan_merge(config, state)
        return made

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """Split where two were merged; where more were, it takes one split for each boundary, by hand."""
        return taken_back("split_boundary", plan, summary)
