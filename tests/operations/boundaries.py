"""What the tests of the boundary kinds on PostgreSQL share: a table with everything that a partition can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hourhand.operations.sessions.postgresql import PostgresSession
from operations.asking import execute, fetch, value
from operations.running import Interrupted, InterruptedAttempt, run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from hourhand.model.data_source import Address

DAY = "timestamptz '2026-01-01 00:00:00+00'"
BOUNDS = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = '{}'::regclass ORDER BY 2, 1
"""
LEFT = """
SELECT relname::text FROM pg_class WHERE relname ^@ '_hh_' UNION ALL SELECT conname::text FROM pg_constraint
WHERE conname ^@ '_hh_' UNION ALL SELECT tgname::text FROM pg_trigger WHERE tgname ^@ '_hh_'
UNION ALL SELECT proname::text FROM pg_proc WHERE proname ^@ '_hh_'
"""


async def make_rich(source: Address, *, rows: int = 400, rest: bool = False) -> None:
    """Make `shop."Or ders"`: two months in one partition, with keys, generated columns, grants, policies, options."""
    await execute(
        source,
        "CREATE SCHEMA shop",
        "CREATE TABLE shop.customers (id int PRIMARY KEY)",
        "INSERT INTO shop.customers SELECT generate_series(1, 10)",
        "DO $$ BEGIN CREATE ROLE clerk; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
        'CREATE TABLE shop."Or ders" (id bigint GENERATED ALWAYS AS IDENTITY, "at" timestamptz NOT NULL, '
        '"select" text, customer int REFERENCES shop.customers ON DELETE CASCADE, amount numeric(12,2), raw json, '
        'twice numeric GENERATED ALWAYS AS (amount * 2) STORED, number serial, "new" text, '
        'CHECK (amount >= 0), PRIMARY KEY (id, "at")) PARTITION BY RANGE ("at")',
        'CREATE TABLE shop."it\'s ""one""" PARTITION OF shop."Or ders" '
        "FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-03-01 00:00:00+00') WITH (fillfactor = 80)",
        'CREATE TABLE shop."three" PARTITION OF shop."Or ders" '
        "FOR VALUES FROM ('2026-03-01 00:00:00+00') TO ('2026-04-01 00:00:00+00')",
        *(['CREATE TABLE shop."the rest" PARTITION OF shop."Or ders" DEFAULT'] if rest else []),
        'CREATE INDEX ON shop."Or ders" (customer)',
        'CREATE UNIQUE INDEX "pa rt" ON shop."Or ders" (number, "at") WHERE amount > 5',
        'GRANT SELECT, INSERT ON shop."it\'s ""one""" TO clerk',
        'GRANT UPDATE ("select") ON shop."Or ders" TO clerk',
        'ALTER TABLE shop."it\'s ""one""" ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY "own ones" ON shop."it\'s ""one""" FOR SELECT TO clerk USING ("select" <> \'x\'\'y\')',
        'ALTER TABLE shop."it\'s ""one""" REPLICA IDENTITY FULL',
        'INSERT INTO shop."Or ders" ("at", "select", customer, amount, raw, "new") '
        f"SELECT {DAY} + n * interval '89 days' / {rows}, 'it''s ' || n, n % 10 + 1, n % 100, "
        f"'{{\"n\": 1.50}}', E'\\\\N\\t' || n FROM generate_series(0, {rows} - 1) n",
        'ANALYZE shop."Or ders"',
    )


async def content(source: Address, table: str = 'shop."Or ders"') -> list[Any]:
    """Return all rows, as text."""
    return [row[0] for row in await fetch(source, f"SELECT o::text FROM {table} AS o ORDER BY 1")]


async def bounds(source: Address, table: str = 'shop."Or ders"') -> dict[str, str]:
    """Return the partitions and their bounds."""
    return {row[0]: row[1] for row in await fetch(source, BOUNDS.format(table.replace("'", "''")))}


async def left(source: Address) -> list[str]:
    """Return what operations have made for a while and not taken away."""
    return [row[0] for row in await fetch(source, LEFT)]


