"""Store: the verbs of users, sessions and API tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from hourhand.model.access import ApiToken, Credential, Principal, Session, User
from hourhand.model.errors import Conflict, NotFound, Unauthenticated
from hourhand.model.hints import Hint
from hourhand.model.page import Page
from hourhand.model.words import Role
from hourhand.store import access, sessions, sign_in, tokens, users
from hourhand.store.database import Tx
from hourhand.store.once import once
from hourhand.store.types import dump_json
from hourhand.store.verbs.transactions import Transactions

SECRET = "password_hash"  # noqa: S105 - a field's name


class Users(Transactions):
    """People with a password."""

    async def add_user(
        self, name: str, *, password_hash: str | None, role: Role, groups: Sequence[str] | None = None
    ) -> tuple[User, bool]:
        async def create(tx: Tx) -> tuple[User, int]:
            user = await users.add_user(tx, name, password_hash=password_hash, role=role, groups=groups)
            await self._record(tx, "create", "user", user.id, after=users.described(user))
            return user, user.id

        request = self._once
        if request is not None:
            # What the request is told apart by is a fast hash of its whole body: no password may be in that.
            named = dump_json([name, role.value, None if groups is None else list(groups)])
            request = replace(request, request_hash=hashlib.sha256(named.encode()).hexdigest())
        return await self._write(lambda tx: once(tx, request, create, users.get_user))

    async def get_user(self, user_id: int) -> User:
        return await self._read(lambda tx: users.get_user(tx, user_id))

    async def list_users(self, *, limit: int = 50, cursor: str | None = None) -> Page[User]:
        return await self._read(lambda tx: users.list_users(tx, limit=limit, cursor=cursor))

    async def edit_user(self, user_id: int, changes: Mapping[str, Any]) -> User:
        async def edit(tx: Tx) -> tuple[User, bool]:
            before, after, differs = await users.edit_user(tx, user_id, changes)
            if differs:
                await sessions.close_sessions_of(tx, user_id)
                seen = [users.described(before), users.described(after)]
                if SECRET in changes:
                    seen = [{**one, "password": word} for one, word in zip(seen, ("the old", "the new"), strict=True)]
                await self._record(tx, "edit", "user", user_id, before=seen[0], after=seen[1])
            return after, differs

        user, differs = await self._write(edit)
        if differs:
            self._hints.ring(Hint.ACCESS, [user_id])
        return user

    async def delete_user(self, user_id: int) -> None:
        async def remove(tx: Tx) -> None:
            user = await users.delete_user(tx, user_id)
            await sessions.close_sessions_of(tx, user_id)
            await self._record(tx, "delete", "user", user_id, before=users.described(user))

        await self._write(remove)
        self._hints.ring(Hint.ACCESS, [user_id])

    async def find_password(self, name: str) -> Credential | None:
        return await self._read(lambda tx: users.find_password(tx, name))

    async def rehash_password(self, credential: Credential, password_hash: str) -> Credential | None:
        kept = await self._write(lambda tx: users.rehash_password(tx, credential, password_hash))
        return replace(credential, password_hash=password_hash) if kept else None

    async def change_password(
        self, credential: Credential, password_hash: str, *, session_hash: str, new_session_hash: str
    ) -> None:
        async def change(tx: Tx) -> None:
            if not await users.rehash_password(tx, credential, password_hash):
                raise Conflict(f"the password of {credential.name!r} was changed in the meantime: sign in again")
            await sessions.close_sessions_of(tx, credential.user_id, but=session_hash)
            if not await sessions.rotate(tx, session_hash, new_session_hash):
                raise Unauthenticated("the session has ended: sign in again")
            await sign_in.forget_failures(tx, credential.name)
            await self._record(tx, "password", "user", credential.user_id, summary="the password was changed")

        await self._write(change)
        self._hints.ring(Hint.ACCESS, [credential.user_id])


class Tokens(Transactions):
    """API tokens."""

    async def ensure_admin_token(self, token_hash: str) -> bool:
        async def ensure(tx: Tx) -> bool:
            token_id = await access.ensure_admin_token(tx, token_hash)
            if token_id is not None:
                await self._record_admin_token(tx, token_id)
            return token_id is not None

        return await self._write(ensure)

    async def add_admin_token(self, token_hash: str) -> None:
        async def add(tx: Tx) -> None:
            await self._record_admin_token(tx, await access.add_admin_token(tx, token_hash))

        await self._write(add)

    async def _record_admin_token(self, tx: Tx, token_id: int) -> None:
        token = await tokens.get_token(tx, token_id)
        await self._record(tx, "create", "token", token_id, after=tokens.described(token))

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
        async def create(tx: Tx) -> tuple[ApiToken, int]:
            token = await tokens.add_token(tx, name, token_hash, role=role, groups=groups, expires_at=expires_at, by=by)
            await self._record(tx, "create", "token", token.id, after=tokens.described(token))
            return token, token.id

        return await self._create(create, tokens.get_token)

    async def find_token(self, token_hash: str) -> Principal | None:
        return await self._read(lambda tx: access.find_token(tx, token_hash))

    async def list_tokens(self, *, limit: int = 50, cursor: str | None = None) -> Page[ApiToken]:
        return await self._read(lambda tx: tokens.list_tokens(tx, limit=limit, cursor=cursor))

    async def revoke_token(self, token_id: int) -> None:
        async def revoke(tx: Tx) -> None:
            token = await tokens.revoke_token(tx, token_id)
            if token is not None:
                await sessions.close_sessions_of_token(tx, token_id)
                await self._record(tx, "delete", "token", token_id, before=tokens.described(token))

        await self._write(revoke)
        self._hints.ring(Hint.ACCESS, [-token_id])


class Sessions(Transactions):
    """Sign-ins that last."""

    async def sign_in_allowed(self, account: str, address: str | None) -> None:
        await self._read(lambda tx: sign_in.refuse_throttled(tx, account, address))

    async def fail_sign_in(self, account: str, address: str | None) -> None:
        async def fail(tx: Tx) -> None:
            await sign_in.add_failure(tx, account, address)
            wrong = "the name or the password is wrong" if address is not None else "the old password is wrong"
            payload = None if address is None else {"address": address}
            known = self
            if self._author is not None and not await users.is_there(tx, account):
                # Passwords are typed into the wrong field: a name that nobody has is not kept.
                known, wrong = self.on_behalf(replace(self._author, name=self._author.id)), "an unknown name"
            await known._record(tx, "sign_in", "session", None, summary=wrong, payload=payload, result="refused")  # noqa: SLF001 - it is one of us

        await self._write(fail)

    async def open_session(
        self, session_hash: str, holder: Credential | str, *, address: str, replacing: str | None = None
    ) -> tuple[Principal, Session] | None:
        async def open_one(tx: Tx) -> tuple[tuple[Principal, Session], sessions.Closed | None] | None:
            if isinstance(holder, Credential):
                await sign_in.be_alone(tx, holder.name, address)
                await sign_in.refuse_throttled(tx, holder.name, address)
            opened = await sessions.open_session(tx, session_hash, holder, address=address)
            if opened is None:
                return None
            if isinstance(holder, Credential):
                await sign_in.forget_failures(tx, holder.name)
            replaced = None if replacing is None else await sessions.close_session(tx, replacing)
            if replaced is not None:
                await self._record(tx, "sign_out", "session", replaced.id, summary="replaced by a new sign-in")
            await self._record(tx, "sign_in", "session", opened[1].id, payload={"address": address})
            return opened, replaced

        done = await self._write(open_one)
        if done is None:
            return None
        opened, replaced = done
        if replaced is not None:
            self._hints.ring(Hint.ACCESS, [replaced.holder])
        return opened

    async def find_session(self, session_hash: str) -> Principal | None:
        found = await self._read(lambda tx: sessions.find_session(tx, session_hash))
        if found is None:
            return None
        principal, stale = found
        if stale:
            await self._write(lambda tx: sessions.touch(tx, session_hash))
        return principal

    async def get_session(self, session_hash: str) -> Session | None:
        return await self._read(lambda tx: sessions.get_session(tx, session_hash))

    async def list_sessions(self, *, limit: int = 50, cursor: str | None = None) -> Page[Session]:
        return await self._read(lambda tx: sessions.list_sessions(tx, limit=limit, cursor=cursor))

    async def sign_out(self, session_hash: str) -> None:
        async def close(tx: Tx) -> sessions.Closed | None:
            closed = await sessions.close_session(tx, session_hash)
            if closed is not None:
                await self._record(tx, "sign_out", "session", closed.id)
            return closed

        closed = await self._write(close)
        if closed is not None:
            self._hints.ring(Hint.ACCESS, [closed.holder])

    async def close_session(self, session_id: int) -> None:
        async def close(tx: Tx) -> int:
            closed = await sessions.close_session_by_id(tx, session_id)
            if closed is None:
                raise NotFound("session", session_id)
            await self._record(tx, "delete", "session", session_id)
            return closed.holder

        self._hints.ring(Hint.ACCESS, [await self._write(close)])


class Accounts(Users, Tokens, Sessions):
    """Who may call, and as whom."""
