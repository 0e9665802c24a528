"""docs/reference/payloads.md: what a task's payload, a target and a condition of alerts may hold."""

from __future__ import annotations

from dataclasses import fields as parts_of
from typing import cast

from hourhand.api.kinds import Kind, _notifier, _runners
from hourhand.bootstrap.alerts import build_post
from hourhand.model.words import TaskType
from hourhand.rules.alert_definition import CONDITIONS
from hourhand.rules.payload import PAYLOADS
from hourhand.settings import Settings
from hourhand.store import Store
from reference.docstrings import docstrings_of
from reference.markdown import code, example, page, prose, table
from reference.schemas import fields, words

INTRODUCTION = (
    "What can be plugged in, and its parameters: what `GET /api/v1/kinds` and `hourhand kinds` answer. Unknown keys "
    "are refused."
)
PAGES = {"command": "command-tasks.md", "http": "http-tasks.md", "python": "python-tasks.md"}


def payloads() -> str:
    """Write the page."""
    notifiers = build_post(Settings(), cast("Store", None), serving=True).notifiers
    return page(
        "Payloads",
        INTRODUCTION,
        "## Payloads of tasks",
        *(part for kind in _runners() for part in _payload(kind)),
        "## Targets of alerts",
        "One of these is an item of an alert rule's `targets`. How they are kept is in [alerts](alerts.md#targets).",
        *(part for kind in map(_notifier, notifiers) for part in _target(kind)),
        "## Conditions of alerts",
        "One of these is an alert rule's `condition`. When each is over is in [alerts](alerts.md#conditions).",
        _conditions(),
    )


def _payload(kind: Kind) -> list[str]:
    described = docstrings_of(PAYLOADS[TaskType(kind.name)])
    more = f" More: [{kind.name} tasks]({PAGES[kind.name]})." if kind.name in PAGES else ""
    return [
        f"### {kind.name}",
        f"{prose(kind.description)}{more}",
        fields(kind.parameters, described=described),
        example(kind.example),
    ]


def _target(kind: Kind) -> list[str]:
    schema = kind.parameters
    shown = fields(schema) if schema.get("properties") else f"A target is: {words(schema)}."
    return [f"### {kind.name}", prose(kind.description), shown, example(kind.example)]


def _conditions() -> str:
    return table(
        ["kind", "parameters", "holds when"],
        [
            (code(name), ", ".join(code(part.name) for part in parts_of(kind)), prose(kind.__doc__ or ""))
            for name, kind in CONDITIONS.items()
        ],
    )
