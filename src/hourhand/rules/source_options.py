"""Rules: the options of a data source: what its driver takes beside host, user and database.

None of them is secret, so that they can be shown; all others are refused, since a driver may take a password by them,
or go to another server than the one that was named.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from hourhand.model.data_source import Dialect
from hourhand.model.errors import FieldError, InvalidInput

LONGEST: Final = 1_000
_SHOWN: Final = 50
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_YES: Final = ("true", "1", "yes", "on")
_NO: Final = ("false", "0", "no", "off")

Read = Callable[[Any], Any]
"""The value that is meant; ValueError says what would be right."""


def _mode(value: object) -> str:
    if value not in SSL_MODES:
        raise ValueError(f"give one of {', '.join(SSL_MODES)}")
    return str(value)


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/"):
        raise ValueError("give an absolute path; executors look for it on their own machine")
    return _text(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST:
        raise ValueError(f"give a text of 1 to {LONGEST} characters")
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in value):
        raise ValueError("give it without control characters")
    return value


def _flag(value: object) -> bool:
    word = value.lower() if isinstance(value, str) else value
    if word is True or word in _YES:
        return True
    if word is False or word in _NO:
        return False
    raise ValueError("give true or false")


_POSTGRESQL: Final[Mapping[str, Read]] = {
    "sslmode": _mode,
    "sslrootcert": _path,
    "sslcert": _path,
    "sslkey": _path,
    "search_path": _text,
    "role": _text,
}
_MARIADB: Final[Mapping[str, Read]] = {"ssl": _flag, "ssl_ca": _path, "unix_socket": _path}
OPTIONS: Final[Mapping[Dialect, Mapping[str, Read]]] = {
    Dialect.POSTGRESQL: _POSTGRESQL,
    Dialect.MARIADB: _MARIADB,
    Dialect.MYSQL: _MARIADB,
    Dialect.SQLITE: {},
    Dialect.SQLSERVER: {},
}


def options_from(dialect: Dialect, given: object) -> dict[str, Any]:
    """The options that somebody gave; all refusals at once."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput.one("options", None, 'is no object: give one such as {"sslmode": "verify-full"}')
    readers = OPTIONS[dialect]
    known = f"which has {', '.join(readers)}" if readers else "which has no options"
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in given.items():
        if name not in readers:
            errors.append(FieldError(f"options.{str(name)[:_SHOWN]}", None, f"is not known of {dialect}, {known}"))
            continue
        try:
            values[name] = readers[name](value)
        except ValueError as refused:
            errors.append(FieldError(f"options.{name}", None, f"is refused: {refused}"))
    if errors:
        raise InvalidInput(errors)
    return values
