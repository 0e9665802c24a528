"""The JSON Schema of task files, for editors and other checkers: made from what describes `POST /tasks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from hourhand.api.task_inputs import task_schema
from hourhand.model.words import TaskType
from hourhand.rules.definition import TEXTS
from hourhand.rules.payload import PAYLOADS
from hourhand.rules.task_files import ELSEWHERE, SHORTHANDS

PATH = "/api/v1/task-file.schema.json"
LONGEST_NAME = TEXTS["managed_by"] - len("file:")
MOST_TASKS = 5_000
MOST_GROUPS = 1_000
_ABOUT: Mapping[str, str] = {
    "name": "What the task is called; no other task has the same name",
    "type": "How it is run; it follows from command, url or handler",
    "payload": "What is run, by type; what command, url or handler says is left out here",
    "schedule": "When it fires: a cron expression, @every 30s, @daily, @manual …",
    "description": "What it is for",
    "enabled": "Whether it fires",
    "group": "Whose executors run it",
    "timezone": "The zone of the schedule, such as Asia/Shanghai",
    "priority": "0 (highest) to 9",
    "timeout_seconds": "After this time an attempt is stopped",
    "max_retries": "How often it is tried again after a failure",
    "retry_delay_seconds": "The time before the first retry",
    "retry_backoff": "How that time grows from retry to retry",
    "misfire_policy": "What becomes of instants that were missed",
    "misfire_grace_seconds": "An instant that is late by less than this is not missed",
    "catch_up_limit": "For misfire_policy catch_up: how many missed instants at most",
    "overlap_policy": "What happens when it is due while its last instance lives",
    "dependency_mode": "Whether all of depends_on are needed, or one",
    "upstream_failure_policy": "What it does when one of depends_on has failed",
    "dependency_timeout_seconds": "How long it waits for depends_on before it fails",
    "executor_loss_policy": "What happens when its executor dies",
    "broadcast": "Whether it runs on every executor of the group",
    "concurrency_key": "Instances with the same key take turns",
    "concurrency_limit": "How many of those at a time",
    "executor_labels": "Labels that an executor must carry to run it",
    "args_schema": "What its arguments look like, for people: a JSON Schema",
    "owner": "Whom to ask about it",
    "tags": "Words to find it by",
    "depends_on": "Names of tasks that must have succeeded, of this set or of the store",
    "command": "A program and its arguments, or one text for the shell (type: command)",
    "url": "An address to call (type: http)",
    "handler": "A handler of an app (type: python)",
}
_SHORT: Mapping[str, dict[str, Any]] = {
    "command": {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
        ]
    },
    "url": {"type": "string", "pattern": "^https?://"},
    "handler": {"type": "string", "minLength": 1},
}
EXAMPLE: dict[str, Any] = {
    "name": "close_books",
    "command": ["/opt/books/close", "--day", "${day}"],
    "schedule": "0 9 * * MON-FRI",
    "timezone": "Asia/Shanghai",
    "max_retries": 3,
}
NAME: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": LONGEST_NAME,
    "description": "The name of this set: its tasks are managed by file:NAME. By default the file's or the folder's",
}
GROUPS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": TEXTS["group"]},
    "maxItems": MOST_GROUPS,
    "description": "Groups that are made when they are missing",
}


def file_task_schema() -> dict[str, Any]:
    """One task of a file: its fields, their bounds and their defaults."""
    fields = {name: one for name, one in task_schema()["properties"].items() if name not in ELSEWHERE}
    needed = {"type": "array", "items": {"type": "string"}, "default": []}
    every = {**fields, "depends_on": needed, **_SHORT}
    return {
        "title": "FileTask",
        "description": "What to run and when",
        "type": "object",
        "properties": {name: {"description": _ABOUT[name], **one} for name, one in every.items()},
        "required": ["name"],
        "additionalProperties": False,
        "examples": [EXAMPLE],
    }


def task_file_schema() -> dict[str, Any]:
    """A whole file, in draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hourhand task file",
        "description": "Which tasks there are; see `hourhand apply --help`",
        "type": "object",
        "properties": {
            "name": NAME,
            "groups": GROUPS,
            "tasks": {"type": "array", "items": {"$ref": "#/$defs/task"}, "maxItems": MOST_TASKS},
        },
        "required": ["tasks"],
        "additionalProperties": False,
        "$defs": {
            "task": {
                **file_task_schema(),
                "oneOf": [*[{"required": [name]} for name in SHORTHANDS], _by_type()],
                "allOf": [rule for kind in PAYLOADS for rule in _payload_of(kind)],
            }
        },
    }


def _by_type() -> dict[str, Any]:
    return {"required": ["type", "payload"], "not": {"anyOf": [{"required": [name]} for name in SHORTHANDS]}}


def _payload_of(kind: TaskType) -> list[dict[str, Any]]:
    """What the payload of a type holds: what its shorthand says stands there, or is needed."""
    described = TypeAdapter(PAYLOADS[kind]).json_schema()
    whole = {"type": "object", "properties": described["properties"], "additionalProperties": False}
    short = next((name for name, one in SHORTHANDS.items() if one is kind), None)
    of_type = {"properties": {"type": {"const": kind.value}}, "required": ["type"]}
    needed = {"properties": {"payload": {**whole, "required": described["required"]}}}
    if short is None:
        return [{"if": of_type, "then": needed}]
    rest = {name: one for name, one in described["properties"].items() if name != short}
    return [
        {
            "if": {"required": [short]},
            "then": {"properties": {"type": {"const": kind.value}, "payload": {**whole, "properties": rest}}},
        },
        {"if": {**of_type, "not": {"required": [short]}}, "then": needed},
    ]
