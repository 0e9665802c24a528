"""Model: a set of tasks that a file describes, and what applying it does to the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from hourhand.model.task import Declaration


class ApplyAction(StrEnum):
    """What applying a set does with one task."""

    CREATE = "create"
    EDIT = "edit"
    ADOPT = "adopt"
    """It was made by hand and nobody managed it: from now on the set does."""
    UNCHANGED = "unchanged"
    GONE = "gone"
    """The set manages it, but no longer has it: it is left as it is."""
    DELETE = "delete"
    """The same, and it is removed."""
    REFUSED = "refused"
    """It is not the set's to change, or to remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTask:
    """One task of a set, and where its author finds it: `tasks.3`."""

    place: str
    declaration: Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """What there shall be."""

    name: str
    tasks: tuple[FileTask, ...]
    groups: tuple[str, ...] = ()
    """Those that are made if they are missing."""
    unread: tuple[str, ...] = ()
    """Names of tasks that are wrong: the set is only looked at, for whatever else is wrong with it."""
    expected_tasks: tuple[str, ...] = ()
    """Names of tasks of others that will be there once it is applied: a dry run takes them to be there."""
    expected_groups: tuple[str, ...] = ()
    """The same of groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of a task, before and after."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What somebody else did to a task of the set since it was last applied, and what applying it undoes."""

    by: str | None
    """None when nobody knows any more."""
    at: datetime
    fields: tuple[str, ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """What applying a set does with one task."""

    name: str
    action: ApplyAction
    fields: tuple[FieldChange, ...] = ()
    drift: Drift | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What applying a set did, or would do."""

    name: str
    applied: bool
    """Whether it was done; False for a dry run."""
    plan_hash: str
    """Another one when anything that would be done is another."""
    groups: tuple[str, ...]
    """Those that were missing."""
    changes: tuple[TaskChange, ...]
    """In the order of the file; what is no longer in it comes last."""
