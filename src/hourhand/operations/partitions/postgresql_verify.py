"""Operations: the end of a boundary operation on PostgreSQL: whether all is as it should be, or what is taken away."""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from hourhand.model.operation import Plan, Step
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.failures import LockNotGained, NotVerified, OperationFailure
from hourhand.operations.locking import limit_waits
from hourhand.operations.partitions.bounds import Cell
from hourhand.operations.partitions.postgresql_facts import ranked, within
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import PREFIX

_TRIES = 5
_LEFT = """
SELECT c.oid::regclass::text AS name FROM pg_class c
WHERE c.relname ^@ $2 AND c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1))
UNION ALL SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
WHERE x.relname ^@ $2 AND i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1))
UNION ALL SELECT k.conname FROM pg_constraint k
WHERE k.conname ^@ $2 AND k.conrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1))
UNION ALL SELECT g.tgname FROM pg_trigger g
WHERE g.tgname ^@ $2 AND g.tgrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1)) ORDER BY 1
"""
_INVALID = """
SELECT i.indexrelid::regclass::text AS name FROM pg_index i WHERE NOT i.indisvalid
AND i.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1)) ORDER BY 1
"""


async def verify(work: LiveWork, step: Step) -> None:
    """Bounds as planned, nothing left, all indexes valid, nothing in the default that belongs elsewhere."""
    values, session = step.values, work.source
    table = await read_table(session, values["schema"], values["table"])
    wanted = {name: Cell(low, high) for name, (low, high) in values["expected"].items()}
    bounds = [bound for one in table.partitions for bound in (one.low, one.high) if bound is not None]
    bounds += [bound for cell in wanted.values() for bound in (cell.low, cell.high) if bound is not None]
    ranks = await ranked(session, table, bounds)

    def place(low: str | None, high: str | None) -> tuple[int | None, int | None]:
        return None if low is None else ranks[low], None if high is None else ranks[high]

    wrong = []
    for name, cell in wanted.items():
        found = table.partition(name)
        if found is None:
            wrong.append(f"the partition {name} ({cell.shown}) is missing")
        elif place(found.low, found.high) != place(cell.low, cell.high):
            wrong.append(f"{name} is bound to {Cell(found.low, found.high).shown}, and should be to {cell.shown}")
    wrong += [f"the partition {name} is still there" for name in values["gone"] if table.partition(name) is not None]
    wrong += [f"{row['name']} was left behind" for row in await session.fetch(_LEFT, table.sql, PREFIX)]
    wrong += [f"the index {row['name']} is not valid" for row in await session.fetch(_INVALID, table.sql)]
    wrong += [row async for row in _astray(work, table, wanted.values())]
    if wrong:
        raise NotVerified("; ".join(wrong))
    work.facts["partitions"] = {name: cell.shown for name, cell in wanted.items()}
    if values["kept"]:
        work.facts["kept"] = list(values["kept"])
    if values["undo"] is not None:
        work.facts["undo_boundary"] = values["undo"]


async def _astray(work: LiveWork, table: Table, cells: Iterable[Cell]) -> AsyncIterator[str]:
    default = table.default_partition
    if default is None:
        return
    for cell in cells:
        sql = f"SELECT EXISTS (SELECT FROM {table.partition_sql(default)} WHERE {within(table, cell)}) AS found"
        if (await work.source.fetch(sql))[0]["found"]:
            yield f"{default.name} has rows of {cell.shown}"


async def give_up(work: LiveWork, plan: Plan) -> None:
    """Take away what was made for a while; in a session of its own, since that of the work may be broken."""
    values = plan.steps[-1].values if plan.steps else {}
    if "giving_up" not in values:
        return
    session = await work.open(work.config.data_source)
    swapped = (await session.fetch(f"SELECT {values['swapped']} AS swapped"))[0]["swapped"]
    left = [*([] if swapped else values["giving_up"]), *values["always"]]
    for sql in left:
        for rung in range(_TRIES):
            try:
                async with session.transaction():
                    await limit_waits(session, work.config, locally=True)
                    await session.execute(sql)
                break
            except LockNotGained:
                await asyncio.sleep(0.1 * 2**rung)
            except OperationFailure as error:
                work.log(f"could not be taken away: {sql}: {error}", level="warning")
                break
        else:
            work.log(f"left behind, since others hold it: {sql}; the next boundary operation does it", level="warning")
    work.log("what was made for a while is taken away")
