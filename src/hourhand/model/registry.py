"""Model: groups, the executors in them, and the lanes by which they find their instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from hourhand.model.words import AddressType, ExecutorKind

BUILTIN = "builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A named pool of executors and the instances they serve."""

    id: int
    name: str
    title: str | None
    address_type: AddressType
    address_list: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """A process that claims and executes instances."""

    id: str
    group: str
    hostname: str = ""
    address: str = ""
    pid: int = 0
    version: str = ""
    capacity: int = 32
    running: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    provides: tuple[str, ...] = (BUILTIN,)
    """What it can execute: `builtin`, `python:<app>`, `xxl`."""
    kind: ExecutorKind = ExecutorKind.NATIVE
    started_at: datetime | None = None
    last_heartbeat: datetime | None = None
    alive: bool = True
    """Whether it has shown a sign of life within a lease, by the store's clock."""


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """One kind of demand: instances of a lane can be served by the same executors."""

    group_id: int
    requires: str
    labels: str
    """Canonical JSON of the labels an executor must carry; `{}` when any will do."""
    target_executor_id: str = ""
