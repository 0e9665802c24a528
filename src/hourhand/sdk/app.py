"""SDK: an app is a program's handlers and the tasks it declares for them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack, overload

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.task import DEFAULT_GROUP, Declaration, TaskDefinition
from hourhand.model.words import TaskType
from hourhand.rules.declaration import declared_definition, in_order, owner_of
from hourhand.rules.definition import check, check_args
from hourhand.rules.lanes import handlers_of
from hourhand.rules.schedule import Manual, parse
from hourhand.sdk.fields import FIELDS, TaskFields
from hourhand.sdk.handlers import FunctionHandler, Isolation, isolation_of, read_function
from hourhand.sdk.signature import Signature, beneath

F = TypeVar("F", bound=Callable[..., object])
HANDLERS = "__hourhand_handlers__"
"""Where a decorated function, which stays a plain function, keeps what was made of it."""


_OWN_WORDS = frozenset({"schedule", "name", "isolation", "depends_on", "args"})
"""What `@app.task` takes beside the fields of a task."""


class App:
    """Handlers by name; executors load it as `module:app`, serve it and declare its tasks.

    `release` grows with each version of the program: while executors of two run side by side, the tasks are as the
    newer declares them.
    """

    def __init__(self, name: str | None = None, *, group: str = DEFAULT_GROUP, release: int = 0) -> None:
        self.name = group if name is None else name
        self.group = group
        self.release = release
        self._handlers: dict[str, FunctionHandler] = {}
        _check_app(self)

    def __repr__(self) -> str:
        """Short, for messages."""
        return f"App({self.name!r}, group={self.group!r}, release={self.release})"

    @property
    def handlers(self) -> Mapping[tuple[str, str], FunctionHandler]:
        """By app and name, as the python runner looks them up."""
        return {(self.name, name): handler for name, handler in self._handlers.items()}

    @property
    def provides(self) -> str:
        """What an executor that serves this app can execute."""
        return handlers_of(self.name)

    def declarations(self) -> tuple[Declaration, ...]:
        """The tasks, each after those of this app that it depends on; a cycle is refused."""
        return in_order([handler.declaration for handler in self._handlers.values()])

    @overload
    def task(self, schedule: F, /) -> F: ...

    @overload
    def task(
        self,
        schedule: str = "@manual",
        *,
        name: str | None = None,
        isolation: Isolation | None = None,
        depends_on: Sequence[str | Callable[..., object]] = (),
        args: Mapping[str, Any] | None = None,
        **fields: Unpack[TaskFields],
    ) -> Callable[[F], F]: ...

    def task(
        self,
        schedule: str | Callable[..., object] = "@manual",
        *,
        name: str | None = None,
        isolation: str | None = None,
        depends_on: Sequence[str | Callable[..., object]] = (),
        args: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Callable[..., Any]:
        """Make a function the handler of a task: `@app.task` or `@app.task("0 2 * * *", max_retries=3)`.

        `name` is the function's own unless given, `depends_on` takes functions and names of tasks, `args` is what
        scheduled instances are given, `isolation="process"` runs each attempt in a process that can be killed.
        """
        if not isinstance(schedule, str):
            return self.task()(schedule)

        def decorate(function: F) -> F:
            with _naming(function):
                signature = read_function(function)
                called = _name(function, name)
                payload: dict[str, Any] = {"handler": called}
                if args is not None:
                    check_args(args)
                    signature.check_some(args)
                    payload["args"] = dict(args)
                if self.name != self.group:
                    payload["app"] = self.name
                upstreams = _names(depends_on)
                values = {"description": _about(function), **_known(fields)}
                values |= {"name": called, "schedule": schedule, "group": self.group}
                values |= {"type": TaskType.PYTHON, "payload": payload, "args_schema": signature.schema()}
                definition = declared_definition(values, upstreams)
                _check_arguments(definition, signature, args or {})
                declaration = Declaration(definition=definition, depends_on=upstreams)
                where = isolation_of(function, isolation)
                handler = FunctionHandler(function, declaration, signature, where)
                self._add(handler)
            function.__dict__[HANDLERS] = (*function.__dict__.get(HANDLERS, ()), handler)
            return function

        return decorate

    def _add(self, handler: FunctionHandler) -> None:
        other = self._handlers.get(handler.name)
        if other is not None:
            raise InvalidInput.one(
                "name", handler.name, f"{handler.name!r} is the name of {_place(other.function)}: give another by name="
            )
        self._handlers[handler.name] = handler


def _check_app(app: App) -> None:
    if isinstance(app.release, bool) or not isinstance(app.release, int) or app.release < 0:
        raise InvalidInput.one("release", app.release, f"{shown(app.release)} is not a whole number from 0 on")
    for field, value in (("name", app.name), ("group", app.group)):
        if not isinstance(value, str):
            raise InvalidInput.one(field, value, f"{shown(value)} is not a text")
        # Both follow the rules for names; as a task's owner the app's name has a few letters more.
        check(TaskDefinition(name=value, type=TaskType.PYTHON, payload={"handler": "any"}, group=app.group))
        check(TaskDefinition(name="any", type=TaskType.PYTHON, payload={"handler": "any"}, managed_by=owner_of(value)))


@contextmanager
def _naming(function: object) -> Iterator[None]:
    """Say of every refusal which function it is about."""
    try:
        yield
    except InvalidInput as refused:
        place = _place(function)
        raise InvalidInput(
            FieldError(f"{place}: {error.field}", error.value, error.message) for error in refused.errors
        ) from refused


def _place(function: object) -> str:
    function = beneath(function)
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    if code is None:
        return shown(function)
    return f"{code.co_filename}:{code.co_firstlineno} {code.co_name}()"


def _name(function: Callable[..., object], given: str | None) -> str:
    if given is not None:
        return given
    own: str = getattr(function, "__name__", "<partial>")
    if own.startswith("<"):
        raise InvalidInput.one("name", None, f"a {own.strip('<>')} has none: give it by name=")
    return own


def _about(function: Callable[..., object]) -> str | None:
    return inspect.getdoc(beneath(function))


def _known(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what a function's task says by itself, or does not have."""
    for name, value in fields.items():
        if name not in FIELDS:
            known = sorted(FIELDS | _OWN_WORDS)
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the fields are: {', '.join(known)}"
            raise InvalidInput.one(name, value, f"is not a field of a handler's task; {hint}")
    return fields


