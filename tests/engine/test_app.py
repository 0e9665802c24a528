"""App: functions become handlers and declared tasks; what could not work is refused where it is written."""

from __future__ import annotations

import datetime as dt
import functools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import Field

import hourhand
from engine.attempts import Recorded
from hourhand import App, Context
from hourhand.model.errors import InvalidInput
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OverlapPolicy, TaskType
from hourhand.sdk.fields import FIELDS

if TYPE_CHECKING:
    from hourhand.contracts.runner import Handler
    from hourhand.sdk.handlers import FunctionHandler

    # For mypy: it is a handler.
    def _is_a_handler(handler: FunctionHandler) -> Handler:
        return handler


def definition(app: App, name: str) -> TaskDefinition:
    return app.handlers[(app.name, name)].declaration.definition


def refused(*args: Any, function: Callable[..., object] | None = None, **fields: Any) -> InvalidInput:
    """What is said about a task of these fields."""

    def sample() -> None: ...

    with pytest.raises(InvalidInput) as caught:
        App().task(*args, **fields)(function or sample)
    return caught.value


# Tasks


def test_the_package_offers_its_names_and_no_others() -> None:
    assert hourhand.App is App
    assert {"App", "Client", "Context"} <= set(dir(hourhand))
    with pytest.raises(AttributeError, match="no attribute 'Ap'"):
        hourhand.Ap  # type: ignore[attr-defined]  # noqa: B018 - reading it is the test


def test_the_command_line_does_not_import_what_programs_use() -> None:
    code = "import sys, hourhand, hourhand.cli.main; sys.exit('hourhand.sdk.app' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_decorated_function_stays_a_function() -> None:
    app = App()

    @app.task
    def double(number: int) -> int:
        return 2 * number

    @app.task()
    async def triple(number: int) -> int:
        return 3 * number

    assert double(2) == 4
    assert await triple(2) == 6


def test_a_task_says_what_its_function_and_fields_say() -> None:
    app = App(group="billing")

    @app.task("0 2 * * *", timezone="Asia/Shanghai", max_retries=3, tags=["a"], overlap_policy="serial")
    async def close_books(ctx: Context, day: str | None = None) -> None:
        """Post the day's entries.

        Once a night.
        """

    found = definition(app, "close_books")
    assert (found.name, found.type, found.group) == ("close_books", TaskType.PYTHON, "billing")
    assert (found.schedule, found.timezone, found.max_retries) == ("0 2 * * *", "Asia/Shanghai", 3)
    assert (found.tags, found.overlap_policy) == (("a",), OverlapPolicy.SERIAL)
    assert found.payload == {"handler": "close_books"}
    assert found.description == "Post the day's entries.\n\nOnce a night."


def test_every_field_of_a_task_can_be_given_but_those_that_the_function_says() -> None:
    said_by_function = {"name", "type", "schedule", "payload", "group", "args_schema", "managed_by", "declared_hash"}
    assert {field.name for field in fields(TaskDefinition)} - said_by_function == FIELDS


def test_an_app_that_is_not_named_like_its_group_says_so_in_its_payloads() -> None:
    app = App("books", group="billing")
    app.task(name="load", args={"day": "x"})(lambda day: day)
    assert definition(app, "load").payload == {"handler": "load", "app": "books", "args": {"day": "x"}}
    assert app.provides == "python:books"
    assert list(app.handlers) == [("books", "load")]


def test_where_a_function_runs_follows_from_its_kind_unless_told() -> None:
    app = App()

    @app.task
    async def on_loop() -> None: ...

    @app.task
    def in_thread() -> None: ...

    app.task(name="a", isolation="process")(on_loop)
    app.task(name="b", isolation="process")(in_thread)
    assert [one.isolation for one in app.handlers.values()] == ["loop", "thread", "process", "process"]


def test_dependencies_are_named_by_function_or_name() -> None:
    app, other = App(), App("other")

    @other.task(name="read the books")
    def read() -> None: ...

    @app.task
    def load() -> None: ...

    @app.task("@upstream", depends_on=[load, read, "by hand", load])
    def report() -> None: ...

    names = [(one.definition.name, one.depends_on) for one in app.declarations()]
    assert names == [("load", ()), ("report", ("load", "read the books", "by hand"))]
    assert definition(app, "report").dependency_ids == ()


