"""The API's memory of groups: stored nouns name a group by its id, people by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hourhand.contracts.store import Store


class GroupNames:
    """Names by id, read again when an id or a name is new: a group keeps its id and its name for ever."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names: dict[int, str] = {}

    async def of(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the names of these groups."""
        wanted = set(ids)
        if not wanted <= self._names.keys():
            await self._read()
        return {one: self._names.get(one, "") for one in wanted}

    async def id_of(self, name: str) -> int:
        """Return the id of a group, or refuse its name."""
        if name not in self._names.values():
            await self._read()
        found = next((one for one, known in self._names.items() if known == name), None)
        if found is None:
            there = ", ".join(sorted(self._names.values()))
            raise InvalidInput.one("group", name, f"there is no group {name!r}; there are: {there}")
        return found

    async def ids_of(self, names: Iterable[str]) -> set[int]:
        """Return the ids of those of these groups that there are."""
        wanted = set(names)
        if not wanted <= set(self._names.values()):
            await self._read()
        return {one for one, known in self._names.items() if known in wanted}

    async def _read(self) -> None:
        self._names = {group.id: group.name for group in await self._store.list_groups()}
