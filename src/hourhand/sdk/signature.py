"""SDK: a handler's parameters: which is the context, and what the arguments of an instance must be."""

from __future__ import annotations

import difflib
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import ErrorDetails

from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.sdk.context import Context

CONTEXT_NAME = "ctx"


class _Schema(GenerateJsonSchema):
    """Defaults that are no JSON are left out without a warning: the function has them anyway."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic declares it so


@dataclass(frozen=True, slots=True)
class Signature:
    """How a handler is called."""

    context: str | None
    """The name of the parameter that takes the Context."""
    required: tuple[str, ...]
    _names: Mapping[str, str]
    """From the model's fields to parameters; apart, so that a parameter may be called `json` or `_x`."""
    _model: type[BaseModel]
    _further: TypeAdapter[Any] | None
    """What `**kwargs` takes."""

    def schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema."""
        schema = self._model.model_json_schema(schema_generator=_Schema)
        schema.pop("title", None)
        return schema

    def convert(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the parameters want them (a text as a date …); what is left out stays out."""
        if not args and not self.required:
            return {}
        if self.context is not None and self.context in args:
            raise InvalidInput.one(
                f"args.{self.context}", args[self.context], "is the handler's Context, not an argument: leave it out"
            )
        try:
            model = self._model.model_validate(dict(args))
        except ValidationError as refused:
            raise InvalidInput(self._errors(refused)) from None
        values = {self._names[name]: getattr(model, name) for name in model.model_fields_set if name in self._names}
        if self._further is not None:
            values |= self._convert_further(model.model_extra or {})
        return values

    def check_some(self, args: Mapping[str, Any]) -> None:
        """Refuse what is wrong with these, though others may be given later."""
        absent = [name for name in self.required if name not in args]
        try:
            self.convert(args)
        except InvalidInput as refused:
            errors = [one for one in refused.errors if one.field not in [f"args.{name}" for name in absent]]
            if errors:
                raise InvalidInput(errors) from None

    def _convert_further(self, given: Mapping[str, Any]) -> dict[str, Any]:
        assert self._further is not None  # noqa: S101 - for the type checker
        values, errors = {}, []
        for name, value in given.items():
            try:
                values[name] = self._further.validate_python(value)
            except ValidationError as refused:
                errors += self._errors(refused, name)
        if errors:
            raise InvalidInput(errors)
        return values

    def _errors(self, refused: ValidationError, *path: str) -> list[FieldError]:
        return [self._error(one, *path) for one in refused.errors(include_url=False)]

    def _error(self, detail: ErrorDetails, *path: str) -> FieldError:
        place = ".".join(str(one) for one in ("args", *path, *detail["loc"]))
        known = list(self._names.values())
        if detail["type"] == "missing":
            return FieldError(place, None, "is required: give it")
        if detail["type"] == "extra_forbidden" and len(detail["loc"]) == 1:
            close = difflib.get_close_matches(str(detail["loc"][0]), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the arguments are: {', '.join(known) or 'none'}"
            return FieldError(place, detail["input"], f"is not an argument of the handler; {hint}")
        reason = detail["msg"][:1].lower() + detail["msg"][1:]
        return FieldError(place, detail["input"], f"{shown(detail['input'])} is refused: {reason}")


def read(function: Callable[..., object]) -> Signature:
    """The signature of a handler; refuses what no instance could be given."""
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    parameters = {name: one for name, one in inspect.signature(function).parameters.items() if name not in fixed}
    _refuse_methods(function, parameters)
    hints = {name: _hint(function, one) for name, one in parameters.items()}
    context = _context(parameters, hints)
    names: dict[str, str] = {}
    fields: dict[str, Any] = {}
    further: TypeAdapter[Any] | None = None
    for number, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.VAR_KEYWORD:
            further = _adapter(name, hints[name])
        elif name != context:
            _adapter(name, hints[name])
            default = ... if parameter.default is parameter.empty else parameter.default
            names[f"field_{number}"] = name
            fields[f"field_{number}"] = (hints[name], Field(default, alias=name))
    config = ConfigDict(extra="forbid" if further is None else "allow", protected_namespaces=())
    model = create_model("Arguments", __config__=config, **fields)
    required = tuple(names[name] for name, one in model.model_fields.items() if one.is_required())
    signature = Signature(context, required, names, model, further)
    try:
        signature.schema()
    except PydanticUserError as error:
        raise InvalidInput.one("parameters", None, f"cannot be described as JSON: {_first_line(error)}") from error
    return signature


def _hint(function: Callable[..., object], parameter: inspect.Parameter) -> Any:  # noqa: ANN401 - any annotation
    """One annotation, evaluated; each by itself, since that of the result may name what is not imported."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
        raise InvalidInput.one(
            parameter.name,
            None,
            f"{str(parameter).partition(':')[0]} is given by position, and arguments of an instance are given by name: "
            "make it an ordinary parameter",
        )
    if parameter.annotation is parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    names = getattr(inspect.unwrap(cast("Callable[..., object]", beneath(function))), "__globals__", {})
    try:
        return get_type_hints(holder, names, include_extras=True)[parameter.name]
    except Exception as error:
        raise InvalidInput.one(
            parameter.name,
            str(parameter.annotation),
            f"its annotation {parameter.annotation!r} cannot be read ({type(error).__name__}: {error}): what it names "
            "must be in the module at run time, so neither below `if TYPE_CHECKING` nor inside a function",
        ) from error


def _refuse_methods(function: Callable[..., object], parameters: Mapping[str, inspect.Parameter]) -> None:
    first = next(iter(parameters), None)
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    in_class = bool(owner) and not owner.endswith("<locals>")
    if first == "self" or (first == "cls" and in_class):
        raise InvalidInput.one(
            first, None, "a method has no object to be called on: use a function, or @staticmethod above @app.task"
        )


def beneath(function: object) -> object:
    """What a `functools.partial` calls in the end."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _context(parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]) -> str | None:
    """The parameter annotated Context, or a first one named ctx; anything that might be meant so is refused."""
    found = [name for name, hint in hints.items() if hint is Context or Context in get_args(hint)]
    if len(found) > 1:
        raise InvalidInput.one(found[1], None, f"{' and '.join(found)} are both annotated Context: keep one")
    if found or CONTEXT_NAME not in parameters:
        return found[0] if found else None
    if parameters[CONTEXT_NAME].annotation is not inspect.Parameter.empty:
        raise InvalidInput.one(
            CONTEXT_NAME,
            str(hints[CONTEXT_NAME]),
            f"is annotated {shown(hints[CONTEXT_NAME])}: annotate it Context, or give the argument another name",
        )
    if next(iter(parameters)) != CONTEXT_NAME:
        raise InvalidInput.one(CONTEXT_NAME, None, "is neither annotated nor first: write ctx: Context")
    return CONTEXT_NAME


def _adapter(name: str, hint: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any annotation
    try:
        return TypeAdapter(hint)
    except PydanticUserError as error:
        raise InvalidInput.one(
            name, shown(hint), f"{shown(hint)} cannot be made from JSON: {_first_line(error)}"
        ) from error


def _first_line(error: PydanticUserError) -> str:
    return str(error.message).partition("\n")[0]
