"""Values that nobody sends by intent, and where in a body of the document's they can be put."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Place = tuple[str | int, ...]

NO_JSON = ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + "0" * 5000)
"""What some take for JSON, and what no number can hold: refused before anybody looks where it is."""
ANYWHERE = {
    "a text of digits": '"1"',
    "true": "true",
    "null": "null",
    "a fraction": "1.5",
    "a list": "[]",
    "an object": "{}",
}
"""To be refused unless the document allows it, and never to be a fault of ours."""
FOR = {
    "string": {
        "an empty text": '""',
        "a long text": json.dumps("x" * 100_000),
        "a NUL": '"a\\u0000b"',
        "half a surrogate pair": '"\\ud800"',
    },
    "integer": {"minus one": "-1", "2**63": str(2**63), "a number of 401 digits": str(10**400)},
    "object": {
        "an object with a key": '{"x": 1}',
        "a deep object": '{"x":' * 40 + "1" + "}" * 40,
        "an object with a NUL": '{"a\\u0000b": 1}',
        "an object with half a surrogate pair": '{"x": {"\\ud800": "\\udfff"}}',
    },
    "array": {"a list of a list": "[[1]]", "a list of many": f"[{'1,' * 10_000}1]"},
}
"""The same for what is wanted, by its type."""
NEVER = frozenset({"a NUL", "half a surrogate pair", "an object with a NUL", "an object with half a surrogate pair"})
"""To be refused even where the document would allow it."""
TIMES = {
    "a time without its offset": '"2026-11-15T09:00:00"',
    "a date": '"2026-11-15"',
    "the year 1": '"0001-01-01T00:00:00Z"',
    "the year 1 further west": '"0001-01-01T00:00:00+14:00"',
    "the year 9999": '"9999-12-31T23:59:59-12:00"',
    "JavaScript's last year": '"+275760-09-13T00:00:00Z"',
    "a day that is not": '"2026-02-30T00:00:00Z"',
    "an hour that is not": '"2026-11-15T25:00:00Z"',
    "an offset that is not": '"2026-11-15T09:00:00+99:99"',
    "seconds since 1970": "1794704400",
    "seconds since 1970 as text": '"1794704400"',
    "digits of other scripts": '"\\uff12\\uff10\\uff12\\uff16-11-15T09:00:00Z"',
}
"""To be refused wherever a time is wanted."""
_HOLE = "\u2003hole\u2003"


def resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with its references replaced; ours do not nest in themselves."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[1]
        return resolved(document["components"]["schemas"][name], document)
    return {key: _within(value, document) for key, value in schema.items()}


def _within(value: Any, document: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return resolved(value, document)
    return [_within(each, document) for each in value] if isinstance(value, list) else value


def places(schema: Mapping[str, Any], at: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each field of a body, the inner ones and the items of lists included, and what the document says of it."""
    for form in (schema, *schema.get("anyOf", ())):
        for name, inner in form.get("properties", {}).items():
            yield (*at, name), inner
            yield from places(inner, (*at, name))
        if isinstance(form.get("items"), dict) and form["items"]:
            yield (*at, 0), form["items"]
            yield from places(form["items"], (*at, 0))


def values_for(schema: Mapping[str, Any]) -> dict[str, str]:
    """Return values to be tried where the document says this."""
    forms = schema.get("anyOf", [schema])
    kinds = {form.get("type") for form in forms} if all("type" in form for form in forms) else set(FOR)
    kinds |= {"integer"} if "number" in kinds else set()
    chosen = dict(ANYWHERE)
    for kind, values in FOR.items():
        chosen |= values if kind in kinds else {}
    return chosen | (TIMES if is_time(schema) else {})


def is_time(schema: Mapping[str, Any]) -> bool:
    """Whether it is a time that is wanted."""
    return any(form.get("format") == "date-time" for form in (schema, *schema.get("anyOf", ())))


def allows(schema: dict[str, Any], value: str) -> bool:
    """Whether the document allows a value."""
    return jsonschema_rs.is_valid(schema, json.loads(value))


def body_with(body: Any, place: Place, value: str) -> bytes:
    """Return a body with a value at a place, as the text it is given as."""
    made = json.loads(json.dumps(body))
    inner = made
    for here, following in zip(place, (*place[1:], None), strict=True):
        empty: Any = _HOLE if following is None else [] if isinstance(following, int) else {}
        if isinstance(inner, list):
            inner[:1] = [empty if following is None or not inner else inner[0]]
        elif following is None or not isinstance(inner.get(here), dict | list):
            inner[here] = empty
        inner = inner[here]
    return json.dumps(made).replace(json.dumps(_HOLE), value).encode()
