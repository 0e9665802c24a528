"""Contracts: data sources: the databases that operations work on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from hourhand.contracts.sealing import NewSecret
from hourhand.model.data_source import Address, DataSource


class DataSources(Protocol):
    """Their passwords are sealed; the store cannot open them."""

    async def add_data_source(
        self, name: str, address: Address, secret: NewSecret | None = None, *, by: str
    ) -> DataSource:
        """A new one; its name must be free. Of the address all is kept but the password, which is the secret's matter.

        A secret of another key than the store's is refused: somebody has rotated it meanwhile.
        """

    async def edit_data_source(
        self, source_id: int, changes: Mapping[str, Any], *, seen: datetime | None = None
    ) -> DataSource:
        """Change its `name`, its `address`, or its `secret`, of which None removes it.

        Another name is refused while tasks know it by the old one. With `seen`, the moment of its last change, so is
        everything if somebody has changed it since.
        """

    async def delete_data_source(self, source_id: int) -> None:
        """Remove it; refused while tasks name it, or instances that have not ended work on it."""

    async def get_data_source(self, source_id: int) -> DataSource:
        """One data source."""

    async def find_data_source(self, name: str) -> DataSource:
        """The one of that name."""

    async def list_data_sources(self) -> list[DataSource]:
        """All of them, by name."""
