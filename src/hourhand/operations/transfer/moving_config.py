"""Operations: what moving or copying rows takes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hourhand.operations.config import Name, TableConfig


class BulkCopyConfig(TableConfig):
    """Which rows go where."""

    target_data_source: Name | None = None
    """The data source to copy to, by name; by default the same."""
    target_schema: Name | None = None
    """The target's schema or database; by default the source's, or the usual one of the other data source."""
    target_table: Name | None = None
    """The table to copy to; by default the one of the same name."""
    create_target: bool = False
    """Make the target table if it is not there."""
    where: str | None = Field(default=None, min_length=1, max_length=10_000)
    """Which rows, as one expression of SQL; by default all."""
    key_columns: tuple[Name, ...] = ()
    """The columns to go by, which tell rows apart; by default the primary key."""
    chunk_rows: int = Field(default=5_000, ge=1, le=1_000_000)
    """How many rows a chunk has in the beginning."""
    chunk_target_ms: int = Field(default=1_000, ge=10, le=600_000)
    """How long a chunk should take: its size is adapted."""
    delete_source: bool = False
    """Move: delete each row from the source once it is in the target."""
    on_conflict: Literal["fail", "replace"] = "fail"
    """What to do where the target has a row of the same key."""
