"""JSON Schema in words: the type of a field, and the table of an object's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reference.markdown import anchor, code, prose, table, value

Schema = Mapping[str, Any]
Link = Callable[[str], str]
_TYPES = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false", "null": "null"}
_PLURALS = {"whole number": "whole numbers", "number": "numbers", "text": "texts", "time": "times", "object": "objects"}
_FORMATS = {"date-time": "time", "date": "date", "password": "text, secret", "uri": "URI", "uri-reference": "URI"}


def shape_link(name: str) -> str:
    """Lead to a shape of docs/reference/shapes.md."""
    return f"[{name}](shapes.md#{anchor(name)})"


def fields(
    schema: Schema, link: Link = shape_link, described: Mapping[str, str] | None = None, *, given: bool = True
) -> str:
    """Write the fields of an object as a table; only what is given, not what is answered, has defaults."""
    required = schema.get("required", ())
    return table(
        ["field", "type", "default", "what"],
        [
            (
                code(name),
                words(field, link),
                ("required" if name in required else _default(field)) if given else "",
                prose(field.get("description") or (described or {}).get(name, "")),
            )
            for name, field in schema.get("properties", {}).items()
        ],
    )


def words(schema: Schema, link: Link = shape_link) -> str:
    """Say what type a value has, with its bounds."""
    match schema:
        case {"$ref": ref}:
            said = link(ref.rpartition("/")[2])
        case {"const": only}:
            said = value(only)
        case {"enum": several}:
            said = ", ".join(value(one) for one in several)
        case {"anyOf": several} | {"oneOf": several}:
            said = _either(several, link)
        case {"type": "array"}:
            said = f"list of {_many(schema.get('items', {}), link)}{_bounds(schema, 'Items', 'items')}"
        case {"type": "object", "additionalProperties": {"type": _} as further}:
            said = f"object of {_many(further, link)}"
        case {"type": "object"}:
            said = "object"
        case {"type": kind}:
            said = f"{_FORMATS.get(schema.get('format', ''), _TYPES[kind])}{_limits(schema)}"
        case _:
            said = "anything"
    return said


def _either(several: Sequence[Schema], link: Link) -> str:
    """Name each once; a bound that belongs to one of two comes last, so that it does not seem to belong to both."""
    bounded = [one for one in several if "type" in one and "enum" not in one]
    split = [words(one, link).partition(", ") if one in bounded else (words(one, link), "", "") for one in several]
    bounds = [f", {bound}" for _, _, bound in split if bound]
    return " or ".join(dict.fromkeys(word for word, _, _ in split)) + (bounds[0] if len(bounds) == 1 else "")


def _many(schema: Schema, link: Link) -> str:
    word, comma, bounds = words(schema, link).partition(", ") if "type" in schema else (words(schema, link), "", "")
    return f"{_PLURALS.get(word, word)}{comma}{bounds}"


def _limits(schema: Schema) -> str:
    if schema.get("type") == "string":
        return _bounds(schema, "Length", "characters")
    low, high = schema.get("minimum"), schema.get("maximum")
    above = schema.get("exclusiveMinimum")
    if above is not None:
        return f", above {above:,}" + (f", at most {high:,}" if high is not None else "")
    return _between(low, high, "")


def _bounds(schema: Schema, suffix: str, what: str) -> str:
    return _between(schema.get(f"min{suffix}"), schema.get(f"max{suffix}"), f" {what}")


def _between(low: float | None, high: float | None, what: str) -> str:
    if low is not None and high is not None:
        return f", {low:,} to {high:,}{what}"
    if high is not None:
        return f", at most {high:,}{what}"
    return f", at least {low:,}{what}" if low is not None else ""


def _default(schema: Schema) -> str:
    if "default" in schema:
        return value(schema["default"])
    return ""
