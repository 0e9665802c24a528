"""Operations: how partitions are reorganized on MariaDB and MySQL, and what can be proven of it afterwards.

Rows are compared under one lock. If the executor is lost once the ALTER has committed, the lock went with it: then what
is the same is verified, and what differs is no proof of a loss, since others may have written since.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hourhand.model.operation import Step
from hourhand.operations.catalog import read_table
from hourhand.operations.failures import NotVerified, OperationFailure
from hourhand.operations.partitions.mariadb_keys import read_key
from hourhand.operations.work import LiveWork

UNPROVEN = "not verified after a lost attempt"


async def do_reorganize(work: LiveWork, step: Step) -> None:
    """Count, reorganize, count again; nobody writes in between."""
    if len(step.sql) == 1:
        await work.climb(step, lambda: work.change(step, step.sql[0]))
        return
    lock, before, alter, after, unlock = step.sql

    async def body() -> None:
        await work.change(step, lock)
        try:
            was = work.facts["before"] = await _measured(work, before)
            await work.save({}, 0.2)  # whoever takes over after the ALTER finds what there was before it
            await work.change(step, alter)
            await work.tell(0.8)
            now = await _measured(work, after)
        finally:
            with suppress(OperationFailure):
                await work.change(step, unlock)
        if _agreed(was, now, work.config.verify) != work.config.verify:
            raise NotVerified(
                f"{', '.join(step.values['old'])} had {was['n']} rows (hash {was['hash']}), and what they became has "
                f"{now['n']} (hash {now['hash']}), though nobody else could write: restore them from a backup"
            )
        del work.facts["before"]
        work.facts |= {"rows": now["n"], "verified": work.config.verify}

    await work.climb(step, body)


async def _measured(work: LiveWork, sql: str) -> dict[str, Any]:
    row = (await work.source.fetch(sql))[0]
    return {"n": int(row["n"]), "hash": str(row["hash"])}  # the sum is larger than a number of JSON may be


def _agreed(was: Mapping[str, Any], now: Mapping[str, Any], wanted: str) -> str | None:
    """By what the two are the same, at most by what is wanted."""
    if was.get("n") != now["n"]:
        return None
    return wanted if wanted == "count" or was["hash"] == now["hash"] else "count"


async def _compare_late(work: LiveWork) -> None:
    """The executor was lost after the ALTER, and its lock with it: a difference may be what others wrote since."""
    done = next((step for step in work.plan.steps if step.action == "reorganize"), None)
    if done is None or len(done.sql) == 1 or "rows" in work.facts:
        return
    was, now = work.facts.pop("before", {}), await _measured(work, done.sql[3])
    agreed = _agreed(was, now, work.config.verify)
    work.facts |= {"rows": now["n"], "verified": agreed or UNPROVEN}
    if agreed != work.config.verify:
        there = f"{was['n']} rows (hash {was['hash']})" if was else "nobody knows how many rows"
        work.log(
            f"{', '.join(done.values['old'])} had {there}, and what they became has {now['n']} (hash {now['hash']}): "
            "an attempt was lost in between, so that others may have written since; compare it with what they wrote",
            level="warning",
        )


async def do_verify_bounds(work: LiveWork, step: Step) -> None:
    """The catalog says what the plan does."""
    config = work.plan.config
    table = await read_table(work.source, config["schema"], config["table"])
    key = read_key(table)
    for name, end in step.values["bounds"]:
        part = table.partition(name)
        point = key.point(part.high) if part is not None else None
        found = None if point is None else key.shown(point)
        if part is None or found != end:
            is_now = "is not there" if part is None else f"ends at {found or 'MAXVALUE'}"
            raise NotVerified(f"partition {name} should end at {end or 'MAXVALUE'}, and {is_now}")
    await _compare_late(work)
    work.facts["partitions"] = [name for name, _ in step.values["bounds"]]
    if step.values["undo_boundary"] is not None:
        work.facts["undo_boundary"] = step.values["undo_boundary"]
