"""archive_bcp: wherever an attempt ends, and whatever changes meanwhile, what is deleted is in the files."""

from __future__ import annotations

import asyncio
import resource
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.data_source import Dialect
from operations.archives import ARCHIVE, config, files, lines, manifest_of, restored, rows
from operations.asking import count, execute, quoted
from operations.killing import Told, run_and_kill
from operations.running import Interrupted, run
from operations.tables import make_orders

if TYPE_CHECKING:
    from pathlib import Path

    from hourhand.model.data_source import Address


async def interrupted(source: Address, told: dict[str, Any], *, files_: int, compared: bool = False) -> Any:
    """Lose the executor once all files are written, or also compared, and return the checkpoint."""
    with pytest.raises(Interrupted) as lost:
        await run(ARCHIVE, told, {"source": source}, stop_at=2 + files_ + (files_ + 1 if compared else 0))
    done = ["export rows to files", *(["compare files with the table"] if compared else [])]
    assert lost.value.checkpoint["done"] == done
    return lost.value.checkpoint


async def test_rows_that_change_are_not_deleted(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=250, partitioned=False)
    told = config(tmp_path / "archive")
    exported = await interrupted(source, told, files_=3)
    change = {
        Dialect.POSTGRESQL: "UPDATE orders SET quantity = 7 WHERE id = 150",
        Dialect.MARIADB: "DELETE FROM orders WHERE id = 150",
        Dialect.SQLITE: "UPDATE orders SET note = NULL WHERE id = 158",
    }[source.dialect]
    await execute(source, change)
    before = await rows(source)
    ran = await run(ARCHIVE, told, {"source": source}, checkpoint=exported)
    assert "no longer what part-00002.parquet has" in ran.error
    assert await rows(source) == before
    assert lines(manifest_of(tmp_path / "archive"))[-1].get("end") is None


async def test_rows_that_change_after_they_were_compared_are_not_deleted_either(
    source: Address, tmp_path: Path
) -> None:
    await make_orders(source, rows=250, partitioned=False)
    told = config(tmp_path / "archive")
    compared = await interrupted(source, told, files_=3, compared=True)
    await execute(source, "UPDATE orders SET quantity = 7 WHERE id = 150")
    ran = await run(ARCHIVE, told, {"source": source}, checkpoint=compared)
    assert "no longer what part-00002.parquet has" in ran.error
    assert "nothing of it was deleted" in ran.error
    left = [row[0] for row in await rows(source)]
    assert left == list(range(101, 251))


async def test_rows_that_come_later_stay(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=200, partitioned=False)
    names = ", ".join(quoted(source.dialect, one) for one in ("created_at", "customer", "group", "quantity", "token"))
    told = config(tmp_path / "archive")
    exported = await interrupted(source, told, files_=2)
    await execute(source, f"INSERT INTO orders (id, {names}) SELECT id + 1000, {names} FROM orders WHERE id <= 3")
    ran = await run(ARCHIVE, told, {"source": source}, checkpoint=exported)
    assert ran.summary["deleted"] == 200
    assert ran.summary["added_since"] == 3
    assert [row[0] for row in await rows(source)] == [1001, 1002, 1003]


async def fill_again(source: Address) -> None:
    """Make the table what it was; `kept` has its rows."""
    await execute(source, "DELETE FROM orders", "INSERT INTO orders SELECT * FROM kept")


async def test_an_attempt_may_end_at_any_checkpoint(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=150, partitioned=False, indexes=False)
    await execute(source, "CREATE TABLE kept AS SELECT * FROM orders")
    checkpoints = (await run(ARCHIVE, config(tmp_path / "whole"), {"source": source})).checkpoints
    assert checkpoints > 8
    for stop_at in range(1, checkpoints + 1):
        await fill_again(source)
        told = config(tmp_path / str(stop_at))
        with pytest.raises(Interrupted) as lost:
            await run(ARCHIVE, told, {"source": source}, stop_at=stop_at, lose_last=stop_at % 2 == 0)
        ran = await run(ARCHIVE, told, {"source": source}, checkpoint=lost.value.checkpoint)
        assert ran.summary["deleted"] == 150
        assert await count(source, "orders") == 0
        assert files(manifest_of(tmp_path / str(stop_at))) == ["part-00001.parquet", "part-00002.parquet"]
        assert lines(manifest_of(tmp_path / str(stop_at)))[-1]["rows"] == 150


async def test_an_attempt_may_end_after_any_statement(
    maria_source: Address, sqlite_source: Address, tmp_path: Path
) -> None:
    for source in (maria_source, sqlite_source):  # PostgreSQL's delete is one statement, which tells what it deletes
        await make_orders(source, rows=150, partitioned=False, indexes=False)
        await execute(source, "CREATE TABLE kept AS SELECT * FROM orders")
        lost = 0
        for stop_after in range(1, 40):
            await fill_again(source)
            told = config(tmp_path / f"{source.dialect}{stop_after}")
            try:
                await run(ARCHIVE, told, {"source": source}, stop_after=stop_after)
                break
            except Interrupted as interrupted_:
                lost += 1
                ran = await run(ARCHIVE, told, {"source": source}, checkpoint=interrupted_.checkpoint)
                assert ran.summary["deleted"] == 150
                assert await count(source, "orders") == 0
        assert lost >= 2


