"""Bootstrap: the key that seals the store's secrets: given by the operator, or made in the data folder of SQLite."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import stat
import tempfile
from pathlib import Path

from hourhand.bootstrap.opening import prepare_data_dir
from hourhand.contracts.store import Store
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
            if self._envelope is None:
                name, key = _find(self._settings)
                envelope = Envelope(key)
                if not await self._store.agree_on_key(envelope.check):
                    raise InvalidInput.one(
                        name,
                        "***",
                        f"is not the key with which the secrets of {self._settings.shown_store} were sealed: "
                        "start with that one (of an SQLite store it is the file secret-key in its data folder)",
                    )
                self._envelope = envelope
        return self._envelope


def _find(settings: Settings) -> tuple[str, bytes]:
    """The key, and what it is called where it comes from."""
    if settings.secret_key is not None:
        return "HOURHAND_SECRET_KEY", _key("HOURHAND_SECRET_KEY", settings.secret_key.get_secret_value())
    if settings.secret_key_file is not None:
        name = "HOURHAND_SECRET_KEY_FILE"
        text = _read(name, settings.secret_key_file)
        if text is None:
            raise InvalidInput.one(name, str(settings.secret_key_file), f"there is no file {settings.secret_key_file}")
        return name, _key(name, text)
    if not settings.on_sqlite:
        raise InvalidInput.one(
            "HOURHAND_SECRET_KEY",
            None,
            "is not set, and secrets are stored only under a key: give every process of the cluster the same "
            f"HOURHAND_SECRET_KEY (or HOURHAND_SECRET_KEY_FILE), {KEY_BYTES} random bytes as `{NEW_KEY}` writes them",
        )
    file = settings.secret_key_path
    text = _read("secret-key", file)
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


def _write(file: Path, text: str) -> str:
    """Written whole or not at all; should another process have been faster, its key is the one."""
    handle, temporary = tempfile.mkstemp(prefix=".secret-key-", dir=file.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="ascii") as opened:
            opened.write(f"{text}\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.link(temporary, file)
    except FileExistsError:
        return _read("secret-key", file) or ""
    finally:
        Path(temporary).unlink(missing_ok=True)
    return text
