"""Bootstrap: the key that seals the store's secrets: given by the operator, or made in the data folder of SQLite."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import NoReturn

from hourhand.bootstrap.opening import prepare_data_dir
from hourhand.contracts.store import Store
from hourhand.model.diagnosis import KeyState
from hourhand.model.errors import InvalidInput
from hourhand.service.envelope import KEY_BYTES, NEW_KEY, Envelope, key_from
from hourhand.settings import Settings

_LONGEST = 1_000


class SecretKey:
    """Finds the key at first use, and refuses one with which the store's secrets were not sealed."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._envelope: Envelope | None = None
        self._finding = asyncio.Lock()

    async def envelope(self) -> Envelope:
        """What seals and opens; InvalidInput says what is to be done when there is no right key."""
        async with self._finding:
            # Asked each time: whoever has rotated the key meanwhile must not find secrets under the old one.
            if self._envelope is None or await self._store.key_check() != self._envelope.check:
                self._envelope = None
                name, key = _find(self._settings)
                envelope = Envelope(key)
                if not await self._store.agree_on_key(envelope.check):
                    envelope = finished(self._settings, await self._store.key_check()) or _refuse(self._settings, name)
                self._envelope = envelope
        return self._envelope


def _refuse(settings: Settings, name: str) -> NoReturn:
    raise InvalidInput.one(
        name,
        "***",
        f"is not the key with which the secrets of {settings.shown_store} were sealed: "
        "start with that one (of an SQLite store it is the file secret-key in its data folder)",
    )


def current(settings: Settings, check: str) -> Envelope:
    """The key that a store with this check value is sealed with; refused if it is not the one that is given."""
    name, key = _find(settings, make=False)
    envelope = Envelope(key)
    return envelope if envelope.check == check else _refuse(settings, name)


def in_data_dir(settings: Settings) -> bool:
    """Whether the key is the one that an SQLite store has in its data folder."""
    return settings.on_sqlite and settings.secret_key is None and settings.secret_key_file is None


def next_key_path(settings: Settings) -> Path:
    """Where the next key of a data folder is while secrets are sealed anew with it."""
    return settings.secret_key_path.with_name("secret-key.new")


def finished(settings: Settings, check: str | None) -> Envelope | None:
    """Put the next key of a data folder into its place, if the store is sealed with it already.

    Whoever rotated the key was stopped between the two; before that, the next key is of no use and stays where it is.
    """
    file = next_key_path(settings)
    text = _read("secret-key", file) if in_data_dir(settings) else None
    if text is None:
        return None
    envelope = Envelope(_key(str(file), text))
    if envelope.check != check:
        return None
    file.replace(settings.secret_key_path)
    sync(file.parent)
    return envelope


def key_state(settings: Settings, check: str | None) -> tuple[KeyState, str]:
    """What a process with these settings has of a key, where the store's has this check value; nothing is made."""
    if check is None:
        return KeyState.UNUSED, "no secret is stored yet"
    try:
        name, key = _find(settings, make=False)
    except _NoKey as missing:
        return KeyState.MISSING, str(missing)
    except InvalidInput as refused:
        return KeyState.UNREADABLE, str(refused)
    if Envelope(key).check == check:
        return KeyState.FITS, name
    text = _read("secret-key", next_key_path(settings)) if in_data_dir(settings) else None
    if text is not None and Envelope(_key("secret-key", text)).check == check:
        return KeyState.FITS, f"{next_key_path(settings)}, which takes the place of the old one at its next use"
    return KeyState.WRONG, name


class _NoKey(InvalidInput):
    """There is none where one should be."""


def _find(settings: Settings, *, make: bool = True) -> tuple[str, bytes]:
    """The key, and what it is called where it comes from; an SQLite store is given one, if it may be made."""
    if settings.secret_key is not None:
        return "HOURHAND_SECRET_KEY", _key("HOURHAND_SECRET_KEY", settings.secret_key.get_secret_value())
    if settings.secret_key_file is not None:
        name = "HOURHAND_SECRET_KEY_FILE"
        text = _read(name, settings.secret_key_file)
        if text is None:
            raise _NoKey.one(name, str(settings.secret_key_file), f"there is no file {settings.secret_key_file}")
        return name, _key(name, text)
    if not settings.on_sqlite:
        raise _NoKey.one(
            "HOURHAND_SECRET_KEY",
            None,
            "is not set, and secrets are stored only under a key: give every process of the cluster the same "
            f"HOURHAND_SECRET_KEY (or HOURHAND_SECRET_KEY_FILE), {KEY_BYTES} random bytes as `{NEW_KEY}` writes them",
        )
    file = settings.secret_key_path
    text = _read("secret-key", file)
    if text is None and not make:
        raise _NoKey.one("secret-key", str(file), f"there is no file {file}, which held the key: put it back")
    if text is None:
        prepare_data_dir(settings)
        text = _write(file, base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode())
    return str(file), _key(str(file), text)


def _key(name: str, text: str) -> bytes:
    try:
        return key_from(text)
    except ValueError as error:
        raise InvalidInput.one(name, "***", str(error)) from None


def _read(name: str, file: Path) -> str | None:
    try:
        with file.open(encoding="ascii", errors="replace") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            text = opened.read(_LONGEST).strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput.one(name, str(file), f"{file} cannot be read: {error.strerror}") from None
    if mode & 0o007 or (name == "secret-key" and mode & 0o077):  # what a cluster mounts may belong to a group
        raise InvalidInput.one(
            name, str(file), f"{file} has mode {mode:04o}, so that others can read the key: run `chmod 600 {file}`"
        )
    return text


def read_key(option: str, file: Path) -> bytes | None:
    """The key in a file that somebody named; None where there is no file."""
    text = _read(option, file)
    return None if text is None else _key(option, text)


def write_key(file: Path, key: bytes) -> bytes:
    """Keep a key in a file of its own, durably; if there is one already, that one is the key."""
    return _key(str(file), _write(file, base64.b64encode(key).decode()))


def sync(folder: Path) -> None:
    """Let what was made, renamed or removed in a folder outlive a crash of the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write(file: Path, text: str) -> str:
    """Written whole or not at all; should another process have been faster, its key is the one."""
    handle, temporary = tempfile.mkstemp(prefix=".secret-key-", dir=file.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as opened:
            opened.write(f"{text}\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.link(temporary, file)
        sync(file.parent)
    except FileExistsError:
        return _read("secret-key", file) or ""
    finally:
        Path(temporary).unlink(missing_ok=True)
    return text