async def test_a_killed_process_leaves_nothing_torn(pg_source: Address, tmp_path: Path) -> None:
    await make_orders(pg_source, rows=1_000, partitioned=False)
    before = await rows(pg_source)
    told = config(tmp_path / "archive", rows_per_file=60)
    checkpoint = None
    for line in ("part-00003", "delete what was archived"):

        def said(told: Told, line: str = line) -> bool:
            return told.line is not None and told.line.startswith(line)

        dead = await run_and_kill(
            ARCHIVE, told, {"source": pg_source}, tmp_path, when=said, after_seconds=0.02, checkpoint=checkpoint
        )
        assert dead.killed
        checkpoint = dead.checkpoint
    ran = await run(ARCHIVE, told, {"source": pg_source}, checkpoint=checkpoint)
    assert ran.summary["deleted"] == 1_000
    assert await count(pg_source, "orders") == 0
    assert await restored(pg_source, tmp_path / "archive") == 1_000
    assert await rows(pg_source) == before


async def test_what_was_torn_is_written_again(source: Address, tmp_path: Path) -> None:
    await make_orders(source, rows=250, partitioned=False)
    told = config(tmp_path / "archive")
    with pytest.raises(Interrupted) as lost:
        await run(ARCHIVE, told, {"source": source}, stop_at=3)
    assert lost.value.checkpoint["position"]["files"] == 2
    manifest = manifest_of(tmp_path / "archive")
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-20])
    (manifest.parent / "part-00003.parquet.tmp").write_bytes(b"half")
    (manifest.parent / "part-00003.parquet").write_bytes(b"without a line")
    ran = await run(ARCHIVE, told, {"source": source}, checkpoint=lost.value.checkpoint)
    assert ran.summary["deleted"] == 250
    assert [one["file"] for one in lines(manifest)[1:-1]] == files(manifest)
    assert await restored(source, tmp_path / "archive") == 250


@pytest.mark.parametrize("reports", [5, 9])
async def test_a_cancel_leaves_whole_files(source: Address, tmp_path: Path, reports: int) -> None:
    await make_orders(source, rows=250, partitioned=False)
    before = await rows(source)
    with pytest.raises(asyncio.CancelledError):
        await run(ARCHIVE, config(tmp_path / "archive", rows_per_file=90), {"source": source}, cancel_after=reports)
    manifest = manifest_of(tmp_path / "archive")
    assert [one["file"] for one in lines(manifest)[1:] if "file" in one] == files(manifest)
    ran = await run(ARCHIVE, config(tmp_path / "archive", rows_per_file=90), {"source": source})
    assert ran.summary["rows"] == 250
    assert await restored(source, tmp_path / "archive") == 250
    assert await rows(source) == before


async def test_a_changed_file_keeps_its_rows(sqlite_source: Address, tmp_path: Path) -> None:
    await make_orders(sqlite_source, rows=250)
    told = config(tmp_path / "archive")
    compared = await interrupted(sqlite_source, told, files_=3, compared=True)
    file = manifest_of(tmp_path / "archive").parent / "part-00002.parquet"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    ran = await run(ARCHIVE, told, {"source": sqlite_source}, checkpoint=compared)
    assert f"{file} was changed" in ran.error
    assert [row[0] for row in await rows(sqlite_source)] == list(range(101, 251))


async def test_an_executor_on_another_machine_says_that_the_files_are_not_there(
    sqlite_source: Address, tmp_path: Path
) -> None:
    await make_orders(sqlite_source, rows=50)
    exported = await interrupted(sqlite_source, config(tmp_path / "archive"), files_=1)
    manifest_of(tmp_path / "archive").parent.rename(tmp_path / "elsewhere")
    ran = await run(ARCHIVE, config(tmp_path / "archive"), {"source": sqlite_source}, checkpoint=exported)
    assert "is not on this machine" in ran.error
    assert ran.outcome.retryable
    assert await count(sqlite_source, "orders") == 50


async def test_a_full_disk_is_told_and_gone_on_after(pg_source: Address, tmp_path: Path) -> None:
    await make_orders(pg_source, rows=2_000, partitioned=False)
    told = config(tmp_path / "archive", rows_per_file=1_000, format="csv", compression="none")
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, unlimited[1]))  # each file: as if that were all the room
    try:
        ran = await run(ARCHIVE, told, {"source": pg_source})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert "cannot be written: File too large" in ran.error
    assert "make room" in ran.error
    assert ran.outcome.retryable
    assert files(manifest_of(tmp_path / "archive")) == []
    ran = await run(ARCHIVE, told, {"source": pg_source}, checkpoint=ran.checkpoint)
    assert ran.summary["deleted"] == 2_000
    assert await restored(pg_source, tmp_path / "archive") == 2_000
