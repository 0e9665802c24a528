"""How far a caller reaches who is limited to some groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hourhand.model.errors import Forbidden
from hourhand.model.pause import PauseScope
from hourhand.rules.reach import limited, out_of_reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hourhand.api.group_names import GroupNames
    from hourhand.contracts.store import Store
    from hourhand.model.access import Principal
    from hourhand.model.window import Window


class Reach:
    """What one caller may touch; everything, for one who is not limited."""

    def __init__(self, caller: Principal, store: Store, names: GroupNames) -> None:
        self.caller = caller
        self._store = store
        self._names = names

    @property
    def limited(self) -> bool:
        """Whether there is anything it may not touch."""
        return self.caller.groups is not None

    def whole(self, what: str) -> None:
        """Refuse a limited caller what is about everything."""
        if self.limited:
            raise Forbidden(f"{what} is about all groups, and {limited(self.caller.name, self.caller.groups or ())}")

    def group(self, name: str) -> None:
        """Refuse a group that is out of reach."""
        if not self.caller.reaches(name):
            raise self._refusal(f"group {name!r}")

    def group_of(self, what: str, name: str) -> None:
        """Refuse what belongs to a group out of reach, without telling which group that is."""
        if not self.caller.reaches(name):
            raise self._refusal(what)

    async def group_id(self, group_id: int) -> None:
        """Refuse a group that is out of reach; one that there is not is left to whoever looks for it."""
        if self.limited:
            name = (await self._names.of([group_id]))[group_id]
            if not self.caller.reaches(name):
                raise self._refusal(f"group {group_id}")

    async def task(self, task_id: int) -> None:
        """Refuse a task of a group that is out of reach."""
        if self.limited and not self.caller.reaches((await self._store.get_task(task_id)).group):
            raise self._refusal(f"task {task_id}")

    def sees_window(self, window: Window) -> bool:
        """Whether a maintenance window is of a group within reach, or of everything, which concerns everybody."""
        if window.scope is PauseScope.ALL or not self.limited:
            return True
        return window.group is not None and self.caller.reaches(window.group)

    async def window(self, window_id: int) -> None:
        """Refuse a maintenance window of a group that is out of reach."""
        if self.limited and not self.sees_window(await self._store.get_window(window_id)):
            raise self._refusal(f"maintenance window {window_id}")

    async def instance(self, instance_id: int) -> None:
        """Refuse an instance of a group that is out of reach."""
        await self.instances([instance_id])

    async def instances(self, ids: Iterable[int]) -> None:
        """Refuse instances of groups that are out of reach."""
        if not self.limited:
            return
        wanted = list(ids)
        found = await self._store.groups_of(wanted)
        for one in wanted:
            if one not in found:
                await self._store.get_instance(one)  # which says that there is none, or none any more
            if one not in found or not self.caller.reaches(found[one]):
                raise self._refusal(f"instance {one}")

    async def group_ids(self) -> tuple[int, ...] | None:
        """The ids of the groups within reach; None for all of them."""
        if self.caller.groups is None:
            return None
        return tuple(sorted(await self._names.ids_of(self.caller.groups)))

    def _refusal(self, what: str) -> Forbidden:
        return Forbidden(out_of_reach(what, self.caller.name, self.caller.groups or ()))
