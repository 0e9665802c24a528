"""The trial of archive_bulk_copy: rows go to another server while a writer is at work, the process that moves them is
killed again and again, and the target's server crashes; in the end no row may be lost, and none be there twice.

    python -m operations.moving_trial --rows 1000000 --kills 50 --crashes 5          # in tests/
    python -m operations.moving_trial --rows 20000 --kills 8 --crashes 0 --no-redo   # must be caught
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hourhand.operations.kinds.archive_bulk_copy import ArchiveBulkCopy
from hourhand.operations.transfer import moving
from hourhand.operations.transfer.moving_notes import Noted
from operations.addresses import postgres_address
from operations.asking import execute, fetch, postgres_connection
from operations.killing import Dead, Told, run_and_kill
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from hourhand.contracts.operation import Session
    from hourhand.model.data_source import Address
    from hourhand.model.operation import Step
    from hourhand.operations.work import LiveWork

UNHURRIED = "operations.moving_trial:Unhurried"
BETWEEN = "the target is committed, the source is not"
NO_REDO = "HOURHAND_TRIAL_NO_REDO"
TABLE = "CREATE TABLE moved (id bigint PRIMARY KEY, version int NOT NULL, filler text NOT NULL)"
LAST_ATTEMPTS = 5


@dataclass
class Trial:
    """What is tried, and what came of it."""

    rows: int
    kills: int
    crashes: int
    chunk_rows: int = 1_000
    seed: int = 1
    redo: bool = True
    killed: int = 0
    crashed: int = 0
    redone: int = 0
    lost: int = 0
    doubled: int = 0
    stale: int = 0
    """Rows whose last change did not arrive."""
    ended: bool = False
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether every row has arrived exactly once, as it was last changed."""
        return self.ended and not self.lost + self.doubled + self.stale

    async def run(self, source_server: Cluster, target_server: Cluster, folder: Path) -> None:
        """Move all rows, whatever happens."""
        source = postgres_address(source_server, source_server.create_database())
        target = postgres_address(target_server, target_server.create_database())
        filling = f"INSERT INTO moved SELECT n * 2, 0, repeat(md5(n::text), 2) FROM generate_series(1, {self.rows}) n"
        await execute(source, TABLE, filling, "ANALYZE moved")
        await execute(target, TABLE)
        known: dict[int, int] = {}
        writing = asyncio.create_task(_write(source, self.rows, known))
        began = time.monotonic()
        try:
            with _without_redo(not self.redo):
                await self._harassed({"source": source, "target": target}, target_server, folder)
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        self.seconds = time.monotonic() - began
        await self._judge(source, target, known)
        source_server.drop_database(source_server.url(str(source.database)))
        target_server.drop_database(target_server.url(str(target.database)))

    async def _harassed(self, sources: dict[str, Address], server: Cluster, folder: Path) -> None:
        chance = random.Random(self.seed)  # noqa: S311
        crashes = set(chance.sample(range(self.kills + self.crashes), self.crashes))
        checkpoint: Any = None
        for number in range(self.kills + self.crashes + LAST_ATTEMPTS):
            after, there = chance.randrange(2, 7), chance.random() < 0.5
            crashing: list[asyncio.Task[None]] = []

            def when(
                told: Told, number: int = number, after: int = after, there: bool = there,  # noqa: FBT001
                crashing: list[asyncio.Task[None]] = crashing,
            ) -> bool:  # fmt: skip
                if told.checkpoints <= after or number >= self.kills + self.crashes or (there and told.line != BETWEEN):
                    return False
                if number in crashes and not crashing:
                    crashing.append(asyncio.create_task(asyncio.to_thread(_crash, server)))
                return number not in crashes

            dead = await self._attempt(sources, folder, checkpoint, when, chance.uniform(0, 0.01 if there else 0.05))
            await asyncio.gather(*crashing)
            self.crashed += len(crashing)
            checkpoint = dead.checkpoint
            if self.ended:
                return

    async def _attempt(
        self, sources: dict[str, Address], folder: Path, checkpoint: object, when: Callable[[Told], bool], after: float
    ) -> Dead:
        config = {
            "table": "moved", "target_data_source": "target", "delete_source": True, "chunk_rows": self.chunk_rows,
            "chunk_target_ms": 100, "lock_retries": 1000,
        }  # fmt: skip
        dead = await run_and_kill(
            ArchiveBulkCopy.kind, config, sources, folder,
            when=when, after_seconds=after, checkpoint=checkpoint, extra=[UNHURRIED],
        )  # fmt: skip
        self.killed += dead.killed
        self.redone += sum("rows are moved again" in line for line in dead.lines)
        if dead.outcome is not None:
            self.ended = dead.outcome["kind"] == "success"
            self.failures += [] if self.ended else [str(dead.outcome["error_message"])[:120]]
        return dead

    async def _judge(self, source: Address, target: Address, known: dict[int, int]) -> None:
        here = dict(await fetch(source, "SELECT id, version FROM moved"))
        there = dict(await fetch(target, "SELECT id, version FROM moved"))
        every = {n * 2 for n in range(1, self.rows + 1)} | set(known)
        self.lost = len(every - set(here) - set(there))
        self.doubled = len(set(here) & set(there))
        self.stale = sum(max(here.get(key, -1), there.get(key, -1)) != version for key, version in known.items())


