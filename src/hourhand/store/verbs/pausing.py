"""Store: the verbs of pauses."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hourhand.model.hints import Hint
from hourhand.model.pause import Pause, PauseScope
from hourhand.store import pauses, pausing, reach
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Pausing(Transactions):
    """A task, a group, or everything rests."""

    async def pause(
        self,
        scope: PauseScope,
        scope_id: int | None = None,
        *,
        reason: str,
        until: datetime | None = None,
        by: str,
    ) -> Pause:
        async def create(tx: Tx) -> tuple[Pause, int]:
            made = await pausing.pause(
                tx, scope, scope_id, reason=reason, until=until, by=by, look_ahead=self.look_ahead
            )
            await reach.require_scope(tx, self._author, "what is to rest", scope, scope_id)
            await self._record(tx, "create", "pause", made.id, summary=_told(made), after=_kept(made))
            return made, made.id

        async def again(tx: Tx, pause_id: int) -> Pause:
            made = await pauses.get_pause(tx, pause_id)
            reach.require(self._author, f"pause {pause_id}", made.group)
            return made

        made, _ = await self._create(create, again)
        self._ring()
        return made

    async def resume(self, pause_id: int) -> None:
        async def end(tx: Tx) -> None:
            before = await pausing.resume(tx, pause_id, look_ahead=self.look_ahead)
            await reach.require_scope(tx, self._author, f"pause {pause_id}", before.scope, before.scope_id)
            await self._record(tx, "delete", "pause", pause_id, summary=_told(before), before=_kept(before))

        await self._write(end)
        self._ring()

    async def get_pause(self, pause_id: int) -> Pause:
        return await self._read(lambda tx: pauses.get_pause(tx, pause_id))

    async def list_pauses(self) -> list[Pause]:
        return await self._read(pauses.active_pauses)

    def _ring(self) -> None:
        self._hints.ring(Hint.WAKE)  # schedules rest, or go on
        self._hints.ring(Hint.PENDING)  # and so do lanes: executors look around
        self._hints.ring(Hint.PAUSES)


def _told(one: Pause) -> str:
    """What rests, and why."""
    if one.scope is PauseScope.ALL:
        return f"everything: {one.reason}"
    name = one.task_name if one.scope is PauseScope.TASK else one.group
    return f"{one.scope.value} {name!r}: {one.reason}"


def _kept(one: Pause) -> dict[str, Any]:
    """What the audit keeps of a pause."""
    return {
        "scope": one.scope.value,
        "scope_id": one.scope_id,
        "reason": one.reason,
        "owner": one.owner,
        "until": None if one.until is None else one.until.isoformat(),
    }
