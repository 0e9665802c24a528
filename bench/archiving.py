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
    """Each once, after one that warms up."""
    url = server.create_database()
    source, database = postgres_address(server, url), url.rpartition("/")[2]
    server.sql(TABLE, database)
    server.sql(FILL.format(rows=rows), database)
    server.sql("VACUUM ANALYZE events", database)
    copied(server, database, folder / "warm.csv")
    plain = min(copied(server, database, folder / f"plain{n}.csv") for n in range(2))
    size = (folder / "plain0.csv").stat().st_size
    print(f"psql \\copy to CSV        {plain:6.2f} s  {rows / plain:12,.0f} rows/s  {size:12,} bytes")
    for format_, compression in (("parquet", "zstd"), ("csv", "zstd"), ("csv", "none")):
        for verify in ("none", "hash"):
            name = f"{format_}, {compression}, verify={verify}"
            taken, summary = await archived(
                source, folder / name.replace(", ", "-"), format=format_, compression=compression, verify=verify
            )
            print(f"{name:<27} {taken:6.2f} s  ratio {plain / taken:5.2f}  {summary['bytes']:12,} bytes", flush=True)
    taken, summary = await archived(source, folder / "moved", delete_after_verify=True)
    print(f"parquet, verified, deleted  {taken:6.2f} s")
    begin = time.perf_counter()
    back = await run("archive_restore", {"manifest": summary["manifest"]}, {"source": source})
    print(f"and restored, verified      {time.perf_counter() - begin:6.2f} s  {back.summary['rows']:,} rows")


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
