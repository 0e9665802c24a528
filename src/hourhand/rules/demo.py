"""Rules: which tasks are the demo's."""

from __future__ import annotations

from typing import Final

from hourhand.model.demo import DEMO_APP
from hourhand.model.task import Task
from hourhand.rules.declaration import owner_of

DEMO_OWNER: Final = owner_of(DEMO_APP)


def is_sample(task: Task) -> bool:
    """Whether the demo declared and manages it; a mark alone, which people can write, makes no sample of a task."""
    return task.managed_by == DEMO_OWNER == task.created_by and task.declared_hash is not None
