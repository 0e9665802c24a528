"""The API's memory of groups: stored nouns name a group by its id, people by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hourhand.contracts.store import Store


class GroupNames:
    """Names by id; an id is never given twice, so that one read of them holds until a new one appears."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names: dict[int, str] = {}

    async def of(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the names of these groups."""
        wanted = set(ids)
        if not wanted <= self._names.keys():
            await self._read()
            for removed in wanted - self._names.keys():
                self._names[removed] = f"#{removed}"
        return {one: self._names[one] for one in wanted}

    async def id_of(self, name: str) -> int:
        """Return the id of a group, or refuse its name."""
        there = await self._read()
        if name not in there:
            listed = ", ".join(sorted(there))
            raise InvalidInput.one("group", name, f"there is no group {name!r}; there are: {listed}")
        return there[name]

    async def ids_of(self, names: Iterable[str]) -> set[int]:
        """Return the ids of those of these groups that there are."""
        there = await self._read()
        return {there[name] for name in names if name in there}

    async def _read(self) -> dict[str, int]:
        groups = await self._store.list_groups()
        self._names = {group.id: group.name for group in groups}
        return {group.name: group.id for group in groups}
