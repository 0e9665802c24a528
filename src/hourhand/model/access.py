"""Model: who may do what: users, sessions, API tokens, and whoever is calling just now."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from hourhand.model.words import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who is calling: a user who has signed in, or the holder of an API token."""

    id: str
    """`user:3` or `token:1`: what the audit tells people apart by."""
    name: str
    role: Role
    groups: frozenset[str] | None = None
    """The names of the groups it is limited to; None when it is not."""
    session: str | None = None
    """The hash of the session it called with; None when it showed a token."""

    def reaches(self, group: str) -> bool:
        """Whether it may touch what belongs to this group."""
        return self.groups is None or group in self.groups


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person with a password."""

    id: int
    name: str
    role: Role
    groups: tuple[str, ...] | None
    created_at: datetime
    disabled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """What somebody who signs in by name is compared with."""

    user_id: int
    name: str
    password_hash: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token as the store knows it; the token itself is nowhere."""

    id: int
    name: str
    role: Role
    groups: tuple[str, ...] | None
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A sign-in that lasts: of a user, or of whoever traded a token for it."""

    id: int
    user_id: int | None
    token_id: int | None
    name: str
    """Of the user or the token."""
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    address: str | None
