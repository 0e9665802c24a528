"""Bootstrap: another key for the store's secrets.

At every moment the key that the store is sealed with is on disk: the new one is written before anything is sealed with
it, and the old one goes only after that is committed. Who is killed in between leaves a store that works, and another
`hourhand secrets rotate`, or the next start, goes on from there.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from hourhand.bootstrap.opening import open_store, require_current
from hourhand.bootstrap.secret_key import (
    current,
    finished,
    in_data_dir,
    next_key_path,
    read_key,
    write_key,
)
from hourhand.bootstrap.tokens import user_name
from hourhand.model.audit import Author
from hourhand.model.errors import InvalidInput
from hourhand.model.sealing import Resealed, Unopened, UnopenedSource
from hourhand.service.envelope import KEY_BYTES, Envelope, Unsealable
from hourhand.settings import Settings
from hourhand.store import Store

OPTION = "--new-key-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """What was done."""

    secrets: int | None
    """How many are sealed anew; None: none was ever stored, so that there is nothing to do."""
    key_file: Path | None = None
    """Where the new key is."""
    already: bool = False
    """Whether that was so before."""
    unopened: tuple[Unopened | UnopenedSource, ...] = ()
    """What the key in use could not open, and is left as it was."""
    in_place: bool = False
    """Whether it is in its place in the data folder, so that nobody has to be told of it."""


async def rotate(settings: Settings, new_key_file: Path | None) -> Rotated:
    """Seal every secret of the store with a new key."""
    if new_key_file is None and not in_data_dir(settings):
        raise InvalidInput.one(
            OPTION,
            None,
            "is missing: the key in use was given by HOURHAND_SECRET_KEY or HOURHAND_SECRET_KEY_FILE, so that the new "
            "one needs a file of its own; it is made if it is not there",
        )
    await require_current(settings)  # what opens an SQLite store would also upgrade it
    async with open_store(settings, owner="hourhand secrets rotate") as opened:
        store = opened.on_behalf(Author(id="local", name=user_name()))
        check = await store.key_check()
        if check is None:
            return Rotated(secrets=None)
        finished(settings, check)  # what an earlier rotation has left to do
        return await _rotated(settings, store, check, new_key_file)


async def _rotated(settings: Settings, store: Store, check: str, new_key_file: Path | None) -> Rotated:
    given = None if new_key_file is None else _given(new_key_file)
    if given is not None and given.check == check and not _is_in_use(settings, check):
        return Rotated(secrets=0, key_file=new_key_file, already=True)
    old = current(settings, check)
    key_file = new_key_file or next_key_path(settings)
    new = Envelope(_kept(settings, new_key_file))
    if new.check == old.check:
        raise InvalidInput.one(OPTION, str(key_file), f"{key_file} holds the key that is in use: give another file")
    done = await _resealed(store, old, new)
    if in_data_dir(settings):
        finished(settings, new.check)
        key_file = settings.secret_key_path
    return Rotated(secrets=done.count, key_file=key_file, unopened=done.unopened, in_place=in_data_dir(settings))


def _given(file: Path) -> Envelope | None:
    key = read_key(OPTION, file)
    return None if key is None else Envelope(key)


def _is_in_use(settings: Settings, check: str) -> bool:
    try:
        current(settings, check)
    except InvalidInput:
        return False
    return True


def _kept(settings: Settings, new_key_file: Path | None) -> bytes:
    """The new key, on disk wherever it is looked for later."""
    try:
        key = secrets.token_bytes(KEY_BYTES)
        if new_key_file is not None:
            key = write_key(new_key_file, key)
        if in_data_dir(settings):
            file = next_key_path(settings)
            if new_key_file is not None:
                file.unlink(missing_ok=True)  # of a rotation that was stopped before it sealed anything
            key = write_key(file, key)
    except OSError as error:
        raise InvalidInput.one(
            OPTION, str(new_key_file), f"the new key cannot be written: {os.strerror(error.errno or 0)}"
        ) from None
    return key


async def _resealed(store: Store, old: Envelope, new: Envelope) -> Resealed:
    def anew(owner: str, sealed: bytes) -> bytes | None:
        try:
            return new.seal(old.open(sealed, belongs_to=owner), belongs_to=owner)
        except Unsealable:
            return None

    return await store.reseal(anew, before=old.check, after=new.check)
