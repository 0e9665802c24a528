"""Runners: `${name}` filled into a part of a payload from an instance's arguments.

What is refused is named by its field, never by its text: that may hold a secret, or be as long as a payload may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hourhand.model.errors import InvalidInput, shown
from hourhand.rules.substitution import places, substitute


def filled(text: str, args: Mapping[str, Any], field: str) -> str:
    """The text with every `${name}` replaced by that argument.

    Raises InvalidInput for a place that is malformed, or whose argument is missing or structured.
    """
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
