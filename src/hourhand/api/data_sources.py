"""`/api/v1/data-sources`: the databases that operations work on; passwords go in and never come out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Line, example
from hourhand.api.passwords import Confidential, Secret
from hourhand.api.requests import Caller, TheSources, TheStore
from hourhand.api.shapes import Plain, page_of
from hourhand.bootstrap.sources import Tested, tried
from hourhand.model.audit import Change
from hourhand.model.data_source import Address, DataSource, Dialect
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.rules.data_sources import (
    FIELDS,
    HIGHEST_PORT,
    LONGEST_NAME,
    LONGEST_TEXT,
    address_from,
    changed,
    name_from,
)
from hourhand.service.envelope import Unsealable
from hourhand.service.sources import SealedSources

router = guarded_router(prefix="/data-sources", tags=["data sources"])
_AT = "2026-11-15T01:00:00Z"
_BY_URL = {"name": "shop", "url": "postgresql://hourhand:seven-quiet-otters@db.example.com/shop?sslmode=verify-full"}
_BY_FIELDS = {
    "name": "shop",
    "dialect": "postgresql",
    "host": "db.example.com",
    "port": 5432,
    "database": "shop",
    "username": "hourhand",
    "password": "seven-quiet-otters",
    "options": {"sslmode": "verify-full"},
}
_URL = "A URL such as `postgresql://user:password@host:port/database?sslmode=verify-full`, in place of the fields"


class _Said(Confidential):
    url: Secret | None = Field(default=None, description=_URL)
    dialect: Dialect | None = None
    host: str | None = Field(default=None, max_length=LONGEST_TEXT)
    port: int | None = Field(
        default=None, ge=1, le=HIGHEST_PORT, strict=True, description="5432, 3306 or 1433, unless it is given"
    )
    database: str | None = Field(
        default=None, max_length=LONGEST_TEXT, description="Of SQLite: the absolute path of its file"
    )
    username: str | None = Field(default=None, max_length=LONGEST_TEXT)
    password: Secret | None = Field(default=None, description="Stored sealed, and never shown again")
    options: dict[str, Any] | None = Field(
        default=None,
        description=(
            "Of PostgreSQL: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `search_path`, `role`; of MariaDB and "
            "MySQL: `ssl`, `ssl_ca`, `unix_socket`"
        ),
    )
    test: bool = Field(
        default=True, strict=True, description="Whether to connect first, and to refuse what cannot be reached"
    )

    def place(self) -> dict[str, Any]:
        """Return what was given of where it is."""
        given = {name: getattr(self, name) for name in ("url", *FIELDS) if name in self.model_fields_set}
        return {name: one.get_secret_value() if isinstance(one, SecretStr) else one for name, one in given.items()}


class NewDataSource(_Said):
    """A data source to be added."""

    model_config = ConfigDict(json_schema_extra={"examples": [cast("Any", _BY_URL), cast("Any", _BY_FIELDS)]})

    name: Line = Field(min_length=1, max_length=LONGEST_NAME)


class DataSourceEdit(_Said):
    """What is to be changed of a data source; of a password null removes it."""

    model_config = example(username="archiver", password="nine-loud-herons")  # noqa: S106 - an example

    name: Line | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)


class DataSourceOutput(BaseModel):
    """A database that operations work on."""

    model_config = example(
        id=3,
        **{name: value for name, value in _BY_FIELDS.items() if name != "password"},
        url="postgresql://hourhand@db.example.com:5432/shop",
        has_password=True,
        created_at=_AT,
        updated_at=_AT,
        created_by="admin",
    )

    id: int
    name: str
    dialect: Dialect
    host: str | None
    port: int | None
    database: str | None
    username: str | None
    options: dict[str, Any]
    url: str = Field(description="Where it is, for people: without password and options")
    has_password: bool
    created_at: datetime
    updated_at: datetime
    created_by: str


class DataSourceTested(BaseModel):
    """What became of an attempt to connect."""

    model_config = example(
        ok=True,
        dialect="postgresql",
        version="15.18",
        latency_ms=0.8,
        user="hourhand",
        detail="postgresql://hourhand@db.example.com:5432/shop answers: PostgreSQL 15.18, and knows us as hourhand",
    )

    ok: bool
    dialect: Dialect = Field(description="What it really speaks")
    version: str | None
    latency_ms: float | None = Field(description="How long one question took, once connected")
    user: str | None = Field(description="As whom it knows us")
    detail: str = Field(description="In words; where it is not ok, why")


DATA_SOURCES = page_of(DataSourceOutput)
_SAME = [name for name in DataSourceOutput.model_fields if name not in ("url", "has_password", "options")]


def _shown(source: DataSource) -> DataSourceOutput:
    return DataSourceOutput(
        **{name: getattr(source, name) for name in _SAME},
        options=dict(source.options),
        url=source.address(None).shown,
        has_password=source.secret is not None,
    )


@router.get("", response_model=DATA_SOURCES, summary="Data sources by name")
async def list_data_sources(store: TheStore) -> Plain:
    """There are few, so that they are one page; passwords are never shown."""
    return {"items": [_shown(one) for one in await store.list_data_sources()], "next_cursor": None}


@router.post("", status_code=201, summary="Add a data source")
async def add_data_source(
    given: NewDataSource, store: TheStore, sources: TheSources, caller: Caller, response: Response
) -> DataSourceOutput:
    """It is connected to first, and refused if that fails, unless `test` is false; SQL Server is never connected to."""
    name, place = name_from(given.name), given.place()
    address = address_from(place)
    secret = None if address.password is None else await sources.secret(address.password)
    if given.test:
        address = await _reached(address, by_url="url" in place)
    source = await store.add_data_source(name, address, secret, by=caller.name)
    response.headers["Location"] = f"/api/v1/data-sources/{source.id}"
    return _shown(source)


@router.get("/{source_id}", summary="One data source")
async def get_data_source(source_id: int, store: TheStore) -> DataSourceOutput:
    """Of its password only whether there is one."""
    return _shown(await store.get_data_source(source_id))


@router.patch("/{source_id}", summary="Change some fields of a data source")
async def edit_data_source(
    source_id: int, given: DataSourceEdit, store: TheStore, sources: TheSources
) -> DataSourceOutput:
    """A URL takes the place of all fields. With another host or port the password is needed again.

    What changes is connected to first, and refused if that fails, unless `test` is false. Another name is refused while
    tasks know it by the old one (409).
    """
    before, place = await store.get_data_source(source_id), given.place()
    changes: dict[str, Any] = {}
    if "name" in given.model_fields_set:
        changes["name"] = name_from(given.name)
    if place:
        address = changed(before, place)
        if address.password is not None:
            changes["secret"] = await sources.secret(address.password)
        elif "password" in place:
            changes["secret"] = None
        if given.test:
            opened = address if "secret" in changes else await _opened(sources, before, address)
            address = await _reached(opened, by_url="url" in place)
        changes["address"] = address
    return _shown(await store.edit_data_source(source_id, changes, seen=before.updated_at))


@router.delete("/{source_id}", status_code=204, summary="Delete a data source")
async def delete_data_source(source_id: int, store: TheStore) -> None:
    """Refused (409) while tasks name it, or instances that have not ended work on it."""
    await store.delete_data_source(source_id)


@router.post("/{source_id}/test", summary="Connect to a data source now")
async def test_data_source(source_id: int, store: TheStore, sources: TheSources) -> DataSourceTested:
    """Answer within about 10 seconds with what became of it; 200 also when it cannot be reached.

    MariaDB that was entered as MySQL, or the other way round, is known as what it is from then on.
    """
    source = await store.get_data_source(source_id)
    asked = Change(
        action="test", resource_type="data-source", resource_id=str(source_id), summary=f"data source {source.name!r}"
    )
    await store.record(asked)
    try:
        found = await tried(await sources.address_of(source))
    except Unsealable as error:
        found = Tested(ok=False, dialect=source.dialect, detail=str(error))
    if found.dialect is not source.dialect:
        corrected = replace(source.address(None), dialect=found.dialect)
        with suppress(Conflict):  # somebody has changed it meanwhile, so that it is another one
            await store.edit_data_source(source_id, {"address": corrected}, seen=source.updated_at)
    return DataSourceTested(**{name: getattr(found, name) for name in DataSourceTested.model_fields})


async def _opened(sources: SealedSources, before: DataSource, after: Address) -> Address:
    """Where it will be, with the password that it keeps."""
    try:
        return replace(after, password=(await sources.address_of(before)).password)
    except Unsealable as error:
        raise InvalidInput.one("password", None, f"is needed again: {error}") from None


async def _reached(address: Address, *, by_url: bool) -> Address:
    """The same with the dialect that it really speaks; refused where nobody answers."""
    if address.dialect is Dialect.SQLSERVER:
        return address
    found = await tried(address)
    if not found.ok:
        field = "url" if by_url else "database" if address.dialect is Dialect.SQLITE else "host"
        anyway = "" if found.refused else "; test false (--no-test) keeps it all the same"
        raise InvalidInput.one(field, None, f"{found.detail}{anyway}")
    return replace(address, dialect=found.dialect)
