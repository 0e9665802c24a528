"""Random transactions with submissions in them, by every driver at once; what was committed must be there, no more.

PYTHONPATH=tests python -m contracts.joining_trials 1000      a thousand transactions by each driver, and the counts
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import asyncpg

from contracts.joining_ways import WAYS, Way
from contracts.world import World
from hourhand.errors import InvalidInput, NotFound
from hourhand.sdk.client import Client
from hourhand.store import open_store

if TYPE_CHECKING:
    from collections.abc import Coroutine

TASK = "joined"
KEYS_EACH = 4
"""For each transaction of a program: so few that they meet, so many that they are not all taken soon."""
DEEPEST = 3
ENDS = {"commit": 10, "roll back": 5, "fail": 2, "cut": 1}


class Undone(Exception):
    """What a program raises to undo a transaction, or a part of it."""


@dataclass
class Book:
    """What is expected, and how often what was done."""

    submitted: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    marks: count[int] = field(default_factory=count)


@dataclass
class Scope:
    """What a transaction, or a savepoint, has done so far."""

    submitted: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)

    def add(self, other: Scope) -> None:
        self.submitted |= other.submitted
        self.written |= other.written


class Program:
    """One program with one connection."""

    def __init__(self, way: Way, seed: int, book: Book, *, keys: int) -> None:
        self.way = way
        self.keys = keys
        self.chance = random.Random(seed)  # noqa: S311 - the same each time
        self.book = book

    async def run(self, transactions: int) -> None:
        await self.way.open()
        for _ in range(transactions):
            await self._transaction()
        await self.way.close()

    async def _transaction(self) -> None:
        done = Scope()
        end = self.chance.choices(list(ENDS), list(ENDS.values()))[0]
        self.book.counts[f"transactions: {end}"] += 1
        try:
            async with self.way.transaction():
                await self._steps(done, 0)
                if end == "cut":
                    await self.way.cut()
                await self._maybe_fail(end)
        except Exception as error:  # noqa: BLE001 - of every driver
            if end == "commit":
                self.book.counts[f"gave up: {type(error).__name__}"] += 1
        else:
            assert end == "commit", f"a transaction that should {end} was committed"
            self.book.submitted |= done.submitted
            self.book.written |= done.written
            self.book.counts["submissions committed"] += len(done.submitted)
        if end == "cut":
            await self._reopen()

    async def _reopen(self) -> None:
        try:
            await self.way.close()
        except Exception:  # noqa: BLE001 - it is cut
            self.book.counts["closed in vain"] += 1
        await self.way.open()

    async def _maybe_fail(self, end: str) -> None:
        if end == "roll back":
            raise Undone
        if end == "fail":
            await self.way.execute("SELECT 1 / 0")

    async def _steps(self, scope: Scope, depth: int) -> None:
        for _ in range(self.chance.randint(1, 3)):
            match self.chance.choices(["submit", "key", "write", "refused", "nested"], [8, 3, 3, 1, 4])[0]:
                case "submit":
                    await self._submit(scope, None)
                case "key":
                    await self._submit(scope, f"key-{self.chance.randrange(self.keys)}")
                case "write":
                    mark = next(self.book.marks)
                    await self.way.execute(f"INSERT INTO trial_rows VALUES ({mark})")  # noqa: S608 - a number
                    scope.written.add(mark)
                case "refused":
                    await self._refused()
                case _ if depth < DEEPEST:
                    await self._nested(scope, depth + 1)

    async def _submit(self, scope: Scope, key: str | None) -> None:
        mark = next(self.book.marks)
        made = await self.way.submit(TASK, {"mark": mark}, key)
        self.book.counts["submissions"] += 1
        if made.existing:
            self.book.counts["answered with the living one"] += 1
        else:
            assert made.args == {"mark": mark}
            scope.submitted.add(mark)

    async def _refused(self) -> None:
        self.book.counts["refused"] += 1
        name, key = self.chance.choice([("nobody", None), (TASK, "")])
        try:
            await self.way.submit(name, {}, key)
        except (NotFound, InvalidInput):
            return
        raise AssertionError("it was accepted")

    async def _nested(self, scope: Scope, depth: int) -> None:
        inner = Scope()
        end = self.chance.choice(["commit", "commit", "roll back", "fail"])
        self.book.counts[f"savepoints: {end}"] += 1
        try:
            async with self.way.nested():
                await self._steps(inner, depth)
                await self._maybe_fail(end)
        except Exception as error:
            if end == "commit":
                raise error from None  # a deadlock: the transaction is over
        else:
            assert end == "commit"
            scope.add(inner)


def drive(running: Coroutine[Any, Any, None]) -> None:
    """Run what never waits."""
    try:
        running.send(None)
    except StopIteration:
        return
    raise AssertionError("a blocking connection was waited for")


async def trials(url: str, transactions: int, *, seed: int) -> Counter[str]:
    """Let a program of each driver go through that many transactions, all at once; then compare."""
    store = await open_store(url)
    await store.ensure_group("elsewhere")
    await World(store).task(TASK, group="elsewhere")
    await store.close()
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE trial_rows (mark bigint PRIMARY KEY)")
    book = Book()
    try:
        async with Client(url) as client, asyncio.TaskGroup() as together:
            for number, kind in enumerate(WAYS.values()):
                running = Program(kind(url, client), seed + number, book, keys=KEYS_EACH * transactions).run(
                    transactions
                )
                together.create_task(asyncio.to_thread(drive, running) if kind.blocking else running)
        found = {
            row["mark"] for row in await connection.fetch("SELECT (args->>'mark')::bigint AS mark FROM task_instances")
        }
        assert found == book.submitted
        assert {row["mark"] for row in await connection.fetch("SELECT mark FROM trial_rows")} == book.written
        twice = "SELECT key FROM task_instances WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
        assert not await connection.fetch(twice)
    finally:
        await connection.execute("DROP TABLE trial_rows")
        await connection.close()
    return book.counts


def told(counts: Counter[str]) -> str:
    return "\n".join(f"{number:>8,} {what}" for what, number in sorted(counts.items()))


def main(transactions: int) -> None:
    from conftest import migrate  # noqa: PLC0415 - only here, where no fixture is
    from postgres import Cluster  # noqa: PLC0415

    cluster = Cluster()
    cluster.start()
    try:
        url = cluster.create_database()
        migrate(url)
        seed = random.randrange(2**32)  # noqa: S311
        counts = asyncio.run(trials(url, transactions, seed=seed))
        sys.stdout.write(f"seed {seed}, {transactions} transactions by each of {len(WAYS)} drivers:\n{told(counts)}\n")
    finally:
        cluster.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
