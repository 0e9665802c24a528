"""archive_bulk_copy: what it does not do, and says why; and what it only writes as a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.asking import count, execute
from operations.running import preview, run
from operations.test_archive_bulk_copy import KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDEN = Path(__file__).parent / "golden"
TABLE = "CREATE TABLE t (id int PRIMARY KEY, v varchar(20), n numeric(9,2))"


async def refused(config: dict[str, Any], sources: dict[str, Address]) -> str:
    with pytest.raises(InvalidInput) as caught:
        await preview(KIND, config, sources)
    return str(caught.value)


NARROW = [
    ("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))", "public.t has no column 'n', which public.t has"),
    ("CREATE TABLE t (id int PRIMARY KEY, v varchar(10), n numeric(9,2))", "room for 10 characters"),
    ("CREATE TABLE t (id smallint PRIMARY KEY, v varchar(20), n numeric(9,2))", "it holds -32768 to 32767 only"),
    ("CREATE TABLE t (id int PRIMARY KEY, v varchar(20), n numeric(9,1))", "8 digits before the point and 1 behind"),
    ("CREATE TABLE t (id int PRIMARY KEY, v varchar(20), n real)", "a float does not keep every digit"),
    ("CREATE TABLE t (id int PRIMARY KEY, v date, n numeric(9,2))", "values of the one are none of the other"),
    ("CREATE TABLE t (id int PRIMARY KEY, v varchar(20) NOT NULL, n numeric(9,2))", "must not be NULL"),
    ("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric(9,2), x int NOT NULL)", "t.x must not be NULL, has no"),
    ("CREATE TABLE t (id int PRIMARY KEY, v text, n numeric GENERATED ALWAYS AS (1) STORED)", "t.n is computed"),
]  # fmt: skip
IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"table": "nothing"}, "there is no table nothing in postgresql://"),
    ({"table": "t"}, "is the source itself"),
    ({"table": "t", "target_data_source": "again"}, "is the source itself"),
    ({"table": "t", "target_table": "u"}, "let it be made (create_target)"),
    ({"table": "keyless", "target_table": "u", "create_target": True}, "has no key"),
    ({"table": "t", "target_table": "u", "create_target": True, "key_columns": ["v"]}, "does not tell the rows"),
    ({"table": "t", "target_table": "u", "create_target": True, "where": "id = 1; DROP TABLE t"}, "end of statement"),
    ({"table": "t", "target_table": "u", "create_target": True, "where": "1 = 1) OR (1 = 1"}, "did not open"),
    ({"table": "t", "target_table": "u", "create_target": True, "where": "nothing = 1"}, "does not understand"),
    ({"table": "t", "target_data_source": "file", "create_target": True, "chunk_rows": 0}, "config.chunk_rows"),
    ({"table": "t", "target_data_source": "nowhere"}, "there is no data source 'nowhere'"),
    ({"table": "texts", "target_data_source": "file", "create_target": True}, "is sorted otherwise by sqlite"),
]


async def test_a_target_that_does_not_take_the_rows(pg_source: Address, pg_target: Address) -> None:
    await execute(pg_source, TABLE)
    for made, said in NARROW:
        await execute(pg_target, "DROP TABLE IF EXISTS t", made)
        told = await refused({"table": "t", "target_data_source": "target"}, {"source": pg_source, "target": pg_target})
        assert said in told, made
        assert "config.target_table" in told


async def test_what_cannot_be_planned(pg_source: Address, sqlite_target: Address) -> None:
    await execute(pg_source, TABLE, "CREATE TABLE keyless (id int)", "CREATE TABLE texts (id text PRIMARY KEY)")
    sources = {"source": pg_source, "again": pg_source, "file": sqlite_target}
    for config, said in IMPOSSIBLE:
        assert said in await refused(config, sources), config


async def test_types_without_a_counterpart_name_their_column(pg_source: Address, maria_target: Address) -> None:
    sources = {"source": pg_source, "target": maria_target}
    for type_ in ("inet", "int[]", "numeric", "interval", "tsvector"):
        await execute(pg_source, "DROP TABLE IF EXISTS t", f"CREATE TABLE t (id int PRIMARY KEY, odd {type_})")
        told = await refused({"table": "t", "target_data_source": "target", "create_target": True}, sources)
        assert "column 'odd'" in told
        assert "has no counterpart on mariadb" in told


async def unmet(config: dict[str, Any], sources: dict[str, Address]) -> list[str]:
    shown = await preview(KIND, config, sources)
    ran = await run(KIND, config, sources)
    assert all(one.detail in ran.error for one in shown.plan.unmet)
    return [one.name for one in shown.plan.unmet]


async def test_what_must_hold_before_a_row_is_touched(pg_source: Address, pg_target: Address) -> None:
    await execute(pg_source, TABLE, "INSERT INTO t SELECT n, 'v', 1 FROM generate_series(1, 20) n",
                  "CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t ON DELETE CASCADE)")  # fmt: skip
    await execute(
        pg_target, "CREATE TABLE t (id int, v varchar(20), n numeric(9,2))", "INSERT INTO t VALUES (7, 'x', 1)"
    )
    sources = {"source": pg_source, "target": pg_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True}
    assert await unmet(config, sources) == ["target key", "target rows", "dependent rows"]
    await execute(
        pg_source, "DROP TABLE child", "CREATE TABLE child (t int REFERENCES t)", "INSERT INTO child VALUES (3)"
    )
    await execute(pg_target, "ALTER TABLE t ADD PRIMARY KEY (id)")
    assert await unmet(config, sources) == ["target rows", "foreign keys"]
    assert await unmet({**config, "on_conflict": "replace"}, sources) == ["foreign keys"]
    await execute(pg_source, "DROP TABLE child")
    assert (await run(KIND, {**config, "on_conflict": "replace"}, sources)).summary["rows"] == 20
    assert await count(pg_target, "t") == 20


async def test_a_conflict_that_was_not_foreseen_ends_it(pg_source: Address, pg_target: Address) -> None:
    """Only the first few keys are looked up beforehand; the target's key finds the others."""
    await execute(pg_source, TABLE, "INSERT INTO t VALUES (1, 'v', 1), (1200, 'v', 1)")
    await execute(pg_target, TABLE, "INSERT INTO t SELECT n, 'old', 1 FROM generate_series(2, 1200) n")
    sources = {"source": pg_source, "target": pg_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True}
    assert not (await preview(KIND, config, sources)).plan.unmet
    assert "Key (id)=(1200) already exists" in (await run(KIND, config, sources)).error
    assert await count(pg_source, "t") == 2
    assert await count(pg_target, "t", "v = 'old'") == 1199
    assert (await run(KIND, {**config, "on_conflict": "replace"}, sources)).summary["rows"] == 2


