"""Contracts: users, their sessions, and API tokens.

The store never sees a password, a token or a session's secret: only hashes of them. What is kept in the audit has
neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from hourhand.model.access import ApiToken, Credential, Principal, Session, User
from hourhand.model.page import Page
from hourhand.model.words import Role


class Users(Protocol):
    """People with a password.

    There is always a way in: the last enabled user, or token that does not expire, that is an admin of all groups can
    be neither removed nor made less (`Conflict`).
    """

    async def add_user(
        self, name: str, *, password_hash: str | None, role: Role, groups: Sequence[str] | None = None
    ) -> tuple[User, bool]:
        """A new user, once per request; whether this request made it. If not, it may have another password.

        The name must be free and the groups there. `groups` None is all of them.
        """

    async def get_user(self, user_id: int) -> User:
        """One user."""

    async def list_users(self, *, limit: int = 50, cursor: str | None = None) -> Page[User]:
        """By name."""

    async def edit_user(self, user_id: int, changes: Mapping[str, Any]) -> User:
        """Change some of `role`, `groups`, `disabled` and `password_hash`.

        Whatever changes, all sessions of the user end. An edit that changes nothing ends none.
        """

    async def delete_user(self, user_id: int) -> None:
        """Remove a user, and end all sessions of it."""

    async def find_password(self, name: str) -> Credential | None:
        """What to compare a password with; None for a user that there is not, is disabled, or has no password."""

    async def rehash_password(self, credential: Credential, password_hash: str) -> Credential | None:
        """Keep the same password under a newer hash; no session ends. None if it was changed in the meantime."""

    async def change_password(
        self, credential: Credential, password_hash: str, *, session_hash: str, new_session_hash: str
    ) -> None:
        """Change the password that was right; that session goes on under its new hash, all others of the user end."""


class Tokens(Protocol):
    """API tokens, which programs show at every request."""

    async def ensure_admin_token(self, token_hash: str) -> bool:
        """Make this the first admin token; False if there has been one."""

    async def add_admin_token(self, token_hash: str) -> None:
        """A further admin token; those there are stay valid."""

    async def add_token(
        self,
        name: str,
        token_hash: str,
        *,
        role: Role,
        groups: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        by: str,
    ) -> tuple[ApiToken, bool]:
        """A new token, once per request; whether this request made it. If not, its hash is not the one given here."""

    async def find_token(self, token_hash: str) -> Principal | None:
        """The valid token with this hash."""

    async def list_tokens(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiToken]:
        """Newest first; those that were revoked or have expired among them."""

    async def revoke_token(self, token_id: int) -> None:
        """Make a token worthless, and end the sessions that it was traded for; refused for the last way in."""


class Sessions(Protocol):
    """Sign-ins that last: at most 7 days, and no longer than 12 hours without a request."""

    async def sign_in_allowed(self, account: str, address: str | None) -> None:
        """Refuse (`Throttled`) once 5 sign-ins to the account, or from the address, have failed within 15 minutes.

        Without an address (who has a session need not come from a good one) the account alone is asked for.
        """

    async def fail_sign_in(self, account: str, address: str | None) -> None:
        """Count a wrong password, and keep it in the audit; refused (`Throttled`) where it is one too many.

        Without an address it counts for the account alone.
        """

    async def open_session(
        self, session_hash: str, holder: Credential | str, *, address: str, replacing: str | None = None
    ) -> tuple[Principal, Session] | None:
        """Sign in: the user whose password was right, or the token with this hash; None if it holds no more.

        A user is refused while throttled, and the account's failures are forgotten. The session of the same browser,
        `replacing`, ends.
        """

    async def find_session(self, session_hash: str) -> Principal | None:
        """Whose live session it is, with the role and groups of its user or token now; None when that may not enter.

        That it was seen is noted at most once a minute.
        """

    async def get_session(self, session_hash: str) -> Session | None:
        """The live session with this hash."""

    async def list_sessions(self, *, limit: int = 50, cursor: str | None = None) -> Page[Session]:
        """All that are live, newest first."""

    async def sign_out(self, session_hash: str) -> None:
        """End the session with this hash, if there is one."""

    async def close_session(self, session_id: int) -> None:
        """End somebody's session."""


class Accounts(Users, Tokens, Sessions, Protocol):
    """Who may call, and as whom."""
