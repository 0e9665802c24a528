"""Model: who changed what, and the request that asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

Json = Mapping[str, Any] | Sequence[Any] | str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """On whose behalf a verb of the store is called."""

    id: str
    """`user:3`, `token:1`, `app:billing`, or `local` for whoever needs no API."""
    name: str
    request_id: str | None = None
    groups: frozenset[str] | None = None
    """The names of the groups it is limited to; None when it is not."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries of the audit; what is None is not asked for."""

    resource_type: str | None = None
    resource_id: str | None = None
    task_id: int | None = None
    """What concerns this task: its own entries, and those of its instances, pauses and maintenance windows."""
    user_id: str | None = None
    action: str | None = None
    result: str | None = None
    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Seal:
    """A place in the audit's chain: the number of an entry, and the hash over it and everything before it."""

    number: int
    hash: str

    def __str__(self) -> str:
        """As people note it down: `number:hash`."""
        return f"{self.number}:{self.hash}"


class FaultKind(StrEnum):
    """What is wrong at a place of the chain."""

    CHANGED = "changed"
    """The entry is not what was sealed."""
    FORGED = "forged"
    """Its hash fits neither what stands before it nor what stands behind it."""
    REORDERED = "reordered"
    """It was sealed at another place."""
    MISSING = "missing"
    """There is no entry of this number, but there are later ones."""
    CUT_OFF = "cut_off"
    """The last entries are gone: the head names one that is not there."""
    BEHIND_HEAD = "behind_head"
    """There are entries behind the head."""
    WRONG_HEAD = "wrong_head"
    """The head does not name the last entry."""
    BEFORE_FLOOR = "before_floor"
    """There are entries that are said to have been removed by retention."""
    NOT_AS_NOTED = "not_as_noted"
    """The head that was noted earlier is not part of the chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFault:
    """The first place at which the chain is broken."""

    number: int
    kind: FaultKind
    detail: str
    entry_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a look at the whole chain has found."""

    ok: bool
    checked: int
    """How many entries fit, from the first that is kept up to the first fault."""
    first: int
    """The number of the first entry that is kept; those before it were removed by retention."""
    head: str
    """The newest place, `number:hash`: kept elsewhere, it proves later that the chain was not made anew."""
    fault: ChainFault | None
    unsealed: int
    """Entries that are not part of the chain yet."""
    oldest_unsealed_at: datetime | None
    verified_at: datetime
