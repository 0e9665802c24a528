"""Operations: archive_switch: whole partitions leave a table at once, without a row being copied."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Plan, Step, Undo
from hourhand.operations.catalog import find_table, read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.kind import Kind
from hourhand.operations.partitions import switching_mariadb, switching_postgresql, switching_sqlserver
from hourhand.operations.partitions.switching import KIND, SwitchConfig, SwitchState
from hourhand.operations.work import LiveWork

MODULES: dict[Dialect, ModuleType] = {
    Dialect.POSTGRESQL: switching_postgresql,
    Dialect.MARIADB: switching_mariadb,
    Dialect.MYSQL: switching_mariadb,
    Dialect.SQLSERVER: switching_sqlserver,
}


class ArchiveSwitch(Kind[SwitchConfig, SwitchState]):
    """Switch whole partitions out of a table: kept as tables, taken over by an archive, or dropped once verified."""

    kind: ClassVar[str] = KIND
    number: ClassVar[int] = 30
    title: ClassVar[str] = "Switch old partitions out of a table"
    marks_destructive: ClassVar[bool] = True
    config = SwitchConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "orders",
        "older_than": "13m",
        "target_schema": "archive",
    }
    refused: ClassVar[Mapping[Dialect, str]] = {
        Dialect.SQLITE: "SQLite has no partitions; use archive_bulk_copy to move rows to another table"
    }

    async def inspect(self, config: SwitchConfig, look: Look) -> SwitchState:
        """The table, its partitions that leave, and where to."""
        table = await read_table(look.source, config.schema_name, config.table)
        found: SwitchState = await MODULES[look.source.dialect].inspect(config, look, table)
        return found

    def script_state(self, config: SwitchConfig) -> SwitchState:
        """The table as it is named."""
        schema = config.schema_name or "dbo"
        return SwitchState(table=Table(dialect=Dialect.SQLSERVER, schema=schema, name=config.table, columns=()))

    def plan(self, config: SwitchConfig, state: SwitchState) -> Plan:
        """As the dialect does it."""
        made = MODULES[state.table.dialect].plan(config, state)
        return Plan(
            kind=self.kind,
            dialect=state.table.dialect,
            config=config.plain(),
            steps=made.steps,
            preconditions=state.preconditions,
            notes=(*state.notes, *made.notes, *_export_notes(config, state)),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How much leaves, told once, at the step by which it does."""
        config = plan.config
        table = await find_table(look.source, config["schema"], config["table"])
        parts = {one.name: one for one in table.partitions} if table is not None else {}
        steps = []
        for step in plan.steps:
            part = parts.get(step.values.get("partition", ""))
            if part is not None and step.phase in ("detach", "switch"):
                steps.append(replace(step, rows=part.rows, bytes=part.bytes, disk_bytes=0))
            else:
                steps.append(step)
        return replace(plan, steps=tuple(steps))

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """Which partitions left, where they are now, and how many rows each has."""
        dropped = plan.config["after"] == "drop"
        archived = work.facts.get("archived", {})
        left = [
            {"partition": name, "table": None if dropped else one["table"], "rows": one["rows"]}
            for name, one in archived.items()
        ]
        known = [one["rows"] for one in left if one["rows"] is not None]
        found = {"partitions": left, "rows": sum(known) if len(known) == len(left) else None, "dropped": dropped}
        if plan.config["after"] == "export":
            found["next"] = [_export(plan, step) for step in plan.steps if step.phase == "verify"]
        return found

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """Put them back; what was dropped is gone."""
        if plan.config["after"] == "drop" or not summary.get("partitions"):
            return None
        steps = MODULES[plan.dialect].undo_steps(plan)
        kept = ("data_source", "lock_timeout_ms", "lock_retries")
        return (
            Undo(kind="custom", config={name: plan.config[name] for name in kept} | {"steps": steps}) if steps else None
        )

    def _body(self, work: LiveWork, step: Step) -> Callable[[], Awaitable[object]]:
        """An action is the dialect's, too."""
        if step.action is None:
            return lambda: work.execute(step)
        action = MODULES[work.plan.dialect].ACTIONS[step.action]
        return lambda: action(work, step)


def _export(plan: Plan, step: Step) -> dict[str, Any]:
    """The operation that writes an archived table to files; where to is for whoever starts it to say."""
    return {
        "kind": "archive_bcp",
        "config": {
            "data_source": plan.config["data_source"],
            "schema": step.values["schema"],
            "table": step.values["name"],
        },
    }


def _export_notes(config: SwitchConfig, state: SwitchState) -> list[str]:
    if config.after != "export":
        return []
    return [
        f"{one.shown} stays to be exported: start archive_bcp with data_source {config.data_source!r}, schema "
        f"{one.schema!r}, table {one.name!r} and an output_dir; the summary has these as `next`"
        for one in state.leaving
    ]
