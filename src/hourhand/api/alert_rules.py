"""`/api/v1/alert-rules` and `/api/v1/alerts`: who is told of what, and what was told."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Input, example
from hourhand.api.requests import Caller, ThePage, ThePost, TheStore
from hourhand.api.shapes import Plain, page_of, plain
from hourhand.contracts.notifier import NotSent
from hourhand.model.alert import AlertRule, Target
from hourhand.model.audit import Change
from hourhand.rules.alert_definition import alert_from, alert_json
from hourhand.rules.alerts import a_test, notice_json
from hourhand.service.post import Post

router = guarded_router(tags=["alerts"])
_WRITTEN = {
    "name": "the books",
    "condition": {"kind": "failed_in_a_row", "count": 3},
    "scope": {"task": "close_books"},
    "enabled": True,
    "notify_recovery": True,
    "quiet_hours": {"from": "22:00", "to": "07:00", "timezone": "Asia/Shanghai"},
    "group_seconds": 60,
    "repeat_seconds": 3600,
}
_TARGETS = ["mailto://user:password@example.com", {"webhook": "https://example.com/alerts", "secret": "shared"}]
_SHOWN = {"id": "5f0c2a9be41d7733", "kind": "webhook", "target": "https://example.com/alerts"}
_AT = "2026-11-15T01:00:00Z"


class _Written(Input):
    condition: dict[str, Any] = Field(default={}, description="An object with its `kind`, and what that needs")
    scope: Any = Field(default="all", description='"all", {"group": name or id} or {"task": name or id}')
    enabled: Any = True
    notify_recovery: Any = Field(default=True, description="Whether to tell when it is over")
    quiet_hours: Any = Field(default=None, description="When notices are held back, to be told at the end in one")
    group_seconds: Any = Field(
        default=60, description="What comes within so many seconds after a notice is collected into one"
    )
    repeat_seconds: Any = Field(default=None, description="How often to remind while it lasts")


class NewAlertRule(_Written):
    """An alert rule to be made."""

    model_config = example(**_WRITTEN, targets=_TARGETS)
    name: Any
    condition: Any = Field(description="An object with its `kind`, and what that needs")
    targets: list[Any] = Field(
        default=[], description="Apprise URLs, and webhooks as objects; they are never shown again"
    )


class AlertRuleEdit(_Written):
    """What is to be changed of an alert rule."""

    model_config = example(enabled=False, targets=[{"id": _SHOWN["id"]}, "slack://tokenA/tokenB/tokenC/channel"])
    name: Any = None
    condition: Any = None
    targets: list[Any] = Field(default=[], description='All of them; {"id": …} keeps one of those there are')


class TargetOutput(BaseModel):
    """Where notices go, as far as it may be shown."""

    model_config = example(**_SHOWN)
    id: str
    kind: str
    target: str


class AlertRuleOutput(BaseModel):
    """An alert rule."""

    model_config = example(
        id=1,
        **_WRITTEN,
        targets=[_SHOWN],
        created_at=_AT,
        updated_at=_AT,
        created_by="admin",
        updated_by="admin",
    )
    id: int
    name: str
    condition: dict[str, Any]
    scope: str | dict[str, Any]
    enabled: bool
    notify_recovery: bool
    quiet_hours: dict[str, Any] | None
    group_seconds: int
    repeat_seconds: int | None
    targets: list[TargetOutput]
    created_at: datetime
    updated_at: datetime
    created_by: str
    updated_by: str


class TargetTested(BaseModel):
    """What became of a test at one target."""

    model_config = example(id=_SHOWN["id"], target=_SHOWN["target"], ok=False, error="https://example.com answered 500")
    id: str
    target: str
    ok: bool
    error: str | None


class Tested(BaseModel):
    """What became of a test."""

    model_config = example(
        targets=[{"id": _SHOWN["id"], "target": _SHOWN["target"], "ok": True, "error": None}],
    )
    targets: list[TargetTested]


class FiringOutput(BaseModel):
    """Something that a rule's condition holds for just now."""

    model_config = example(
        rule_id=1,
        rule_name="the books",
        subject="task:7",
        text="task 'close_books' failed 3 times in a row",
        firing_since=_AT,
        last_notified_at=_AT,
        about={"task_id": 7, "task": "close_books", "group_id": 1},
    )
    rule_id: int
    rule_name: str
    subject: str
    text: str
    firing_since: datetime
    last_notified_at: datetime | None
    about: dict[str, Any]


