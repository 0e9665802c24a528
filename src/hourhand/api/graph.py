"""`/api/v1/tasks/graph`: which task depends on which."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import QueryId
from hourhand.api.requests import TheGroups, TheReach, TheStore
from hourhand.api.shapes import GRAPH, Plain, plain

router = guarded_router()


@router.get("/tasks/graph", response_model=GRAPH, tags=["tasks"], summary="Which task depends on which")
async def graph(
    store: TheStore,
    groups: TheGroups,
    reach: TheReach,
    *,
    task_id: Annotated[QueryId | None, Query(description="Only what leads to it and from it")] = None,
    group: Annotated[str | None, Query(max_length=200, description="Only within this group")] = None,
) -> Plain:
    """Tasks without dependencies are left out; `truncated` says that there are more than 5,000 dependencies."""
    within = await reach.group_ids()
    if group is not None:
        reach.group(group)
        within = (await groups.id_of(group),)
    if task_id is not None:
        await reach.task(task_id)
    found = await store.graph(task_id=task_id, group_ids=within)
    return {
        "nodes": [plain(node) for node in found.nodes],
        "edges": [plain(edge) for edge in found.edges],
        "truncated": found.truncated,
    }
