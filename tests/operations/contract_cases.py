"""The table of the contract suite: for every kind and every dialect a cell that says what is expected of it.

A kind that is added needs its line in CELLS; the suite fails until it has one. A cell is small: what is promised is
the same for ten rows and for ten million, and the suite makes each of them anew dozens of times.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Support
from operations.archives import manifest_of
from operations.asking import count, execute, quoted, value
from operations.contract_ground import Ground
from operations.running import Ran, run
from operations.tables import columns, make_orders

PG, MARIA, LITE, SERVER = Dialect.POSTGRESQL, Dialect.MARIADB, Dialect.SQLITE, Dialect.SQLSERVER
ROWS = 60
CHUNKS: dict[str, Any] = {"chunk_rows": 20, "chunk_target_ms": 60_000}


class Again(StrEnum):
    """What planning gives after it was done."""

    NOTHING = "a plan without steps"
    LESS = "a plan that has only some of the steps"
    SAME = "the same plan, since it may be done as often as one likes"
    REPEATED = "the same statements; only what tells that they are done is another"
    FAILS = "the same plan, which then finds what it would do done, and changes nothing"
    REFUSED = "no plan: it is refused"


async def _nothing(_: Ground) -> None: ...


async def _fine(_: Ground, __: Ran) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What is expected of a kind on a dialect, and how that is tried."""

    kind: str
    dialect: Dialect
    expected: Support = Support.DONE
    make: Callable[[Ground], Awaitable[None]] = _nothing
    """Makes what the operation works on; called again for each attempt."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """The configuration; `Ground.config` is added to it."""
    check: Callable[[Ground, Ran], Awaitable[None]] = _fine
    """What holds afterwards."""
    again: Again = Again.SAME
    table: str | None = None
    """A table whose readers see the same rows at every moment."""
    target: bool = False
    """Whether another data source is copied to."""
    vague: frozenset[str] = frozenset()
    """What of the summary need not be the same of two runs, such as the size of a compressed file."""
    slow: bool = False
    """Whether it is interrupted and cancelled once only, in the middle; `make chaos` does so everywhere."""
    unread: tuple[str, ...] = ()
    """Of a script: how lines begin that sqlglot has no grammar for."""

    @property
    def id(self) -> str:
        """In the names of tests."""
        return f"{self.kind}-{self.dialect.value}"


async def _orders(ground: Ground) -> None:
    await make_orders(ground.source, rows=ROWS, months=3, indexes=False)


async def _plain_orders(ground: Ground) -> None:
    await make_orders(ground.source, rows=ROWS, months=3, partitioned=False, indexes=False)


async def _indexed_orders(ground: Ground) -> None:
    await make_orders(ground.source, rows=ROWS, months=2)


async def _orders_and_archive(ground: Ground) -> None:
    assert ground.target is not None
    await _plain_orders(ground)
    made = f"CREATE TABLE orders ({columns(ground.dialect)}, PRIMARY KEY (id, created_at))"
    await execute(ground.target, made)


async def _archived(ground: Ground) -> None:
    """Orders of which half is in files, and deleted."""
    await _plain_orders(ground)
    told = {"table": "orders", "where": "id <= 30", "output_dir": str(ground.folder), "rows_per_file": 10}
    ran = await run("archive_bcp", told | {"delete_after_verify": True}, {"source": ground.source})
    assert ran.summary["deleted"] == 30
    ground.config["manifest"] = str(manifest_of(ground.folder))


async def _folder(ground: Ground) -> None:
    await _plain_orders(ground)
    ground.config["output_dir"] = str(ground.folder)


async def _log(ground: Ground) -> None:
    """A log table and log files, half of them old."""
    await _plain_orders(ground)
    for number in range(4):
        file = ground.folder.resolve() / f"{number}.log"
        file.write_text(f"{number}")
        long_ago = dt.datetime(2001, 1, number % 2 + 1, tzinfo=dt.UTC).timestamp()
        os.utime(file, (long_ago, long_ago)) if number < 2 else None
    ground.config["files_glob"] = f"{ground.folder.resolve()}/*.log"


async def _left_over(ground: Ground) -> None:
    """Tables that somebody made for a while, seen long ago, and one that is to stay."""
    for name in ("tmp_one", "tmp_two", "orders"):
        table = quoted(ground.dialect, name)
        made = f"CREATE TABLE {table} (id integer PRIMARY KEY)", f"INSERT INTO {table} VALUES (7)"
        await execute(ground.source, *made)
    stamp = "[hourhand: first seen 2001-01-01T00Z]"
    if ground.dialect is PG:
        await execute(ground.source, *(f"COMMENT ON TABLE {name} IS '{stamp}'" for name in ("tmp_one", "tmp_two")))
    if ground.dialect is LITE:
        await execute(
            ground.source,
            "CREATE TABLE hourhand_stamps (name TEXT PRIMARY KEY, stamp TEXT NOT NULL)",
            f"INSERT INTO hourhand_stamps VALUES ('tmp_one', '{stamp}'), ('tmp_two', '{stamp}')",
        )


async def _two_archived(ground: Ground, ran: Ran) -> None:
    assert ran.summary["rows"] == await count(ground.source, "old_orders") > 0
    assert await count(ground.source, "orders") == ROWS - ran.summary["rows"]


async def _half_in_files(ground: Ground, ran: Ran) -> None:
    assert (ran.summary["rows"], ran.summary["deleted"], ran.summary["files"]) == (30, 30, 3)
    assert await count(ground.source, "orders", "id <= 30") == 0
    assert await count(ground.source, "orders") == 30


async def _all_back(ground: Ground, ran: Ran) -> None:
    assert ran.summary["rows"] == 30
    assert await count(ground.source, "orders") == ROWS


async def _half_moved(ground: Ground, ran: Ran) -> None:
    assert ground.target is not None
    assert ran.summary["rows"] == await count(ground.target, "orders") == 30
    assert await count(ground.source, "orders") == 30


async def _half_gone(ground: Ground, ran: Ran) -> None:
    assert ran.summary["rows_deleted"] == 30
    assert await count(ground.source, "orders", "id <= 30") == 0
    assert await count(ground.source, "orders") == 30


async def _logs_gone(ground: Ground, ran: Ran) -> None:
    await _half_gone(ground, ran)
    assert ran.summary["files_removed"] == 2
    assert sorted(one.name for one in ground.folder.iterdir()) == ["2.log", "3.log"]


async def _out_of_the_way(_: Ground, ran: Ran) -> None:
    assert sorted(ran.summary["quarantined"]) == ["tmp_one", "tmp_two"]


async def _marked_once(ground: Ground, _: Ran) -> None:
    assert await count(ground.source, "orders", "customer = 'nobody'") == 20
    assert int(await value(ground.source, "SELECT sum(quantity) FROM orders WHERE id > 50")) == -4_445 + 10
    assert await count(ground.source, "made") == 1


async def _backed_up(ground: Ground, ran: Ran) -> None:
    (made,) = ground.folder.iterdir()
    assert str(made) == ran.summary["backup_reference"]
    assert sum(one.is_file() for one in ground.folder.rglob("*")) == ran.summary["files"] + 1  # and the manifest


async def _filled(ground: Ground, ran: Ran) -> None:
    assert ran.summary["rows"] == await count(ground.source, "tried") == 300


_BOTH, _ALL = (PG, MARIA), (PG, MARIA, LITE)
_MADE = {
    PG: "SELECT to_regclass('made') IS NOT NULL",
    MARIA: "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'made'",
    LITE: "SELECT count(*) FROM sqlite_master WHERE name = 'made'",
}


def _done(kind: str, dialects: tuple[Dialect, ...], **more: Any) -> list[Cell]:
    return [Cell(kind=kind, dialect=dialect, **more) for dialect in dialects]


def _refused(kind: str, dialect: Dialect) -> Cell:
    return Cell(kind=kind, dialect=dialect, expected=Support.REFUSED)


def _script(kind: str, **config: Any) -> Cell:
    return Cell(kind=kind, dialect=SERVER, expected=Support.SCRIPT, config=config)


CELLS: tuple[Cell, ...] = (
    *_done(
        "add_boundary", _BOTH, make=_orders, again=Again.NOTHING, table="orders",
        config={"table": "orders", "boundaries": ["2026-05-01", "2026-06-01"]},
    ),
    _refused("add_boundary", LITE),
    _script("add_boundary", table="orders", boundaries=["2026-05-01"]),
    *_done(
        "split_boundary", _BOTH, make=_orders, again=Again.NOTHING, table="orders",
        config={"table": "orders", "boundary": "2026-01-16", "chunk_rows": 10},
    ),
    _refused("split_boundary", LITE),
    _script("split_boundary", table="orders", boundary="2026-01-16"),
    *_done(
        "merge_boundary", _BOTH, make=_orders, again=Again.REFUSED, table="orders",
        config={"table": "orders", "boundary": "2026-02-01", "chunk_rows": 20, "keep_old_hours": 0},
    ),
    _refused("merge_boundary", LITE),
    _script("merge_boundary", table="orders", boundary="2026-02-01"),
    *_done(
        "archive_switch", _BOTH, make=_orders, again=Again.REFUSED, check=_two_archived,
        config={"table": "orders", "partitions": ["orders_2026_01"], "target_table": "old_orders"},
    ),
    _refused("archive_switch", LITE),
    _script("archive_switch", table="orders", partitions=["1"], target_table="old_orders"),
    *_done(
        "archive_bcp", _ALL, make=_folder, check=_half_in_files,
        config={"table": "orders", "where": "id <= 30", "rows_per_file": 10, "delete_after_verify": True},
    ),
    _script("archive_bcp", table="orders", output_dir="/var/archive"),
    *_done(
        "archive_bulk_copy", _ALL, make=_orders_and_archive, check=_half_moved, target=True,
        config={"table": "orders", "target_data_source": "target", "where": "id <= 30", "delete_source": True} | CHUNKS,
    ),
    _script("archive_bulk_copy", table="orders", target_table="old_orders", key_columns=["id"], delete_source=True),
    *_done("archive_restore", _ALL, make=_archived, check=_all_back, again=Again.FAILS),
    _script("archive_restore", manifest="/var/archive/orders-7/manifest.jsonl", target_table="orders"),
    *_done(
        "data_cleanup", _ALL, make=_plain_orders, check=_half_gone,
        config={"table": "orders", "where": "id <= 30", **CHUNKS},
    ),
    _script("data_cleanup", table="orders", where="id <= 30"),
    *_done(
        "log_cleanup", _ALL, make=_log, check=_logs_gone, again=Again.LESS,
        config={"table": "orders", "where": "id <= 30", "older_than": "100d", **CHUNKS},
    ),
    _script("log_cleanup", table="orders", where="id <= 30"),
    *_done(
        "temp_table_cleanup", _ALL, make=_left_over, check=_out_of_the_way, again=Again.NOTHING, table="orders",
        config={"name_pattern": "tmp_*", "min_age": "14d"},
    ),
    _script("temp_table_cleanup", name_pattern="tmp_*", min_age="14d"),
    *_done(
        "index_rebuild", _ALL, make=_indexed_orders, again=Again.REPEATED, table="orders",
        config={"table": "orders", "min_bloat_pct": 0},
    ),
    _script("index_rebuild", table="orders", indexes=["orders_customer_idx"]),
    *_done(
        "database_backup", _ALL, make=_folder, check=_backed_up, table="orders", config={"jobs": 1},
        vague=frozenset({"bytes"}), slow=True,
    ),
    Cell(
        kind="database_backup", dialect=SERVER, expected=Support.SCRIPT, config={"output_dir": "/var/backups"},
        unread=("BACKUP DATABASE ", "RESTORE VERIFYONLY "),
    ),
    *_done(
        "statistics_update", _ALL, make=_indexed_orders, config={"tables": ["orders"]}, table="orders",
        vague=frozenset({"seconds"}),
    ),
    _script("statistics_update", tables=["orders"]),
    *(
        Cell(
            kind="custom", dialect=dialect, make=_plain_orders, check=_marked_once,
            config={
                "steps": [
                    {"name": "one", "sql": ["UPDATE orders SET customer = 'nobody' WHERE id <= 20",
                                            "UPDATE orders SET quantity = quantity + 1 WHERE id > 50"]},
                    {"name": "two", "sql": "CREATE TABLE made (n integer)", "check_sql": _MADE[dialect]},
                    {"name": "three", "sql": "INSERT INTO made VALUES (1)"},
                ]
            },
        )
        for dialect in _ALL
    ),
    _script("custom", steps=[{"name": "one", "sql": "UPDATE orders SET customer = 'nobody' WHERE id <= 20"}]),
    *_done("sample", _ALL, check=_filled, again=Again.REFUSED, config={"table": "tried", "rows": 300}),
    _refused("sample", SERVER),
)  # fmt: skip
DONE = [cell for cell in CELLS if cell.expected is Support.DONE]
