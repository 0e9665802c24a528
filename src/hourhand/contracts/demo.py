"""Contracts: the demo in a store: its past, and its removal without a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hourhand.model.demo import DemoRemoved, DemoState, PastEnding


class Demo(Protocol):
    """What only the sample tasks may do: have a past that never was, and be removed with all they ever did.

    A sample task is one that the app `hourhand.demo` has declared, and manages still. Everything here refuses to touch
    any other.
    """

    async def demo_state(self) -> DemoState:
        """What of the demo there is."""

    async def write_demo_past(self, endings: Sequence[PastEnding]) -> int:
        """Write endings of sample tasks as if they had happened, figures included; how many. Once: then it is loaded.

        Each is of the last day and has ended before now. The ledger has them too, so that an instant which is past
        here can never be made (guarantee 1).
        """

    async def stop_demo(self, *, by: str) -> int:
        """Delete the sample tasks and cancel whatever of them lives; how many tasks those were.

        Refused while people have built on it: a task that is not the demo's depends on one of them or is in the demo's
        group, an alert rule or a maintenance window is about them, a user or a token is limited to that group.
        """

    async def clear_demo(self) -> DemoRemoved:
        """Remove all that is left of a stopped demo: tasks, logs, figures, alert rules, the group.

        Refused while an instance of it lives or an executor serves its group: a stopped one will soon have neither; and
        while people have built on it.
        """
