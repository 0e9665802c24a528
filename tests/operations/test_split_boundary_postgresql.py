"""Splits and merges on PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operations.asking import fetch
from operations.boundaries import bounds, content, definition, left, make_rich
from operations.running import preview, run

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

ONE = 'it\'s "one"'
SPLIT = {"schema": "shop", "table": "Or ders", "boundary": "2026-02-01 00:00:00+00", "chunk_rows": 90}
JAN_FEB = "FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2026-02-01 00:00:00+00')"


async def test_a_partition_is_split_online_and_merged_again(pg_source: Address) -> None:
    await make_rich(pg_source)
    sources = {"source": pg_source}
    before, like = await content(pg_source), await definition(pg_source, 'shop."it\'s ""one"""')
    shown = await preview("split_boundary", SPLIT, sources)
    assert not shown.plan.unmet, shown.plan.unmet
    ran = await run("split_boundary", SPLIT, sources)
    assert await content(pg_source) == before
    assert (await definition(pg_source, 'shop."it\'s ""one"""'))== like
    assert (await definition(pg_source, 'shop."Or ders_2026_02"'))== like
    ran = await run("merge_boundary", ran.summary["undo"]["config"] | {"keep_old_hours": 0}, sources)
    assert ran.summary
    assert await content(pg_source) == before
    assert (await definition(pg_source, 'shop."it\'s ""one"""'))== like
    assert 0
