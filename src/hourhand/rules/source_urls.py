"""Rules: the URL of a data source, taken apart.

`postgresql://user:password@host:port/database?sslmode=verify-full`, and the like for the others; user, password and
database are percent-decoded. What is refused is told without any part of it: who forgot to encode a password has a
piece of it where a port or a database should be.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from hourhand.model.data_source import Dialect
from hourhand.model.errors import InvalidInput

LONGEST: Final = 4_000
SCHEMES: Final[Mapping[str, Dialect]] = {
    "postgresql": Dialect.POSTGRESQL,
    "postgres": Dialect.POSTGRESQL,
    "mariadb": Dialect.MARIADB,
    "mysql": Dialect.MYSQL,
    "sqlite": Dialect.SQLITE,
    "sqlserver": Dialect.SQLSERVER,
    "mssql": Dialect.SQLSERVER,
}
_RIGHT: Final = "give one such as postgresql://user:password@host:5432/database"
_ENCODE: Final = "within a user or password write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for # and %25 for %"
_NO_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def fields_of(url: object) -> dict[str, Any]:
    """The fields that a URL stands for."""
    if not isinstance(url, str) or not 1 <= len(url) <= LONGEST:
        raise _refused(f"is no URL of 1 to {LONGEST} characters: {_RIGHT}")
    if any(unicodedata.category(one) in ("Cc", "Cs") or one.isspace() for one in url):
        raise _refused(f"holds a blank or a control character: write %20 for a blank; {_RIGHT}")
    scheme, colon, rest = url.partition("://")
    dialect = SCHEMES.get(scheme.lower())
    if not colon or dialect is None:
        raise _refused(f"begins with none of {', '.join(f'{one}://' for one in SCHEMES)}: {_RIGHT}")
    if _NO_ESCAPE.search(url):
        raise _refused(f"has a % that begins no escape: {_ENCODE}")
    try:
        parts = urlsplit(f"//{rest}")
        return _of_a_file(parts) if dialect is Dialect.SQLITE else _of_a_server(dialect, parts)
    except ValueError:  # brackets, a port, or bytes that are no UTF-8
        raise _refused(f"cannot be read: {_ENCODE}; {_RIGHT}") from None


def _of_a_file(parts: SplitResult) -> dict[str, Any]:
    if parts.netloc or not parts.path.startswith("//"):
        raise _refused(
            "names no absolute path: write sqlite:// and the path of the file with two slashes before it, such as "
            "sqlite:////srv/shop.db; executors open it on their own machine"
        )
    if parts.query or parts.fragment:
        raise _refused("has a ? or a #: write %3F or %23 if they belong to the path; a file has no options")
    return _fields(Dialect.SQLITE, database=_decoded(parts.path[1:]))


def _of_a_server(dialect: Dialect, parts: SplitResult) -> dict[str, Any]:
    if "#" in parts.geturl() or "@" in parts.path + parts.query:
        raise _refused(f"has a # or, behind the host, an @: {_ENCODE}")
    options = _options(parts.query)
    # PostgreSQL's way to name the folder of its socket, which could not stand where hosts do.
    host = options.pop("host", None) if dialect is Dialect.POSTGRESQL and not parts.hostname else None
    return _fields(
        dialect,
        host=host or (_decoded(parts.hostname) if parts.hostname else None),
        port=parts.port,
        database=_decoded(parts.path.removeprefix("/")) or None,
        username=_decoded(parts.username or "") or None,
        password=_decoded(parts.password or "") or None,
        options=options,
    )


def _options(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        if _decoded(name) in found:
            raise _refused("has an option twice: give it once")
        found[_decoded(name)] = _decoded(value)
    return found


def _fields(dialect: Dialect, **known: Any) -> dict[str, Any]:  # noqa: ANN401 - each field's own
    nothing = dict.fromkeys(("host", "port", "database", "username", "password", "options"))
    return {"dialect": dialect, **nothing, **known}


def _decoded(text: str) -> str:
    return unquote(text, errors="strict")


def _refused(message: str) -> InvalidInput:
    return InvalidInput.one("url", None, message)
