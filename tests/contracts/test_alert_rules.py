"""Alert rules as people write them; and the outbox: at least once, tried for three days, in nobody's way."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from contracts.alerting import A, B, fail, make_rule, taken
from contracts.elapse import moment
from hourhand.model.alert import Late, ScopeKind
from hourhand.model.audit import Author
from hourhand.model.errors import DuplicateName, InvalidInput, NotFound

if TYPE_CHECKING:
    from contracts.world import World
    from hourhand.model.alert import Parcel

FAILED: dict[str, Any] = {"kind": "failed"}


async def test_a_rule_is_written_and_read_back(world: World) -> None:
    hours = {"from": "22:00", "to": "07:00", "timezone": "Asia/Shanghai"}
    made = await make_rule(world, {"kind": "late", "seconds": 2.5}, A, B, quiet_hours=hours, repeat_seconds=60)
    assert await world.store.get_alert_rule(made.id) == made
    assert made.condition == Late(seconds=2.5)
    assert made.targets == (A, B)
    assert made.repeat_seconds == 60
    assert (await world.store.list_alert_rules()).items == (made,)


async def test_a_scope_is_found_by_name_or_id_and_shown_by_its_name(world: World) -> None:
    task = await world.task("close")
    by_name = await make_rule(world, FAILED, name="by name", scope={"task": "close"})
    by_id = await make_rule(world, FAILED, name="by id", scope={"task": task.id})
    assert by_name.scope == by_id.scope
    assert (by_id.scope.kind, by_id.scope.id, by_id.scope.name) == (ScopeKind.TASK, task.id, "close")
    await world.store.delete_task(task.id, by="test")
    assert (await world.store.get_alert_rule(by_id.id)).scope.name is None


@pytest.mark.parametrize("scope", [{"task": "none"}, {"group": "none"}, {"task": 99}, {"group": 99}], ids=str)
async def test_a_scope_that_there_is_not_is_refused(world: World, scope: Any) -> None:
    with pytest.raises(InvalidInput, match=r"there is no (task|group)"):
        await make_rule(world, FAILED, scope=scope)


async def test_a_name_is_taken_once(world: World) -> None:
    await make_rule(world, FAILED, name="a")
    other = await make_rule(world, FAILED, name="b")
    with pytest.raises(DuplicateName):
        await make_rule(world, FAILED, name="a")
    with pytest.raises(DuplicateName):
        await world.store.edit_alert_rule(other.id, {"name": "a"}, by="test")
    assert (await world.store.edit_alert_rule(other.id, {"name": "b"}, by="test")).name == "b"


async def test_an_edit_changes_what_it_names_and_keeps_the_rest(world: World) -> None:
    rule = await make_rule(world, FAILED, A)
    edited = await world.store.edit_alert_rule(rule.id, {"group_seconds": 5}, by="eve")
    assert (edited.group_seconds, edited.targets, edited.updated_by) == (5, (A,), "eve")
    assert edited.active_since == rule.active_since
    edited = await world.store.edit_alert_rule(rule.id, {}, [B], by="eve")
    assert edited.targets == (B,)
    edited = await world.store.edit_alert_rule(rule.id, {"condition": {"kind": "late", "seconds": 1}}, by="eve")
    assert edited.active_since > rule.active_since
    with pytest.raises(InvalidInput):
        await world.store.edit_alert_rule(rule.id, {"condition": None}, by="eve")


async def test_a_rule_with_another_condition_forgets_what_it_knew(world: World) -> None:
    rule = await make_rule(world, FAILED)
    await fail(world, await world.task())
    await world.store.decide_alerts()
    assert len(await world.store.list_firing()) == 1
    await world.store.edit_alert_rule(rule.id, {"condition": {"kind": "failed_in_a_row", "count": 2}}, by="test")
    assert await world.store.list_firing() == []


async def test_a_deleted_rule_is_gone_with_what_it_has_not_said(world: World) -> None:
    rule = await make_rule(world, FAILED)
    await fail(world, await world.task())
    await world.store.decide_alerts()
    await world.store.delete_alert_rule(rule.id)
    assert await taken(world) == []
    assert await world.count("alert_states") == 0
    for gone in (rule.id, 0, 2**63):
        with pytest.raises(NotFound):
            await world.store.get_alert_rule(gone)
    with pytest.raises(NotFound):
        await world.store.delete_alert_rule(rule.id)


async def test_rules_are_listed_by_name_page_by_page(world: World) -> None:
    for name in ("c", "a", "b"):
        await make_rule(world, FAILED, name=name)
    first = await world.store.list_alert_rules(limit=2)
    assert [rule.name for rule in first.items] == ["a", "b"]
    last = await world.store.list_alert_rules(limit=2, cursor=first.next_cursor)
    assert ([rule.name for rule in last.items], last.next_cursor) == (["c"], None)
    with pytest.raises(InvalidInput):
        await world.store.list_alert_rules(limit=0)


async def test_the_audit_keeps_every_change_and_no_secret(world: World) -> None:
    world.store = world.store.on_behalf(Author(id="user:1", name="eve"))
    rule = await make_rule(world, FAILED, A)
    await world.store.edit_alert_rule(rule.id, {"enabled": False}, [B], by="eve")
    await world.store.delete_alert_rule(rule.id)
    rows = await world.sql("SELECT action, before, after FROM audit_logs ORDER BY id")
    assert [row["action"] for row in rows] == ["create", "edit", "delete"]
    assert "https://a.example.com/" in str(rows[1]["before"])
    assert "sealed-" not in str([dict(row) for row in rows])


# The outbox


async def one_notice(world: World, *targets: Any) -> list[Parcel]:
    await make_rule(world, FAILED, *targets)
    await fail(world, await world.task())
    await world.store.decide_alerts()
    return await world.store.take_notices(limit=10, seconds=60)


async def test_what_was_taken_is_taken_by_nobody_else_until_its_time_is_over(world: World) -> None:
    (parcel,) = await one_notice(world)
    assert parcel.tries == 1
    assert await world.store.take_notices(limit=10, seconds=60) == []
    await _due(world)
    (again,) = await world.store.take_notices(limit=10, seconds=60)
    assert (again.outbox_id, again.tries, again.event) == (parcel.outbox_id, 2, parcel.event)


async def _due(world: World) -> None:
    await world.execute("UPDATE alert_outbox SET next_try_at = created_at")


async def test_what_was_sent_is_not_sent_again(world: World) -> None:
    (parcel,) = await one_notice(world)
    await world.store.notice_failed(parcel.outbox_id, "busy")
    await world.store.notice_sent(parcel.outbox_id)
    await _due(world)
    assert await world.store.take_notices(limit=10, seconds=60) == []
    (posted,) = (await world.store.list_notices()).items
    assert posted.sent_at is not None
    assert posted.last_error is None
    assert await world.store.notice_failed(parcel.outbox_id, "too late") is None


async def test_what_failed_is_tried_again_later_and_says_why(world: World) -> None:
    (parcel,) = await one_notice(world)
    again = await world.store.notice_failed(parcel.outbox_id, "connection refused\0")
    assert again is not None
    assert timedelta(seconds=5) < again - await world.store.now() <= timedelta(seconds=10)
    (posted,) = (await world.store.list_notices()).items
    assert (posted.last_error, posted.tries, posted.sent_at) == ("connection refused", 1, None)
    assert posted.target == A.shown


async def test_after_three_days_it_is_given_up_and_stays_visible(world: World) -> None:
    (parcel,) = await one_notice(world)
    old = moment(world, await world.store.now() - timedelta(days=3, seconds=1))
    await world.execute("UPDATE alert_outbox SET created_at = :old", old=old)
    assert await world.store.notice_failed(parcel.outbox_id, "connection refused") is None
    await _due(world)
    assert await world.store.take_notices(limit=10, seconds=60) == []
    (posted,) = (await world.store.list_notices()).items
    assert posted.given_up_at is not None
    assert posted.last_error == "connection refused"


async def test_one_bad_target_does_not_repeat_the_others(world: World) -> None:
    first, second = await one_notice(world, A, B)
    await world.store.notice_sent(first.outbox_id)
    await world.store.notice_failed(second.outbox_id, "busy")
    await _due(world)
    (again,) = await world.store.take_notices(limit=10, seconds=60)
    assert again.outbox_id == second.outbox_id


async def test_a_target_that_was_removed_is_named_as_none(world: World) -> None:
    rule = await make_rule(world, FAILED, A)
    await fail(world, await world.task())
    await world.store.decide_alerts()
    await world.store.edit_alert_rule(rule.id, {}, [B], by="test")
    (parcel,) = await world.store.take_notices(limit=10, seconds=60)
    assert parcel.target is None
    assert await world.store.notice_failed(parcel.outbox_id, "removed", final=True) is None
    (posted,) = (await world.store.list_notices()).items
    assert (posted.target, posted.given_up_at is not None) == (None, True)


async def test_notices_are_listed_newest_first_page_by_page(world: World) -> None:
    await make_rule(world, FAILED)
    for _ in range(3):
        await fail(world, await world.task())
        await world.store.decide_alerts()
    first = await world.store.list_notices(limit=2)
    last = await world.store.list_notices(limit=2, cursor=first.next_cursor)
    ids = [one.id for one in (*first.items, *last.items)]
    assert ids == sorted(ids, reverse=True)
    assert (len(ids), last.next_cursor) == (3, None)
    with pytest.raises(InvalidInput):
        await world.store.list_notices(limit=201)


async def test_what_fires_is_listed_with_its_rule(world: World) -> None:
    rule = await make_rule(world, FAILED)
    task = await world.task("close")
    await fail(world, task)
    await world.store.decide_alerts()
    (firing,) = await world.store.list_firing()
    assert (firing.rule_id, firing.rule_name, firing.subject) == (rule.id, rule.name, f"task:{task.id}")
    assert firing.text.startswith("task 'close' failed: boom")
    assert firing.about["task_id"] == task.id


async def test_retention_removes_old_notices_but_not_those_that_are_still_tried(world: World) -> None:
    first, second = await one_notice(world, A, B)
    await world.store.notice_sent(first.outbox_id)
    old = moment(world, await world.store.now() - timedelta(days=31))
    await world.execute("UPDATE alert_outbox SET created_at = :old", old=old)
    await world.store.retain(days=30)
    (left,) = (await world.store.list_notices()).items
    assert left.id == second.outbox_id


async def test_the_first_key_is_the_key(world: World) -> None:
    assert await world.store.agree_on_key("one")
    assert await world.store.agree_on_key("one")
    assert not await world.store.agree_on_key("another")
