"""Bootstrap: opens the store that Settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

from hourhand import store as stores
from hourhand.model.errors import InvalidInput, SchemaTooOld, StoreError, StoreUnavailable
from hourhand.settings import Settings
from hourhand.store import Store


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
