"""Operations: what a table is, as its catalog tells; the same words for every dialect."""

from __future__ import annotations

from dataclasses import dataclass

from hourhand.model.data_source import Dialect
from hourhand.operations.quoting import qualified, quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column."""

    name: str
    type: str
    """As the database writes it: `numeric(12,2)`, `timestamp with time zone`, `varchar(20)`."""
    nullable: bool = True
    default: str | None = None
    generated: bool = False
    """Computed from others, so that it cannot be written."""
    identity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableIndex:
    """One index."""

    name: str
    columns: tuple[str, ...]
    """Empty for an expression."""
    unique: bool = False
    primary: bool = False
    valid: bool = True
    partial: bool = False
    definition: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition of a range: low ≤ x < high; None is open."""

    name: str
    schema: str | None = None
    low: str | None = None
    """As the database writes the value, without quotes: `2026-01-01`."""
    high: str | None = None
    default: bool = False
    """The one that takes what no other does (PostgreSQL)."""
    pending_detach: bool = False
    leaf: bool = True
    """False if it is partitioned itself."""
    rows: int = 0
    """An estimate."""
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """One foreign key."""

    name: str
    table: str
    """The other table, qualified as text."""
    definition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table."""

    dialect: Dialect
    schema: str | None
    name: str
    columns: tuple[Column, ...]
    indexes: tuple[TableIndex, ...] = ()
    strategy: str | None = None
    """`range`, `list`, `hash`; None: not partitioned."""
    partition_key: tuple[str, ...] = ()
    """Columns; an expression appears as its text."""
    partition_key_type: str | None = None
    """The type of the first column."""
    partition_expression: str | None = None
    """As the database writes the key: `RANGE (created_at)`, `to_days(created_at)`."""
    partitions: tuple[Partition, ...] = ()
    """In the order of their bounds, the default last."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    referenced_by: tuple[ForeignKey, ...] = ()
    owner: str | None = None
    owned: bool = True
    """Whether whoever is signed in may alter it."""
    triggers: tuple[str, ...] = ()
    row_security: bool = False
    engine: str | None = None
    """MariaDB's."""
    rows: int = 0
    """An estimate."""
    bytes: int = 0

    @property
    def sql(self) -> str:
        """As it is written in statements."""
        return qualified(self.dialect, self.schema, self.name)

    @property
    def shown(self) -> str:
        """As people write it."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def primary_key(self) -> tuple[str, ...]:
        """Its columns; empty if there is none."""
        return next((index.columns for index in self.indexes if index.primary), ())

    @property
    def unique_keys(self) -> tuple[tuple[str, ...], ...]:
        """Sets of columns that tell rows apart, none of them ever NULL; the primary key first."""
        required = {column.name for column in self.columns if not column.nullable}
        found = [
            index
            for index in self.indexes
            if (index.unique or index.primary) and index.columns and index.valid and not index.partial
        ]
        return tuple(
            index.columns
            for index in sorted(found, key=lambda one: not one.primary)
            if required.issuperset(index.columns)
        )

    @property
    def writable(self) -> tuple[Column, ...]:
        """The columns that a copy writes."""
        return tuple(column for column in self.columns if not column.generated)

    @property
    def default_partition(self) -> Partition | None:
        """PostgreSQL's, if it has one."""
        return next((one for one in self.partitions if one.default), None)

    def column(self, name: str) -> Column | None:
        """The column of that name."""
        return next((one for one in self.columns if one.name == name), None)

    def partition(self, name: str) -> Partition | None:
        """The partition of that name."""
        return next((one for one in self.partitions if one.name == name), None)

    def partition_sql(self, partition: Partition) -> str:
        """A partition as it is written in statements (PostgreSQL, where it is a table)."""
        return qualified(self.dialect, partition.schema or self.schema, partition.name)

    def quoted(self, *names: str) -> str:
        """Columns as they are written in statements."""
        return ", ".join(quoted(self.dialect, name) for name in names)
