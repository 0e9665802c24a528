"""`/api/v1/audit-logs`: who changed what, and whether anybody meddled with the record of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Query

from hourhand.api.audit_reach import one_thing
from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Instant, QueryId
from hourhand.api.requests import ThePage, TheReach, TheStore
from hourhand.api.shapes import Plain, page_of, plain, shape
from hourhand.model.audit import AuditEntry, AuditFilter, ChainFault, Verification
from hourhand.model.errors import InvalidInput

router = guarded_router(prefix="/audit-logs", tags=["audit logs"])

_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_ENTRY = AuditEntry(
    id=18,
    action="edit",
    resource_type="task",
    resource_id="7",
    user_id="user:3",
    user_name="ada",
    occurred_at=_AT,
    summary="task 'close_books'",
    payload=None,
    script=None,
    before={"name": "close_books", "payload": {"env": {"PGPASSWORD": "***"}}, "version": 1},
    after={"name": "close_books", "payload": {"env": {"PGPASSWORD": "*** (changed)"}}, "version": 2},
    request_id="01JCPZ6W3T",
    result="done",
    sealed_no=17,
    hash=_HASH,
)
_VERIFICATION = Verification(
    ok=True,
    checked=17,
    first=1,
    head=f"17:{_HASH}",
    fault=None,
    unsealed=1,
    oldest_unsealed_at=_AT,
    verified_at=_AT,
)
# The values of others may be any JSON, and are passed on as they are.
AUDIT_LOG = shape("AuditLog", AuditEntry, plain(_ENTRY), payload=Any, before=Any, after=Any)
AUDIT_LOGS = page_of(AUDIT_LOG)
VERIFICATION = shape("AuditVerification", Verification, plain(_VERIFICATION), fault=ChainFault | None)

_Text = Annotated[str | None, Query(max_length=200)]


@router.get("", response_model=AUDIT_LOGS, summary="Who changed what, newest first")
async def list_audit(
    store: TheStore,
    reach: TheReach,
    page: ThePage,
    *,
    resource_type: Annotated[str | None, Query(max_length=200, examples=["task"])] = None,
    resource_id: _Text = None,
    task_id: Annotated[
        QueryId | None,
        Query(description="What concerns this task: itself, its instances, pauses and maintenance windows"),
    ] = None,
    user_id: Annotated[str | None, Query(max_length=200, examples=["user:3"])] = None,
    action: Annotated[str | None, Query(max_length=200, examples=["edit"])] = None,
    result: Annotated[Literal["done", "refused"] | None, Query()] = None,
    begin: Annotated[Instant | None, Query(alias="from", description="At or after this time")] = None,
    end: Annotated[Instant | None, Query(alias="to", description="Before this time")] = None,
) -> Plain:
    """List entries, those that are not part of the chain yet included.

    A page may have fewer items than its limit, or none, and still have a `next_cursor`: what is asked for is rare, and
    the next page looks further back.

    Who is limited to some groups asks for one thing within them, and is told what was done to it: by `task_id`, or by
    `resource_type` (`task`, `instance`, `group` or `maintenance-window`) and `resource_id`.
    """
    if begin is not None and end is not None and begin > end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is after `to` ({end.isoformat()}): swap them")
    if resource_id is not None and resource_type is None:
        raise InvalidInput.one("resource_id", resource_id, "needs a resource_type with it, such as task")
    if resource_id is not None and task_id is not None:
        raise InvalidInput.one("task_id", task_id, "cannot be asked for along with a resource_id: give one of them")
    wanted = AuditFilter(
        resource_type=resource_type,
        resource_id=resource_id,
        task_id=task_id,
        user_id=user_id,
        action=action,
        result=result,
        begin=begin,
        end=end,
    )
    if not reach.limited:
        found = await store.list_audit(wanted, limit=page.limit, cursor=page.cursor)
        return {"items": [plain(entry) for entry in found.items], "next_cursor": found.next_cursor}
    one = await one_thing(wanted, reach, store)
    found = await store.list_audit(one.wanted, limit=page.limit, cursor=page.cursor)
    told = await one.told(found.items, store)
    return {"items": [plain(entry) for entry in told], "next_cursor": found.next_cursor}


@router.get("/verify", response_model=VERIFICATION, summary="Whether the chain of the audit is whole")
async def verify_audit(
    store: TheStore,
    head: Annotated[
        str | None,
        Query(max_length=200, description="A `head` noted earlier, which must still be part of the chain"),
    ] = None,
) -> Plain:
    """Go along all entries that are kept; answers 200 with `ok: false` and the first fault where it is broken.

    Note the `head` of the answer somewhere else: whoever may write to the database could make the whole chain anew,
    and only a head that was noted before shows it.
    """
    return plain(await store.verify_audit(noted=head))


@router.get("/{entry_id}", response_model=AUDIT_LOG, summary="One entry")
async def get_audit(entry_id: int, store: TheStore) -> Plain:
    """404 also once it is older than entries are kept."""
    return plain(await store.get_audit(entry_id))
