"""Model: everything that can be refused, in one tree.

    HourhandError
    ├── InvalidInput         the caller's values are wrong; carries one FieldError per field
    ├── Unauthenticated      nobody knows who is calling
    ├── Forbidden            the caller's role or groups do not allow it
    ├── Throttled            too many wrong passwords; says when to try again
    ├── NotFound             no such thing
    ├── Gone                 it existed, but retention has removed it
    ├── Conflict             the values are fine, the state does not allow it
    │   ├── DuplicateName    the name is taken by something that is not deleted
    │   ├── StaleVersion     edited by somebody else in the meantime
    │   ├── StaleFence       the attempt has been superseded
    │   ├── IllegalEdge      the lifecycle has no such edge; names the legal ones
    │   ├── HasDependents    others depend on it; names them
    │   └── PlanRefused      an operation's plan is not the one approved, or cannot be executed; says why
    ├── SourceError          a data source cannot be reached, or refuses what is asked of it
    └── StoreError           the store itself
        ├── StoreUnavailable not reachable right now; worth retrying
        ├── StoreOwned       another process owns the SQLite file; names its owner
        ├── SchemaTooOld     needs `hourhand db upgrade`
        └── SchemaTooNew     written by a newer release than this program

Every message says what was wrong, with the value, and what would be right.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

_short = reprlib.Repr()
_short.maxlevel, _short.maxstring, _short.maxother, _short.maxlong = 3, 80, 80, 40


def shown(value: object) -> str:
    """A refused value, short enough to be put into a message however large or deep it is."""
    return _short.repr(value)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One refused field: its path (`payload.url`), the value given, and what is wrong and would be right."""

    field: str
    value: object
    message: str


class HourhandError(Exception):
    """The root; catching it catches everything Hourhand refuses."""


class InvalidInput(HourhandError):
    """The caller's values are wrong."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in self.errors))

    @classmethod
    def one(cls, field: str, value: object, message: str) -> InvalidInput:
        """Refuse a single field."""
        return cls([FieldError(field, value, message)])

    def within(self, place: str) -> InvalidInput:
        """The same of values that stand at that place of others."""
        return InvalidInput(replace(each, field=f"{place}.{each.field}".rstrip(".")) for each in self.errors)


class Unauthenticated(HourhandError):
    """Nobody knows who is calling, or the password is wrong."""


class Forbidden(HourhandError):
    """The caller's role, or the groups it is limited to, do not allow it."""


class Throttled(HourhandError):
    """Too many sign-ins have failed; the right password is refused as well."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"too many sign-ins have failed here: try again in {seconds} seconds")


class NotFound(HourhandError):
    """There is no such thing."""

    def __init__(self, kind: str, key: object) -> None:
        self.kind = kind
        self.key = key
        super().__init__(f"there is no {kind} {key!r}")


class Gone(HourhandError):
    """It existed, but retention has removed it."""


class Conflict(HourhandError):
    """The values are fine; the state does not allow it."""


class DuplicateName(Conflict):
    """The name is taken."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"a {kind} named {name!r} exists already: choose another name, or edit or delete that one")


class StaleVersion(Conflict):
    """Somebody else edited it in the meantime."""

    def __init__(self, kind: str, key: object, given: int, current: int) -> None:
        self.given = given
        self.current = current
        super().__init__(
            f"{kind} {key} is at version {current}, not {given}: read it again and repeat the change on top"
        )


class StaleFence(Conflict):
    """The attempt has been superseded; nothing was changed."""

    def __init__(self, instance_id: int, fence: int) -> None:
        self.instance_id = instance_id
        self.fence = fence
        super().__init__(
            f"instance {instance_id} is no longer running under fence {fence}: "
            "this attempt was superseded and must stop without writing"
        )


class IllegalEdge(Conflict):
    """The lifecycle has no such edge from this state."""

    def __init__(self, subject: str, state: str, wanted: str, legal: Iterable[str]) -> None:
        self.state = state
        self.wanted = wanted
        self.legal = tuple(legal)
        allowed = ", ".join(self.legal) or "nothing: it has ended"
        super().__init__(f"{subject} is {state} and cannot be {wanted}; from {state} it may become: {allowed}")


class HasDependents(Conflict):
    """Others depend on it."""

    def __init__(self, name: str, dependents: Iterable[str]) -> None:
        self.dependents = tuple(dependents)
        super().__init__(
            f"task {name!r} is needed by {', '.join(self.dependents)}: "
            "remove the dependency there first, or force the deletion"
        )


class PlanRefused(Conflict):
    """An operation's plan is not executed as it stands."""

    def __init__(self, message: str, reasons: Iterable[str], plan_hash: str | None = None) -> None:
        self.reasons = tuple(reasons)
        """What has changed since it was approved, or what is not met; one sentence each."""
        self.plan_hash = plan_hash
        """Of the plan as it would be now."""
        super().__init__(message)


class SourceError(HourhandError):
    """A data source cannot be reached, or refuses what is asked of it; the store is fine."""


class StoreError(HourhandError):
    """The store itself is the trouble."""


class StoreUnavailable(StoreError):
    """The store cannot be reached right now; retrying is worth it."""


class StoreOwned(StoreError):
    """Another process owns the SQLite file."""


class SchemaTooOld(StoreError):
    """The schema is older than this program; `hourhand db upgrade` brings it up to date."""


class SchemaTooNew(StoreError):
    """The schema was written by a newer release than this program."""
