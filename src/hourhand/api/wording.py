"""The API's words for what Pydantic refuses: what was given, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hourhand.model.errors import shown

_TIME = "a time with its offset, such as 2026-11-15T09:00:00Z"
_RIGHT: Mapping[str, str] = {
    "string_type": "a text",
    "string_unicode": "Unicode text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of a reasonable size",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that is finite",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
    "timezone_aware": _TIME,
}
"""By Pydantic's name of the error: what the value is not."""
_BOUNDS: Mapping[str, str] = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
}
_SIZES: Mapping[str, str] = {
    "string_too_long": "it has more than {max_length} characters: shorten it",
    "string_too_short": "it has fewer than {min_length} characters: give more",
    "too_long": "it has {actual_length} items; at most {max_length} are allowed",
    "too_short": "it has {actual_length} items; at least {min_length} are needed",
}


def field_error(detail: Mapping[str, object]) -> dict[str, str]:
    """Translate one of Pydantic's errors; one that has no words here keeps Pydantic's."""
    location = detail["loc"]
    parts = [str(part) for part in location] if isinstance(location, tuple | list) else []
    return {"field": ".".join(parts[1:]) or "body", "message": _message(detail)} | _whole_body(detail)


def _whole_body(detail: Mapping[str, object]) -> dict[str, str]:
    return {"field": "body"} if detail["type"] == "json_invalid" else {}


def _message(detail: Mapping[str, object]) -> str:
    kind, given = str(detail["type"]), shown(detail.get("input"))
    context = detail.get("ctx")
    values = context if isinstance(context, dict) else {}
    reason = str(detail["msg"])
    match kind:
        case "json_invalid":
            return f"is not JSON ({values.get('error', '')}): send one JSON object"
        case "extra_forbidden":
            return f"is not a known key (its value: {given}): remove it"
        case "missing":
            return "is missing: it is required"
        case "enum" | "literal_error":
            words = re.findall("'([^']*)'", str(values.get("expected", "")))
            return f"{given} is not one of: {', '.join(words)}"
        case "value_error":
            return f"{given} is refused: {reason.removeprefix('Value error, ')}"
        case _ if kind in _RIGHT:
            return f"{given} is not {_RIGHT[kind]}"
        case _ if kind in _BOUNDS:
            return f"{given} is out of range: give {_BOUNDS[kind].format_map(values)}"
        case _ if kind in _SIZES:
            return f"{given} is refused: {_SIZES[kind].format_map(values)}"
        case _:
            return f"{given} is refused: {reason[:1].lower()}{reason[1:]}"
