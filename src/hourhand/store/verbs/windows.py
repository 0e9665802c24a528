"""Store: the verbs of maintenance windows and calendars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.model.hints import Hint
from hourhand.model.window import Calendar, Days, Rest, Window, WindowDefinition
from hourhand.store import calendars, reach, window_edits, windows
from hourhand.store.database import Tx
from hourhand.store.verbs.transactions import Transactions


class Windows(Transactions):
    """While a window is open its task, its group, or everything rests."""

    async def create_window(self, definition: WindowDefinition, *, by: str) -> Window:
        async def create(tx: Tx) -> tuple[Window, int]:
            made = await window_edits.create(tx, definition, by=by, look_ahead=self.look_ahead)
            await self._require_window(tx, made)
            await self._record(tx, "create", "maintenance-window", made.id, after=windows.described(made))
            return made, made.id

        async def again(tx: Tx, window_id: int) -> Window:
            made = await windows.get(tx, window_id)
            await self._require_window(tx, made)
            return made

        made, _ = await self._create(create, again)
        self._ring_windows()
        return made

    async def edit_window(self, window_id: int, changes: Mapping[str, Any], *, by: str) -> Window:
        async def edit(tx: Tx) -> Window:
            before, after = await window_edits.edit(tx, window_id, changes, by=by, look_ahead=self.look_ahead)
            await self._require_window(tx, before)
            await self._require_window(tx, after)
            kept = {"before": windows.described(before), "after": windows.described(after)}
            await self._record(tx, "edit", "maintenance-window", window_id, **kept)
            return after

        edited = await self._write(edit)
        self._ring_windows()
        return edited

    async def delete_window(self, window_id: int) -> None:
        async def remove(tx: Tx) -> None:
            before = await window_edits.remove(tx, window_id, look_ahead=self.look_ahead)
            await self._require_window(tx, before)
            await self._record(tx, "delete", "maintenance-window", window_id, before=windows.described(before))

        await self._write(remove)
        self._ring_windows()

    async def get_window(self, window_id: int) -> Window:
        return await self._read(lambda tx: windows.get(tx, window_id))

    async def list_windows(self) -> list[Window]:
        return await self._read(windows.list_windows)

    async def create_calendar(self, name: str, definition: Days) -> Calendar:
        async def create(tx: Tx) -> tuple[Calendar, int]:
            made = await calendars.create(tx, name, definition)
            await self._record(tx, "create", "calendar", made.id, after=calendars.described(made))
            return made, made.id

        return (await self._create(create, calendars.get))[0]

    async def edit_calendar(self, calendar_id: int, changes: Mapping[str, Any]) -> Calendar:
        async def edit(tx: Tx) -> Calendar:
            before, after = await window_edits.edit_calendar(tx, calendar_id, changes, look_ahead=self.look_ahead)
            kept = {"before": calendars.described(before), "after": calendars.described(after)}
            await self._record(tx, "edit", "calendar", calendar_id, **kept)
            return after

        edited = await self._write(edit)
        self._ring_windows()
        return edited

    async def delete_calendar(self, calendar_id: int) -> None:
        async def remove(tx: Tx) -> None:
            before = await calendars.remove(tx, calendar_id)
            await self._record(tx, "delete", "calendar", calendar_id, before=calendars.described(before))

        await self._write(remove)

    async def get_calendar(self, calendar_id: int) -> Calendar:
        return await self._read(lambda tx: calendars.get(tx, calendar_id))

    async def list_calendars(self) -> list[Calendar]:
        return await self._read(calendars.list_calendars)

    async def rests_of_task(self, task_id: int) -> list[Rest]:
        return await self._read(lambda tx: windows.rests_of_task(tx, task_id))

    async def _require_window(self, tx: Tx, window: Window) -> None:
        what = f"maintenance window {window.id}"
        await reach.require_scope(tx, self._author, what, window.scope, window.scope_id)

    def _ring_windows(self) -> None:
        self._hints.ring(Hint.WAKE)  # schedules rest, or go on
        self._hints.ring(Hint.PENDING)  # and so do lanes
        self._hints.ring(Hint.PAUSES)
