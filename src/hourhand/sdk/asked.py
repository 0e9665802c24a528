"""SDK: what a program asks for when it submits, whichever way it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hourhand.model.errors import InvalidInput, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One instance of a task, by the task's name."""

    task_name: str
    args: Mapping[str, Any] | None = None
    priority: int | None = None
    run_at: datetime | None = None
    key: str | None = None
    held: bool = False

    def __post_init__(self) -> None:
        """Refuse what no type checker has seen."""
        if self.run_at is not None and not isinstance(self.run_at, datetime):
            raise InvalidInput.one(
                "run_at",
                self.run_at,
                f"{shown(self.run_at)} is not a datetime: give one with a time zone, such as datetime.now(UTC)",
            )