def test_ids_of_dependencies_may_be_given_as_well() -> None:
    app = App()
    app.task("@upstream", name="a", dependency_ids=[7])(lambda: None)
    app.task("@upstream", name="b", dependency_ids=[7], depends_on=["a"])(lambda: None)
    assert definition(app, "a").dependency_ids == definition(app, "b").dependency_ids == (7,)


def test_a_cycle_of_an_apps_tasks_is_refused() -> None:
    app = App()
    app.task(name="a", depends_on=["b"])(lambda: None)
    app.task(name="b", depends_on=["a"])(lambda: None)
    with pytest.raises(InvalidInput, match="a → b → a"):
        app.declarations()


# Arguments


def test_the_schema_of_arguments_comes_from_the_type_hints() -> None:
    app = App()

    @app.task
    def load(ctx: Context, day: dt.date, json: int = 3, *, _hidden: Annotated[int, Field(ge=1)] = 2) -> Any: ...

    schema = dict(definition(app, "load").args_schema or {})
    assert (schema["required"], schema["additionalProperties"]) == (["day"], False)
    assert schema["properties"]["day"] == {"format": "date", "title": "Day", "type": "string"}
    assert list(schema["properties"]) == ["day", "json", "_hidden"]


async def test_arguments_are_converted_as_the_hints_say() -> None:
    app = App()

    @app.task
    async def load(day: dt.date, sizes: tuple[int, ...] = (), **more: float) -> Any:
        return day, sizes, more

    called = app.handlers[("default", "load")].call(
        Recorded(TaskType.PYTHON, args={"day": "2026-11-15", "sizes": [1, "2"], "rate": "1.5"})
    )
    assert await called == (dt.date(2026, 11, 15), (1, 2), {"rate": 1.5})


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "args.day: is required"),
        ({"day": "soon"}, "args.day: 'soon' is refused"),
        ({"day": "2026-11-15", "dya": 1}, "args.dya: is not an argument of the handler; did you mean 'day'?"),
        ({"day": "2026-11-15", "zone": 1}, "args.zone: is not an argument of the handler; the arguments are: day, n"),
        ({"day": "2026-11-15", "n": [1, "x"]}, "args.n.1: 'x' is refused"),
        ({"day": "2026-11-15", "ctx": 1}, "args.ctx: is the handler's Context"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(args: dict[str, Any], said: str) -> None:
    app = App()

    @app.task
    def load(ctx: Context, day: dt.date, n: list[int] | None = None) -> None: ...

    with pytest.raises(InvalidInput) as caught:
        _ = app.handlers[("default", "load")].call(Recorded(TaskType.PYTHON, args=args))
    assert said in str(caught.value)


def test_further_arguments_follow_their_hint() -> None:
    app = App()
    app.task(name="any")(lambda **more: more)

    @app.task
    def numbers(**more: int) -> None: ...

    assert (definition(app, "any").args_schema or {})["additionalProperties"] is True
    with pytest.raises(InvalidInput, match=r"args\.a: 'x' is refused"):
        _ = app.handlers[("default", "numbers")].call(Recorded(TaskType.PYTHON, args={"a": "x"}))


@pytest.mark.parametrize("annotated", [True, False])
async def test_the_context_is_the_parameter_annotated_so_or_the_first_named_ctx(*, annotated: bool) -> None:
    app = App()

    async def by_type(n: int = 0, where: Context | None = None) -> Any:
        return n, where

    async def by_name(ctx, n=0):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202 - the point
        return n, ctx

    app.task(name="load")(by_type if annotated else by_name)
    handler = app.handlers[("default", "load")]
    answer: Any = await handler.call(Recorded(TaskType.PYTHON))
    assert isinstance(answer[1], Context)
    assert list((handler.declaration.definition.args_schema or {})["properties"]) == ["n"]


# Refusals


def positional(*values: int) -> None: ...
def unnamed(value: int, /) -> None: ...
def late(value: int, ctx) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001
def mistyped(ctx: dict[str, int]) -> None: ...
def twice(ctx: Context, other: Context) -> None: ...
def method(self: Any) -> None: ...
def unreadable(value: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def unmakeable(value: subprocess.Popen[bytes]) -> None: ...
def undescribable(value: Callable[[], int]) -> None: ...
def required(day: str) -> None: ...
def yields() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (positional, "values: *values is given by position"),
        (unnamed, "value: value is given by position"),
        (late, "ctx: is neither annotated nor first: write ctx: Context"),
        (mistyped, "annotate it Context, or give the argument another name"),
        (twice, "ctx and other are both annotated Context"),
        (method, "self: a method has no object"),
        (unreadable, "its annotation 'Nowhere' cannot be read"),
        (unmakeable, "cannot be made from JSON"),
        (undescribable, "cannot be described as JSON"),
        (yields, "yields: a handler returns its result"),
        (functools.partial(print), "is not a function: use def or async def"),
        (lambda: None, "name: a lambda has none: give it by name="),
    ],
)
def test_a_function_that_no_instance_could_call_is_refused(function: Any, said: str) -> None:
    assert said in str(refused(function=function))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"schedule": "61 * * * *"}, "schedule: "),
        ({"schedule": "@upstream"}, "name at least one in dependency_ids"),
        ({"priority": 10}, "priority: 10 is out of range"),
        ({"shedule": "@daily"}, "shedule: is not a field of a handler's task; did you mean 'schedule'?"),
        ({"max_retires": 3}, "max_retires: is not a field of a handler's task; did you mean 'max_retries'?"),
        ({"payload": {}}, "payload: is not a field of a handler's task"),
        ({"overlap_policy": "never"}, "overlap_policy: 'never' is not one of: skip"),
        ({"isolation": "loop"}, "'loop' does not fit def: use 'thread' (the default) or 'process'"),
        ({"isolation": "vm"}, "isolation: 'vm' does not fit"),
        ({"depends_on": "load"}, "depends_on: 'load' is not a list: write ['load']"),
        ({"depends_on": [print]}, "is not a task: decorate it with @app.task first"),
        ({"name": ""}, "name: '' is empty"),
        ({"args": {"day": object()}}, "args: is not JSON"),
        ({"args": {"dya": 1}}, "args.dya: is not an argument of the handler"),
    ],
)
def test_fields_that_cannot_work_are_refused(given: dict[str, Any], said: str) -> None:
    assert said in str(refused(**given))


