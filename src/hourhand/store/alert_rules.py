"""Store: alert rules, as people write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import BigInteger, Text, bindparam, delete, select, update

from hourhand.model.alert import AlertDefinition, AlertRule, Scope, ScopeKind, Target
from hourhand.model.errors import Conflict, DuplicateName, FieldError, InvalidInput, NotFound
from hourhand.model.page import Page
from hourhand.rules.alert_definition import alert_from, alert_json, condition_json, quiet_hours_json
from hourhand.store import secret_key
from hourhand.store.database import Row, Tx
from hourhand.store.ids import possible
from hourhand.store.paging import MOST, read_cursor, write_cursor
from hourhand.store.rows import Unreadable, readable
from hourhand.store.schema import groups, store_values, tasks
from hourhand.store.schema_alerts import alert_outbox, alert_rules, alert_states
from hourhand.store.sql import any_of, insert, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id

CURSOR = "alert_cursor"
_WRITTEN = (
    "name",
    "enabled",
    "condition",
    "scope",
    "targets",
    "notify_recovery",
    "quiet_hours",
    "group_seconds",
    "repeat_seconds",
)
_values = {name: bindparam(f"new_{name}", type_=alert_rules.c[name].type) for name in _WRITTEN}
_by = bindparam("by", type_=Text)
_id = bindparam("rule_id", type_=Id)
_ADD = Statement(
    insert(alert_rules)
    .values(
        **_values,
        active_since=store_clock(),
        created_at=store_clock(),
        updated_at=store_clock(),
        created_by=_by,
        updated_by=_by,
    )
    .on_conflict_do_nothing()
    .returning(alert_rules)
)
_EDIT = {
    anew: Statement(
        update(alert_rules)
        .values(
            **_values, updated_at=store_clock(), updated_by=_by, **({"active_since": store_clock()} if anew else {})
        )
        .where(alert_rules.c.id == _id)
        .returning(alert_rules)
    )
    for anew in (False, True)
}
_DELETE = Statement(delete(alert_rules).where(alert_rules.c.id == _id))
_GET = Statement(select(alert_rules).where(alert_rules.c.id == _id))
_TAKEN = Statement(select(alert_rules.c.id).where(alert_rules.c.name == bindparam("name", type_=Text)))
_LIST = Statement(
    select(alert_rules)
    .where(alert_rules.c.name > bindparam("after", type_=Text))
    .order_by(alert_rules.c.name)
    .limit(bindparam("limit", type_=BigInteger))
)
ENABLED = Statement(select(alert_rules).where(alert_rules.c.enabled).order_by(alert_rules.c.id))
_FORGET = Statement(delete(alert_states).where(alert_states.c.rule_id == _id))
_WITHDRAW = Statement(delete(alert_outbox).where(alert_outbox.c.rule_id == _id, alert_outbox.c.sent_at.is_(None)))
_TOUCH = Statement(update(store_values).values(text=bindparam("turn", type_=Text)).where(store_values.c.name == CURSOR))
_NAMED = {
    ScopeKind.GROUP: Statement(select(groups.c.id, groups.c.name).where(any_of(groups.c.id, "ids"))),
    ScopeKind.TASK: Statement(
        select(tasks.c.id, tasks.c.name).where(any_of(tasks.c.id, "ids"), tasks.c.deleted_at.is_(None))
    ),
}
_FOUND = {
    ScopeKind.GROUP: Statement(
        select(groups.c.id, groups.c.name).where(groups.c.name == bindparam("name", type_=Text))
    ),
    ScopeKind.TASK: Statement(
        select(tasks.c.id, tasks.c.name).where(
            tasks.c.name == bindparam("name", type_=Text), tasks.c.deleted_at.is_(None)
        )
    ),
}


async def create(
    tx: Tx, definition: AlertDefinition, targets: Sequence[Target | str], *, by: str, turn: str
) -> AlertRule:
    """A new rule; its name must be free."""
    await tx.run(_TOUCH, turn=turn)
    wanted = _checked(targets, (), await secret_key.held(tx))
    scope = await _resolved(tx, definition.scope)
    rows = await tx.fetch(_ADD, **_columns(replace(definition, scope=scope), wanted), by=by)
    if not rows:
        raise DuplicateName("alert rule", definition.name)
    return (await _named(tx, [rule_of(rows[0])]))[0]


async def edit(
    tx: Tx, rule_id: int, changes: Mapping[str, Any], targets: Sequence[Target | str] | None, *, by: str, turn: str
) -> tuple[AlertRule, AlertRule]:
    """Change some fields; the rule before and after.

    With another condition or scope, or switched on or off, it begins anew and forgets what it knew.
    """
    await tx.run(_TOUCH, turn=turn)  # first: whoever decides just now starts over, whoever edits comes after us
    check = await secret_key.held(tx)  # before the targets are read: they are written back as they are sealed
    before = await get(tx, rule_id)
    wanted = alert_from({**alert_json(before), **changes})
    wanted = replace(wanted, scope=await _resolved(tx, wanted.scope))
    if wanted.name != before.name and await tx.fetch(_TAKEN, name=wanted.name):
        raise DuplicateName("alert rule", wanted.name)
    anew = (wanted.condition, wanted.scope.kind, wanted.scope.id, wanted.enabled) != (
        before.condition,
        before.scope.kind,
        before.scope.id,
        before.enabled,
    )
    kept = before.targets if targets is None else _checked(targets, before.targets, check)
    (row,) = await tx.fetch(_EDIT[anew], rule_id=rule_id, **_columns(wanted, kept), by=by)
    if anew:
        await tx.run(_FORGET, rule_id=rule_id)
    return before, (await _named(tx, [rule_of(row)]))[0]


async def hold(tx: Tx, *, turn: str) -> None:
    """Let nobody else make, change or remove a rule until this transaction ends."""
    await tx.run(_TOUCH, turn=turn)


async def remove(tx: Tx, rule_id: int, *, turn: str) -> AlertRule:
    """Delete a rule, what it remembers, and what it has not said yet."""
    await tx.run(_TOUCH, turn=turn)
    before = await get(tx, rule_id)
    for statement in (_FORGET, _WITHDRAW, _DELETE):
        await tx.run(statement, rule_id=rule_id)
    return before


async def get(tx: Tx, rule_id: int) -> AlertRule:
    """One rule."""
    rows = await tx.fetch(_GET, rule_id=rule_id) if possible(rule_id) else []
    if not rows:
        raise NotFound("alert rule", rule_id)
    return (await _named(tx, [rule_of(rows[0])]))[0]


async def list_rules(tx: Tx, *, limit: int, cursor: str | None) -> Page[AlertRule]:
    """By name."""
    if not 1 <= limit <= MOST:
        raise InvalidInput.one("limit", limit, f"{limit} is out of range: give 1 to {MOST}")
    place = read_cursor(cursor, {"alert_rule": (str,)})
    rows = await tx.fetch(_LIST, after="" if place is None else place[1], limit=limit + 1)
    found = await _named(tx, readable(rows[:limit], rule_of))
    return Page(tuple(found), write_cursor("alert_rule", rows[limit - 1]["name"]) if len(rows) > limit else None)


def public(rule: AlertRule) -> dict[str, Any]:
    """What the audit keeps of a rule: nothing of its targets but what may be shown."""
    targets = [{"id": target.id, "kind": target.kind, "shown": target.shown} for target in rule.targets]
    return alert_json(rule) | {"targets": targets}


def _checked(wanted: Sequence[Target | str], there: Sequence[Target], check: str | None) -> list[Target]:
    """Those that are kept as the rule has them now; the new ones must be sealed with the store's key."""
    kept = {one.id: one for one in there}
    missing = [place for place, one in enumerate(wanted) if isinstance(one, str) and one not in kept]
    if missing:
        message = "there is no target of this id in this rule: write the target itself"
        raise InvalidInput([FieldError(f"targets.{place}", None, message) for place in missing])
    if any(isinstance(one, Target) and one.sealed_with != check for one in wanted):
        raise Conflict(
            "nothing was changed: the key that secrets are sealed with was rotated just now; start this process again "
            "with the new key, and write the rule again"
        )
    return [kept[one] if isinstance(one, str) else one for one in wanted]


