"""Operations: log_cleanup: old rows of a log table, and old log files of the executor's machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
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
from hourhand.operations.cleaning_files import LogFiles, do_remove, file_step, files_notes, find_files, refuse_script
from hourhand.operations.cleaning_partitions import do_drop
from hourhand.operations.cleaning_script import script_plan
from hourhand.operations.config import Name
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import cutoff


class LogCleanupConfig(CleaningConfig):
    """The log rows and log files that go."""

    schema_name: Name | None = Field(default=None, alias="schema")
    """The log table's schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one."""
    table: Name | None = None
    """The log table; may be left out where only files go."""
    files_glob: str | None = Field(default=None, min_length=1, max_length=1_000)
    """Log files of the executor's machine that go once they were last written longer than `older_than` ago, such as
    `/var/log/shop/*.log`; `**` means folders of any depth."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        problem = None
        if self.table is None and self.files_glob is None:
            problem = "nothing says what goes: give `table`, `files_glob` or both"
        elif self.files_glob is not None and self.older_than is None:
            problem = "files go by their age: give `older_than`"
        elif self.table is not None and self.where is None and (self.older_than is None or self.time_column is None):
            problem = "nothing says which rows go: give `where`, or `older_than` and `time_column`"
        elif self.time_column is not None and self.older_than is None:
            problem = "time_column needs `older_than`"
        elif self.table is None and (self.where is not None or self.time_column is not None):
            problem = "`where` and `time_column` are about rows: give `table`"
        elif self.older_than is not None and self.time_column is None and self.files_glob is None:
            problem = "older_than and time_column belong together: give both, or `where` alone"
        if problem is not None:
            raise ValueError(problem)
        return self


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    rows: Rows | None = None
    files: LogFiles | None = None


class LogCleanup(Kind[LogCleanupConfig, State]):
    """Delete old rows of a log table and old log files."""

    kind: ClassVar[str] = "log_cleanup"
    number: ClassVar[int] = 51
    title: ClassVar[str] = "Delete old log rows and log files"
    marks_destructive: ClassVar[bool] = True
    config = LogCleanupConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "access_log",
        "older_than": "90d",
        "time_column": "at",
    }

    async def inspect(self, config: LogCleanupConfig, look: Look) -> State:
        """The log table, the log files, and what of them goes."""
        rows = files = None
        if config.table is not None:
            rows = await find_rows(config, look, config.schema_name, config.table)
        if config.files_glob is not None and config.older_than is not None:
            files = await find_files(config.files_glob, cutoff(config.older_than, look.now, field="config.older_than"))
        return State(look.source.dialect, rows, files)

    def script_state(self, config: LogCleanupConfig) -> State:
        """Nothing is known of it."""
        if config.files_glob is not None or config.table is None:
            refuse_script(Dialect.SQLSERVER)
        return State(Dialect.SQLSERVER)

    def plan(self, config: LogCleanupConfig, state: State) -> Plan:
        """The rows, then the files."""
        if state.dialect is Dialect.SQLSERVER:
            return script_plan(self.kind, config, config.schema_name, config.table or "")
        plan = Plan(kind=self.kind, dialect=state.dialect, config=config.plain(), steps=())
        if state.rows is not None:
            plan = replace(
                plan,
                steps=tuple(row_steps(config, state.rows)),
                preconditions=tuple(row_preconditions(state.rows)),
                notes=tuple(row_notes(config, state.rows)),
            )
        if state.files is not None:
            steps = (*plan.steps, file_step(state.files)) if state.files.files else plan.steps
            plan = replace(plan, steps=steps, notes=(*plan.notes, *files_notes(state.files)))
        return plan

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How many rows go, and how many bytes of files."""
        plan = await estimated(look, plan)
        steps = [
            replace(step, bytes=sum(one[1] for one in step.values["files"])) if step.action == "remove" else step
            for step in plan.steps
        ]
        return replace(plan, steps=tuple(steps))

    async def do_drop(self, work: LiveWork, step: Step) -> None:
        """A partition as a whole."""
        await do_drop(work, step)

    async def do_delete(self, work: LiveWork, step: Step) -> None:
        """Chunk after chunk."""
        await do_delete(work, step)

    async def do_verify(self, work: LiveWork, step: Step) -> None:
        """Until nothing is left that qualifies."""
        await do_verify(work, step)

    async def do_remove(self, work: LiveWork, step: Step) -> None:
        """The files that were listed."""
        await do_remove(work, step)

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """How many rows and files went."""
        files = {} if plan.config["files_glob"] is None else {"files_removed": 0, "bytes_removed": 0, "files_left": 0}
        return files | counted(work.facts)
