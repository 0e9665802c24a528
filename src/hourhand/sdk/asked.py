"""SDK: what a program asks for when it submits, whichever way it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One instance of a task, by the task's name."""

    task_name: str
    args: Mapping[str, Any] | None = None
    priority: int | None = None
    run_at: datetime | None = None
    key: str | None = None
    held: bool = False
