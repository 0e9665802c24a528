"""A partition of a million rows split in two and merged again, online, while a writer writes to it.

What the writer was told is committed is kept by the writer alone, and compared with the table afterwards: rows lost,
doubled, or with other values. A third process looks which locks are held, as fast as it can.

python bench/online_split.py [--rows 1000000] [--chunk 2000]
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any

import asyncpg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from operations.addresses import postgres_address
from operations.running import run
from postgres import Cluster

APART = multiprocessing.get_context("spawn")
START = datetime(2026, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=59)
UNTOUCHED = "SELECT count(*), sum(hashtextextended(o::text, 0)::numeric) FROM orders o WHERE NOT id = ANY($1::bigint[])"
HELD = """
SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'orders'::regclass AND mode = 'AccessExclusiveLock' AND granted)
"""


async def fill(url: str, rows: int) -> None:
    """One partition of two months."""
    connection = await asyncpg.connect(url)
    await connection.execute(
        "CREATE TABLE orders (id bigint, at timestamptz, customer int, note text, PRIMARY KEY (id, at)) "
        "PARTITION BY RANGE (at)"
    )
    await connection.execute(
        "CREATE TABLE orders_2026_01 PARTITION OF orders "
        "FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-03-01 00:00:00+00')"
    )
    await connection.execute("CREATE TABLE orders_rest PARTITION OF orders DEFAULT")
    await connection.execute(
        "INSERT INTO orders SELECT n, timestamptz '2026-01-01 00:00:00+00' + interval '59 days' * (n::float8 / $1), "
        "n % 1000, repeat(md5(n::text), 3) FROM generate_series(0, $1::int - 1) n",
        rows,
    )
    await connection.execute("CREATE INDEX ON orders (at)")
    await connection.execute("VACUUM ANALYZE orders")
    await connection.close()


class Writer:
    """Inserts, updates, moves rows across the boundary and deletes them; keeps what it was told is committed."""

    def __init__(self, url: str, rows: int) -> None:
        self._url = url
        self._rows = rows
        self._next = rows
        self._random = random.Random(7)  # noqa: S311 - the same each time
        self.journal: dict[int, tuple[datetime, str] | None] = {}
        self.waits: list[tuple[float, float]] = []
        self.errors: list[str] = []

    async def write(self, ended: Any) -> None:  # noqa: ANN401 - an event of multiprocessing
        """Until the end."""
        connection = await asyncpg.connect(self._url, statement_cache_size=0)
        while not ended.is_set():
            began = time.time()
            try:
                async with connection.transaction():
                    told = await self._one(connection)
            except asyncpg.PostgresError as error:
                self.errors.append(f"{type(error).__name__}: {error}")
            else:
                self.journal.update(told)
            self.waits.append((began, time.time() - began))
        await connection.close()

    async def _one(self, connection: Any) -> dict[int, tuple[datetime, str] | None]:  # noqa: ANN401 - asyncpg has no types
        at = START + SPAN * self._random.random()
        at = at.replace(microsecond=0)
        note = f"written {self._random.random()}"
        if self._random.random() < 0.25:  # noqa: PLR2004
            self._next += 1
            await connection.execute("INSERT INTO orders VALUES ($1, $2, 1, $3)", self._next, at, note)
            return {self._next: (at, note)}
        which = self._random.randrange(self._next)
        match self._random.randrange(3):
            case 0:
                rows = await connection.fetch("UPDATE orders SET note = $2 WHERE id = $1 RETURNING at", which, note)
                return {which: (rows[0]["at"], note)} if rows else {}
            case 1:
                rows = await connection.fetch(
                    "UPDATE orders SET at = $2, note = $3 WHERE id = $1 RETURNING at", which, at, note
                )
                return {which: (at, note)} if rows else {}
        rows = await connection.fetch("DELETE FROM orders WHERE id = $1 RETURNING at", which)
        return {which: None} if rows else {}


def writing(url: str, rows: int, ended: Any, out: Any) -> None:  # noqa: ANN401 - multiprocessing's
    """A process of its own."""
    writer = Writer(url, rows)
    asyncio.run(writer.write(ended))
    out.send((writer.journal, writer.waits, writer.errors))


def looking(url: str, ended: Any, out: Any) -> None:  # noqa: ANN401 - multiprocessing's
    """How long the whole table was locked against readers, at a stretch; as often as it can be asked."""

    async def look() -> tuple[list[float], int]:
        connection = await asyncpg.connect(url)
        asked = await connection.prepare(HELD)
        spans: list[float] = []
        since: float | None = None
        looks = 0
        while not ended.is_set():
            held = await asked.fetchval()
            looks += 1
            now = time.monotonic()
            if held and since is None:
                since = now
            elif not held and since is not None:
                spans.append(now - since)
                since = None
            await asyncio.sleep(0.0005)
        await connection.close()
        return spans, looks

    out.send(asyncio.run(look()))


async def differences(url: str, journal: Mapping[int, tuple[datetime, str] | None]) -> tuple[int, int, int]:
    """Rows lost, doubled (or back again), and with other values."""
    connection = await asyncpg.connect(url)
    found: dict[int, list[tuple[datetime, str]]] = {}
    for row in await connection.fetch("SELECT id, at, note FROM orders WHERE id = ANY($1::bigint[])", list(journal)):
        found.setdefault(row["id"], []).append((row["at"], row["note"]))
    await connection.close()
    lost = sum(told is not None and which not in found for which, told in journal.items())
    doubled = sum(len(found.get(which, ())) > (told is not None) for which, told in journal.items())
    other = sum(told is not None and found.get(which, [told])[0] != told for which, told in journal.items())
    return lost, doubled, other


async def measured(cluster: Cluster, url: str, kind: str, chunk: int) -> None:
    """One operation under the writer."""
    connection = await asyncpg.connect(url)
    before = await connection.fetch("SELECT id, hashtextextended(o::text, 0) AS hash FROM orders o")
    rows = max(row["id"] for row in before) + 1
    await connection.close()
    ended = APART.Event()
    pipes = [APART.Pipe(duplex=False) for _ in range(2)]
    processes = [
        APART.Process(target=writing, args=(url, rows, ended, pipes[0][1])),
        APART.Process(target=looking, args=(url, ended, pipes[1][1])),
    ]
    for one in processes:
        one.start()
    await asyncio.sleep(8)
    began = time.time()
    config = {"table": "orders", "boundary": "2026-02-01 00:00:00+00", "chunk_rows": chunk, "keep_old_hours": 0}
    try:
        ran = await run(kind, config, {"source": postgres_address(cluster, url)})
        took = time.time() - began
        await asyncio.sleep(2)
    finally:
        ended.set()
    (journal, waits, errors), (spans, looks) = [await asyncio.to_thread(one[0].recv) for one in pipes]
    for one in processes:
        one.join()
    lost, doubled, other = await differences(url, journal)
    connection = await asyncpg.connect(url)
    count, total = await connection.fetchrow(UNTOUCHED, list(journal))
    await connection.close()
    still = [row["hash"] for row in before if row["id"] not in journal]
    quiet = [seconds for at, seconds in waits if at < began - 0.5]
    busy = [seconds for at, seconds in waits if began <= at < began + took]
    print(f"\n{kind}: {took:.1f} s, rows by partition {ran.summary['rows']}")
    print(f"  writer: {len(journal)} rows in {len(waits)} transactions, {len(errors)} errors {errors[:3]}")
    same = "same" if total == sum(still) else "DIFFERENT"
    print(f"  rows lost {lost}, doubled {doubled}, with other values {other}")
    print(f"  rows that nobody wrote to: {count} of {len(still)}, checksum {same}")
    longest = max(spans, default=0) * 1000
    print(f"  table locked against readers: longest {longest:.1f} ms of {len(spans)} times, seen by {looks} looks")
    for name, seconds in (("before", quiet), ("during", busy)):
        cuts = quantiles(seconds, n=100)
        print(f"  a write {name} it: median {cuts[49] * 1000:.1f} ms, 99 % {cuts[98] * 1000:.1f} ms, "
              f"longest {max(seconds) * 1000:.0f} ms")  # fmt: skip


async def main(rows: int, chunk: int) -> None:
    """Split, then merge."""
    cluster = Cluster()
    cluster.start()
    try:
        url = cluster.create_database()
        await fill(url, rows)
        await measured(cluster, url, "split_boundary", chunk)
        await measured(cluster, url, "merge_boundary", chunk)
    finally:
        cluster.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--chunk", type=int, default=2_000)
    given = parser.parse_args()
    asyncio.run(main(given.rows, given.chunk))
