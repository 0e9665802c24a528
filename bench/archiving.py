r"""Archiving a table of PostgreSQL to files, beside `psql \copy` to CSV in the same run; and the way back.

python bench/archiving.py [--rows 2000000]
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hourhand.model.data_source import Address
from operations.addresses import postgres_address
from operations.running import run
from postgres import Cluster, binaries

TABLE = """
CREATE TABLE events (id bigint PRIMARY KEY, at timestamptz NOT NULL, customer integer NOT NULL, kind text NOT NULL,
                     amount numeric(12,2), paid boolean, note text, due date)
"""
FILL = """
INSERT INTO events SELECT n, timestamptz '2025-01-01 00:00+00' + n * interval '7 seconds', n % 10007, 'kind ' || n % 13,
       (n * 37 % 1000000)::numeric / 100, n % 3 = 0, CASE WHEN n % 5 > 0 THEN 'a note, number ' || md5(n::text) END,
       date '2025-01-01' + (n % 365)::int
FROM generate_series(1, {rows}) AS s(n)
"""


def copied(server: Cluster, database: str, file: Path) -> float:
    """How long psql takes; it verifies nothing."""
    begin = time.perf_counter()
    command = [str(binaries() / "psql"), "-X", "-q", "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres"]
    subprocess.run([*command, database, "-c", f"\\copy events TO '{file}' (FORMAT csv)"], check=True)  # noqa: S603
    return time.perf_counter() - begin


async def archived(source: Address, folder: Path, **more: object) -> tuple[float, Any]:
    """How long an archive takes, from the plan to the summary."""
    await asyncio.to_thread(folder.mkdir)
    begin = time.perf_counter()
    ran = await run("archive_bcp", {"table": "events", "output_dir": str(folder), **more}, {"source": source})
    return time.perf_counter() - begin, ran.summary


async def measure(server: Cluster, rows: int, folder: Path) -> None:
    """Without verification each beside a psql of the same moment, the best of three; verified once."""
    url = server.create_database()
    source, database = postgres_address(server, url), url.rpartition("/")[2]
    server.sql(TABLE, database)
    server.sql(FILL.format(rows=rows), database)
    server.sql("VACUUM ANALYZE events", database)
    copied(server, database, folder / "plain.csv")  # warms up
    print(f"{rows:,} rows x 8 columns; as CSV {(folder / 'plain.csv').stat().st_size:,} bytes")
    for format_, compression in (("parquet", "zstd"), ("csv", "zstd"), ("csv", "none")):
        pairs = []
        for turn in range(3):
            plain = copied(server, database, folder / "plain.csv")
            to = folder / f"{format_}-{compression}-{turn}"
            taken, summary = await archived(source, to, format=format_, compression=compression, verify="none")
            pairs.append((plain, taken))
        plain, taken = min(one for one, _ in pairs), min(other for _, other in pairs)
        print(
            f"{format_ + ', ' + compression:<14} psql \\copy {plain:5.2f} s, archive {taken:5.2f} s, "
            f"ratio {plain / taken:4.2f}, {summary['bytes']:,} bytes",
            flush=True,
        )
    taken, summary = await archived(source, folder / "verified")
    print(f"parquet, zstd, verified             {taken:6.2f} s  {rows / taken:10,.0f} rows/s", flush=True)
    taken, summary = await archived(source, folder / "moved", delete_after_verify=True)
    print(f"parquet, zstd, verified and deleted {taken:6.2f} s  {rows / taken:10,.0f} rows/s", flush=True)
    begin = time.perf_counter()
    await run("archive_restore", {"manifest": summary["manifest"]}, {"source": source})
    taken = time.perf_counter() - begin
    print(f"restored and verified               {taken:6.2f} s  {rows / taken:10,.0f} rows/s")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=2_000_000)
    given = parser.parse_args()
    server = Cluster()
    server.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure(server, given.rows, Path(folder)))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
