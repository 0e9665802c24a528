"""Operations: data_cleanup: rows that are no longer needed are deleted in small chunks, or by the partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import model_validator

from hourhand.contracts.operation import Look
from hourhand.model.operation import Plan, Step
from hourhand.operations.cleaning import (
    CleaningConfig,
    Rows,
    counted,
    do_delete,
    do_verify,
    estimated,
    find_rows,
    row_notes,
    row_preconditions,
    row_steps,
)
from hourhand.operations.cleaning_partitions import do_drop
from hourhand.operations.cleaning_script import script_plan
from hourhand.operations.config import TableConfig
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork


class DataCleanupConfig(CleaningConfig, TableConfig):
    """The rows of a table that go."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.older_than is None) != (self.time_column is None):
            message = "older_than and time_column belong together: give both, or `where` alone"
            raise ValueError(message)
        if self.where is None and self.older_than is None:
            message = "nothing says which rows go: give `where`, or `older_than` and `time_column`"
            raise ValueError(message)
        return self


class DataCleanup(Kind[DataCleanupConfig, Rows | None]):
    """Delete the rows of a table that qualify, without holding up those who use it."""

    kind: ClassVar[str] = "data_cleanup"
    number: ClassVar[int] = 50
    title: ClassVar[str] = "Delete rows that are no longer needed"
    marks_destructive: ClassVar[bool] = True
    config = DataCleanupConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "orders",
        "older_than": "400d",
        "time_column": "created_at",
    }

    async def inspect(self, config: DataCleanupConfig, look: Look) -> Rows:
        """The table, and what of it goes."""
        return await find_rows(config, look, config.schema_name, config.table)

    def script_state(self, config: DataCleanupConfig) -> None:
        """Nothing is known of it."""

    def plan(self, config: DataCleanupConfig, state: Rows | None) -> Plan:
        """Partitions, then rows, then a look at what is left."""
        if state is None:
            return script_plan(self.kind, config, config.schema_name, config.table)
        return Plan(
            kind=self.kind,
            dialect=state.table.dialect,
            config=config.plain(),
            steps=tuple(row_steps(config, state)),
            preconditions=tuple(row_preconditions(state)),
            notes=tuple(row_notes(config, state)),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How many rows go."""
        return await estimated(look, plan)

    async def do_drop(self, work: LiveWork, step: Step) -> None:
        """A partition as a whole."""
        await do_drop(work, step)

    async def do_delete(self, work: LiveWork, step: Step) -> None:
        """Chunk after chunk."""
        await do_delete(work, step)

    async def do_verify(self, work: LiveWork, step: Step) -> None:
        """Until nothing is left that qualifies."""
        await do_verify(work, step)

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002
        """How many rows went, and how many of those by the partition."""
        return counted(work.facts)
