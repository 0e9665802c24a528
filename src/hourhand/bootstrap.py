"""Bootstrap: builds the parts of a process from Settings; the only room that knows all the rooms below the surfaces."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hourhand import store as stores
from hourhand.model.errors import InvalidInput, SchemaTooOld, StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from hourhand.settings import Settings
    from hourhand.store import Store

TOKEN_FORM = re.compile(r"hh_[A-Za-z0-9_-]{43}")


class TokenOrigin(Enum):
    """Where the admin token of the store comes from, as seen by this process."""

    NEW = "this start made it"
    FILE = "it is in the data folder"
    ELSEWHERE = "another process of the cluster made it, or its file is gone"


@dataclass(frozen=True, slots=True)
class AdminToken:
    """The store's admin token as this process knows it; `secret` is there only when it may be shown."""

    origin: TokenOrigin
    file: Path
    secret: str | None = None


@asynccontextmanager
async def open_store(settings: Settings, *, owner: str = "", migrate: bool = False) -> AsyncIterator[Store]:
    """Open the store for the length of a `with` block.

    An empty database gets its schema. An older schema is upgraded on SQLite (the store copies the file first), and
    refused on PostgreSQL, where other processes may still be using it, unless `migrate` says otherwise.
    """
    prepare_data_dir(settings)
    opened = partial(stores.open_store, settings.store, owner=owner, lease_seconds=settings.lease_seconds)
    with _naming_the_store(settings):
        current, _ = await stores.revision(settings.store)
        try:
            store = await opened(migrate=current is None)
        except SchemaTooOld:
            if not (settings.on_sqlite or migrate):
                raise
            store = await opened(migrate=True)
    try:
        yield store
    finally:
        await store.close()


async def store_revision(settings: Settings) -> tuple[str | None, str]:
    """Return the revision of the store's schema (None: it is empty) and the newest this program knows."""
    with _naming_the_store(settings):
        return await stores.revision(settings.store)


async def upgrade_store(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the schema; return the revision before (None: it was empty) and the one after."""
    if settings.in_data_dir:
        prepare_data_dir(settings)
    with _naming_the_store(settings):
        return await stores.upgrade(settings.store)


async def require_current(settings: Settings) -> None:
    """Refuse a store whose schema is older or newer than what this program needs."""
    with _naming_the_store(settings):
        await stores.require_current(settings.store)


async def create_local_token(settings: Settings) -> AdminToken:
    """Make a further admin token with nothing but access to the store itself: the way back when the first is lost."""
    prepare_data_dir(settings)
    file = settings.admin_token_file
    if _read_token(file) is not None:
        raise InvalidInput.one("data_dir", str(file), f"{file} holds a token already: use it, or move the file away")
    token = f"hh_{secrets.token_urlsafe(32)}"
    async with open_store(settings, owner="hourhand token create") as store:
        _write_token(file, token)
        if not await store.ensure_admin_token(hash_token(token)):
            await store.add_admin_token(hash_token(token))
    return AdminToken(TokenOrigin.NEW, file, token)


@contextmanager
def _naming_the_store(settings: Settings) -> Iterator[None]:
    """Say which store it is that cannot be used: the operator may have meant another."""
    try:
        yield
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"the store {settings.shown_store} cannot be used ({error}): "
            "is it running, and are host, port, user and database right?"
        ) from error
    except OSError as error:
        raise StoreError(
            f"the store {settings.shown_store} cannot be used ({error}): "
            "is its folder there, and may this user write in it?"
        ) from error


def prepare_data_dir(settings: Settings) -> None:
    """Make the data folder, for its owner only, if it is not there."""
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput.one(
            "data_dir",
            str(settings.data_dir),
            f"the data folder {settings.data_dir} cannot be made ({error.strerror}): choose another with --data-dir",
        ) from None


async def ensure_admin_token(settings: Settings, store: Store) -> AdminToken:
    """Make sure that the store has an admin token, generating it at the first start.

    The file is written before the store learns the hash: a crash in between leaves a token that the next start
    puts to use, never a hash whose token nobody knows.
    """
    file = settings.admin_token_file
    kept = _read_token(file)
    token = kept or f"hh_{secrets.token_urlsafe(32)}"
    if kept is None:
        _write_token(file, token)
    if await store.ensure_admin_token(hash_token(token)):
        return AdminToken(TokenOrigin.NEW, file, token)
    if kept is None:
        file.unlink()
        return AdminToken(TokenOrigin.ELSEWHERE, file)
    if await store.find_token(hash_token(token)) is None:
        raise InvalidInput.one(
            "admin_token",
            str(file),
            f"the token in {file} is not one of {settings.shown_store}: the file belongs to another store; "
            "use that store's data folder with --data-dir, or move the file away and run "
            "`hourhand token create --local`",
        )
    return AdminToken(TokenOrigin.FILE, file)


def hash_token(token: str) -> str:
    """Return what the store keeps of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _read_token(file: Path) -> str | None:
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            token = opened.read(200).strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput.one("admin_token", str(file), f"{file} cannot be read: {error.strerror}") from None
    if mode & 0o077:
        raise InvalidInput.one(
            "admin_token",
            str(file),
            f"{file} has mode {mode:04o}, so others on this machine can read the admin token: run `chmod 600 {file}`",
        )
    if not TOKEN_FORM.fullmatch(token):
        raise InvalidInput.one(
            "admin_token",
            str(file),
            f"{file} does not hold a generated token (hh_ and 43 characters; a chosen one could be guessed): put the "
            "generated one back, or move the file away and run `hourhand token create --local`",
        )
    return token


def _write_token(file: Path, token: str) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".admin-token-", dir=file.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as opened:
            opened.write(f"{token}\n")
            opened.flush()
            os.fsync(opened.fileno())
        Path(temporary).rename(file)
    finally:
        Path(temporary).unlink(missing_ok=True)
