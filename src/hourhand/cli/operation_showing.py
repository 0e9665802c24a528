"""Previews of operations in the CLI: what would be done, what it takes, and what stands in its way."""

from __future__ import annotations

from hourhand.cli.json_options import Json
from hourhand.cli.printing import Column, print_facts, print_table, say

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP = 1024
_LEAST_OF_NEXT = 10


def print_preview(preview: Json) -> None:
    """The plan's steps, its preconditions, its impact and its script."""
    say(f"{preview['kind']} on {preview['data_source']} ({preview['dialect']}): plan {preview['plan_hash']}")
    steps = list({one["step"]: one for one in preview["statements"]}.values())
    columns = (
        Column("PHASE", 8),
        Column("STEP"),
        Column("DURATION", 5),
        Column("ROWS", 6, right=True),
        Column("DELETES", 7),
        Column("LOCK", 7),
    )
    rows = [
        (
            one["phase"],
            one["step"],
            one["duration"],
            _number(one["rows"]),
            "yes" if one["destructive"] else "",
            one["lock"] or "",
        )
        for one in steps
    ]
    if rows:  # else a note says why there is nothing to do
        print_table(columns, rows)
    impact = preview["impact"]
    print_facts(
        {
            "rows": _number(impact["rows"]),
            "size": _size(impact["bytes"]),
            "room": _size(impact["disk_bytes"]),
            "strongest lock": impact["strongest_lock"],
            "in the way now": "\n".join(
                f"{one['session']} ({one['who']}) {one['doing']}" for one in impact["blockers"]
            ),
            "preconditions": "\n".join(
                map(_precondition, sorted(preview["preconditions"], key=lambda one: bool(one["ok"])))
            ),
            "notes": "\n".join(preview["notes"]),
        }
    )
    say(f"\n{preview['script'].rstrip()}")


def unmet(preview: Json) -> list[str]:
    """Why it would not be executed as it stands; whether the executor's machine matters here, the server knows."""
    if preview["script_only"]:
        return [f"{preview['kind']} on {preview['dialect']} is a script to read and run by hand: nothing is started"]
    wrong = [one for one in preview["preconditions"] if not one["ok"] and one["side"] != "executor"]
    return [f"{one['name']}: {one['detail']}" for one in wrong]


def _precondition(one: Json) -> str:
    return f"{'ok' if one['ok'] else 'NOT MET'}  {one['name']}: {one['detail']}"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _size(value: int | None) -> str:
    if value is None:
        return ""
    size, unit = float(value), 0
    while size >= _LEAST_OF_NEXT * _STEP and unit < len(_SIZES) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:,.0f} {_SIZES[unit]}"
