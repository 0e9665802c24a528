"""Operations: the fields that configurations have in common."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Name = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00]+$")]
"""A table, column, schema or data source."""
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Age = Annotated[str, StringConstraints(pattern=r"^\s*\d{1,6}\s*(h|d|w|m|y)\s*$")]
"""`36h`, `400d`, `6w`, `13m` (months), `2y`."""


class Config(BaseModel):
    """What every kind takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)

    data_source: Name
    """The data source to work on, by name."""
    lock_timeout_ms: int = Field(default=1_000, ge=10, le=60_000)
    """How long a statement may wait for a lock before it lets the others go first."""
    lock_retries: int = Field(default=30, ge=0, le=1_000)
    """How often it then tries again."""
    statement_timeout_ms: int | None = Field(default=None, ge=100, le=2_147_483_647)
    """How long one statement may take; by default as long as it takes."""
    dry_run: bool = False
    """Look, plan and check only; nothing is changed."""
    max_replica_lag_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Wait between chunks while a replica is further behind than this."""
    max_active_sessions: int | None = Field(default=None, ge=1)
    """Wait between chunks while more sessions than this are active."""
    window_start: TimeOfDay | None = None
    """Work only from this time of day on (UTC), such as `22:00`: it begins then, and waits between chunks."""
    window_end: TimeOfDay | None = None
    """Until this time of day (UTC); may be on the next day."""
    verify: Literal["hash", "count", "none"] = "hash"
    """How what was copied or changed is compared with what was there."""

    @model_validator(mode="after")
    def _window(self) -> Self:
        if self.window_start is not None and self.window_start == self.window_end:
            raise ValueError(
                f"window_start and window_end are both {self.window_start}: leave them out to work at any time"
            )
        return self

    def plain(self) -> dict[str, Any]:
        """As plain JSON, with every default filled in."""
        return self.model_dump(mode="json", by_alias=True)


class TableConfig(Config):
    """What every kind takes that works on one table."""

    schema_name: Name | None = Field(default=None, alias="schema")
    """The table's schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one."""
    table: Name
    """The table to work on."""
