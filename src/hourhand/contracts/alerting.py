"""Contracts: alert rules, and the outbox of what is to be said to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from hourhand.model.alert import AlertDefinition, AlertRule, Decided, Firing, Parcel, Posted, Target
from hourhand.model.page import Page


class Alerting(Protocol):
    """Who is told of what, at least once."""

    async def create_alert_rule(
        self, definition: AlertDefinition, targets: Sequence[Target | str], *, by: str
    ) -> AlertRule:
        """A new rule; its name must be free, and its scope must exist. What ended before is none of its business.

        Targets that were sealed with another key than the store's are refused: somebody has rotated it meanwhile.
        """

    async def edit_alert_rule(
        self, rule_id: int, changes: Mapping[str, Any], targets: Sequence[Target | str] | None = None, *, by: str
    ) -> AlertRule:
        """Change some fields, in the form of `rules.alert_definition.alert_json`; without targets they stay.

        A target that is an id keeps the one there is, as it is sealed now.
        With another condition or scope, or switched on or off, it begins anew.
        """

    async def delete_alert_rule(self, rule_id: int) -> None:
        """Remove a rule, what it remembers, and what it has not said yet."""

    async def get_alert_rule(self, rule_id: int) -> AlertRule:
        """One rule."""

    async def list_alert_rules(self, *, limit: int = 50, cursor: str | None = None) -> Page[AlertRule]:
        """By name."""

    async def list_firing(self, *, limit: int = 200) -> list[Firing]:
        """What fires just now, newest first."""

    async def list_notices(self, *, limit: int = 50, cursor: str | None = None) -> Page[Posted]:
        """Notices and what became of each at each target, newest first."""

    async def decide_alerts(self) -> Decided:
        """Look at everything the rules ask for and put what is to be said into the outbox, all or nothing.

        From the store alone: whoever does it, however late, finds what nobody has found before. Should another
        process decide at the same time, one of the two changes nothing.
        """

    async def take_notices(self, *, limit: int, seconds: float) -> list[Parcel]:
        """Take what is to be sent now; it is due again after so many seconds, unless it is reported sent."""

    async def notice_sent(self, outbox_id: int) -> None:
        """It arrived."""

    async def notice_failed(self, outbox_id: int, error: str, *, final: bool = False) -> datetime | None:
        """It did not; when it is tried again. None when it has been given up: after three days, or as `final`."""
