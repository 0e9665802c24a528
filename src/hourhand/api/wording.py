"""The API's words for what Pydantic refuses: what was given, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from pydantic_core.core_schema import ErrorType

from hourhand.model.errors import shown

_TIME = "a time with its offset, such as 2026-11-15T09:00:00Z"
_DATE = "a date, such as 2026-11-15"
_RIGHT: Mapping[str, str] = {
    "string_type": "a text",
    "string_unicode": "Unicode text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of a reasonable size",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
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
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "string_pattern_mismatch": "a text of the form {pattern}",
    "none_required": "null",
    "multiple_of": "a multiple of {multiple_of}",
    "enum": "one of: {words}",
    "literal_error": "one of: {words}",
}
"""By Pydantic's name of the error: what the value is not."""
_OURS = "{given} is refused: {reason}"
_UNKNOWN = "{given} is not what belongs here: /api/v1/openapi.json says what does"
_PYDANTICS = frozenset(get_args(ErrorType)) - {"value_error", "assertion_error"}
"""Kinds whose reasons are in Pydantic's words; those of all others are in our own."""
_MESSAGES: Mapping[str, str] = {
    **{kind: f"{{given}} is not {right}" for kind, right in _RIGHT.items()},
    "json_invalid": "is not JSON ({error}): send one JSON object",
    "extra_forbidden": "is not a known key (its value: {given}): remove it",
    "missing": "is missing: it is required",
    "greater_than": "{given} is out of range: give more than {gt}",
    "greater_than_equal": "{given} is out of range: give at least {ge}",
    "less_than": "{given} is out of range: give less than {lt}",
    "less_than_equal": "{given} is out of range: give at most {le}",
    "string_too_long": "{given} is refused: it has more than {max_length} characters: shorten it",
    "string_too_short": "{given} is refused: it has fewer than {min_length} characters: give more",
    "too_long": "{given} is refused: it has {actual_length} items; at most {max_length} are allowed",
    "too_short": "{given} is refused: it has {actual_length} items; at least {min_length} are needed",
}


def field_error(detail: Mapping[str, object]) -> dict[str, str]:
    """Translate one of Pydantic's errors."""
    kind, location, context = str(detail["type"]), detail["loc"], detail.get("ctx")
    parts = [str(part) for part in location] if isinstance(location, tuple | list) else []
    field = "body" if kind == "json_invalid" else ".".join(parts[1:]) or "body"  # its location is a place in the text
    values = {name: str(value) for name, value in context.items()} if isinstance(context, dict) else {}
    reason = str(detail["msg"]).removeprefix("Value error, ")
    message = _MESSAGES.get(kind, _UNKNOWN if kind in _PYDANTICS else _OURS).format_map(
        {
            **values,
            "given": shown(detail.get("input")),
            "reason": reason[:1].lower() + reason[1:],
            "words": ", ".join(re.findall("'([^']*)'", values.get("expected", ""))),
        }
    )
    return {"field": field, "message": message}
