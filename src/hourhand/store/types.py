"""Store: the column types, each in the form its dialect handles best."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, Text, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.types import TypeEngine

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite makes only INTEGER keys row ids
"""64 bits on both."""


def to_micros(value: datetime) -> int:
    """Microseconds since the epoch: SQLite's form of a time, exact, ordered and open to arithmetic."""
    return (value - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The inverse of `to_micros`."""
    return _EPOCH + timedelta(microseconds=value)


class Instant(TypeDecorator[datetime]):
    """A time in UTC: timestamptz on PostgreSQL, microseconds since the epoch on SQLite."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type underneath."""
        return dialect.type_descriptor(BigInteger() if dialect.name == "sqlite" else TIMESTAMP(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Into the driver."""
        return to_micros(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Out of the driver."""
        return from_micros(value) if value is not None and dialect.name == "sqlite" else value


class Json(TypeDecorator[Any]):
    """JSON: jsonb on PostgreSQL (its codec is set on the connection), text on SQLite; None is NULL."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type underneath."""
        return dialect.type_descriptor(Text() if dialect.name == "sqlite" else JSONB(none_as_null=True))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Into the driver."""
        return dump_json(value) if value is not None and dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Out of the driver."""
        return json.loads(value) if value is not None and dialect.name == "sqlite" else value


# Made once: json.dumps makes a new encoder for every call with such arguments, which costs more than encoding does.
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def dump_json(value: object) -> str:
    """Compact, and strict: NaN is no JSON and PostgreSQL would refuse it."""
    return _ENCODER.encode(value)
