"""SDK: operations, as a client asks for them and is told of them, whichever way it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Blocker, Duration, Impact, Plan, Precondition, Preview, Side, Step

_INNER: Mapping[str, Any] = {"done_check": None, "weight": 1.0, "action": None, "values": {}}
"""How a step is carried out: of use to whoever executes it alone."""
_OF_STEP = [one.name for one in fields(Step) if one.name not in (*_INNER, "name", "sql")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Starting:
    """How an operation is to be started."""

    kind: str
    config: Mapping[str, Any]
    plan_hash: str | None = None
    priority: int | None = None
    run_at: datetime | None = None
    held: bool = False
    notes: str | None = None
    key: str | None = None


def told(preview: Preview) -> Preview:
    """As REST tells it."""
    steps = tuple(replace(step, **_INNER) for step in preview.plan.steps)
    return replace(preview, plan=replace(preview.plan, steps=steps))


def preview_from(answer: Mapping[str, Any]) -> Preview:
    """A preview from its JSON."""
    impact = answer["impact"]
    return Preview(
        plan=Plan(
            kind=answer["kind"],
            dialect=Dialect(answer["dialect"]),
            config=answer["config"],
            steps=_steps(answer["statements"]),
            preconditions=tuple(Precondition(**{**one, "side": Side(one["side"])}) for one in answer["preconditions"]),
            notes=tuple(answer["notes"]),
            script_only=answer["script_only"],
        ),
        plan_hash=answer["plan_hash"],
        impact=Impact(**{**impact, "blockers": tuple(Blocker(**one) for one in impact["blockers"])}),
        script=answer["script"],
    )


def _steps(statements: list[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The statements of one step stand together."""
    found: dict[str, Step] = {}
    for one in statements:
        sql = () if one["sql"] is None else (one["sql"],)
        if one["step"] in found:
            found[one["step"]] = replace(found[one["step"]], sql=(*found[one["step"]].sql, *sql))
            continue
        values = {name: one[name] for name in _OF_STEP}
        values |= {"side": Side(one["side"]), "duration": Duration(one["duration"])}
        found[one["step"]] = Step(name=one["step"], sql=sql, **values)
    return tuple(found.values())
