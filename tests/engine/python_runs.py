"""Functions run as handlers by the python runner, in one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import Recorded
from hourhand import App, Context
from hourhand.model.words import TaskType
from hourhand.runners.python import PythonRunner
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hourhand.model.instance import Outcome


def attempt(name: str = "sample", **more: Any) -> Recorded:
    return Recorded(TaskType.PYTHON, {"handler": name}, **more)


def runner_of(function: Callable[..., object], **settings: Any) -> PythonRunner:
    app = App()
    app.task(name="sample")(function)
    return PythonRunner(app.handlers, settings=Settings(**settings))


async def run(function: Callable[..., object], attempted: Recorded | None = None, **args: Any) -> Outcome:
    return await runner_of(function).run(attempted or attempt(args=args))


def is_(sync: bool, function: Callable[..., object]) -> Callable[..., object]:  # noqa: FBT001 - a test's shorthand
    """The same function as `def` or as `async def`."""
    if sync:
        return function

    async def asynchronous(ctx: Context) -> object:
        return function(ctx)

    return asynchronous


both = pytest.mark.parametrize("sync", [False, True], ids=["loop", "thread"])
