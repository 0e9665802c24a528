"""Moving rows: chunked, compared and exactly once, beside what moves them without such care.

    python bench/moving.py [--rows 500000] [--repeat 3] [--part postgresql|mariadb]

PostgreSQL to another server: beside one raw pipe (`psql COPY TO | psql COPY FROM`) and one DELETE; goal: 0.6 of that.
MariaDB within one server: beside pt-archiver (bulk delete, bulk insert), which compares nothing; goal: twice that.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hourhand.model.data_source import Address
from mariadb import PASSWORD, USERNAME, MariaServer
from operations.addresses import maria_address, postgres_address
from operations.asking import count, execute, value
from operations.running import run
from postgres import Cluster

KIND = "archive_bulk_copy"
PG_TABLE = (
    "CREATE TABLE {} (id bigint PRIMARY KEY, at timestamptz NOT NULL, customer text, note text, amount numeric(12,2), "
    "quantity int, ratio float8, paid boolean)"
)
PG_FILL = (
    "INSERT INTO rows SELECT n, timestamptz '2026-01-01' + n * interval '1 second', 'customer ' || n % 997, "
    "repeat(md5(n::text), 2), n * 0.37, n % 100, n / 7.0, n % 3 = 0 FROM generate_series(1, {}) n"
)
MARIA_TABLE = (
    "CREATE TABLE {} (id BIGINT PRIMARY KEY, at DATETIME(6) NOT NULL, customer VARCHAR(40), note VARCHAR(80), "
    "amount DECIMAL(12,2), quantity INT, ratio DOUBLE, paid TINYINT(1))"
)
MARIA_FILL = (
    "INSERT INTO rows_ SELECT seq, TIMESTAMP'2026-01-01 00:00:00' + INTERVAL seq SECOND, "
    "CONCAT('customer ', seq % 997), REPEAT(MD5(seq), 2), seq * 0.37, seq % 100, seq / 7, seq % 3 = 0 FROM seq_1_to_{}"
)


def told(name: str, rows: int, seconds: float) -> float:
    """Print a line; the rate."""
    print(f"  {name:<46} {rows / seconds:>9,.0f} rows/s   {seconds:>7.2f} s")
    return rows / seconds


async def moved(config: dict[str, Any], sources: dict[str, Address], rows: int) -> float:
    """How long a move takes, all steps of the operation included."""
    began = time.perf_counter()
    ran = await run(KIND, {"delete_source": True, **config}, sources)
    seconds = time.perf_counter() - began
    if ran.summary["rows"] != rows:
        raise SystemExit(f"{ran.summary} is not {rows} rows")
    return seconds


async def postgresql(rows: int, repeat: int) -> float:
    """The ratio to a raw pipe and one DELETE."""
    servers = [Cluster(), Cluster()]
    try:
        for server in servers:
            server.start()
        source, target = (postgres_address(server, server.create_database()) for server in servers)
        sources = {"source": source, "target": target}
        print(f"PostgreSQL, {rows:,} rows of 8 columns to another server; the best of {repeat}")
        raw, ours, counted = [], [], []
        for _ in range(repeat):
            await _postgres_rows(source, target, rows)
            began = time.perf_counter()
            await asyncio.to_thread(_raw_pipe, servers, source, target)
            raw.append(time.perf_counter() - began)
            await _postgres_rows(source, target, rows)
            ours.append(await moved({"table": "rows", "target_data_source": "target"}, sources, rows))
            await _postgres_rows(source, target, rows)
            config = {"table": "rows", "target_data_source": "target", "verify": "count"}
            counted.append(await moved(config, sources, rows))
        theirs = told("raw: COPY | COPY, then one DELETE", rows, min(raw))
        own = told("archive_bulk_copy, compared by hash", rows, min(ours))
        told("archive_bulk_copy, compared by count", rows, min(counted))
        print(f"  ratio {own / theirs:.2f} (goal: 0.60)")
        return own / theirs
    finally:
        for server in servers:
            server.stop()


async def _postgres_rows(source: Address, target: Address, rows: int) -> None:
    await execute(source, "DROP TABLE IF EXISTS rows", PG_TABLE.format("rows"), PG_FILL.format(rows),
                  "VACUUM ANALYZE rows", "CHECKPOINT")  # fmt: skip
    await execute(target, "DROP TABLE IF EXISTS rows", PG_TABLE.format("rows"), "CHECKPOINT")


def _raw_pipe(servers: list[Cluster], source: Address, target: Address) -> None:
    def psql(address: Address, statement: str) -> list[str]:
        return [str(servers[0].bin / "psql"), "-XqAt", "-h", "127.0.0.1", "-p", str(address.port),
                "-U", str(address.username), "-d", str(address.database), "-c", statement]  # fmt: skip

    with subprocess.Popen(  # noqa: S603 - fixed commands
        psql(source, "COPY rows TO STDOUT (FORMAT binary)"), stdout=subprocess.PIPE
    ) as reading:
        subprocess.run(psql(target, "COPY rows FROM STDIN (FORMAT binary)"), stdin=reading.stdout, check=True)  # noqa: S603
    subprocess.run(psql(source, "DELETE FROM rows"), check=True)  # noqa: S603


async def mariadb(rows: int, repeat: int) -> float | None:
    """The ratio to pt-archiver; None where that is missing."""
    server, there = MariaServer(), shutil.which("pt-archiver") is not None
    try:
        server.start()
        source = maria_address(server, server.create_database())
        print(f"MariaDB, {rows:,} rows of 8 columns within one server; the best of {repeat}")
        ours, theirs = [], []
        for _ in range(repeat):
            await _maria_rows(source, rows)
            ours.append(await moved({"table": "rows_", "target_table": "kept"}, {"source": source}, rows))
            if there:
                await _maria_rows(source, rows)
                began = time.perf_counter()
                await asyncio.to_thread(_pt_archiver, source)
                theirs.append(time.perf_counter() - began)
                if await count(source, "kept") < rows - 1:  # it leaves the last, so that no number is given out again
                    raise SystemExit("pt-archiver did not move all rows")
        own = told("archive_bulk_copy, compared by hash", rows, min(ours))
        if not there:
            print("  pt-archiver is not installed (percona-toolkit): nothing to compare with")
            return None
        other = told("pt-archiver --bulk-insert --bulk-delete", rows, min(theirs))
        print(f"  ratio {own / other:.2f} (goal: 2.00)")
        return own / other
    finally:
        server.stop()


async def _maria_rows(source: Address, rows: int) -> None:
    left = await value(source, "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()")
    made = [MARIA_TABLE.format("rows_"), MARIA_TABLE.format("kept"), MARIA_FILL.format(rows), "ANALYZE TABLE rows_"]
    await execute(source, *(["DROP TABLE rows_, kept"] if left else []), *made)


def _pt_archiver(source: Address) -> None:
    place = f"h=127.0.0.1,P={source.port},u={USERNAME},p={PASSWORD},D={source.database},L=1"
    subprocess.run(  # noqa: S603 - fixed commands
        ["pt-archiver", "--source", f"{place},t=rows_", "--dest", f"{place},t=kept", "--where", "1=1",  # noqa: S607
         "--bulk-insert", "--bulk-delete", "--limit", "5000", "--commit-each", "--no-check-charset",
         "--no-version-check"],
        check=True,
    )  # fmt: skip


def main() -> None:
    """Both parts, or one."""
    asks = argparse.ArgumentParser()
    asks.add_argument("--rows", type=int, default=500_000)
    asks.add_argument("--repeat", type=int, default=3)
    asks.add_argument("--part", choices=["postgresql", "mariadb"])
    given = asks.parse_args()
    if given.part != "mariadb":
        asyncio.run(postgresql(given.rows, given.repeat))
    if given.part != "postgresql":
        asyncio.run(mariadb(given.rows, given.repeat))


if __name__ == "__main__":
    main()
