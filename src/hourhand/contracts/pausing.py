"""Contracts: pauses: nothing starts for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from hourhand.model.pause import Pause, PauseScope


class Pausing(Protocol):
    """A task, a group, or everything rests.

    Instants that come while their task rests are skipped as `paused`; of a group that rests, or of everything, nothing
    is claimed either. What runs goes on. Pauses add up.
    """

    async def pause(
        self,
        scope: PauseScope,
        scope_id: int | None = None,
        *,
        reason: str,
        until: datetime | None = None,
        by: str,
    ) -> Pause:
        """Begin a pause; it ends by itself at `until`, which must lie ahead, or when it is resumed.

        What was made ahead of the instants to come is taken back in the same transaction.
        """

    async def resume(self, pause_id: int) -> None:
        """End a pause before its time; NotFound when it is over."""

    async def get_pause(self, pause_id: int) -> Pause:
        """One pause, also one that is over, as long as retention keeps it."""

    async def list_pauses(self) -> list[Pause]:
        """Those in force, the oldest first."""
