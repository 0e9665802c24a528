"""SDK: a handler is a user's function, ready to be called for an attempt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Literal

from hourhand.contracts.runner import Attempt
from hourhand.model.errors import InvalidInput, shown
from hourhand.model.task import Declaration
from hourhand.sdk.context import Context, running_loop
from hourhand.sdk.signature import Signature, beneath, read

Isolation = Literal["loop", "thread", "process"]
LOOP, THREAD, PROCESS = "loop", "thread", "process"


class FunctionHandler:
    """One function of an app, under the name of its task; `hourhand.contracts.runner.Handler` says what it promises."""

    __slots__ = ("_context", "asynchronous", "declaration", "function", "isolation", "name", "signature", "source")

    def __init__(
        self,
        function: Callable[..., object],
        declaration: Declaration,
        signature: Signature,
        isolation: str,
    ) -> None:
        self.name = declaration.definition.name
        self.function = function
        self.declaration = declaration
        self.signature = signature
        self.isolation = isolation
        self.source: str | None = None
        """`module:app`; known once the app was loaded by that name."""
        self.asynchronous = inspect.iscoroutinefunction(function)
        self._context = signature.context

    def call(self, attempt: Attempt) -> Coroutine[Any, Any, object]:
        """Check the arguments at once; what is returned runs the function, on this loop or driven in a thread."""
        arguments = self.signature.convert(attempt.args)
        if self._context is not None:
            arguments[self._context] = Context(attempt, running_loop())
        if self.asynchronous:
            started: Any = self.function(**arguments)
            return started  # type: ignore[no-any-return]  # a coroutine: the function is async
        return _call(self.function, arguments)


async def _call(function: Callable[..., object], arguments: Mapping[str, Any]) -> object:
    """Never waits, so that a thread without a loop can drive it."""
    value = function(**arguments)
    if inspect.iscoroutine(value):
        value.close()
        raise InvalidInput.one(
            "handler",
            shown(function),
            "returned a coroutine that nobody awaits: a decorator hides that it is async; make the decorator's own "
            "function async def, and await in it",
        )
    return value


def read_function(function: object) -> Signature:
    """The signature of what is to be a handler; refuses what cannot be called as one."""
    if isinstance(function, staticmethod | classmethod):
        kind = type(function).__name__
        hint = "write @staticmethod above @app.task" if kind == "staticmethod" else "use a function"
        raise InvalidInput.one("function", shown(function), f"is a {kind}: {hint}")
    if not inspect.isfunction(beneath(function)):
        raise InvalidInput.one(
            "function", shown(function), f"{shown(function)} is not a function: use def or async def"
        )
    assert callable(function)  # noqa: S101 - for the type checker
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidInput.one("function", shown(function), "yields: a handler returns its result at the end")
    return read(function)


def isolation_of(function: Callable[..., object], wanted: str | None) -> str:
    """Where a function runs: as asked for, if that can be."""
    own = LOOP if inspect.iscoroutinefunction(function) else THREAD
    if wanted is None:
        return own
    if wanted not in (own, PROCESS):
        kind = "async def" if own == LOOP else "def"
        raise InvalidInput.one(
            "isolation", wanted, f"{shown(wanted)} does not fit {kind}: use {own!r} (the default) or {PROCESS!r}"
        )
    return wanted
