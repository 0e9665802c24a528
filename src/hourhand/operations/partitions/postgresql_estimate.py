"""Operations: what a boundary operation on PostgreSQL costs, by the statistics there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hourhand.contracts.operation import Look
from hourhand.model.operation import Plan, Step

_SIZES = """
SELECT coalesce(sum(greatest(reltuples, 0)), 0)::bigint AS rows,
       coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes
FROM pg_class WHERE oid = ANY(SELECT to_regclass(v) FROM unnest($1::text[]) AS t(v))
"""


async def estimate(look: Look, plan: Plan) -> Plan:
    """Rows and bytes of the partitions that are copied; while that lasts, they are there twice."""
    return replace(plan, steps=tuple([await _estimated(look, one) for one in plan.steps]))


async def _estimated(look: Look, step: Step) -> Step:
    if step.action != "backfill":
        return step
    olds: Sequence[str] = [one["sql"] for one in step.values["olds"]]
    row = (await look.source.fetch(_SIZES, list(olds)))[0]
    return replace(step, rows=row["rows"], bytes=row["bytes"], disk_bytes=row["bytes"])
