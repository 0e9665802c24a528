"""archive_restore: each file of an archive comes back exactly once, to any sort of database, or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.data_source import Dialect
from hourhand.model.errors import InvalidInput
from operations.archives import ARCHIVE, RESTORE, config, leftovers, lines, manifest_of, rows
from operations.asking import count, execute
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run
from operations.tables import columns, make_orders
from operations.test_ground import plain

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address

WAYS = [f"{one}-{other}" for one in ("pg", "maria", "sqlite") for other in ("pg", "maria", "sqlite") if one != other]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> tuple[Address, Address]:
    """Return a source and a target of another dialect."""
    one, _, other = request.param.partition("-")
    return request.getfixturevalue(f"{one}_source"), request.getfixturevalue(f"{other}_target")


async def archived(source: Address, folder: Path, count_: int = 250, **more: Any) -> Path:
    """Make orders, archive them, and return the manifest."""
    await make_orders(source, rows=count_, partitioned=False, indexes=False)
    await run(ARCHIVE, config(folder, **more), {"source": source})
    return manifest_of(folder)


async def test_rows_come_back_to_another_sort_of_database(way: tuple[Address, Address], tmp_path: Path) -> None:
    source, target = way
    await make_orders(source, rows=150, partitioned=False, indexes=False)
    before = [plain(row) for row in await rows(source)]
    await run(ARCHIVE, config(tmp_path / "archive"), {"source": source})
    told: dict[str, Any] = {
        "manifest": str(manifest_of(tmp_path / "archive")), "target_data_source": "target", "create_target": True,
    }  # fmt: skip
    if source.dialect is Dialect.SQLITE:  # whose text says nothing of times
        await execute(target, f"CREATE TABLE orders ({columns(target.dialect)}, PRIMARY KEY (id, created_at))")
    ran = await run(RESTORE, told, {"source": source, "target": target})
    assert ran.summary["rows"] == 150
    assert [plain(row) for row in await rows(target)] == before
    assert await leftovers(target) == []


async def test_a_table_is_made_with_its_key(source: Address, tmp_path: Path) -> None:
    manifest = await archived(source, tmp_path / "archive", 50)
    told = {"manifest": str(manifest), "target_table": 'again "and" `again` %s', "create_target": True}
    shown = await preview(RESTORE, told, {"source": source})
    assert shown.impact.rows == 50
    ran = await run(RESTORE, told, {"source": source}, args={"plan_hash": shown.plan_hash})
    assert ran.summary["rows"] == 50
    again = await run(RESTORE, told, {"source": source})
    assert "has a row with the key of one in part-00001.parquet already" in again.error
    assert await leftovers(source) == []


async def test_an_attempt_may_end_anywhere(source: Address, tmp_path: Path) -> None:
    manifest = await archived(source, tmp_path / "archive", 150)
    told = {"manifest": str(manifest)}
    whole = await run(RESTORE, told, {"source": source})
    before = await rows(source)
    assert len(before) == 150
    ends: list[dict[str, Any]] = [
        {"stop_at": number, "lose_last": lose} for number in range(2, whole.checkpoints + 1) for lose in (False, True)
    ]
    for end in [*ends, *({"stop_after": number} for number in range(1, 5))]:
        await execute(source, "DELETE FROM orders")
        with pytest.raises(Interrupted) as lost:
            await run(RESTORE, told, {"source": source}, **end)
        ran = await run(RESTORE, told, {"source": source}, checkpoint=lost.value.checkpoint)
        assert ran.summary["rows"] == 150
        assert await rows(source) == before
        assert await leftovers(source) == []


async def test_a_killed_process_doubles_nothing(maria_source: Address, tmp_path: Path) -> None:
    await make_orders(maria_source, rows=1_000, partitioned=False)
    before = await rows(maria_source)
    await run(ARCHIVE, config(tmp_path / "archive", rows_per_file=60), {"source": maria_source})
    told = {"manifest": str(manifest_of(tmp_path / "archive"))}
    dead = await run_and_kill(
        RESTORE, told, {"source": maria_source}, tmp_path,
        when=lambda one: one.line is not None and one.line.startswith("part-00004"), after_seconds=0.01,
    )  # fmt: skip
    assert dead.killed
    ran = await run(RESTORE, told, {"source": maria_source}, checkpoint=dead.checkpoint)
    assert ran.summary["rows"] == 1_000
    assert await rows(maria_source) == before
    assert await leftovers(maria_source) == []


async def test_other_rows_stay_as_they_are(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=200, partitioned=False)
    before = await rows(source)
    ran = await run(ARCHIVE, config(tmp_path / "archive", where="id % 2 = 0"), {"source": source})
    assert ran.summary["deleted"] == 100
    await execute(source, "UPDATE orders SET quantity = 1 WHERE id = 3")
    ran = await run(RESTORE, {"manifest": ran.summary["manifest"]}, {"source": source})
    assert ran.summary["rows"] == 100
    after = await rows(source)
    assert [row for row in after if row[0] != 3] == [row for row in before if row[0] != 3]


async def test_rows_whose_key_is_there_are_refused_before_anything_is_loaded(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=250, partitioned=False)
    await execute(source, "CREATE TABLE kept AS SELECT * FROM orders WHERE id = 220")
    ran = await run(ARCHIVE, config(tmp_path / "archive"), {"source": source})
    await execute(source, "INSERT INTO orders SELECT * FROM kept")
    ran = await run(RESTORE, {"manifest": ran.summary["manifest"]}, {"source": source})
    assert "has a row with the key of one in part-00003.parquet already (id 220" in ran.error
    assert await count(source, "orders") == 1
    assert await leftovers(source) == []


async def test_what_the_table_makes_of_rows_is_noticed(pg_source: Address, tmp_path: Path) -> None:
    manifest = await archived(pg_source, tmp_path / "archive")
    await execute(
        pg_source,
        "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.id = 150 THEN NEW.quantity := 0; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER meddle BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION meddle()",
    )
    ran = await run(RESTORE, {"manifest": str(manifest)}, {"source": pg_source})
    assert "did not gain what part-00002.parquet has" in ran.error
    assert [row[0] for row in await rows(pg_source)] == list(range(1, 101))
    await execute(pg_source, "DROP TRIGGER meddle ON orders")
    ran = await run(RESTORE, {"manifest": str(manifest)}, {"source": pg_source}, checkpoint=ran.checkpoint)
    assert ran.summary["rows"] == 250
    assert await count(pg_source, "orders") == 250


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda part: part.unlink(), "part-00002.parquet cannot be read: No such file"),
        (cut, "part-00002.parquet has .* bytes instead of"),
        (flip, "part-00002.parquet was changed: its SHA-256 is"),
    ],
    ids=["missing", "cut", "changed"],
)
async def test_a_file_that_is_not_what_it_was(sqlite_source: Address, tmp_path: Path, harm: Any, told: str) -> None:
    manifest = await archived(sqlite_source, tmp_path / "archive")
    harm(manifest.parent / "part-00002.parquet")
    ran = await run(RESTORE, {"manifest": str(manifest)}, {"source": sqlite_source})
    with pytest.raises(AssertionError, match=told):
        _ = ran.summary
    assert await count(sqlite_source, "orders") == 0


def without_end(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if '"end"' not in line)


def without_a_line(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if "part-00002" not in line)


def outside(text: str) -> str:
    return text.replace('"part-00002.parquet"', '"../part-00002.parquet"')


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda text: text[:-5], "is cut off within a line"),
        (without_end, "has no line that says that it is complete"),
        (without_a_line, "lines are missing"),
        (outside, "names '../part-00002.parquet', which is none of its files"),
        (lambda text: text.replace('"hourhand_archive":1', '"hourhand_archive":2'), "another version than 1"),
        (lambda _: "hello\n", "is no manifest of an archive"),
        (lambda _: "", "is cut off"),
    ],
    ids=["torn", "incomplete", "gap", "outside", "version", "text", "empty"],
)
async def test_a_manifest_that_is_not_what_it_was(sqlite_source: Address, tmp_path: Path, harm: Any, told: str) -> None:
    manifest = await archived(sqlite_source, tmp_path / "archive")
    manifest.write_text(harm(manifest.read_text()))
    with pytest.raises(InvalidInput, match=told):
        await preview(RESTORE, {"manifest": str(manifest)}, {"source": sqlite_source})


async def test_a_manifest_that_changes_later_is_noticed(sqlite_source: Address, tmp_path: Path) -> None:
    manifest = await archived(sqlite_source, tmp_path / "archive")
    with pytest.raises(Interrupted) as lost:
        await run(RESTORE, {"manifest": str(manifest)}, {"source": sqlite_source}, stop_at=2)
    said = lines(manifest)
    said[0]["source"] = "elsewhere"
    manifest.write_text("".join(json.dumps(one) + "\n" for one in said))
    ran = await run(RESTORE, {"manifest": str(manifest)}, {"source": sqlite_source}, checkpoint=lost.value.checkpoint)
    assert "has changed since it was approved" in ran.error
    assert await count(sqlite_source, "orders") == 0


async def test_bad_input_is_refused(source: Address, tmp_path: Path) -> None:
    manifest = str(await archived(source, tmp_path / "archive", 10))
    typed = columns(source.dialect)
    await execute(
        source,
        f"CREATE TABLE lacks ({typed.replace('quantity', 'number')}, PRIMARY KEY (id))",
        f"CREATE TABLE strict ({typed}, also INTEGER NOT NULL, PRIMARY KEY (id))",
    )
    for given, told in (
        ({"manifest": "manifest.jsonl"}, "is not an absolute path"),
        ({"manifest": str(tmp_path / "none.jsonl")}, "cannot be read: No such file"),
        ({"target_table": "orderz"}, "there is no table"),
        ({"target_table": "lacks"}, "has no column 'quantity'"),
        ({"target_table": "strict"}, "strict.also must not be NULL"),
        ({"target_data_source": "none"}, "there is no data source 'none'"),
    ):
        with pytest.raises(InvalidInput, match=told):
            await preview(RESTORE, {"manifest": manifest, **given}, {"source": source})


async def test_a_narrower_column_and_an_engine_without_transactions(maria_source: Address, tmp_path: Path) -> None:
    manifest = str(await archived(maria_source, tmp_path / "archive", 10))
    typed = columns(maria_source.dialect)
    await execute(
        maria_source,
        f"CREATE TABLE narrow ({typed.replace('SMALLINT', 'TINYINT')}, PRIMARY KEY (id))",
        f"CREATE TABLE plain ({typed}, PRIMARY KEY (id)) ENGINE = Aria",
    )
    for table, told in (("narrow", "it holds -128 to 127 only"), ("plain", "is of engine Aria")):
        with pytest.raises(InvalidInput, match=told):
            await preview(RESTORE, {"manifest": manifest, "target_table": table}, {"source": maria_source})


async def test_a_count_will_do(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=150, partitioned=False)
    before = await rows(source)
    for verify in ("count", "none"):
        told = config(tmp_path / verify, verify=verify, delete_after_verify=False, format="csv")
        ran = await run(ARCHIVE, told, {"source": source})
        assert ran.summary["rows"] == 150
        assert "undo" not in ran.summary
        assert lines(manifest_of(tmp_path / verify))[1]["checksum"] is None
        await execute(source, "DELETE FROM orders")
        ran = await run(RESTORE, {"manifest": ran.summary["manifest"], "verify": verify}, {"source": source})
        assert ran.summary["rows"] == 150
        assert await rows(source) == before
