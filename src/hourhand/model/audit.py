"""Model: who changed what, and the request that asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Json = Mapping[str, Any] | Sequence[Any] | str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """On whose behalf a verb of the store is called."""

    id: str
    """`user:3`, `token:1`, `app:billing`, or `local` for whoever needs no API."""
    name: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """A request that may come again, of which only the first is to create something."""

    principal: str
    route: str
    key: str
    request_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What the audit is to keep of one change, or of one refusal."""

    action: str
    resource_type: str
    resource_id: str | None
    summary: str | None = None
    payload: Json = None
    script: str | None = None
    before: Json = None
    after: Json = None
    result: str = "done"
    """`done` or `refused`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One row of the audit; `sealed_no` and `hash` are there once it is part of the chain."""

    id: int
    action: str
    resource_type: str
    resource_id: str | None
    user_id: str
    user_name: str
    occurred_at: datetime
    summary: str | None
    payload: Json
    script: str | None
    before: Json
    after: Json
    request_id: str | None
    result: str
    sealed_no: int | None
    hash: str | None
