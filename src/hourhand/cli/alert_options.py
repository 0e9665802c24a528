"""The options that say what an alert rule is, of `hourhand alert add` and `hourhand alert edit`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hourhand.cli import completing
from hourhand.cli.json_options import Json, object_option
from hourhand.model.errors import InvalidInput


class When(StrEnum):
    """The conditions there are."""

    FAILED = "failed"
    FAILED_IN_A_ROW = "failed_in_a_row"
    LATE = "late"
    NEVER_STARTED = "never_started"
    RUNNING_LONGER = "running_longer"
    EXECUTOR_LOST = "executor_lost"
    QUEUE_LONGER = "queue_longer"


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, **more)


WORDS = {
    "name": "NAME",
    "condition": "--when",
    "condition.count": "--count",
    "condition.seconds": "--seconds",
    "condition.times_median": "--times-median",
    "condition.minutes": "--minutes",
    "scope": "--task",
    "targets": "--to",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertOptions:
    """What was given; None is what was not."""

    when: Annotated[When | None, _option("The condition.")] = None
    count: Annotated[int | None, _option("For failed_in_a_row and queue_longer: how many.")] = None
    seconds: Annotated[float | None, _option("For late, never_started and running_longer: how long.")] = None
    times_median: Annotated[
        float | None, _option("For running_longer, in place of --seconds: times what is usual.")
    ] = None
    minutes: Annotated[float | None, _option("For queue_longer: for how long.")] = None
    condition: Annotated[str | None, _option("The condition as JSON, in place of --when.", metavar="JSON")] = None
    task: Annotated[str | None, _option("Look at this task only.", metavar="NAME", autocompletion=completing.tasks)] = (
        None
    )
    group: Annotated[
        str | None, _option("Look at this group only.", metavar="NAME", autocompletion=completing.groups)
    ] = None
    to: Annotated[
        list[str] | None,
        _option("An Apprise URL, such as mailto://user:password@example.com; repeatable.", metavar="URL"),
    ] = None
    webhook: Annotated[list[str] | None, _option("A URL to post notices to as JSON; repeatable.", metavar="URL")] = None
    file: Annotated[
        Path | None,
        _option("A JSON object as REST takes it; - is standard input.", "--file", "-f", metavar="FILE"),
    ] = None

    def fields(self) -> Json:
        """The fields of a rule that the options make."""
        written = {} if self.file is None else _read(self.file)
        given = {"condition": self._condition(), "scope": self._scope(), "targets": self._targets()}
        return written | {name: value for name, value in given.items() if value is not None}

    def _condition(self) -> Json | None:
        numbers = {
            "count": self.count,
            "seconds": self.seconds,
            "times_median": self.times_median,
            "minutes": self.minutes,
        }
        parameters = {name: value for name, value in numbers.items() if value is not None}
        if self.when is None:
            if parameters:
                option = f"--{next(iter(parameters)).replace('_', '-')}"
                raise InvalidInput.one(option, None, "needs --when with it: it is a part of a condition")
            return object_option(self.condition, "--condition")
        if self.condition is not None:
            raise InvalidInput.one("--condition", None, "is given together with --when: give one or the other")
        return {"kind": self.when.value, **parameters}

    def _scope(self) -> Json | None:
        if self.task is not None and self.group is not None:
            raise InvalidInput.one("--group", self.group, "is given together with --task: give one or the other")
        if self.task is not None:
            return {"task": self.task}
        return None if self.group is None else {"group": self.group}

    def _targets(self) -> list[Any] | None:
        if self.to is None and self.webhook is None:
            return None
        return [*(self.to or []), *({"webhook": url} for url in self.webhook or [])]


def _read(file: Path) -> Json:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise InvalidInput.one("--file", str(file), f"{file} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidInput.one("--file", str(file), f"{file} holds no JSON object: write one, as REST takes it")
    return found