class NoticeOutput(BaseModel):
    """A notice, and what became of it at one target."""

    model_config = example(
        id=12,
        notice_id="1-1794704400000000",
        rule_id=1,
        rule_name="the books",
        kind="firing",
        title="the books: task 'close_books' failed 3 times in a row",
        text="2026-11-15T01:00:00Z task 'close_books' failed 3 times in a row",
        target="https://example.com/alerts",
        created_at=_AT,
        sent_at=_AT,
        given_up_at=None,
        next_try_at=_AT,
        tries=1,
        last_error=None,
    )
    id: int
    notice_id: str
    rule_id: int
    rule_name: str
    kind: str
    title: str
    text: str
    target: str | None = Field(description="None once it was removed from its rule")
    created_at: datetime
    sent_at: datetime | None
    given_up_at: datetime | None
    next_try_at: datetime
    tries: int
    last_error: str | None


class Alerts(BaseModel):
    """What fires just now, and a page of what was told, newest first."""

    firing: list[FiringOutput]
    items: list[NoticeOutput]
    next_cursor: str | None = None


ALERT_RULES = page_of(AlertRuleOutput)


def _shown(rule: AlertRule) -> AlertRuleOutput:
    targets = [TargetOutput(id=one.id, kind=one.kind, target=one.shown) for one in rule.targets]
    named = {name: getattr(rule, name) for name in ("id", "created_at", "updated_at", "created_by", "updated_by")}
    return AlertRuleOutput(**alert_json(rule), **named, targets=targets)


@router.get("/alert-rules", response_model=ALERT_RULES, summary="Alert rules by name")
async def list_alert_rules(store: TheStore, page: ThePage) -> Plain:
    """Their targets are shown without their secrets."""
    found = await store.list_alert_rules(limit=page.limit, cursor=page.cursor)
    return {"items": [_shown(rule) for rule in found.items], "next_cursor": found.next_cursor}


@router.post("/alert-rules", status_code=201, summary="Make an alert rule")
async def create_alert_rule(
    given: NewAlertRule, store: TheStore, post: ThePost, caller: Caller, response: Response
) -> AlertRuleOutput:
    """It looks at what happens from now on."""
    written = given.model_dump(exclude_unset=True)
    targets = written.pop("targets", [])
    definition = alert_from(written)
    rule = await store.create_alert_rule(definition, await post.sealed(targets), by=caller.name)
    response.headers["Location"] = f"/api/v1/alert-rules/{rule.id}"
    return _shown(rule)


@router.get("/alert-rules/{rule_id}", summary="One alert rule")
async def get_alert_rule(rule_id: int, store: TheStore) -> AlertRuleOutput:
    """Its targets are shown without their secrets."""
    return _shown(await store.get_alert_rule(rule_id))


@router.patch("/alert-rules/{rule_id}", summary="Change some fields of an alert rule")
async def edit_alert_rule(
    rule_id: int, given: AlertRuleEdit, store: TheStore, post: ThePost, caller: Caller
) -> AlertRuleOutput:
    """With another condition or scope, or switched on or off, it begins anew."""
    changes = given.model_dump(exclude_unset=True)
    targets = None
    if "targets" in changes:
        targets = await post.sealed(changes.pop("targets"))
    return _shown(await store.edit_alert_rule(rule_id, changes, targets, by=caller.name))


@router.delete("/alert-rules/{rule_id}", status_code=204, summary="Delete an alert rule")
async def delete_alert_rule(rule_id: int, store: TheStore) -> None:
    """What it has not said yet is never said."""
    await store.delete_alert_rule(rule_id)


@router.post("/alert-rules/{rule_id}/test", summary="Send a test to each target now")
async def test_alert_rule(rule_id: int, store: TheStore, post: ThePost) -> Tested:
    """Answer with what became of it at each; 200 also when none got it."""
    rule = await store.get_alert_rule(rule_id)
    event = notice_json(a_test(rule, await store.now()))
    await store.record(Change(action="test", resource_type="alert-rule", resource_id=str(rule_id)))
    return Tested(targets=list(await asyncio.gather(*(_tested(post, one, event) for one in rule.targets))))


async def _tested(post: Post, target: Target, event: Plain) -> TargetTested:
    try:
        await post.send(target, event)
    except NotSent as error:
        return TargetTested(id=target.id, target=target.shown, ok=False, error=str(error))
    return TargetTested(id=target.id, target=target.shown, ok=True, error=None)


@router.get("/alerts", summary="What fires just now, and what was told, newest first")
async def list_alerts(store: TheStore, page: ThePage) -> Alerts:
    """One item per notice and target: when it was sent, or how often that was tried and why it failed."""
    found = await store.list_notices(limit=page.limit, cursor=page.cursor)
    return Alerts(
        firing=[FiringOutput(**plain(one)) for one in await store.list_firing()],
        items=[NoticeOutput(**plain(one)) for one in found.items],
        next_cursor=found.next_cursor,
    )