def test_a_schedule_that_cannot_give_a_required_argument_is_refused_unless_args_do() -> None:
    assert "day: is given to no instance that @daily makes" in str(refused("@daily", function=required))
    App().task("@daily", args={"day": "x"})(required)
    assert "args.day: 1 is refused" in str(refused("@daily", args={"day": 1}, function=required))


def test_a_manual_task_may_be_given_some_arguments_and_get_the_others_when_submitted() -> None:
    app = App()

    @app.task(args={"zone": "eu"})
    def load(zone: str, day: str) -> None: ...

    assert definition(app, "load").payload["args"] == {"zone": "eu"}


def test_a_refusal_says_which_function_it_is_about() -> None:
    line = positional.__code__.co_firstlineno
    assert f"{__file__}:{line} positional(): values" in str(refused(function=positional))


def test_a_name_can_be_had_once() -> None:
    app = App()
    app.task(name="load")(lambda: None)
    with pytest.raises(InvalidInput, match=rf"'load' is the name of {__file__}:\d+ <lambda>\(\)"):
        app.task(name="load")(lambda: None)


def test_a_function_with_several_tasks_is_no_dependency() -> None:
    app = App()
    for name in ("a", "b"):
        app.task(name=name)(required)
    with pytest.raises(InvalidInput, match=r"has several tasks \(.*a, b\): give one by name"):
        app.task(name="c", depends_on=[required])(lambda: None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": " x"}, "begins or ends with a space"),
        ({"name": ""}, "is empty"),
        ({"name": "x" * 198}, "at most 200"),
        ({"group": 3}, "3 is not a text"),
        ({"release": -1}, "release: -1 is not a whole number"),
        ({"release": "2"}, "release: '2' is not a whole number"),
    ],
)
def test_an_app_that_cannot_be_named_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        App(**given)
    assert said in str(caught.value)
