"""Rules: `${name}` in a text, filled from an instance's arguments; nothing is ever evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from hourhand.model.errors import InvalidInput

_PLACE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def places(text: str, field: str) -> tuple[str, ...]:
    """The names a text refers to; refuses a malformed place."""
    if "${" in _PLACE.sub("", text):
        raise InvalidInput.one(field, text, f"{text!r} opens a place with ${{ and does not close it: write ${{arg}}")
    names = tuple(_PLACE.findall(text))
    for name in names:
        if not _NAME.match(name):
            raise InvalidInput.one(
                field,
                text,
                f"${{{name}}} in {text!r} is not a name: write ${{arg}}, a letter first, then letters, digits or _",
            )
    return names


def substitute(text: str, args: Mapping[str, Any] | None, field: str) -> str:
    """The text with every `${name}` replaced by that argument; a missing or structured one is refused."""

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        value = (args or {}).get(name)
        if not isinstance(value, str | int | float):
            known = ", ".join(sorted(args or {})) or "none"
            raise InvalidInput.one(
                field, text, f"{text!r} needs the argument {name!r} as text or a number; arguments given: {known}"
            )
        return value if isinstance(value, str) else json.dumps(value)

    places(text, field)
    return _PLACE.sub(fill, text)
