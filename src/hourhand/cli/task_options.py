"""The options that say what a task is, of `hourhand task add` and `hourhand task edit`, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import completing
from hourhand.cli.command_line import split_command
from hourhand.cli.json_options import Json, json_option, object_option
from hourhand.model.errors import InvalidInput
from hourhand.model.words import (
    DependencyMode,
    ExecutorLossPolicy,
    MisfirePolicy,
    OverlapPolicy,
    RetryBackoff,
    TaskType,
    UpstreamFailurePolicy,
)

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

_WHAT, _WHEN, _HOW = "What to run", "When", "How"


def _option(help_: str, panel: str, name: str | None = None, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    names = (name,) if name else ()
    return typer.Option(*names, help=help_, rich_help_panel=panel, show_default=False, **more)


@dataclass(frozen=True, kw_only=True)
class TaskOptions:
    """What was given; None is what was not."""

    type: Annotated[TaskType | None, _option("Follows from --command, --url or --handler.", _WHAT)] = None
    command: Annotated[str | None, _option("A program and its arguments, such as 'echo hi'.", _WHAT)] = None
    shell: Annotated[bool, _option("Give --command to /bin/sh as it is.", _WHAT, "--shell")] = False
    env: Annotated[list[str] | None, _option("For --command: NAME=VALUE; repeatable.", _WHAT)] = None
    cwd: Annotated[str | None, _option("For --command: the folder to run in.", _WHAT)] = None
    url: Annotated[str | None, _option("An address to call.", _WHAT)] = None
    method: Annotated[
        str | None,
        _option("For --url: GET, or POST with a body, unless given.", _WHAT, autocompletion=completing.methods),
    ] = None
    header: Annotated[list[str] | None, _option("For --url: 'Name: value'; repeatable.", _WHAT)] = None
    json_body: Annotated[str | None, _option("For --url: the body, as JSON.", _WHAT, metavar="JSON")] = None
    body: Annotated[str | None, _option("For --url: the body, as text.", _WHAT)] = None
    handler: Annotated[str | None, _option("A handler of an app.", _WHAT)] = None
    args: Annotated[
        str | None, _option("For --handler: arguments of every instance, as a JSON object.", _WHAT, metavar="JSON")
    ] = None
    payload: Annotated[
        str | None, _option("All of the above as one JSON object; needs --type.", _WHAT, metavar="JSON")
    ] = None
    schedule: Annotated[
        str | None,
        _option(
            "Such as '*/5 * * * *' or '@every 30s'. [dim]@manual[/dim]", _WHEN, autocompletion=completing.schedules
        ),
    ] = None
    timezone: Annotated[
        str | None, _option("The zone of the schedule. [dim]UTC[/dim]", _WHEN, autocompletion=completing.timezones)
    ] = None
    depends_on: Annotated[
        list[str] | None,
        _option("A task that must have succeeded; repeatable.", _WHEN, metavar="NAME", autocompletion=completing.tasks),
    ] = None
    dependency_mode: Annotated[
        DependencyMode | None, _option("Whether all --depends-on are needed, or one. [dim]all[/dim]", _WHEN)
    ] = None
    upstream_failure_policy: Annotated[
        UpstreamFailurePolicy | None, _option("When one of them has failed. [dim]wait[/dim]", _WHEN)
    ] = None
    dependency_timeout: Annotated[
        int | None, _option("Seconds to wait for them, then it fails. [dim]86400[/dim]", _WHEN)
    ] = None
    overlap: Annotated[OverlapPolicy | None, _option("While the last instance lives. [dim]skip[/dim]", _WHEN)] = None
    misfire: Annotated[MisfirePolicy | None, _option("For missed instants. [dim]fire_once[/dim]", _WHEN)] = None
    misfire_grace: Annotated[
        int | None, _option("Seconds by which an instant may be late and is not missed. [dim]60[/dim]", _WHEN)
    ] = None
    catch_up_limit: Annotated[
        int | None, _option("For --misfire catch_up: how many missed instants at most. [dim]100[/dim]", _WHEN)
    ] = None
    group: Annotated[
        str | None, _option("Whose executors run it. [dim]default[/dim]", _HOW, autocompletion=completing.groups)
    ] = None
    broadcast: Annotated[
        bool | None, _option("Run it on every executor of the group.", _HOW, "--broadcast/--no-broadcast")
    ] = None
    label: Annotated[
        list[str] | None, _option("NAME=VALUE that an executor must carry; repeatable.", _HOW, metavar="NAME=VALUE")
    ] = None
    priority: Annotated[int | None, _option("0 (highest) to 9. [dim]5[/dim]", _HOW)] = None
    timeout: Annotated[int | None, _option("Seconds until an attempt is stopped.", _HOW)] = None
    retries: Annotated[int | None, _option("How often to try again after a failure. [dim]0[/dim]", _HOW)] = None
    retry_delay: Annotated[int | None, _option("Seconds before the first retry. [dim]10[/dim]", _HOW)] = None
    retry_backoff: Annotated[
        RetryBackoff | None, _option("How the delay grows from retry to retry. [dim]exponential[/dim]", _HOW)
    ] = None
    executor_loss_policy: Annotated[
        ExecutorLossPolicy | None, _option("When its executor dies. [dim]requeue[/dim]", _HOW)
    ] = None
    concurrency_key: Annotated[str | None, _option("Instances with the same key take turns.", _HOW)] = None
    concurrency_limit: Annotated[int | None, _option("How many of them at a time. [dim]1[/dim]", _HOW)] = None
    args_schema: Annotated[
        str | None, _option("What its arguments look like, for people: a JSON Schema.", _HOW, metavar="JSON")
    ] = None
    description: Annotated[str | None, _option("What it is for.", _HOW)] = None
    owner: Annotated[str | None, _option("Whom to ask about it.", _HOW)] = None
    tag: Annotated[list[str] | None, _option("A word to find it by; repeatable.", _HOW)] = None


FIELDS: Mapping[str, str] = {
    "schedule": "schedule",
    "timezone": "timezone",
    "dependency_mode": "dependency_mode",
    "upstream_failure_policy": "upstream_failure_policy",
    "dependency_timeout": "dependency_timeout_seconds",
    "overlap": "overlap_policy",
    "misfire": "misfire_policy",
    "misfire_grace": "misfire_grace_seconds",
    "catch_up_limit": "catch_up_limit",
    "group": "group",
    "broadcast": "broadcast",
    "priority": "priority",
    "timeout": "timeout_seconds",
    "retries": "max_retries",
    "retry_delay": "retry_delay_seconds",
    "retry_backoff": "retry_backoff",
    "executor_loss_policy": "executor_loss_policy",
    "concurrency_key": "concurrency_key",
    "concurrency_limit": "concurrency_limit",
    "description": "description",
    "owner": "owner",
    "tag": "tags",
}
"""Options that are fields of a task as they are."""
_NAMES = {field: option for option, field in FIELDS.items()} | {
    "payload.command": "command",
    "payload.env": "env",
    "payload.cwd": "cwd",
    "payload.url": "url",
    "payload.method": "method",
    "payload.headers": "header",
    "payload.json": "json_body",
    "payload.body": "body",
    "payload.handler": "handler",
    "payload.args": "args",
    "dependency_ids": "depends_on",
    "executor_labels": "label",
    "args_schema": "args_schema",
    "type": "type",
}
WORDS: dict[str, str] = {field: f"--{option.replace('_', '-')}" for field, option in _NAMES.items()}
"""The option that was typed, by the field that it became."""
_KINDS = {"command": TaskType.COMMAND, "url": TaskType.HTTP, "handler": TaskType.PYTHON}
"""The option that says what to run, by which the type is known."""
_BELONG = {
    TaskType.COMMAND: ("command", "shell", "env", "cwd"),
    TaskType.HTTP: ("url", "method", "header", "json_body", "body"),
    TaskType.PYTHON: ("handler", "args"),
}


def flag(option: str) -> str:
    """An option as it is typed."""
    return f"--{option.replace('_', '-')}"


def definition(rest: Rest, options: TaskOptions) -> Json:
    """The fields of a new task."""
    kind = _kind(options)
    if kind is None:
        raise InvalidInput.one(
            "--command", None, "is missing: say what to run by --command, --url or --handler (or --type and --payload)"
        )
    fields = _fields(rest, options)
    if options.depends_on and options.schedule is None:
        fields["schedule"] = "@upstream"  # by hand alone its dependencies would mean nothing
    return {"type": kind.value, **fields, "payload": _payload(kind, options, {})}


def changes(rest: Rest, options: TaskOptions, task: Json) -> Json:
    """The fields of a task that the options change; what is not given stays."""
    before = TaskType(task["type"])
    kind = _kind(options) or before
    found = _fields(rest, options)
    if kind is not before:
        found["type"] = kind.value
    payload = _payload(kind, options, task["payload"] if kind is before else {})
    if payload != task["payload"]:
        found["payload"] = payload
    return found


def _kind(options: TaskOptions) -> TaskType | None:
    """The type that was given or that follows; None if neither."""
    given = [option for option in _KINDS if getattr(options, option) is not None]
    if len(given) > 1:
        raise InvalidInput.one(flag(given[1]), None, f"is given together with {flag(given[0])}: a task runs one thing")
    follows = _KINDS[given[0]] if given else None
    if options.type is not None and follows not in (None, options.type):
        raise InvalidInput.one("--type", options.type.value, f"is {options.type.value}, but {flag(given[0])} is not")
    kind = options.type or follows
    if options.payload is not None and given:
        raise InvalidInput.one("--payload", None, f"is given together with {flag(given[0])}: give the one or the other")
    return kind


def _fields(rest: Rest, options: TaskOptions) -> Json:
    given = {
        field: getattr(options, option) for option, field in FIELDS.items() if getattr(options, option) is not None
    }
    if options.label is not None:
        given["executor_labels"] = pairs(options.label, "--label")
    if options.args_schema is not None:
        given["args_schema"] = object_option(options.args_schema, "--args-schema")
    if options.depends_on is not None:
        given["dependency_ids"] = [rest.task(name)["id"] for name in options.depends_on]
    return given


def _payload(kind: TaskType, options: TaskOptions, before: Json) -> Json:
    for other, belonging in _BELONG.items():
        strange = next((name for name in belonging if getattr(options, name)), None) if other is not kind else None
        if strange:
            raise InvalidInput.one(
                flag(strange), None, f"is for tasks of type {other.value}, and this one is {kind.value}"
            )
    if options.payload is not None:
        return object_option(options.payload, "--payload") or {}
    made = _PAYLOADS.get(kind)
    return before if made is None else before | made(options)


def _command(options: TaskOptions) -> Json:
    found: Json = {}
    if options.shell and options.command is None:
        raise InvalidInput.one("--shell", None, "is given without --command: there is nothing for the shell to run")
    if options.command is not None:
        found["command"] = options.command if options.shell else split_command(options.command)
    if options.env is not None:
        found["env"] = pairs(options.env, "--env")
    if options.cwd is not None:
        found["cwd"] = options.cwd
    return found


def _http(options: TaskOptions) -> Json:
    found: Json = {name: getattr(options, name) for name in ("url", "body") if getattr(options, name) is not None}
    if options.header is not None:
        found["headers"] = pairs(options.header, "--header", ":")
    if options.json_body is not None:
        found["json"] = json_option(options.json_body, "--json-body")
    has_body = options.json_body is not None or options.body is not None
    if options.method is not None or (has_body and options.url is not None):
        found["method"] = (options.method or "POST").upper()
    return found


def _python(options: TaskOptions) -> Json:
    args = object_option(options.args, "--args")
    return {
        **({} if options.handler is None else {"handler": options.handler}),
        **({} if args is None else {"args": args}),
    }


_PAYLOADS: Mapping[TaskType, Callable[[TaskOptions], Json]] = {
    TaskType.COMMAND: _command,
    TaskType.HTTP: _http,
    TaskType.PYTHON: _python,
}


def pairs(given: list[str], option: str, sign: str = "=") -> dict[str, str]:
    """NAME=VALUE, each name once; the value is never shown, since it may be a secret."""
    found: dict[str, str] = {}
    form = "NAME=VALUE" if sign == "=" else "'Name: value'"
    for one in given:
        name, between, value = one.partition(sign)
        if not between or not name.strip():
            raise InvalidInput.one(option, None, f"is not of the form {form}")
        if name.strip() in found:
            raise InvalidInput.one(option, None, f"gives {name.strip()!r} twice: give each once")
        found[name.strip()] = value.strip() if sign == ":" else value
    return found
