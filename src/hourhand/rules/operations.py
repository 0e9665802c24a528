"""Rules: a plan's hash, its script, its progress, and what a plan may say."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.errors import InvalidInput
from hourhand.model.operation import Duration, Impact, Plan, Precondition, Side, Step

_TOLD = frozenset({"rows", "bytes", "disk_bytes", "destructive"})
"""What a step says about what it does, and is no part of that."""
_AGE = re.compile(r"(\d{1,6})\s*(h|d|w|m|y)")
_SIGNS = {"\n": "\u240a", "\r": "\u240d", "\t": "\u2409"}
_HASHES = (Dialect.MARIADB, Dialect.MYSQL)
"""Where # begins a comment as well."""
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
PREFIX = "_hh_"
"""What begins so in a data source was made by an operation, and may go once it has ended."""


def plan_hash(plan: Plan) -> str:
    """What a person approves: it changes when anything does that would be executed, and not with the row counts."""
    said = {
        "kind": plan.kind,
        "dialect": plan.dialect.value,
        "config": plan.config,
        "steps": [{name: value for name, value in asdict(step).items() if name not in _TOLD} for step in plan.steps],
    }
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def marked(plan: Plan, *, kind_marks: bool) -> Plan:
    """Say of every step whether it destroys: what a kind that marks its steps left out does not, of another it may."""
    steps = [step if step.destructive is not None else replace(step, destructive=not kind_marks) for step in plan.steps]
    return replace(plan, steps=tuple(steps))


def script(plan: Plan) -> str:
    """The plan as one text to read; where nothing executes it, also to run by hand."""
    lines = [f"-- {plan.kind} on {plan.dialect.value}, plan {plan_hash(plan)}"]
    if plan.script_only:
        lines.append("-- To be read and run by hand: Hourhand has never executed this on a server.")
    lines += [f"-- Note: {_one_line(note)}" for note in plan.notes]
    for number, step in enumerate(plan.steps, 1):
        where = "" if step.side is Side.SOURCE else f" ({step.side})"
        lines += ["", f"-- {number}. {_one_line(f'{step.phase}: {step.name}')}{where}"]
        if step.lock is not None:
            lines.append(f"--    locks: {_one_line(step.lock)}")
        statements = [_ended(sql, plan.dialect) for sql in step.sql]
        several = step.transaction and len(step.sql) > 1 and step.action is None
        lines += [*_begin(plan.dialect), *statements, "COMMIT;"] if several else statements
    return "\n".join(lines) + "\n"


def _ended(sql: str, dialect: Dialect) -> str:
    text = sql.strip()
    if dialect is Dialect.SQLSERVER and text.upper() == "GO":
        return text
    if all(line.lstrip().startswith("--") for line in text.splitlines()):
        return text
    last = text[text.rfind("\n") + 1 :]
    if "--" in last or (dialect in _HASHES and "#" in last):  # a comment may be its end, and would take the ; in
        return f"{text}\n;"
    return text if text.endswith(";") else f"{text};"


def _one_line(text: str) -> str:
    """What stands in a comment ends with its line, or a name could say what nobody planned."""
    return "".join(one if one.isprintable() else _SIGNS.get(one, "\ufffd") for one in text)


def _begin(dialect: Dialect) -> list[str]:
    return ["BEGIN TRANSACTION;"] if dialect is Dialect.SQLSERVER else ["BEGIN;"]


def fraction(plan: Plan, index: int, within: float) -> float:
    """How much of the plan is done, where `within` of step `index` is; below 1 as long as there is a step to go."""
    total = sum(step.weight for step in plan.steps) or 1.0
    before = sum(step.weight for step in plan.steps[:index])
    here = plan.steps[index].weight if index < len(plan.steps) else 0.0
    return min((before + here * min(max(within, 0.0), 1.0)) / total, 1.0) * 0.99


def impact(plan: Plan) -> Impact:
    """The sums, and the strongest lock of all steps; the blockers are found by asking."""
    return Impact(
        rows=_sum([step.rows for step in plan.steps]),
        bytes=_sum([step.bytes for step in plan.steps]),
        disk_bytes=_sum([step.disk_bytes for step in plan.steps]),
        strongest_lock=_strongest([step.lock for step in plan.steps if step.lock]),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _strongest(locks: Sequence[str]) -> str | None:
    return min(locks, key=lambda lock: (not lock.startswith("ACCESS EXCLUSIVE"), "EXCLUSIVE" not in lock), default=None)


def differences(approved: Plan, now: Plan) -> list[str]:
    """What has changed between two plans, in words."""
    before = {step.name: step for step in approved.steps}
    after = {step.name: step for step in now.steps}
    found = [f"step {name!r} is no longer needed" for name in before if name not in after]
    found += [f"step {name!r} is new" for name in after if name not in before]
    found += [
        f"step {name!r} has changed: {' '.join(after[name].sql)[:200]}"
        for name in after
        if name in before and _said(before[name]) != _said(after[name])
    ]
    return found or ["the configuration, or the order of its steps"]


def _said(step: Step) -> dict[str, Any]:
    return {name: value for name, value in asdict(step).items() if name not in _TOLD}


def cutoff(age: str, now: datetime, *, field: str = "older_than") -> datetime:
    """The moment that lies `age` ago (`36h`, `400d`, `6w`, `13m`, `2y`), at the beginning of its hour, day or month.

    Rounded down, so that a plan is the same as long as nothing that counts has changed.
    """
    given = _AGE.fullmatch(age.strip())
    if given is None or int(given[1]) == 0:
        raise InvalidInput.one(field, age, f"{age!r} is no age: use a form such as 36h, 400d, 6w, 13m (months) or 2y")
    count, unit = int(given[1]), given[2]
    now = now.astimezone(UTC)
    try:
        match unit:
            case "h":
                return (now - count * _HOUR).replace(minute=0, second=0, microsecond=0)
            case "d" | "w":
                back = now - count * (_DAY if unit == "d" else 7 * _DAY)
                return back.replace(hour=0, minute=0, second=0, microsecond=0)
        months = now.year * 12 + now.month - 1 - (count if unit == "m" else 12 * count)
        return datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
    except (OverflowError, ValueError):
        raise InvalidInput.one(field, age, f"{age!r} reaches back before the year 1: give a shorter age") from None


def temporary(kind: str, table: str, what: str = "") -> str:
    """A name for something that an operation makes for a while: the same for every attempt, and short enough."""
    digest = hashlib.sha256(f"{kind}:{table}:{what}".encode()).hexdigest()[:10]
    return f"{PREFIX}{table.encode()[:30].decode(errors='ignore')}_{digest}"  # what is too long is so in bytes


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """As it is kept in a checkpoint."""
    return asdict(plan)


def plan_from_json(value: Mapping[str, Any]) -> Plan:
    """The plan that was kept."""
    known = {one.name for one in fields(Step)}
    return Plan(
        kind=value["kind"],
        dialect=Dialect(value["dialect"]),
        config=value["config"],
        steps=tuple(_step({name: one[name] for name in one if name in known}) for one in value["steps"]),
        preconditions=tuple(_precondition(one) for one in value["preconditions"]),
        notes=tuple(value["notes"]),
        script_only=value["script_only"],
    )


def _precondition(value: Mapping[str, Any]) -> Precondition:
    return Precondition(**{**value, "side": Side(value.get("side", Side.SOURCE))})


def _step(value: Mapping[str, Any]) -> Step:
    return Step(
        **{
            **value,
            "sql": tuple(value["sql"]),
            "side": Side(value["side"]),
            "duration": Duration(value["duration"]),
        }
    )
