"""`/api/v1/tasks/graph` and `…/impact`: which task depends on which, and what a failure would block."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import QueryId
from hourhand.api.requests import TheGroups, TheReach, TheStore
from hourhand.api.shapes import GRAPH, Plain, plain, shape
from hourhand.model.graph import Blocked, Impact
from hourhand.model.words import UpstreamFailurePolicy

router = guarded_router()
_BLOCKED = Blocked(
    task_id=8, name="report", group="default", depth=1, next_fire_at=None, policy=UpstreamFailurePolicy.WAIT
)
BLOCKED = shape("BlockedTask", Blocked, plain(_BLOCKED))
IMPACT = shape(
    "Impact",
    Impact,
    {"items": [plain(_BLOCKED)], "next_cursor": None, "hidden": 0, "truncated": False},
    without=("blocked",),
    items=list[BLOCKED],  # type: ignore[valid-type]  # made from the dataclass
    next_cursor=str | None,
)


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


@router.get(
    "/tasks/{task_id}/impact", response_model=IMPACT, tags=["tasks"], summary="What a failure of a task would block"
)
async def task_impact(task_id: int, store: TheStore, reach: TheReach) -> Plain:
    """List the tasks that would wait or fail with it, the nearest first.

    A task that runs anyway (`upstream_failure_policy` run) is not blocked, nor is what depends on it alone; one that
    needs any of several is blocked once all of them are. Those out of reach are only counted: `hidden`.
    """
    found = await store.impact(task_id, group_ids=await reach.group_ids())
    items = [plain(one) for one in found.blocked]
    return {"items": items, "next_cursor": None, "hidden": found.hidden, "truncated": found.truncated}
