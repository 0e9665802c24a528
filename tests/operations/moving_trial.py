"""The trial of archive_bulk_copy: rows go from one server to another while a writer is at work, the executor's process
is killed again and again, and the target's server crashes; in the end no row may be lost, and none be there twice.

    python -m operations.moving_trial --rows 1000000 --kills 50 --crashes 5          # in tests/
    python -m operations.moving_trial --rows 20000 --kills 20 --no-redo              # must be caught
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hourhand.operations.kinds.archive_bulk_copy import ArchiveBulkCopy
from hourhand.operations.transfer import moving
from operations.addresses import postgres_address
from operations.asking import execute, fetch, postgres_connection
from operations.killing import Told, run_and_kill
from postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from hourhand.contracts.operation import Session
    from hourhand.model.data_source import Address
    from hourhand.model.operation import Step
    from hourhand.operations.work import LiveWork

KIND = "archive_bulk_copy"
TABLE = "CREATE TABLE moved (id bigint PRIMARY KEY, version int NOT NULL, filler text NOT NULL)"
CONFIG = {
    "table": "moved", "target_data_source": "target", "delete_source": True, "chunk_target_ms": 300,
    "lock_retries": 1000,
}  # fmt: skip
UNHURRIED = "operations.moving_trial:Unhurried"
BETWEEN = "the target is committed, the source is not"
NO_REDO = "HOURHAND_TRIAL_NO_REDO"


@dataclass
class Trial:
    """What came of it."""

    rows: int
    kills: int = 0
    crashes: int = 0
    redone: int = 0
    lost: int = 0
    doubled: int = 0
    stale: int = 0
    """Rows whose last change did not arrive."""
    seconds: float = 0.0
    ended: bool = False
    failures: list[str] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether every row has arrived exactly once."""
        return self.ended and not self.lost + self.doubled + self.stale


async def trial(
    source_server: Cluster, target_server: Cluster, folder: Path, *,
    rows: int, kills: int, crashes: int, chunk_rows: int, seed: int = 1, redo: bool = True,
) -> Trial:  # fmt: skip
    """Move them all, whatever happens."""
    source = postgres_address(source_server, source_server.create_database())
    target = postgres_address(target_server, target_server.create_database())
    await execute(
        source, TABLE,
        f"INSERT INTO moved SELECT n * 2, 0, repeat(md5(n::text), 2) FROM generate_series(1, {rows}) n", "ANALYZE moved",
    )  # fmt: skip
    await execute(target, TABLE.replace("PRIMARY KEY", "NOT NULL"), "CREATE UNIQUE INDEX moved_id ON moved (id)")
    result, known = Trial(rows), dict[int, int]()
    writing = asyncio.create_task(_write(source, rows, known))
    began = time.monotonic()
    try:
        with _redo(on=redo):
            await _harassed(
                source, target, target_server, folder, result, kills, crashes, chunk_rows, random.Random(seed)
            )
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    result.seconds = time.monotonic() - began
    await _judge(source, target, result, known)
    return result


class _redo:  # noqa: N801 - reads as a word
    """Whether the children take an unfinished chunk out of the target again."""

    def __init__(self, *, on: bool) -> None:
        self._on = on

    def __enter__(self) -> None:
        if not self._on:
            os.environ[NO_REDO] = "1"

    def __exit__(self, *_: object) -> None:
        os.environ.pop(NO_REDO, None)


async def _harassed(
    source: Address, target: Address, target_server: Cluster, folder: Path, result: Trial,
    kills: int, crashes: int, chunk_rows: int, chance: random.Random,
) -> None:  # fmt: skip
    sources = {"source": source, "target": target}
    config = {**CONFIG, "chunk_rows": chunk_rows, "chunk_target_ms": 300}
    checkpoint: Any = None
    due = set(chance.sample(range(kills + crashes), crashes))
    for number in range(kills + crashes):
        after, there = chance.randrange(2, 7), chance.random() < 0.5

        def when(told: Told, after: int = after, there: bool = there) -> bool:  # noqa: FBT001
            return told.checkpoints > after and (told.line == BETWEEN or not there)

        async def crash() -> None:
            await asyncio.sleep(chance.uniform(0.3, 1.0))
            target_server.crash()
            target_server.start()

        crashing = asyncio.create_task(crash()) if number in due else None
        dead = await run_and_kill(
            KIND, config, sources, folder, when=when if crashing is None else lambda _: False,
            after_seconds=chance.uniform(0, 0.01 if there else 0.05), checkpoint=checkpoint, extra=[UNHURRIED],
        )  # fmt: skip
        if crashing is not None:
            await crashing
            result.crashes += 1
        result.redone += sum("rows are moved again" in line for line in dead.lines)
        result.kills += dead.killed
        checkpoint = dead.checkpoint
        if dead.outcome is not None and dead.outcome["kind"] == "success":
            result.ended = True
            return
        if dead.outcome is not None:
            result.failures.append(str(dead.outcome["error_message"])[:200])
    for _ in range(5):
        dead = await run_and_kill(
            KIND, config, sources, folder, when=lambda _: False, checkpoint=checkpoint, extra=[UNHURRIED]
        )
        checkpoint = dead.checkpoint
        result.redone += sum("rows are moved again" in line for line in dead.lines)
        if dead.outcome is not None and dead.outcome["kind"] == "success":
            result.ended = True
            return
        result.failures.append(str((dead.outcome or {}).get("error_message"))[:200])


async def _write(source: Address, rows: int, known: dict[int, int]) -> None:
    """Change rows, and insert some behind the cursor; what was committed is known."""
    chance = random.Random(7)
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


async def _judge(source: Address, target: Address, result: Trial, known: dict[int, int]) -> None:
    here = dict(await fetch(source, "SELECT id, version FROM moved"))
    there_rows = await fetch(target, "SELECT id, version FROM moved")
    there = dict(there_rows)
    every = {n * 2 for n in range(1, result.rows + 1)} | set(known)
    result.lost = len(every - set(here) - set(there))
    result.doubled = len(set(here) & set(there)) + len(there_rows) - len(there)
    result.stale = sum(1 for key, version in known.items() if max(here.get(key, -1), there.get(key, -1)) != version)


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
    """The kind as it is; for the counter-trial without the redo."""

    async def do_move(self, work: LiveWork, step: Step) -> None:
        """With a target that lingers."""
        look = work._look  # noqa: SLF001
        name = str(work.plan.config["target_data_source"])
        look._others[name] = cast("Session", _Lingering(await work.open(name), work))  # noqa: SLF001
        if os.environ.get(NO_REDO):
            moving.Mover._redo = _trusting  # type: ignore[method-assign]  # noqa: SLF001
        await super().do_move(work, step)


async def _trusting(self: Any, noted: Any) -> Any:  # noqa: ARG001 - as the one it stands for
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
    servers = [Cluster(), Cluster()]
    try:
        for server in servers:
            server.start()
        with tempfile.TemporaryDirectory() as folder:
            result = asyncio.run(
                trial(
                    *servers,
                    Path(folder),
                    rows=given.rows,
                    kills=given.kills,
                    crashes=given.crashes,
                    chunk_rows=given.chunk_rows,
                    seed=given.seed,
                    redo=not given.no_redo,
                )  # fmt: skip
            )
    finally:
        for server in servers:
            server.stop()
    sys.stdout.write(f"{result}\n")
    sys.exit(result.right == given.no_redo)


if __name__ == "__main__":
    main()
