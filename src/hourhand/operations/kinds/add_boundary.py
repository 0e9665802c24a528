"""Operations: add_boundary: partitions for what is to come, or for what is older than the first."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from hourhand.operations.partitions.kind import BoundaryKind
from hourhand.operations.partitions.shapes import AddConfig, BoundaryState, PartitionPlan


class AddBoundary(BoundaryKind[AddConfig]):
    """Add partitions beside those there are; what is there is left alone, so that it can be done every night."""

    kind: ClassVar[str] = "add_boundary"
    number: ClassVar[int] = 10
    title: ClassVar[str] = "Add partitions at new boundaries"
    config = AddConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "orders",
        "interval": "1 month",
        "premake_count": 3,
    }

    def planned(self, module: ModuleType, config: AddConfig, state: BoundaryState) -> PartitionPlan:
        """Have the dialect's module plan."""
        made: PartitionPlan = module.plan_add(config, state)
        return made