def _crash(server: Cluster) -> None:
    server.crash()
    server.start()


@contextmanager
def _without_redo(wanted: bool) -> Iterator[None]:  # noqa: FBT001
    """Have the children leave an unfinished chunk where it is."""
    if wanted:
        os.environ[NO_REDO] = "1"
    try:
        yield
    finally:
        os.environ.pop(NO_REDO, None)


async def _write(source: Address, rows: int, known: dict[int, int]) -> None:
    """Change rows, and insert others between them; what was committed is known."""
    chance = random.Random(7)  # noqa: S311
    async with postgres_connection(source) as connection:
        while True:
            for _ in range(5):
                wanted = chance.randrange(1, rows + 1) * 2
                changed = await connection.fetchval(
                    "UPDATE moved SET version = version + 1 WHERE id = $1 RETURNING version", wanted
                )
                if changed is not None:
                    known[wanted] = changed
            fresh = chance.randrange(1, rows) * 2 + 1
            if fresh not in known:
                await connection.execute("INSERT INTO moved VALUES ($1, 0, 'inserted')", fresh)
                known[fresh] = 0
            await asyncio.sleep(0.005)


class _Lingering:
    """The target's session, which stays a while between its commit and the source's, so that kills fall there too."""

    def __init__(self, session: Session, work: LiveWork) -> None:
        self._session = session
        self._work = work

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    @asynccontextmanager
    async def transaction(self, *, isolation: str | None = None) -> AsyncIterator[None]:
        async with self._session.transaction(isolation=isolation):
            yield
        self._work.log(BETWEEN)
        await asyncio.sleep(0.02)


class Unhurried(ArchiveBulkCopy):
    """The kind as it is, with a target that lingers; for the counter-trial without the redo."""

    async def do_move(self, work: LiveWork, step: Step) -> None:
        look = work._look  # noqa: SLF001
        name = str(work.plan.config["target_data_source"])
        look._others[name] = cast("Session", _Lingering(await work.open(name), work))  # noqa: SLF001
        if os.environ.get(NO_REDO):
            moving.Mover._redo = _trusting  # type: ignore[method-assign]  # noqa: SLF001
        await super().do_move(work, step)


async def _trusting(self: moving.Mover, noted: Noted) -> Noted:  # noqa: ARG001 - as the one it stands for
    return noted


def main() -> None:
    """Run it on two servers of its own."""
    asks = argparse.ArgumentParser()
    asks.add_argument("--rows", type=int, default=1_000_000)
    asks.add_argument("--kills", type=int, default=50)
    asks.add_argument("--crashes", type=int, default=5)
    asks.add_argument("--chunk-rows", type=int, default=1_000)
    asks.add_argument("--seed", type=int, default=1)
    asks.add_argument("--no-redo", action="store_true", help="what must be caught")
    given = asks.parse_args()
    trial = Trial(given.rows, given.kills, given.crashes, given.chunk_rows, given.seed, not given.no_redo)
    source, target = Cluster(), Cluster()
    try:
        source.start()
        target.start()
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(trial.run(source, target, Path(folder)))
    finally:
        source.stop()
        target.stop()
    sys.stdout.write(f"{trial}\n")
    sys.exit(trial.right == given.no_redo)


if __name__ == "__main__":
    main()
