"""Store: the verbs of alerts."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from hourhand.model.alert import AlertDefinition, AlertRule, Decided, Firing, Parcel, Posted, Target
from hourhand.model.hints import Hint
from hourhand.model.page import Page
from hourhand.store import alert_decisions, alert_facts, alert_outbox, alert_rules
from hourhand.store.alert_living import Medians
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Alerting(Transactions):
    """Who is told of what, at least once."""

    @cached_property
    def _medians(self) -> Medians:
        return Medians()

    async def create_alert_rule(
        self, definition: AlertDefinition, targets: Sequence[Target | str], *, by: str
    ) -> AlertRule:
        turn = secrets.token_hex(8)

        async def create(tx: Tx) -> tuple[AlertRule, int]:
            rule = await alert_rules.create(tx, definition, targets, by=by, turn=turn)
            await self._record(tx, "create", "alert-rule", rule.id, after=alert_rules.public(rule))
            return rule, rule.id

        rule, _ = await self._create(create, alert_rules.get)
        self._hints.ring(Hint.ALERTS, [rule.id])
        return rule

    async def edit_alert_rule(
        self, rule_id: int, changes: Mapping[str, Any], targets: Sequence[Target | str] | None = None, *, by: str
    ) -> AlertRule:
        turn = secrets.token_hex(8)

        async def edit(tx: Tx) -> AlertRule:
            before, after = await alert_rules.edit(tx, rule_id, changes, targets, by=by, turn=turn)
            kept = {"before": alert_rules.public(before), "after": alert_rules.public(after)}
            await self._record(tx, "edit", "alert-rule", rule_id, **kept)
            return after

        rule = await self._write(edit)
        self._hints.ring(Hint.ALERTS, [rule_id])
        return rule

    async def delete_alert_rule(self, rule_id: int) -> None:
        turn = secrets.token_hex(8)

        async def remove(tx: Tx) -> None:
            before = await alert_rules.remove(tx, rule_id, turn=turn)
            await self._record(tx, "delete", "alert-rule", rule_id, before=alert_rules.public(before))

        await self._write(remove)
        self._hints.ring(Hint.ALERTS, [rule_id])

    async def get_alert_rule(self, rule_id: int) -> AlertRule:
        return await self._read(lambda tx: alert_rules.get(tx, rule_id))

    async def list_alert_rules(self, *, limit: int = 50, cursor: str | None = None) -> Page[AlertRule]:
        return await self._read(lambda tx: alert_rules.list_rules(tx, limit=limit, cursor=cursor))

    async def list_firing(self, *, limit: int = 200) -> list[Firing]:
        return await self._read(lambda tx: alert_outbox.list_firing(tx, limit=limit))

    async def list_notices(self, *, limit: int = 50, cursor: str | None = None) -> Page[Posted]:
        return await self._read(lambda tx: alert_outbox.list_posted(tx, limit=limit, cursor=cursor))

    async def decide_alerts(self) -> Decided:
        medians = self._medians
        gathered = await self._read(lambda tx: alert_facts.gather(tx, lost_after=self.lease_seconds, medians=medians))
        if gathered is None:
            return Decided()
        outcome = alert_decisions.decide_all(gathered)
        if not outcome.to_write:
            return Decided()
        turn = secrets.token_hex(8)
        if not await self._write(lambda tx: alert_decisions.write(tx, outcome, turn=turn)):
            return Decided(more=True)
        if outcome.notices:
            self._hints.ring(Hint.ALERTS)
        return Decided(notices=len(outcome.notices), more=gathered.more)

    async def take_notices(self, *, limit: int, seconds: float) -> list[Parcel]:
        return await self._write(lambda tx: alert_outbox.take(tx, limit=limit, seconds=seconds))

    async def notice_sent(self, outbox_id: int) -> None:
        await self._write(lambda tx: alert_outbox.sent(tx, outbox_id))

    async def notice_failed(self, outbox_id: int, error: str, *, final: bool = False) -> datetime | None:
        return await self._write(lambda tx: alert_outbox.failed(tx, outbox_id, error, final=final))
