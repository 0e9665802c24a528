"""`/api/v1/execution-logs`: one row per ending, kept by retention."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Query

from hourhand.api.filters import Wanted
from hourhand.api.guarding import guarded_router
from hourhand.api.instances import shown
from hourhand.api.requests import TheGroups, ThePage, TheStore
from hourhand.api.shapes import EXECUTION_LOGS, Plain
from hourhand.model.words import Status

router = guarded_router(prefix="/execution-logs", tags=["execution logs"])


@router.get("", response_model=EXECUTION_LOGS, summary="Endings, newest first")
async def list_logs(
    store: TheStore,
    groups: TheGroups,
    page: ThePage,
    wanted: Wanted,
    status: Annotated[Literal["success", "failed", "cancelled"] | None, Query()] = None,
) -> Plain:
    """List every ending, also those that a retry has superseded; a page may be short, and have a `next_cursor`."""
    wanted = replace(wanted, status=None if status is None else Status(status))
    found = await store.list_logs(wanted, limit=page.limit, cursor=page.cursor)
    items = [{**each, "id": each["log_id"], "instance_id": each["id"]} for each in await shown(groups, found.items)]
    return {"items": items, "next_cursor": found.next_cursor}
