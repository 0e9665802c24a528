"""What of the audit is for a caller who is limited to some groups: what was done to one thing within reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hourhand.model.errors import Forbidden
from hourhand.model.pause import PauseScope
from hourhand.rules.reach import limited

if TYPE_CHECKING:
    from hourhand.api.reach import Reach
    from hourhand.contracts.store import Store
    from hourhand.model.audit import AuditEntry, AuditFilter

MOST = 200
"""How many versions are looked at."""
_DIGITS = 18
_ONE = "task_id, or resource_type (task, instance, group or maintenance-window) with resource_id"


@dataclass(frozen=True, slots=True)
class OneThing:
    """The one thing of which a limited caller has asked, and what may be told of it."""

    wanted: AuditFilter
    reach: Reach
    scope: tuple[str, int | None] | None = None
    """What a pause or a maintenance window must be about, before and after."""
    always_ours: bool = True
    """Whether the task in question was never in a group out of reach; else its entries must say where it was."""

    async def told(self, entries: Sequence[AuditEntry], store: Store) -> list[AuditEntry]:
        """The entries without those that show something of another group: a thing may have been moved here."""
        instances = [int(one.resource_id or 0) for one in entries if one.resource_type == "instance"]
        groups = await store.groups_of(instances) if instances else {}
        return [one for one in entries if self._tells(one, groups)]

    def _tells(self, entry: AuditEntry, groups: Mapping[int, str]) -> bool:
        seen = [one for one in (entry.before, entry.after) if isinstance(one, Mapping)]
        match entry.resource_type:
            case "task":
                named = [one["group"] for one in seen if "group" in one]
                return all(map(self._reaches, named)) if named else self.always_ours
            case "instance":
                return self._reaches(groups.get(int(entry.resource_id or 0)))
            case "pause" | "maintenance-window":
                return self.always_ours and all((one.get("scope"), one.get("scope_id")) == self.scope for one in seen)
        return True

    def _reaches(self, group: str | None) -> bool:
        return group is not None and self.reach.caller.reaches(group)


async def one_thing(wanted: AuditFilter, reach: Reach, store: Store) -> OneThing:
    """Refuse a limited caller all but the entries of one thing within reach.

    What was refused is left out as well: a refusal tells to which groups somebody else is limited.
    """
    if wanted.result == "refused":
        reach.whole("what was refused")
    wanted = replace(wanted, result="done")
    if wanted.task_id is not None:
        return await _of_task(wanted, reach, store, wanted.task_id)
    which = wanted.resource_id or ""
    number = int(which) if which.isascii() and which.isdecimal() and len(which) <= _DIGITS else None
    match wanted.resource_type:
        case "task" if number is not None:
            return await _of_task(wanted, reach, store, number)
        case "instance" if number is not None:
            await reach.instance(number)
            return OneThing(wanted, reach)
        case "group" if number is not None:
            await reach.group_id(number)
            return OneThing(wanted, reach)
        case "maintenance-window" if number is not None:
            await reach.window(number)
            window = await store.get_window(number)
            task_id = window.scope_id if window.scope is PauseScope.TASK else None
            ours = task_id is None or await _always_ours(store, reach, task_id)
            return OneThing(wanted, reach, (window.scope.value, window.scope_id), ours)
    caller = reach.caller
    raise Forbidden(
        f"the audit is about all groups, and {limited(caller.name, caller.groups or ())}: ask for one thing ({_ONE})"
    )


async def _of_task(wanted: AuditFilter, reach: Reach, store: Store, task_id: int) -> OneThing:
    await reach.task(task_id)
    return OneThing(wanted, reach, ("task", task_id), await _always_ours(store, reach, task_id))


async def _always_ours(store: Store, reach: Reach, task_id: int) -> bool:
    """Whether all its versions are of groups within reach; of more than a page of them nobody can say."""
    versions = await store.list_versions(task_id, limit=MOST)
    return versions.next_cursor is None and all(reach.caller.reaches(one.definition.group) for one in versions.items)
