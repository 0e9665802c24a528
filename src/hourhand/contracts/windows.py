"""Contracts: maintenance windows and calendars: a window is a pause that recurs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hourhand.model.window import Calendar, Days, Rest, Window, WindowDefinition


class Windows(Protocol):
    """While a window is open its task, its group, or everything rests as in a pause.

    Instants that come meanwhile are skipped as `window`; of a group, or of everything, nothing is claimed either. It
    opens and closes by itself. Windows and pauses add up. A change holds for the instants after it: those before it
    are judged by what the window was then, however late that is.
    """

    async def create_window(self, definition: WindowDefinition, *, by: str) -> Window:
        """A new window, in force from now on; its name must be free, its scope and its calendar must exist.

        What was made ahead for instants inside is taken back in the same transaction.
        """

    async def edit_window(self, window_id: int, changes: Mapping[str, Any], *, by: str) -> Window:
        """Change some fields of its definition; a calendar takes the place of a schedule, and the other way round."""

    async def delete_window(self, window_id: int) -> None:
        """Remove a window; if it is open, it ends now."""

    async def get_window(self, window_id: int) -> Window:
        """One window."""

    async def list_windows(self) -> list[Window]:
        """All of them, by name."""

    async def create_calendar(self, name: str, definition: Days) -> Calendar:
        """A new calendar; its name must be free."""

    async def edit_calendar(self, calendar_id: int, changes: Mapping[str, Any]) -> Calendar:
        """Change its `name` or its `definition`; the windows that open by it follow from now on."""

    async def delete_calendar(self, calendar_id: int) -> None:
        """Remove a calendar; refused while a window opens by it."""

    async def get_calendar(self, calendar_id: int) -> Calendar:
        """One calendar."""

    async def list_calendars(self) -> list[Calendar]:
        """All of them, by name."""

    async def rests_of_task(self, task_id: int) -> list[Rest]:
        """The pauses and windows in which a task's schedule rests, from its next instant on."""
