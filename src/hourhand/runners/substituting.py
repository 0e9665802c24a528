"""Runners: `${name}` filled into the parts of a payload from an instance's arguments.

What is refused is named by its field, never by its text: that may hold a secret, or be as long as a payload may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from hourhand.model.errors import InvalidInput, shown
from hourhand.rules.substitution import places, substitute

T = TypeVar("T")


def filled(value: T, args: Mapping[str, Any], field: str) -> T:
    """The value with every `${name}` in its texts replaced, at any depth; the keys of objects stay as they are.

    Raises InvalidInput for a place that is malformed, or whose argument is missing or structured.
    """
    return cast("T", _filled(value, args, field))


def _filled(value: Any, args: Mapping[str, Any], field: str) -> Any:
    match value:
        case str():
            return _text(value, args, field)
        case Mapping():
            return {name: _filled(one, args, f"{field}.{name}") for name, one in value.items()}
        case list():
            return [_filled(one, args, f"{field}[{index}]") for index, one in enumerate(value)]
        case tuple():
            return tuple(_filled(one, args, f"{field}[{index}]") for index, one in enumerate(value))
        case _:
            return value


def _text(text: str, args: Mapping[str, Any], field: str) -> str:
    if "${" not in text:
        return text
    try:
        names = places(text, field)
    except InvalidInput:
        raise InvalidInput.one(
            field, None, "has a place that is malformed: write ${arg}, a letter first, then letters, digits or _"
        ) from None
    for name in names:
        if not isinstance(args.get(name), str | int | float):
            known = shown(sorted(args)) if args else "none"
            raise InvalidInput.one(
                field, None, f"needs the argument {name!r} as text or a number; arguments given: {known}"
            )
    return substitute(text, args, field)
