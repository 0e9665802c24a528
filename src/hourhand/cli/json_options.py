"""Options of the CLI whose values are JSON."""

from __future__ import annotations

import json
from typing import Any

from hourhand.model.errors import InvalidInput

Json = dict[str, Any]


def json_option(text: str | None, option: str) -> Any:  # noqa: ANN401 - JSON
    """The value of an option that is JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput.one(
            option, text, f'{text!r} is not JSON ({error}): write it such as \'{{"day": "2026-11-15"}}\''
        ) from None


def object_option(text: str | None, option: str) -> Json | None:
    """The value of an option that is a JSON object."""
    value = json_option(text, option)
    if value is not None and not isinstance(value, dict):
        raise InvalidInput.one(option, text, f"{text!r} is not a JSON object: write it such as '{{\"day\": 1}}'")
    return value
