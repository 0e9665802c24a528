"""Operations: switching partitions out of a table: what every dialect shares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition, Step
from hourhand.operations.catalog.table import Partition, Table
from hourhand.operations.config import Age, Name, TableConfig
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.quoting import qualified
from hourhand.operations.work import LiveWork

KIND = "archive_switch"
WRITTEN_MEANWHILE = (
    "what is written to a partition while it is switched out makes the verification fail; then all rows are there, and "
    "nothing is dropped"
)


class SwitchConfig(TableConfig):
    """The partitions that leave the table, and what becomes of them."""

    partitions: tuple[Name, ...] = Field(default=(), max_length=500)
    """The partitions to switch out, by name (SQL Server: by number); or give `older_than`."""
    older_than: Age | None = None
    """Every partition whose whole range, and whose every row, lies longer ago than this: `400d`, `13m`, `2y`."""
    target_schema: Name | None = None
    """The schema or database that the archived table moves to; by default the table's own."""
    target_table: Name | None = None
    """The archived table's name, in which `{partition}` stands for the partition's; or, on PostgreSQL, a table that is
    partitioned alike, which takes the partition over. By default the partition's own name."""
    concurrently: Literal["auto", "always", "never"] = "auto"
    """PostgreSQL: detach without a lock that stops readers and writers; `auto`: where it can."""
    after: Literal["keep", "export", "drop"] = "keep"
    """What becomes of the archived table: it stays, for good or to be exported to files, or it is dropped."""
    fk_policy: Literal["keep", "drop"] = "keep"
    """Whether the archived table keeps its foreign keys, so that the rows they name cannot be deleted."""

    @model_validator(mode="after")
    def _consistent(self) -> SwitchConfig:
        if bool(self.partitions) == (self.older_than is not None):
            raise ValueError("give either partitions or older_than: they say which partitions leave the table")
        if self.after == "drop" and (self.target_schema is not None or self.target_table is not None):
            raise ValueError("with after: drop there is no archived table: leave target_schema and target_table out")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """One partition that leaves the table."""

    partition: Partition
    bound: str = ""
    """PostgreSQL: its bounds as it was attached by them, `FOR VALUES FROM … TO …`."""
    foreign_keys: tuple[str, ...] = ()
    """PostgreSQL: the names of its own foreign keys."""
    schema: str | None
    """Where the archived table will be."""
    name: str
    """What it will be called."""

    @property
    def shown(self) -> str:
        """The archived table, as people write it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    def target_sql(self, dialect: Dialect) -> str:
        """The archived table, as it is written in statements."""
        return qualified(dialect, self.schema, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchState:
    """What was found."""

    table: Table
    version: tuple[int, ...] = ()
    leaving: tuple[Leaving, ...] = ()
    archive: Table | None = None
    """PostgreSQL: the partitioned table that takes them over."""
    preconditions: tuple[Precondition, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchPlan:
    """What a dialect makes of it."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


def require_partitioned(table: Table) -> None:
    """Refuse a table without partitions."""
    if table.strategy is None:
        raise Refused(
            f"{table.shown} is not partitioned: archive_bulk_copy or archive_bcp move its rows", field="table"
        )


def named(config: SwitchConfig, table: Table) -> list[Partition]:
    """The partitions that the configuration names, in the order of their bounds."""
    for name in config.partitions:
        found = table.partition(name)
        if found is None:
            there = ", ".join(one.name for one in table.partitions[:10]) or "none"
            raise Refused(f"{table.shown} has no partition {name!r}; there are {there}", field="partitions")
        if found.default:
            raise Refused(
                f"{name} is the default partition of {table.shown}, which takes what no other does: "
                "archive a partition that has bounds",
                field="partitions",
            )
    return [one for one in table.partitions if one.name in config.partitions]


def target_name(config: SwitchConfig, partition: Partition, default: str, *, several: bool) -> str:
    """What the archived table is called; one name cannot serve several."""
    if config.target_table is None:
        return default
    if "{partition}" in config.target_table:
        return config.target_table.replace("{partition}", partition.name)
    if several:
        raise Refused(
            f"{config.target_table!r} would be the name of several tables: write {{partition}} in it, such as "
            f"{config.target_table}_{{partition}}",
            field="target_table",
        )
    return config.target_table


def cutoff_text(cutoff: datetime, type_: str) -> str:
    """The cut-off as a value of the key's type; of a date, the day that it lies in."""
    moment = cutoff.astimezone(UTC)
    if type_ == "date":
        return moment.date().isoformat()
    text = moment.replace(tzinfo=None).isoformat(sep=" ")
    return f"{text}+00" if "with time zone" in type_ else text


def nothing_qualifies(table: Table, cutoff: datetime) -> str:
    """The note of a plan that has nothing to do."""
    first = next((one for one in table.partitions if not one.default), None)
    oldest = f"the oldest is {first.name}, up to {first.high or 'anything'}" if first else "there is none at all"
    return f"no partition of {table.shown} lies wholly before {cutoff:%Y-%m-%d %H:%M} UTC: {oldest}; nothing is done"


def kept_back(partition: Partition, most: object, cutoff: datetime) -> str:
    """The note of a partition whose bounds are old enough, and whose rows are not."""
    return (
        f"{partition.name} stays: its bounds lie before {cutoff:%Y-%m-%d %H:%M} UTC, but it has rows up to {most}; "
        "nothing is archived on the word of the bounds alone"
    )


async def schema_exists(session: Session, schema: str) -> bool:
    """Whether there is such a schema, or database on MariaDB."""
    mark = "$1" if session.dialect is Dialect.POSTGRESQL else "%s"
    sql = f"SELECT count(*) AS n FROM information_schema.schemata WHERE schema_name = {mark}"  # noqa: S608
    return bool((await session.fetch(sql, schema))[0]["n"])


async def measured(work: LiveWork, step: Step) -> None:
    """Count and hash a partition, and keep both for the verification: durable before anything is changed."""
    row = (await work.source.fetch(step.sql[0]))[0]
    before: dict[str, Any] = work.facts.setdefault("before", {})
    before[step.values["partition"]] = {"rows": int(row["n"]), "hash": str(row["hash"])}


async def compared(work: LiveWork, step: Step, place: str) -> None:
    """Count and hash the archived table, and hold it against what was measured."""
    name = step.values["partition"]
    archived: dict[str, Any] = work.facts.setdefault("archived", {})
    if not step.sql:
        archived[name] = {"table": step.values["shown"], "rows": None}
        return
    row = (await work.source.fetch(step.sql[0]))[0]
    before, rows = work.facts["before"][name], int(row["n"])
    same = before["rows"] == rows and (work.config.verify == "count" or before["hash"] == str(row["hash"]))
    if not same:
        raise NotVerified(
            f"{name} had {before['rows']} rows (hash {before['hash']}) before it was switched out, and {place} has "
            f"{rows} (hash {row['hash']}): somebody wrote to it meanwhile; all rows are in {place}, and nothing was "
            "dropped"
        )
    archived[name] = {"table": step.values["shown"], "rows": rows}
