"""Store: the verbs of data sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hourhand.contracts.sealing import NewSecret
from hourhand.model.data_source import Address, DataSource
from hourhand.model.errors import DuplicateName
from hourhand.store import data_sources
from hourhand.store.database import DataRefused, Tx
from hourhand.store.verbs.transactions import Transactions


class DataSources(Transactions):
    """The databases that operations work on."""

    async def add_data_source(
        self, name: str, address: Address, secret: NewSecret | None = None, *, by: str
    ) -> DataSource:
        async def add(tx: Tx) -> tuple[DataSource, int]:
            made = await data_sources.add(tx, name, address, secret, by=by)
            await self._record(
                tx, "create", "data-source", made.id, summary=_named(made), after=data_sources.described(made)
            )
            return made, made.id

        return (await self._create(add, data_sources.get))[0]

    async def edit_data_source(
        self, source_id: int, changes: Mapping[str, Any], *, seen: datetime | None = None
    ) -> DataSource:
        async def edit(tx: Tx) -> DataSource:
            before, after = await data_sources.edit(tx, source_id, changes, seen=seen)
            kept = {"before": data_sources.described(before), "after": data_sources.described(after)}
            await self._record(tx, "edit", "data-source", source_id, summary=_named(after), **kept)
            return after

        try:
            return await self._write(edit)
        except DataRefused as refused:
            if "name" not in changes:
                raise
            raise DuplicateName("data source", changes["name"]) from refused  # taken between the look and the write

    async def delete_data_source(self, source_id: int) -> None:
        async def remove(tx: Tx) -> None:
            before = await data_sources.remove(tx, source_id)
            kept = {"summary": _named(before), "before": data_sources.described(before)}
            await self._record(tx, "delete", "data-source", source_id, **kept)

        await self._write(remove)

    async def get_data_source(self, source_id: int) -> DataSource:
        return await self._read(lambda tx: data_sources.get(tx, source_id))

    async def find_data_source(self, name: str) -> DataSource:
        return await self._read(lambda tx: data_sources.find(tx, name))

    async def list_data_sources(self) -> list[DataSource]:
        return await self._read(data_sources.list_sources)


def _named(source: DataSource) -> str:
    return f"data source {source.name!r}"