async def definition(source: Address, partition: str) -> list[Any]:
    """Return what a partition is like, whatever it and its indexes are called."""
    asked = f"'{partition.replace(chr(39), chr(39) * 2)}'::regclass"
    return [
        await value(source, f"SELECT relacl::text FROM pg_class WHERE oid = {asked}"),
        await value(source, f"SELECT (relrowsecurity, relforcerowsecurity, relreplident, reloptions)::text "
                            f"FROM pg_class WHERE oid = {asked}"),
        await fetch(source, f"SELECT polname, polcmd, polroles, pg_get_expr(polqual, polrelid) FROM pg_policy "
                            f"WHERE polrelid = {asked}"),
        await fetch(source, f"SELECT attname, format_type(atttypid, atttypmod), attnotnull, attgenerated, attidentity, "
                            f"(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND "
                            f"adnum = attnum) FROM pg_attribute WHERE attrelid = {asked} AND attnum > 0 "
                            f"AND NOT attisdropped ORDER BY 1"),
        await fetch(source, f"SELECT contype, pg_get_constraintdef(oid), convalidated, coninhcount FROM pg_constraint "
                            f"WHERE conrelid = {asked} ORDER BY 1, 2"),
        await fetch(source, f"SELECT split_part(pg_get_indexdef(indexrelid), ' USING ', 2), indisvalid, indisunique, "
                            f"(SELECT count(*) FROM pg_inherits WHERE inhrelid = indexrelid) "
                            f"FROM pg_index WHERE indrelid = {asked} ORDER BY 1"),
    ]  # fmt: skip


class Fault:
    """Ends the attempt at its so-manieth statement, as a lost executor does: what was not committed is rolled back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.statements = 0
        self.checkpoint: Any = None
        """The last one that was stored."""
        self._at: int | None = None
        real, report = PostgresSession.execute, InterruptedAttempt.progress

        async def counted(session: PostgresSession, sql: str, *params: object) -> int:
            if not sql.startswith("SET "):
                self.statements += 1
                if self.statements == self._at:
                    raise Interrupted(self.checkpoint)
            return await real(session, sql, *params)

        async def kept(attempt: InterruptedAttempt, *args: Any, **named: Any) -> None:
            await report(attempt, *args, **named)
            self.checkpoint = attempt.stored

        monkeypatch.setattr(PostgresSession, "execute", counted)
        monkeypatch.setattr(InterruptedAttempt, "progress", kept)

    def arm(self, at: int | None) -> None:
        """Count from now on, and end there."""
        self.statements, self._at, self.checkpoint = 0, at, None


async def interrupted_everywhere(
    kind: str, config: dict[str, Any], source: Address, fault: Fault, again: Callable[[], Awaitable[Any]], *, every: int
) -> int:
    """Run once, then be interrupted at statements and at lost checkpoints, go on, and come to the same end each time.

    `again` makes what it works on anew; `every` so-manieth statement is one to be interrupted at.
    """
    sources = {"source": source}
    await again()
    fault.arm(None)
    whole = await run(kind, config, sources)
    assert whole.summary
    statements, end = fault.statements, await _end(source)
    stops: list[tuple[int | None, int | None]] = [(number, None) for number in range(1, statements + 1, every)]
    stops += [(None, number) for number in range(1, whole.checkpoints + 1, max(every // 5, 1))]
    for statement, checkpoint in stops:
        await again()
        fault.arm(statement)
        with pytest.raises(Interrupted):
            await run(kind, config, sources, stop_at=checkpoint, lose_last=checkpoint is not None)
        kept = fault.checkpoint
        fault.arm(None)
        ran = await run(kind, config, sources, checkpoint=kept)
        assert ran.summary.get("partitions") == whole.summary["partitions"]
        assert await _end(source) == end, (statement, checkpoint)
    return len(stops)


async def _end(source: Address) -> Any:
    return await content(source, "events"), await bounds(source, "events"), await left(source)


async def make_events(source: Address, *, rows: int = 60, rest: bool = True) -> None:
    """Make `events`, by number: 0 to 100, 100 to 200; rows in both halves of each."""
    await execute(
        source,
        "DO $$ DECLARE one text; BEGIN FOR one IN SELECT relname FROM pg_class JOIN pg_namespace n "
        "ON n.oid = relnamespace WHERE nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition LOOP "
        "EXECUTE format('DROP TABLE IF EXISTS %I CASCADE', one); END LOOP; "
        "FOR one IN SELECT proname FROM pg_proc WHERE proname ^@ '_hh_' LOOP "
        "EXECUTE format('DROP FUNCTION %I', one); END LOOP; END $$",
        "CREATE TABLE events (n int PRIMARY KEY, said text) PARTITION BY RANGE (n)",
        "CREATE TABLE events_0 PARTITION OF events FOR VALUES FROM (0) TO (100)",
        "CREATE TABLE events_100 PARTITION OF events FOR VALUES FROM (100) TO (200)",
        *(["CREATE TABLE events_rest PARTITION OF events DEFAULT"] if rest else []),
        f"INSERT INTO events SELECT 200 * n / {rows}, 'said ' || n FROM generate_series(0, {rows} - 1) n",
    )
