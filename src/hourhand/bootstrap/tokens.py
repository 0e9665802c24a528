"""Bootstrap: the admin token of a store, made at its first start and kept in the data folder."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import secrets
import stat
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hourhand.bootstrap.opening import open_store, prepare_data_dir
from hourhand.model.audit import Author
from hourhand.model.errors import InvalidInput
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


async def create_local_token(settings: Settings) -> AdminToken:
    """Make a further admin token with nothing but access to the store itself: the way back when the first is lost."""
    prepare_data_dir(settings)
    file = settings.admin_token_file
    if _read_token(file) is not None:
        raise InvalidInput.one("data_dir", str(file), f"{file} holds a token already: use it, or move the file away")
    token = new_token()
    async with open_store(settings, owner="hourhand token create") as opened:
        store = opened.on_behalf(Author(id="local", name=user_name()))
        _write_token(file, token)
        if not await store.ensure_admin_token(hash_token(token)):
            await store.add_admin_token(hash_token(token))
    return AdminToken(TokenOrigin.NEW, file, token)


async def ensure_admin_token(settings: Settings, store: Store) -> AdminToken:
    """Make sure that the store has an admin token, generating it at the first start.

    The file is written before the store learns the hash: a crash in between leaves a token that the next start
    puts to use, never a hash whose token nobody knows.
    """
    file = settings.admin_token_file
    kept = _read_token(file)
    token = kept or new_token()
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


def user_name() -> str:
    """Return the name of the account that this runs as; its number where it has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def new_token() -> str:
    """Return a fresh token: tokens are never chosen, so that none can be guessed."""
    return f"hh_{secrets.token_urlsafe(32)}"


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