def _columns(rule: AlertDefinition, targets: Sequence[Target]) -> dict[str, Any]:
    values = {
        "name": rule.name,
        "enabled": rule.enabled,
        "condition": condition_json(rule.condition),
        "scope": {"kind": rule.scope.kind.value, "id": rule.scope.id},
        "targets": [{"id": one.id, "kind": one.kind, "shown": one.shown, "sealed": one.sealed} for one in targets],
        "notify_recovery": rule.notify_recovery,
        "quiet_hours": quiet_hours_json(rule.quiet_hours),
        "group_seconds": rule.group_seconds,
        "repeat_seconds": rule.repeat_seconds,
    }
    return {f"new_{name}": value for name, value in values.items()}


def rule_of(row: Row) -> AlertRule:
    """A rule from its row; its scope has an id and no name yet."""
    try:
        kind = ScopeKind(row["scope"]["kind"])
        written = alert_from(
            {name: row[name] for name in _WRITTEN if name not in ("scope", "targets")}
            | {"scope": "all" if kind is ScopeKind.ALL else {kind.value: row["scope"]["id"]}}
        )
        targets = tuple(
            Target(**{name: one[name] for name in ("id", "kind", "shown", "sealed")}) for one in row["targets"]
        )
    except (InvalidInput, ValueError, TypeError, LookupError) as error:
        raise Unreadable(
            f"alert rule {row['id']} cannot be read ({error}): use the release that wrote it, or delete it"
        ) from None
    return AlertRule(
        **{name: getattr(written, name) for name in AlertDefinition.__dataclass_fields__},
        id=row["id"],
        targets=targets,
        **{name: row[name] for name in ("active_since", "created_at", "updated_at", "created_by", "updated_by")},
    )


async def _resolved(tx: Tx, scope: Scope) -> Scope:
    """With its id and its name; refused when there is no such group or task."""
    if scope.kind is ScopeKind.ALL:
        return scope
    if scope.id is not None:
        rows = await tx.fetch(_NAMED[scope.kind], ids=[scope.id])
    else:
        rows = await tx.fetch(_FOUND[scope.kind], name=scope.name)
    if not rows:
        named = scope.name if scope.id is None else scope.id
        raise InvalidInput.one("scope", named, f"there is no {scope.kind.value} {named!r}: give one that there is")
    return replace(scope, id=rows[0]["id"], name=rows[0]["name"])


async def _named(tx: Tx, rules: Sequence[AlertRule]) -> list[AlertRule]:
    names: dict[tuple[ScopeKind, int | None], str] = {}
    for kind, statement in _NAMED.items():
        ids = sorted({rule.scope.id for rule in rules if rule.scope.kind is kind and rule.scope.id is not None})
        if ids:
            names |= {(kind, row["id"]): row["name"] for row in await tx.fetch(statement, ids=ids)}
    return [
        replace(rule, scope=replace(rule.scope, name=names.get((rule.scope.kind, rule.scope.id)))) for rule in rules
    ]
