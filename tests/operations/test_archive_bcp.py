"""archive_bcp: what is deleted from a table is in its files, exactly, wherever an attempt ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.operations import cleaning
from hourhand.operations.looking import looking
from operations.archives import ARCHIVE, RESTORE, config, files, leftovers, lines, manifest_of, restored, rows
from operations.asking import count, execute, fetch, literal, quoted
from operations.running import desk, preview, run
from operations.tables import make_orders

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("format_", ["parquet", "csv"])
async def test_rows_go_to_files_and_come_back(source: Address, tmp_path: Path, format_: str) -> None:
    compression = {Dialect.POSTGRESQL: "zstd", Dialect.MARIADB: "gzip", Dialect.SQLITE: "none"}[source.dialect]
    sample = await make_orders(source, rows=350, partitioned=False)
    before = await rows(source)
    told = config(tmp_path / "archive", format=format_, compression=compression)
    shown = await preview(ARCHIVE, told, {"source": source})
    assert not shown.plan.unmet
    ran = await run(ARCHIVE, told, {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["rows"] == ran.summary["deleted"] == 350
    assert ran.summary["files"] == 4
    assert ran.summary["added_since"] == 0
    assert ran.phases[-3:] == ["export", "verify", "delete"]
    assert await count(source, sample.name) == 0
    header, *parts, end = lines(manifest_of(tmp_path / "archive"))
    assert [one["rows"] for one in parts] == [100, 100, 100, 50]
    assert [one["file"] for one in parts] == files(manifest_of(tmp_path / "archive"))
    assert header["key"] == ["id", "created_at"]
    assert end == {"end": True, "files": 4, "rows": 350, "verified": "hash"}
    undo = ran.summary["undo"]
    back = await run(undo["kind"], undo["config"], {"source": source})
    assert back.summary["rows"] == 350
    assert await rows(source) == before
    assert await leftovers(source) == []


async def test_a_parquet_file_has_the_types_of_the_table(pg_source: Address, tmp_path: Path) -> None:
    await make_orders(pg_source, rows=50, partitioned=False)
    await run(ARCHIVE, config(tmp_path / "archive", delete_after_verify=False), {"source": pg_source})
    table = pq.read_table(manifest_of(tmp_path / "archive").parent / "part-00001.parquet")
    types = {field.name: str(field.type) for field in table.schema}
    assert types["id"] == "int64"
    assert types["quantity"] == "int16"
    assert types["amount"] == "decimal128(20, 6)"
    assert types["created_at"] == "timestamp[us, tz=UTC]"
    assert types["due"] == "date32[day]"
    assert types["picture"] == "binary"
    assert types["paid"] == "bool"
    assert table.num_rows == await count(pg_source, "orders") == 50


async def test_one_partition(pg_source: Address, maria_source: Address, tmp_path: Path) -> None:
    for number, source in enumerate((pg_source, maria_source)):
        folder = tmp_path / str(number)
        await make_orders(source, rows=200)
        before = await rows(source)
        ran = await run(ARCHIVE, config(folder, partition="orders_2026_02"), {"source": source})
        assert 40 < ran.summary["deleted"] < 60
        assert await count(source, "orders") == 200 - ran.summary["deleted"]
        assert await restored(source, folder) == ran.summary["deleted"]
        assert await rows(source) == before
        with pytest.raises(InvalidInput, match="no partition 'orders_2030_01': it has orders_2026_01"):
            await preview(ARCHIVE, config(folder, partition="orders_2030_01"), {"source": source})


async def test_some_rows(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=300, partitioned=False)
    before = await rows(source)
    where = quoted(source.dialect, "group") + " LIKE '%eve%' AND note <> '%s'"
    ran = await run(ARCHIVE, config(tmp_path / "archive", where=where), {"source": source})
    gone = ran.summary["deleted"]
    assert 100 < gone < 150
    assert await count(source, "orders", where) == 0
    assert await count(source, "orders") == 300 - gone
    assert await restored(source, tmp_path / "archive") == gone
    assert await rows(source) == before


async def test_a_table_may_have_no_key_or_no_rows_or_an_awkward_name(source: Address, tmp_path: Path) -> None:
    name, column = "Odd 'n\" %s `Orders`", 'a.b %s "c" `d`, $1'
    odd, one = quoted(source.dialect, name), quoted(source.dialect, column)
    text = quoted(source.dialect, "select")
    await execute(
        source,
        f"CREATE TABLE {odd} ({one} INTEGER, {text} VARCHAR(100))",
        f"INSERT INTO {odd} VALUES (1, NULL), (1, NULL), (NULL, ''), (2, {literal(source.dialect, 'a|b^N^ %s')})",
        "CREATE TABLE vacant (id INTEGER PRIMARY KEY)",
    )
    before = await fetch(source, f"SELECT * FROM {odd} ORDER BY 1, 2")
    for number, format_ in enumerate(("parquet", "csv")):
        folder = tmp_path / str(number)
        ran = await run(ARCHIVE, config(folder, table=name, format=format_), {"source": source})
        assert ran.summary["deleted"] == 4
        assert await count(source, odd) == 0
        assert await restored(source, folder) == 4
        assert await fetch(source, f"SELECT * FROM {odd} ORDER BY 1, 2") == before
        again = await preview(RESTORE, {"manifest": str(manifest_of(folder))}, {"source": source})
        assert [one.name for one in again.plan.unmet] == ["no rows in the way"]
    empty = tmp_path / "empty"
    ran = await run(ARCHIVE, config(empty, table="vacant"), {"source": source})
    assert (ran.summary["rows"], ran.summary["files"]) == (0, 0)
    assert await restored(source, empty) == 0


MADE = {
    Dialect.POSTGRESQL: """id uuid PRIMARY KEY, a integer[], b interval, c real, d numeric, e time, f inet, g char(5),
        h timestamp(3), i bit(4), j double precision, k numeric(40,20), l timetz""",
    Dialect.MARIADB: """id BINARY(4) PRIMARY KEY, a ENUM('x','y'), b TIME(3), c FLOAT, d BIGINT UNSIGNED, e YEAR,
        f SET('p','q'), g CHAR(5), h TIMESTAMP(3) NULL, i BIT(4), j DOUBLE, k DECIMAL(65,20), l BLOB""",
}
VALUES = {
    Dialect.POSTGRESQL: [
        """'00000000-0000-4000-8000-00000000000A', '{1,NULL,3}', '1 day 02:03:04.5', 0.1, 1e30, '12:34:56.789',
           '10.0.0.1/8', 'ab', '2026-01-01 00:00:00.123', B'1010', 'Infinity', 0.00000000000000000001, '01:00+02'""",
        """'00000000-0000-4000-8000-00000000000b', '{}', '-1 month', '-0', 'NaN', '00:00', '::1', '', NULL, NULL,
           1e-300, -12345678901234567890.5, NULL""",
    ],
    Dialect.MARIADB: [
        """X'00FF0927', 'y', '-838:59:59.5', 0.1, 18446744073709551615, 2026, 'p,q', 'ab',
           '2026-01-01 00:00:00.123', b'1010', 1e300, -0.00000000000000000001, X'00'""",
        """X'5C0A0D22', NULL, '00:00:00', 16777217.3, 0, 1970, '', '', NULL, NULL, 1e-300,
           123456789012345678901234567890.5, ''""",
    ],
}


async def test_values_of_many_types_survive(pg_source: Address, maria_source: Address, tmp_path: Path) -> None:
    for number, source in enumerate((pg_source, maria_source)):
        folder = tmp_path / str(number)
        inserts = [f"INSERT INTO many VALUES ({one})" for one in VALUES[source.dialect]]
        await execute(source, f"CREATE TABLE many ({MADE[source.dialect]})", *inserts)
        before = [repr(row) for row in await rows(source, "many")]
        ran = await run(ARCHIVE, config(folder, table="many", rows_per_file=1), {"source": source})
        assert ran.summary["deleted"] == 2
        assert await restored(source, folder) == 2
        assert [repr(row) for row in await rows(source, "many")] == before


async def test_what_a_file_cannot_keep_is_refused(pg_source: Address, sqlite_source: Address, tmp_path: Path) -> None:
    await execute(
        pg_source, "CREATE TABLE t (id int PRIMARY KEY, at timestamptz)", "INSERT INTO t VALUES (1, 'infinity')"
    )
    ran = await run(ARCHIVE, config(tmp_path / "archive", table="t"), {"source": pg_source})
    assert "infinity" in ran.error
    assert "leave its rows out by `where`" in ran.error
    assert await count(pg_source, "t") == 1
    await execute(sqlite_source, "CREATE TABLE t (id INTEGER PRIMARY KEY, n SMALLINT)", "INSERT INTO t VALUES (1, 'x')")
    folder = tmp_path / "other"
    ran = await run(ARCHIVE, config(folder, table="t"), {"source": sqlite_source})
    assert "column 'n': 'x' is no int64" in ran.error
    assert await count(sqlite_source, "t") == 1


# What is refused ------------------------------------------------------------------------------------------------------


BAD_INPUT: list[tuple[dict[str, Any], str]] = [
    ({"output_dir": "archive"}, "'archive' is not an absolute path"),
    ({"partition": "p", "where": "1 = 1"}, "partition or where, not both"),
    ({"verify": "count"}, "delete_after_verify needs verify=hash"),
    ({"where": "quantity <"}, "does not understand"),
    ({"where": "1 = 1; DROP TABLE orders"}, "without an end of statement"),
    ({"where": "nosuch = 1"}, "nosuch"),
    ({"partition": "p1"}, "is not partitioned"),
    ({"key_columns": ["quantity"]}, "does not tell the rows"),
    ({"table": "order"}, "there is no table"),
    ({"rows_per_file": 0}, "greater than or equal to 1"),
    ({"format": "xlsx"}, "'parquet' or 'csv'"),
]


async def test_bad_input_is_refused(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=10, partitioned=False, indexes=False)
    for given, told in BAD_INPUT:
        with pytest.raises(InvalidInput, match=told):
            await preview(ARCHIVE, {**config(tmp_path / "archive"), **given}, {"source": source})
    assert await count(source, "orders") == 10


async def test_a_folder_that_is_missing_or_closed_is_told(sqlite_source: Address, tmp_path: Path) -> None:
    await make_orders(sqlite_source, rows=10)
    shown = await preview(
        ARCHIVE, {**config(tmp_path / "archive"), "output_dir": str(tmp_path / "missing")}, {"source": sqlite_source}
    )
    assert ["is no folder" in one.detail for one in shown.plan.unmet] == [True]
    ran = await run(
        ARCHIVE, {**config(tmp_path / "archive"), "output_dir": str(tmp_path / "missing")}, {"source": sqlite_source}
    )
    assert "is no folder: make it" in ran.error
    for file in (tmp_path / "source.db", Path("/proc")):  # none of which takes files, not even from an administrator
        told = {**config(tmp_path / "archive"), "output_dir": str(file)}
        assert (await run(ARCHIVE, told, {"source": sqlite_source})).error
    assert await count(sqlite_source, "orders") == 10


async def test_the_archive_of_another_is_left_alone(sqlite_source: Address, tmp_path: Path) -> None:
    await make_orders(sqlite_source, rows=10)
    await run(ARCHIVE, config(tmp_path / "archive", delete_after_verify=False), {"source": sqlite_source})
    before = manifest_of(tmp_path / "archive").read_bytes()
    ran = await run(ARCHIVE, config(tmp_path / "archive"), {"source": sqlite_source})
    assert "is the archive of another instance" in ran.error
    assert manifest_of(tmp_path / "archive").read_bytes() == before


async def test_rows_that_others_refer_to(source: Address, tmp_path: Path) -> None:
    engine = " ENGINE = InnoDB" if source.dialect is Dialect.MARIADB else ""
    await execute(
        source,
        f"CREATE TABLE parent (id INTEGER PRIMARY KEY){engine}",
        f"CREATE TABLE child (id INTEGER, parent INTEGER, FOREIGN KEY (parent) REFERENCES parent (id)){engine}",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1, 1)",
    )
    shown = await preview(ARCHIVE, config(tmp_path / "archive", table="parent"), {"source": source})
    assert [one.name for one in shown.plan.unmet] == ["foreign keys"]
    shown = await preview(
        ARCHIVE, config(tmp_path / "archive", table="parent", delete_after_verify=False), {"source": source}
    )
    assert not shown.plan.unmet


async def test_the_plan_depends_on_nothing_else(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=30)
    counter = desk({"source": source})
    kind, read = counter.read(ARCHIVE, {"data_source": "source", **config(tmp_path / "archive")})
    async with looking(counter.addresses, "source") as look:
        state = await kind.inspect(read, look)
    assert kind.plan(read, state) == kind.plan(read, state)
    before = await preview(ARCHIVE, config(tmp_path / "archive"), {"source": source})
    await execute(source, "DELETE FROM orders WHERE id = 1")
    after = await preview(ARCHIVE, config(tmp_path / "archive"), {"source": source})
    assert before.plan_hash == after.plan_hash
    assert "DELETE FROM" in before.script


async def test_a_preview_tells_how_many_rows_though_nobody_has_analysed_the_table(
    source: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await execute(source, "CREATE TABLE fresh (id INTEGER PRIMARY KEY)")
    told = config(tmp_path / "archive", table="fresh")
    assert (await preview(ARCHIVE, told, {"source": source})).impact.rows == 0
    await execute(source, f"INSERT INTO fresh VALUES {', '.join(f'({number})' for number in range(1, 301))}")
    seen = await preview(ARCHIVE, told, {"source": source})
    assert seen.impact.rows == 300
    some = await preview(ARCHIVE, {**told, "where": "id > 200"}, {"source": source})
    assert some.impact.rows
    if source.dialect is Dialect.SQLITE:
        assert some.impact.rows == 100
    monkeypatch.setattr(cleaning, "_COUNTED", 100)
    guessed = await preview(ARCHIVE, told, {"source": source})
    assert guessed.impact.rows
    assert guessed.plan_hash == seen.plan_hash


@pytest.mark.parametrize("kind", [ARCHIVE, RESTORE])
async def test_the_script_for_sql_server(kind: str) -> None:
    server = {"source": Address(dialect=Dialect.SQLSERVER, host="db", database="shop")}
    configs: dict[str, dict[str, Any]] = {
        ARCHIVE: {
            "table": "order]s",
            "where": "created_at < '2025-01-01'",
            "output_dir": "/var/archive",
            "delete_after_verify": True,
        },
        RESTORE: {"manifest": "/var/archive/orders.bcp", "target_table": "order]s"},
    }
    told = configs[kind]
    shown = await preview(kind, told, server)
    golden = GOLDEN / f"{kind}.sql"
    assert shown.script == golden.read_text(), f"if it is what is wanted, write it to {golden}"
    assert shown.plan.script_only
    parsed = sqlglot.parse(shown.script, read="tsql")
    assert [str(one)[:30] for one in parsed if isinstance(one, exp.Command)] == []
    wrong = {"partition": "p", "where": None} if kind == ARCHIVE else {"target_table": None}
    with pytest.raises(InvalidInput, match=r"on SQL Server give (where|target_table)"):
        await preview(kind, {**told, **wrong}, server)
