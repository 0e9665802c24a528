"""Operations: values as text that is the same on every engine and in every file; what checksums are made of.

One form for each sort of value: numbers as plain decimals without trailing zeros (so that 1, 1.50 and true compare by
what they mean), moments in UTC with the microseconds they have, bytes as hexadecimals, uuids in lower case, all else
as the text it is. A row is its values joined by `|`, in which `^` escapes `|` and itself and `^N` is NULL; its digest
is the first 15 hexadecimal digits of the MD5, and a set of rows has the sum of its rows' digests, in which no order
matters and (unlike with XOR) two equal rows do not cancel each other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any
from uuid import UUID

from hourhand.model.data_source import Dialect

SEPARATOR, ESCAPE, NULL = "|", "^", "^N"
DIGITS = 15
_NUMBERS = re.compile(
    r"(small|big|medium|tiny)?int(eger|\d)?\b|serial|numeric|decimal|real|double|float|bool|year|oid\b|bit\b",
    re.IGNORECASE,
)
_BYTES = re.compile(r"bytea|(tiny|medium|long)?blob|(var)?binary", re.IGNORECASE)
_MOMENT = re.compile(r"timestamp|datetime", re.IGNORECASE)
_SPATIAL = re.compile(r"(multi)?(point|linestring|polygon)|geometry|geometrycollection|vector", re.IGNORECASE)


class Form(StrEnum):
    """A sort of value."""

    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    TIME = "time"
    BYTES = "bytes"
    UUID = "uuid"
    TEXT = "text"
    """Also JSON, whose text is kept as it is."""
    DOCUMENT = "document"
    """JSON that one side writes anew (jsonb): compared by what it says, in this process."""
    RAW = "raw"
    """SQLite's, where each value has a type of its own."""


ESCAPED = frozenset({Form.TEXT, Form.DOCUMENT, Form.RAW})
"""Those whose text may hold the separator."""


def form_of(dialect: Dialect, type_: str) -> Form | None:  # noqa: PLR0911 - one for each form
    """The form of a column's values; None: they cannot be compared."""
    name = type_.strip().lower()
    maria = dialect in (Dialect.MARIADB, Dialect.MYSQL)
    if dialect is Dialect.POSTGRESQL and (name.endswith("[]") or name.startswith(("bit", "interval"))):
        return Form.TEXT
    if maria and _SPATIAL.match(name):
        return None
    if _BYTES.match(name):
        return Form.BYTES
    if _MOMENT.match(name):
        return Form.MOMENT
    if name == "date":
        return Form.DATE
    if name.startswith("time") and "with time zone" not in name:
        return Form.TIME
    if _NUMBERS.match(name):
        return Form.NUMBER
    return Form.UUID if name == "uuid" else Form.TEXT


def row_digest(values: Sequence[Any], forms: Sequence[Form]) -> int:
    """The digest of one row; add them up for a set of rows."""
    return text_digest([to_text(form, value) for form, value in zip(forms, values, strict=True)], forms)


def text_digest(texts: Sequence[str | None], forms: Sequence[Form]) -> int:
    """The same, of values that are canonical text already."""
    parts = [
        NULL if text is None else escaped(text) if form in ESCAPED else text
        for text, form in zip(texts, forms, strict=True)
    ]
    joined = SEPARATOR.join(parts).encode()
    return int(hashlib.md5(joined, usedforsecurity=False).hexdigest()[:DIGITS], 16)


def escaped(text: str) -> str:
    """A text in which no separator stands for itself."""
    return text.replace(ESCAPE, ESCAPE * 2).replace(SEPARATOR, ESCAPE + SEPARATOR)


def to_text(form: Form, value: Any) -> str | None:  # noqa: ANN401, PLR0911 - whatever a driver or a file gives
    """The canonical text of a value; None is NULL."""
    if value is None:
        return None
    match form:
        case Form.NUMBER:
            return number(value)
        case Form.MOMENT:
            return _moment(value)
        case Form.DATE:
            return value.isoformat() if isinstance(value, date) else str(value)
        case Form.TIME:
            return _time(value)
        case Form.BYTES:
            return bytes(value).hex() if not isinstance(value, str) else value.encode().hex()
        case Form.UUID:
            return str(UUID(bytes=value) if isinstance(value, bytes) else value).lower()
        case Form.DOCUMENT:
            return document(value)
        case Form.RAW:
            return _raw(value)
    return value.decode() if isinstance(value, bytes) else str(value)


def number(value: Any) -> str:  # noqa: ANN401
    """A number as a plain decimal: no exponent, no trailing zeros, no negative zero."""
    if isinstance(value, bool | int):
        return str(int(value))
    try:
        exact = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation:
        return str(value)  # a text in a column of numbers, which only SQLite allows: unequal to any number
    if not exact.is_finite():
        return "NaN" if exact.is_nan() else "Infinity" if exact > 0 else "-Infinity"
    text = format(exact, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _moment(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return str(value)  # `infinity`, or a text that is no moment
    if isinstance(value, datetime):
        plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        text = plain.isoformat(sep=" ")
    else:
        text = f"{value.isoformat()} 00:00:00"
    return text.rstrip("0") if "." in text else text


def _time(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, timedelta):
        sign, whole = ("-", -value) if value < timedelta(0) else ("", value)
        minutes, seconds = divmod(whole.days * 86_400 + whole.seconds, 60)
        text = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}.{whole.microseconds:06d}"
    else:
        text = value.isoformat() if isinstance(value, time) else str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def document(value: Any) -> str:  # noqa: ANN401
    """JSON by what it says: keys in order, numbers as plain decimals, no blanks."""
    read = json.loads(value, parse_float=Decimal, parse_int=Decimal) if isinstance(value, str | bytes) else value
    return _document(read)


def _document(value: Any) -> str:  # noqa: ANN401
    match value:
        case dict():
            said = (f"{json.dumps(key, ensure_ascii=False)}:{_document(value[key])}" for key in sorted(value))
            return "{" + ",".join(said) + "}"
        case list():
            return "[" + ",".join(_document(one) for one in value) + "]"
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
    return number(value)


def _raw(value: Any) -> str:  # noqa: ANN401
    match value:
        case bytes():
            return f"x{value.hex()}"
        case str():
            return f"t{value}"
    return f"n{number(value)}" if isinstance(value, int) else f"r{value!r}"
