"""archive_bulk_copy: rows arrive exactly once, whichever engine they come from and go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hourhand.model.data_source import Dialect
from operations.asking import count, execute, fetch
from operations.running import preview, run
from operations.tables import columns, make_orders

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

KIND = "archive_bulk_copy"
MOVE = {"table": "orders", "delete_source": True, "create_target": True, "chunk_rows": 70, "chunk_target_ms": 600_000}
WAYS = [f"{one}-{other}" for one in ("pg", "maria", "sqlite") for other in ("pg", "maria", "sqlite")]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> tuple[Address, Address]:
    """Return a source and a target, once for each pair of dialects."""
    one, _, other = request.param.partition("-")
    return request.getfixturevalue(f"{one}_source"), request.getfixturevalue(f"{other}_target")


async def leftovers(*sources: Address) -> list[str]:
    """Return what begins with `_hh_`."""
    found = []
    for source in sources:
        match source.dialect.value:
            case "postgresql":
                rows = await fetch(source, "SELECT relname FROM pg_class WHERE relname LIKE '\\_hh\\_%'")
            case "mariadb":
                rows = await fetch(source, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '\\_hh\\_%'")
            case _:
                rows = await fetch(source, "SELECT name FROM sqlite_master WHERE name LIKE '\\_hh\\_%' ESCAPE '\\'")
        found += [row[0] for row in rows]
    return found


async def test_rows_are_moved_between_any_two(way: tuple[Address, Address]) -> None:
    source, target = way
    await make_orders(source, rows=200, partitioned=False)
    if source.dialect is Dialect.SQLITE:  # whose text says nothing of times
        made = columns(target.dialect)
        await execute(target, f"CREATE TABLE orders ({made}, PRIMARY KEY (id, created_at))")
    sources = {"source": source, "target": target}
    ran = await run(KIND, {**MOVE, "target_data_source": "target", "where": "quantity < -350"}, sources)
    assert ran.summary["rows"] == 149
    assert ran.summary["left"] == 0
    assert await count(source, "orders") == 51
    assert await count(target, "orders") == 149
    assert await leftovers(source, target) == []


async def test_rows_are_copied_within_one(source: Address) -> None:
    await make_orders(source, rows=200, partitioned=False)
    config = {**MOVE, "delete_source": False, "target_table": 'old "orders" `of` [us]'}
    ran = await run(KIND, config, {"source": source})
    assert ran.summary["rows"] == 200
    assert await count(source, "orders") == 200
    shown = await preview(KIND, {**config, "delete_source": True}, {"source": source})
    assert [one.name for one in shown.plan.unmet] == ["target rows"]
    ran = await run(KIND, {**config, "delete_source": True, "on_conflict": "replace"}, {"source": source})
    assert ran.summary["rows"] == 200
    assert await count(source, "orders") == 0
    assert await leftovers(source) == []
    _ = execute