async def test_tables_without_transactions_are_not_worked_on(maria_source: Address, maria_target: Address) -> None:
    await execute(maria_source, "CREATE TABLE t (id INT PRIMARY KEY) ENGINE = MyISAM")
    sources = {"source": maria_source, "target": maria_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True, "create_target": True}
    assert await unmet(config, sources) == ["engine"]


async def test_the_same_state_makes_the_same_plan(pg_source: Address, maria_target: Address) -> None:
    await execute(pg_source, TABLE)
    sources = {"source": pg_source, "target": maria_target}
    config = {"table": "t", "target_data_source": "target", "delete_source": True, "create_target": True}
    first = await preview(KIND, config, sources)
    await execute(pg_source, "INSERT INTO t SELECT n, 'v', 1 FROM generate_series(1, 20) n", "ANALYZE t")
    second = await preview(KIND, config, sources)
    assert first.plan_hash == second.plan_hash
    assert second.impact.rows == 20


def _commands(text: str) -> list[str]:
    """Return what sqlglot does not know the grammar of."""
    parsed: Sequence[Any] = sqlglot.parse(text, read="tsql")
    return [one.sql(dialect="tsql").split()[0] for one in parsed if isinstance(one, exp.Command)]


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("archive_bulk_copy", {"target_table": "orders_old", "create_target": True}),
        (
            "archive_bulk_copy_linked",
            {"target_data_source": "archive", "target_schema": "old", "on_conflict": "replace"},
        ),
    ],
)
async def test_on_sql_server_it_is_a_script(name: str, config: dict[str, Any]) -> None:
    server = Address(dialect=Dialect.SQLSERVER)
    full = {"table": "orders", "key_columns": ["id", "created at"], "where": "created_at < '2025-01-01'",
            "delete_source": True, "chunk_rows": 1000, **config}  # fmt: skip
    shown = await preview(KIND, full, {"shop": server})
    assert shown.plan.script_only
    golden = GOLDEN / f"{name}.sql"
    assert shown.script == golden.read_text()
    assert _commands(shown.script) == []


async def test_a_script_needs_the_key() -> None:
    server = Address(dialect=Dialect.SQLSERVER)
    assert "give key_columns" in await refused({"table": "orders", "target_table": "old"}, {"shop": server})
    same = {"table": "orders", "key_columns": ["id"]}
    assert "is the source itself" in await refused(same, {"shop": server})
