"""Operations: what the three boundary kinds share: the dialect's own module plans and acts."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Plan, Step, Undo
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.config import TableConfig
from hourhand.operations.failures import OperationFailure, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.partitions import mariadb, postgresql, sqlserver
from hourhand.operations.partitions.shapes import BoundaryState, PartitionPlan
from hourhand.operations.work import LiveWork

C = TypeVar("C", bound=TableConfig)
MODULES: dict[Dialect, ModuleType] = {
    Dialect.POSTGRESQL: postgresql,
    Dialect.MARIADB: mariadb,
    Dialect.MYSQL: mariadb,
    Dialect.SQLSERVER: sqlserver,
}
GIVING_UP_SECONDS = 20.0
NO_PARTITIONS = "SQLite has no partitions; use data_cleanup or archive_bulk_copy to keep its tables small"


class BoundaryKind(Kind[C, BoundaryState]):
    """Derive from it, and say by `planned` which of the dialect's functions plans."""

    refused: ClassVar = {Dialect.SQLITE: NO_PARTITIONS}
    marks_destructive: ClassVar[bool] = True
    """No rows are lost by moving bounds: what is dropped is empty, or was copied."""

    async def inspect(self, config: C, look: Look) -> BoundaryState:
        """The table, which must be partitioned by ranges, and what the dialect looks at beside it."""
        table = await read_table(look.source, config.schema_name, config.table)
        require_ranges(table)
        facts = await MODULES[look.source.dialect].inspect(config, look, table)
        return BoundaryState(look.source.dialect, table, facts)

    def script_state(self, config: C) -> BoundaryState:
        """The table as it is named."""
        table = Table(dialect=Dialect.SQLSERVER, schema=config.schema_name or "dbo", name=config.table, columns=())
        return BoundaryState(Dialect.SQLSERVER, table, MODULES[Dialect.SQLSERVER].script_facts(config))

    @abstractmethod
    def planned(self, module: ModuleType, config: C, state: BoundaryState) -> PartitionPlan:
        """Have the dialect's module plan."""

    def plan(self, config: C, state: BoundaryState) -> Plan:
        """Decide, without looking."""
        made = self.planned(MODULES[state.dialect], config, state)
        return Plan(
            kind=self.kind,
            dialect=state.dialect,
            config=config.plain(),
            steps=made.steps,
            preconditions=made.preconditions,
            notes=made.notes,
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """As the dialect can tell."""
        estimated: Plan = await MODULES[plan.dialect].estimate(look, plan)
        return estimated

    async def execute(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """Do the steps; what is cancelled, or cannot succeed, leaves nothing behind that holds others up."""
        try:
            return await super().execute(work, plan)
        except asyncio.CancelledError:
            await self._given_up(work, plan)
            raise
        except OperationFailure as error:
            if not error.retryable:
                await self._given_up(work, plan)
            raise

    async def _given_up(self, work: LiveWork, plan: Plan) -> None:
        give_up = getattr(MODULES[plan.dialect], "give_up", None)
        if give_up is not None:
            with suppress(OperationFailure):
                await asyncio.shield(asyncio.wait_for(give_up(work, plan), GIVING_UP_SECONDS))

    def _body(self, work: LiveWork, step: Step) -> Callable[[], Awaitable[object]]:
        """An action is the dialect's, too."""
        if step.action is None:
            return lambda: work.execute(step)
        action = MODULES[work.plan.dialect].ACTIONS[step.action]
        return lambda: action(work, step)


def require_ranges(table: Table) -> None:
    """Refuse what has no boundaries."""
    if table.strategy is None:
        raise Refused(f"{table.shown} is not partitioned: there is no boundary to work on", field="table")
    if table.strategy != "range":
        raise Refused(
            f"{table.shown} is partitioned by {table.strategy}: only partitions by range have boundaries", field="table"
        )


def taken_back(kind: str, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
    """The opposite, at the boundary that the summary names (`undo_boundary`); None where it names none."""
    boundary = summary.get("undo_boundary")
    if boundary is None:
        return None
    kept = ("data_source", "schema", "table", "lock_timeout_ms", "lock_retries", "verify")
    return Undo(kind=kind, config={name: plan.config[name] for name in kept} | {"boundary": boundary})