def _names(depends_on: Sequence[str | Callable[..., object]]) -> tuple[str, ...]:
    """Tasks by name, from names and functions."""
    if isinstance(depends_on, str) or not isinstance(depends_on, Sequence):
        raise InvalidInput.one(
            "depends_on", depends_on, f"{shown(depends_on)} is not a list: write [{shown(depends_on)}]"
        )
    names: dict[str, None] = {}
    for one in depends_on:
        tasks = (one,) if isinstance(one, str) else tuple(made.name for made in getattr(one, HANDLERS, ()))
        if not tasks:
            raise InvalidInput.one(
                "depends_on", shown(one), f"{_place(one)} is not a task: decorate it with @app.task first"
            )
        if len(tasks) > 1:
            raise InvalidInput.one(
                "depends_on", shown(one), f"{_place(one)} has several tasks ({', '.join(tasks)}): give one by name"
            )
        names[tasks[0]] = None
    return tuple(names)


def _check_arguments(definition: TaskDefinition, signature: Signature, args: Mapping[str, Any]) -> None:
    missing = [name for name in signature.required if name not in args]
    if missing and not isinstance(parse(definition.schedule, definition.timezone), Manual):
        raise InvalidInput.one(
            missing[0],
            None,
            f"is given to no instance that {definition.schedule} makes: give the parameter a default, "
            f"or args={{{missing[0]!r}: …}}",
        )
