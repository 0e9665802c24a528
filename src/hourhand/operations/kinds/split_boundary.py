"""Operations: split_boundary: one partition becomes two, with its rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from hourhand.model.operation import Plan, Undo
from hourhand.operations.partitions.kind import BoundaryKind, taken_back
from hourhand.operations.partitions.shapes import BoundaryState, PartitionPlan, SplitConfig


class SplitBoundary(BoundaryKind[SplitConfig]):
    """Split the partition that holds a value into what lies below it and what does not, while others read and write."""

    kind: ClassVar[str] = "split_boundary"
    number: ClassVar[int] = 11
    title: ClassVar[str] = "Split a partition at a boundary"
    config = SplitConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "table": "orders", "boundary": "2026-02-01"}

    def planned(self, module: ModuleType, config: SplitConfig, state: BoundaryState) -> PartitionPlan:
        """Have the dialect's module plan."""
        made: PartitionPlan = module.plan_split(config, state)
        return made

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """Merge what was split; where nothing was to be done, there is nothing to take back."""
        return taken_back("merge_boundary", plan, summary)
