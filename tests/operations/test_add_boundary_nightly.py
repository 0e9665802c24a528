"""Boundaries that are made ahead each night: what is there already is not made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from operations.asking import execute, value
from operations.running import run

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

COUNT = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'public.orders'::regclass"


async def test_months_ahead_are_made_once_however_often_it_is_asked(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE orders (id bigint, at timestamptz NOT NULL) PARTITION BY RANGE (at)")
    config = {"table": "orders", "interval": "1 month", "premake_count": 3}
    counts = []
    for _ in range(3):
        await run("add_boundary", config, {"shop": pg_source})
        counts.append(await value(pg_source, COUNT))
    assert counts == [4, 4, 4]  # this month, and three to come


@pytest.mark.parametrize(("reached", "there"), [(0, 4), (250, 6), (399, 7)])
async def test_numbers_ahead_follow_what_was_reached(pg_source: Address, reached: int, there: int) -> None:
    await execute(
        pg_source,
        "CREATE TABLE orders (id bigint NOT NULL) PARTITION BY RANGE (id)",
        "CREATE TABLE orders_0 PARTITION OF orders FOR VALUES FROM (0) TO (100)",
    )
    config = {"table": "orders", "interval": "100", "premake_count": 3}
    await run("add_boundary", config, {"shop": pg_source})
    assert await value(pg_source, COUNT) == 4
    await execute(pg_source, f"INSERT INTO orders VALUES ({reached})")
    for _ in range(2):
        await run("add_boundary", config, {"shop": pg_source})
        assert await value(pg_source, COUNT) == there
