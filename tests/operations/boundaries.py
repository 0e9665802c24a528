"""What the tests of the boundary kinds on PostgreSQL share: a table with everything that a partition can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hourhand.operations.sessions.postgresql import PostgresSession
from operations.asking import execute, fetch, value
from operations.running import Interrupted

if TYPE_CHECKING:
    import pytest

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
        "CREATE POLICY \"own ones\" ON shop.\"it's \"\"one\"\"\" FOR SELECT TO clerk USING (\"select\" <> 'x''y')",
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
        self._at: int | None = None
        real = PostgresSession.execute

        async def counted(session: PostgresSession, sql: str, *params: object) -> int:
            if not sql.startswith(("SET ", "SELECT pg_advisory")):
                self.statements += 1
                if self.statements == self._at:
                    raise Interrupted(None)
            return await real(session, sql, *params)

        monkeypatch.setattr(PostgresSession, "execute", counted)

    def arm(self, at: int | None) -> None:
        """Count from now on, and end there."""
        self.statements, self._at = 0, at
