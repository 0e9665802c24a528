"""What a pause or a maintenance window covers, as clients say it: a task by its id, a group by its name, or all."""

from __future__ import annotations

from hourhand.api.group_names import GroupNames
from hourhand.api.reach import Reach
from hourhand.model.errors import InvalidInput
from hourhand.model.pause import PauseScope


async def scope_id_of(
    scope: PauseScope, task_id: int | None, group: str | None, *, groups: GroupNames, reach: Reach, what: str
) -> int | None:
    """Return the id of what is meant; refuse what does not fit the scope, and what is out of reach."""
    wanted = {PauseScope.TASK: "task_id", PauseScope.GROUP: "group"}.get(scope)
    for name, value in (("task_id", task_id), ("group", group)):
        if (value is not None) != (name == wanted):
            right = f"say which {scope.value}" if name == wanted else "leave it out"
            raise InvalidInput.one(name, value, f"does not fit the scope {scope.value!r}: {right}")
    if group is not None:
        reach.group(group)
        return await groups.id_of(group)
    if task_id is not None:
        await reach.task(task_id)
        return task_id
    reach.whole(what)
    return None
