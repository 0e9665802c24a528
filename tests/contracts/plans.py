"""What the database would do with a statement, and how much it reads: for the tests that pin plans."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from hourhand.store.clock import Clock
from hourhand.store.postgresql import PostgresqlTx
from hourhand.store.sqlite import SqliteTx, _connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from hourhand.store import Store
    from hourhand.store.statements import Statement

BIG = ("task_instances", "execution_logs", "task_instants", "instance_waits", "tasks")
Seen = list[tuple["Statement", dict[str, Any]]]


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """Everything that is asked of the store inside, as it is asked."""
    seen: Seen = []

    def spied(original: Any) -> Any:
        async def spy(self: Any, statement: Statement, **params: Any) -> Any:
            seen.append((statement, params))
            return await original(self, statement, **params)

        return spy

    with monkeypatch.context() as patch:
        for kind in (PostgresqlTx, SqliteTx):
            for name in ("fetch", "run"):
                patch.setattr(kind, name, spied(getattr(kind, name)))
        yield seen


class Plans(Protocol):
    """What a database tells of its plans."""

    async def scans(self, statement: Statement, params: dict[str, Any]) -> list[str]:
        """The big tables that would be read without an index."""

    async def cost(self, statement: Statement, params: dict[str, Any]) -> int:
        """How much is read, in units of the database's own."""


class PostgresqlPlans:
    """EXPLAIN, both for these parameters and for any: a prepared statement comes to be planned for any."""

    def __init__(self, store: Store) -> None:
        self._pool: Any = store.database.pool  # type: ignore[attr-defined]  # PostgreSQL

    async def scans(self, statement: Statement, params: dict[str, Any], *, unavoidable: bool = False) -> list[str]:
        """The big tables that would be read without an index.

        With `unavoidable` only those for which there is no index: to read a table of a test is often the cheaper way,
        and what PostgreSQL takes for cheaper depends on what it has seen of the table so far.
        """
        compiled = statement.compiled("postgresql")
        arguments = compiled.arguments(params)
        async with self._pool.acquire() as connection:
            await connection.execute(f"SET enable_seqscan = {'off' if unavoidable else 'on'}")
            custom = await connection.fetchval(f"EXPLAIN (FORMAT JSON) {compiled.sql}", *arguments)
            await connection.execute(f"PREPARE planned AS {compiled.sql}")
            await connection.execute("SET plan_cache_mode = force_generic_plan")
            nulls = f"({', '.join(['NULL'] * len(arguments))})" if arguments else ""
            generic = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE planned {nulls}")
            await connection.execute("RESET plan_cache_mode; RESET enable_seqscan; DEALLOCATE planned")
        return [scan for plan in (custom, generic) for scan in _sequential(json.loads(plan)[0]["Plan"])]

    async def cost(self, statement: Statement, params: dict[str, Any]) -> int:
        """Pages of 8 KiB that are read, wherever they are."""
        compiled = statement.compiled("postgresql")
        async with self._pool.acquire() as connection:
            text = await connection.fetchval(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {compiled.sql}", *compiled.arguments(params)
            )
        plan = json.loads(text)[0]["Plan"]
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _sequential(plan: dict[str, Any]) -> Iterator[str]:
    table = plan.get("Relation Name", "")
    # Days without rows, today's and those to come, are read as they are.
    if plan["Node Type"] == "Seq Scan" and plan["Plan Rows"] > 1 and re.sub(r"_\d{8}$", "", table) in BIG:
        yield f"Seq Scan on {table}: {plan.get('Filter', '')}"
    for inner in plan.get("Plans", ()):
        yield from _sequential(inner)


class SqlitePlans:
    """EXPLAIN QUERY PLAN, and the steps of SQLite's virtual machine."""

    def __init__(self, path: Path) -> None:
        self._connection = _connect(path, Clock(), read_only=True)

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    async def scans(self, statement: Statement, params: dict[str, Any]) -> list[str]:
        """The big tables that would be read without an index."""
        compiled = statement.compiled("sqlite")
        rows = self._connection.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", compiled.arguments(params)).fetchall()
        bad = re.compile(rf"SCAN ({'|'.join(BIG)})\b(?!.* USING)")
        return [row[3] for row in rows if bad.match(row[3])]

    async def cost(self, statement: Statement, params: dict[str, Any]) -> int:
        """Hundreds of steps."""
        hundreds = 0

        def step() -> int:
            nonlocal hundreds
            hundreds += 1
            return 0

        compiled = statement.compiled("sqlite")
        self._connection.set_progress_handler(step, 100)
        self._connection.execute(compiled.sql, compiled.arguments(params)).fetchall()
        self._connection.set_progress_handler(None, 0)
        return hundreds
