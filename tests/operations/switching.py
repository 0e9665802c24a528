"""What the tests of archive_switch share: a small table of months, and how it looks from outside."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.kinds.archive_switch import ArchiveSwitch
from hourhand.operations.partitions.switching import SwitchConfig, SwitchState
from operations.asking import count, execute, fetch
from operations.running import Interrupted, Ran, run
from operations.tables import START, Sample, make_orders

KIND = "archive_switch"
OLDER = "operations.switching:OlderServer"
"""What `running` takes as one of `extra`."""


class OlderServer(ArchiveSwitch):
    """As on MySQL, and on MariaDB before 10.7, which cannot convert a partition: it is exchanged."""

    async def inspect(self, config: SwitchConfig, look: Look) -> SwitchState:
        """Look, and take the server for an older one."""
        return replace(await super().inspect(config, look), version=(10, 6))


async def fresh(source: Address, *, rows: int = 40, rest: bool = False, start: dt.date = START) -> Sample:
    """Make the table anew, with a place called `archive` beside it."""
    if source.dialect is Dialect.POSTGRESQL:
        await execute(source, "DROP SCHEMA IF EXISTS archive CASCADE", "CREATE SCHEMA archive")
        await execute(source, "DROP TABLE IF EXISTS orders, orders_2026_01, orders_2026_02, old CASCADE")
    else:
        beside = archive(source)
        await execute(source, f"CREATE DATABASE IF NOT EXISTS `{beside}`")
        await execute(source, f"DROP TABLE IF EXISTS orders, orders_2026_01, orders_2026_02, old, `{beside}`.old")
    return await make_orders(source, rows=rows, months=3, rest=rest, indexes=False, start=start)


def archive(source: Address) -> str:
    """The schema or database beside the table's own."""
    return "archive" if source.dialect is Dialect.POSTGRESQL else f"{source.database}_archive"


async def left_over(source: Address) -> list[str]:
    """What operations made for a while and did not remove."""
    return [name for name in await tables(source) if name.removeprefix("archive.").startswith("_hh_")]


async def tables(source: Address) -> dict[str, int]:
    """Each table of the two places, with its rows."""
    mark = '"' if source.dialect is Dialect.POSTGRESQL else "`"
    own = "public" if source.dialect is Dialect.POSTGRESQL else str(source.database)
    places = f"table_schema IN ('{own}', '{archive(source)}')"
    rows = await fetch(source, f"SELECT table_schema, table_name FROM information_schema.tables WHERE {places}")
    return {
        (f"archive.{name}" if schema != own else name): await count(source, f"{mark}{schema}{mark}.{mark}{name}{mark}")
        for schema, name in sorted(rows)
    }


async def lost_at_every_statement(
    config: Mapping[str, Any],
    source: Address,
    make: Callable[[], Awaitable[object]],
    check: Callable[[Ran], Awaitable[None]],
    *,
    extra: tuple[str, ...] = (),
) -> int:
    """Lose the executor after each statement, and each checkpoint, and go on; how often that was."""
    times = 0
    for how in ("stop_after", "lose_last"):
        number = 0
        while True:
            number += 1
            await make()
            given: dict[str, Any] = {how: number} if how == "stop_after" else {"stop_at": number, "lose_last": True}
            try:
                ran = await run(KIND, config, {"source": source}, extra=extra, **given)
            except Interrupted as first:
                times += 1
                ran = await run(KIND, config, {"source": source}, checkpoint=first.checkpoint, extra=extra)
                await check(ran)
            else:
                await check(ran)
                break
    return times
