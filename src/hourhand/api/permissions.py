"""Who may call which route: the one table, in which what is not listed cannot even be served.

Each route names the least role that may call it, and what it means to a caller who is limited to some groups:

    ANY       it tells and changes nothing that belongs to a group
    GROUPS    it answers for the caller's groups alone
    WHOLE     it is about everything, so that it is refused to whoever is limited
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hourhand.model.words import Role


class Extent(Enum):
    """How far a route reaches."""

    ANY = "any"
    GROUPS = "groups"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a caller must have."""

    role: Role
    extent: Extent


def _needs(role: Role, extent: Extent, *routes: str) -> dict[str, Needs]:
    return dict.fromkeys(routes, Needs(role, extent))


PERMISSIONS: dict[str, Needs] = {
    **_needs(
        Role.VIEWER,
        Extent.ANY,
        "GET /version",
        "GET /kinds",
        "POST /schedules/preview",
        "GET /sessions/current",
        "DELETE /sessions/current",
        "POST /sessions/current/password",
        "GET /calendars",
        "GET /calendars/{calendar_id}",
        "GET /calendars/{calendar_id}/days",
        "GET /demo",
    ),
    **_needs(
        Role.VIEWER,
        Extent.GROUPS,
        "GET /tasks",
        "GET /tasks/graph",
        "GET /tasks/{task_id}",
        "GET /tasks/{task_id}/versions",
        "GET /tasks/{task_id}/upcoming",
        "GET /tasks/{task_id}/impact",
        "GET /instances",
        "GET /instances/{instance_id}",
        "GET /instances/{instance_id}/attempts",
        "GET /instances/{instance_id}/explain",
        "GET /instances/{instance_id}/logs",
        "GET /instances/{instance_id}/logs/download",
        "GET /instances/{instance_id}/stream",
        "GET /execution-logs",
        "GET /groups",
        "GET /groups/{group_id}",
        "GET /executors",
        "GET /pauses",
        "GET /maintenance-windows",
        "GET /maintenance-windows/{window_id}",
        "GET /stats/overview",
        "GET /stats/series",
        "GET /stats/distribution",
        "GET /stats/long-running",
        "GET /stats/failures",
        "GET /stats/tasks",
        "GET /stats/timeline",
        "GET /schedules/upcoming",
        "GET /schedules/load",
        "GET /events",
    ),
    **_needs(
        Role.OPERATOR,
        Extent.GROUPS,
        "POST /tasks/{task_id}/run",
        "POST /tasks/{task_id}/backfill",
        "POST /instances",
        "POST /instances/bulk",
        "POST /instances/dispatch",
        "POST /instances/{instance_id}/dispatch",
        "POST /instances/{instance_id}/cancel",
        "POST /instances/{instance_id}/retry",
        "POST /pauses",
        "DELETE /pauses/{pause_id}",
    ),
    **_needs(
        Role.EDITOR,
        Extent.GROUPS,
        "POST /tasks",
        "POST /tasks/apply",
        "POST /tasks/batch",
        "POST /tasks/bulk",
        "PATCH /tasks/{task_id}",
        "DELETE /tasks/{task_id}",
        "POST /maintenance-windows",
        "PATCH /maintenance-windows/{window_id}",
        "DELETE /maintenance-windows/{window_id}",
        "GET /audit-logs",  # of one thing at a time
    ),
    **_needs(Role.VIEWER, Extent.WHOLE, "GET /alert-rules", "GET /alert-rules/{rule_id}", "GET /alerts"),
    **_needs(Role.OPERATOR, Extent.WHOLE, "GET /diagnosis"),
    **_needs(
        Role.EDITOR,
        Extent.WHOLE,
        "POST /calendars",
        "PATCH /calendars/{calendar_id}",
        "DELETE /calendars/{calendar_id}",
        "POST /alert-rules",
        "PATCH /alert-rules/{rule_id}",
        "DELETE /alert-rules/{rule_id}",
        "POST /alert-rules/{rule_id}/test",
        "GET /data-sources",
        "GET /data-sources/{source_id}",
        "POST /data-sources/{source_id}/test",
        "POST /operations/{kind}",
        "POST /operations/{kind}/preview",
        "GET /instances/{instance_id}/undo",
        "GET /audit-logs/verify",
        "GET /audit-logs/{entry_id}",
    ),
    **_needs(
        Role.ADMIN,
        Extent.WHOLE,
        "POST /demo",  # with its group
        "DELETE /demo",
        "POST /data-sources",
        "PATCH /data-sources/{source_id}",
        "DELETE /data-sources/{source_id}",
        "POST /groups",
        "PATCH /groups/{group_id}",
        "DELETE /groups/{group_id}",
        "POST /groups/{group_id}/access-token",
        "GET /users",
        "POST /users",
        "GET /users/{user_id}",
        "PATCH /users/{user_id}",
        "DELETE /users/{user_id}",
        "GET /tokens",
        "POST /tokens",
        "DELETE /tokens/{token_id}",
        "GET /sessions",
        "DELETE /sessions/{session_id}",
    ),
}
