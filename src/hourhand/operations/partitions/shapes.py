"""Operations: what the three boundary kinds take, what they find, and what a dialect's module makes of it.

A dialect's module (`postgresql`, `mariadb`, `sqlserver`) has these functions; `kind.BoundaryKind` calls them:

    async inspect(config, look, table) -> facts         whatever of its own it needs beside the table (not sqlserver)
    script_facts(config) -> facts                       what is assumed (only sqlserver)
    plan_add(config, state) -> PartitionPlan            pure, and so are the next two
    plan_split(config, state) -> PartitionPlan
    plan_merge(config, state) -> PartitionPlan
    ACTIONS: {action: async function(work, step)}       what its steps name as their `action`
    async estimate(look, plan) -> Plan                  the plan with its steps' rows, bytes and disk_bytes
    async give_up(work, plan)                           optional: after a cancel, take away what was made for a while

An action that sets `work.facts["undo_boundary"]` (of a split or of a merge of two) offers the opposite as the undo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.config import Name, TableConfig


def _text(value: object) -> object:
    """A number is as good as its text."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Value = Annotated[str, BeforeValidator(_text), StringConstraints(min_length=1, max_length=1000)]
"""A value of the partition key, as the database writes it: `2026-02-01`, `5000`."""


class AddConfig(TableConfig):
    """The partitions to add: at given boundaries, or ahead of time at an interval."""

    boundaries: tuple[Value, ...] = Field(default=(), max_length=1000)
    """The values at which partitions begin or end; those that are there already are left alone."""
    interval: str | None = Field(default=None, pattern=r"^\s*\d{1,15}\s*((hour|day|week|month|quarter|year)s?)?\s*$")
    """In place of boundaries: how much one partition holds, such as `1 month`, `7 days` or, of numbers, `100000`."""
    premake_count: int = Field(default=4, ge=0, le=1000)
    """With an interval: how many partitions there should be ahead of the present one."""
    start: Value | None = None
    """With an interval: where the first partition begins; by default where the last one ends."""
    name_template: str | None = Field(default=None, max_length=200)
    """What a partition is called: `{table}`, `{low}`, `{high}`, and of dates `{year}`, `{month}`, `{day}`, `{hour}`."""
    tablespace: Name | None = None
    """Where the partitions lie; SQL Server: the filegroup. By default where the last one does."""
    default_policy: Literal["fail", "move"] = "fail"
    """PostgreSQL: what to do with rows of the default partition that belong into a new one."""

    @model_validator(mode="after")
    def _one_of_two(self) -> AddConfig:
        if bool(self.boundaries) == bool(self.interval):
            raise ValueError("give either boundaries, or an interval (with premake_count and start)")
        return self


class MoveConfig(TableConfig):
    """What splitting and merging have in common."""

    strategy: Literal["auto", "metadata", "online", "native"] = "auto"
    """How: the catalog alone (one side is empty), by copying while others write (PostgreSQL), or as the database does
    it by itself (MariaDB, MySQL, SQL Server; writers wait). By default the first of these that can be done."""
    chunk_rows: int = Field(default=2_000, ge=1, le=100_000)
    """Online: how many rows are copied at a time."""
    keep_old_hours: int = Field(default=24, ge=0, le=8_760)
    """Online: how long what was replaced is kept, detached; then the next operation on the table drops it. 0: not."""
    name: Name | None = None
    """The name of the new partition (of a split, the one above the boundary); by default after its lower bound, and
    of a merge that of the first."""


class SplitConfig(MoveConfig):
    """The boundary at which the partition that holds it is split."""

    boundary: Value
    """The value at which the upper part begins."""


class MergeConfig(MoveConfig):
    """The partitions to merge into one: by name, or the two beside a boundary."""

    partitions: tuple[Name, ...] = Field(default=(), max_length=1000)
    """The partitions, two or more, side by side."""
    boundary: Value | None = None
    """In their place: the boundary that goes."""

    @model_validator(mode="after")
    def _one_of_two(self) -> MergeConfig:
        if bool(self.partitions) == bool(self.boundary):
            raise ValueError("give either the partitions to merge, or the boundary between two of them")
        if self.partitions and len(set(self.partitions)) < 2:  # noqa: PLR2004
            raise ValueError("give two partitions or more: one alone cannot be merged")
        return self


@dataclass(frozen=True, slots=True)
class BoundaryState:
    """What was found."""

    dialect: Dialect
    table: Table
    facts: Any = None
    """The dialect's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionPlan:
    """What a dialect makes of it."""

    steps: tuple[Step, ...]
    preconditions: tuple[Precondition, ...] = ()
    notes: tuple[str, ...] = ()
