"""Operations: the long steps of an online split or merge: copying in chunks, and comparing in one snapshot."""

# ruff: noqa: S608 - statements are put together from quoted names; values are parameters or literals

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hourhand.model.operation import Step
from hourhand.operations.failures import NotVerified
from hourhand.operations.partitions.postgresql_facts import PG
from hourhand.operations.quoting import quoted
from hourhand.operations.work import LiveWork

CHUNK_WAIT_MS = 200
"""How long a chunk waits for a row that somebody writes. Shorter than PostgreSQL's deadlock_timeout: where a writer and
a chunk wait for each other, it is the chunk that is begun again."""
_SAMPLE = 5


async def backfill(work: LiveWork, step: Step) -> None:
    """Copy what was there before the mirror, in the order of the key; what is there already is left alone."""
    values = step.values
    shadow = (await work.source.fetch("SELECT to_regclass($1)::oid::bigint AS oid", values["shadow"]))[0]["oid"]
    # A position within a shadow that is no longer the same counts for nothing.
    kept = work.position if work.position.get("shadow") == shadow else {}
    partition, after, copied = int(kept.get("partition", 0)), kept.get("after"), int(kept.get("rows", 0))
    total = await _estimated(work, [one["sql"] for one in values["olds"]])
    for number in range(partition, len(values["olds"])):
        old = values["olds"][number]
        while (following := await _next(work, values, old["sql"], after)) is not None:
            last, rows = following
            await _chunk(work, step, old["first" if after is None else "next"], [*(after or []), *last])
            after, copied = last, copied + rows
            position = {"shadow": shadow, "partition": number, "after": after, "rows": copied}
            await work.save(position, min(copied / max(total, 1), 0.99))
            await work.breathe()
        after = None

    async def filled() -> None:
        for place in values["filled"]:
            await work.change(step, step.sql[place])

    await work.climb(step, filled)
    work.log(f"{copied} rows were copied")


async def _chunk(work: LiveWork, step: Step, places: Sequence[int], params: Sequence[str]) -> None:
    async def body() -> None:
        await work.source.execute("SET LOCAL row_security = off")
        await work.source.execute(f"SET LOCAL lock_timeout = '{min(CHUNK_WAIT_MS, work.config.lock_timeout_ms)}ms'")
        for place in places:
            await work.change(step, step.sql[place], *params)

    await work.climb(step, body)


async def _estimated(work: LiveWork, relations: Sequence[str]) -> int:
    rows = await work.source.fetch(
        "SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint AS n FROM pg_class "
        "WHERE oid = ANY(SELECT to_regclass(v) FROM unnest($1::text[]) AS t(v))",
        list(relations),
    )
    return int(rows[0]["n"])


async def _next(
    work: LiveWork, values: Mapping[str, Any], sql: str, after: Sequence[str] | None
) -> tuple[list[str], int] | None:
    """The last key of the next chunk, and how many rows it has; None if there are none."""
    keys = [f"o.{quoted(PG, one)}" for one in values["key"]]  # with its table, since a key may be called anything
    listed = ", ".join(keys)
    marks = ", ".join(f"${number}::text::{one}" for number, one in enumerate(values["types"], 1))
    where = f"WHERE ({listed}) > ({marks}) " if after is not None else ""
    named = ", ".join(f"{one} AS k{number}" for number, one in enumerate(keys))
    texts = ", ".join(f"chunk.k{number}::text AS k{number}" for number in range(len(keys)))
    rows = await work.source.fetch(
        f"SELECT {texts}, chunk.place FROM (SELECT {named}, row_number() OVER (ORDER BY {listed}) AS place "
        f"FROM {sql} AS o {where}ORDER BY {listed} LIMIT {int(values['chunk_rows'])}) AS chunk "
        "ORDER BY chunk.place DESC LIMIT 1",
        *(after or ()),
    )
    return ([rows[0][f"k{number}"] for number in range(len(keys))], int(rows[0]["place"])) if rows else None


async def compare(work: LiveWork, step: Step) -> None:
    """What is to be replaced and what replaces it, at one and the same moment."""
    values = step.values
    columns = ", ".join(quoted(PG, one) for one in values["columns"])
    by_hash = values["verify"] == "hash"
    async with work.source.transaction(isolation="REPEATABLE READ"):
        await work.source.execute("SET LOCAL row_security = off")
        pieces = {name: await _digest(work, sql, columns, by_hash=by_hash) for name, sql in values["pieces"].items()}
        if values["verify"] != "none":
            await work.tell(0.5)
            olds = [await _digest(work, sql, columns, by_hash=by_hash) for sql in values["olds"]]
            before, now = _added(olds), _added(list(pieces.values()))
            if before != now:
                differing = await _differing(work, values, columns)
                raise NotVerified(
                    f"{before[0]} rows were to be copied and {now[0]} are there"
                    f"{'' if before[0] != now[0] else ', with other values'}; they differ at {differing}"
                )
            work.log(f"{now[0]} rows are the same on both sides" if by_hash else f"{now[0]} rows on both sides")
    work.facts["rows"] = {name: digest[0] for name, digest in pieces.items()}
    work.facts["verified"] = values["verify"]


async def _digest(work: LiveWork, sql: str, columns: str, *, by_hash: bool) -> tuple[int, int]:
    """How many rows, and the sum of their hashes; of their text, since equal values may be written differently."""
    total = f"coalesce(sum(hashtextextended(ROW({columns})::text, 0)::numeric), 0)" if by_hash else "0"
    row = (await work.source.fetch(f"SELECT count(*) AS n, {total} AS sum FROM {sql}"))[0]
    return int(row["n"]), int(row["sum"])


def _added(digests: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(one[0] for one in digests), sum(one[1] for one in digests)


async def _differing(work: LiveWork, values: Mapping[str, Any], columns: str) -> str:
    keys = [quoted(PG, one) for one in values["key"]]
    picked = f"ROW({', '.join(keys)})::text AS key, ROW({columns})::text AS said"
    sides = [
        " UNION ALL ".join(f"SELECT {picked} FROM {one}" for one in relations)
        for relations in (values["olds"], values["pieces"].values())
    ]
    rows = await work.source.fetch(
        f"SELECT coalesce(a.key, b.key) AS key FROM ({sides[0]}) AS a FULL JOIN ({sides[1]}) AS b ON a.key = b.key "
        f"WHERE a.said IS DISTINCT FROM b.said ORDER BY 1 LIMIT {_SAMPLE}"
    )
    return ", ".join(str(row["key"]) for row in rows)
