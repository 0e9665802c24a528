"""Store: the verbs of the demo."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial

from hourhand.model.answers import Aftermath
from hourhand.model.demo import DemoRemoved, DemoState, PastEnding
from hourhand.model.hints import Hint
from hourhand.store import demo, demo_past
from hourhand.store.database import Tx
from hourhand.store.limits import Limited
from hourhand.store.verbs.transactions import Transactions


class Demo(Transactions):
    """What only the sample tasks may do."""

    async def demo_state(self) -> DemoState:
        return await self._read(partial(demo.state, lease_seconds=self.lease_seconds))

    async def write_demo_past(self, endings: Sequence[PastEnding]) -> int:
        async def write(tx: Tx) -> int:
            written = await demo_past.write_past(tx, endings)
            if written:
                kept = {"execution_logs": written}
                await self._record(tx, "load", "demo", None, summary=f"{written} past endings", payload=kept)
            return written

        written = await self._write(write)
        self._hints.ring(Hint.INSTANCES)
        return written

    async def stop_demo(self, *, by: str) -> int:
        stopping: list[int] = []

        async def stop(tx: Tx) -> tuple[list[str], Aftermath]:
            names, stopping[:], aftermath = await demo.stop(
                tx, by=by, look_ahead=self.look_ahead, lease_seconds=self.lease_seconds
            )
            if names:
                told = f"{len(names)} sample tasks were deleted"
                await self._record(tx, "stop", "demo", None, summary=told, payload={"tasks": names})
            return names, aftermath

        names, aftermath = await self._write(stop)
        await self.follow(aftermath)
        self._hints.ring(Hint.TASKS)
        self._hints.ring(Hint.CANCEL, stopping)
        self._hints.ring(Hint.INSTANCES)
        return len(names)

    async def clear_demo(self) -> DemoRemoved:
        await self._read(partial(demo.check_stopped, lease_seconds=self.lease_seconds))
        turn = secrets.token_hex(8)
        endings = 0
        while removed := await self._write(demo.remove_endings):
            endings += removed

        async def rest(tx: Tx) -> tuple[int, list[Limited]]:
            tasks, limited = await demo.remove_rest(tx, lease_seconds=self.lease_seconds, turn=turn)
            kept = {"tasks": tasks, "execution_logs": endings}
            await self._record(tx, "remove", "demo", None, summary="with all that it did", payload=kept)
            for one in limited:
                why = "the demo's group was removed"
                await self._record(tx, "edit", one.kind, one.id, summary=why, before=one.before, after=one.after)
            return tasks, limited

        tasks, limited = await self._write(rest)
        for hint in (Hint.TASKS, Hint.INSTANCES, Hint.GROUPS, Hint.PAUSES, Hint.ALERTS, Hint.EXECUTORS):
            self._hints.ring(hint)
        if limited:
            self._hints.ring(Hint.ACCESS, [one.id if one.kind == "user" else -one.id for one in limited])
        return DemoRemoved(tasks=tasks, execution_logs=endings)
