"""Rules: what a data source may say; refusals never repeat a value that could hold a password.

A URL that was written wrongly may have a piece of its password in any of its parts, and so may the fields that somebody
took from it: so of both only what is wrong is told, and what would be right.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from hourhand.model.data_source import Address, DataSource, Dialect
from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.rules.source_options import options_from
from hourhand.rules.source_urls import fields_of

LONGEST_NAME: Final = 100
LONGEST_TEXT: Final = 1_000
HIGHEST_PORT: Final = 65_535
PORTS: Final[Mapping[Dialect, int]] = {
    Dialect.POSTGRESQL: 5432,
    Dialect.MARIADB: 3306,
    Dialect.MYSQL: 3306,
    Dialect.SQLSERVER: 1433,
}
FIELDS: Final = ("dialect", "host", "port", "database", "username", "password", "options")
_OF_SERVERS: Final = ("host", "port", "username", "password")
_SIBLINGS: Final = frozenset({Dialect.MARIADB, Dialect.MYSQL})


def name_from(value: object) -> str:
    """The name of a data source."""
    right = f"give 1 to {LONGEST_NAME} characters on one line, without spaces around them"
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_NAME or value != value.strip() or _odd(value):
        raise InvalidInput.one("name", value, f"{shown(value)} is no name: {right}")
    if "://" in value:  # of two arguments in the wrong order one is a URL, and may hold a password
        raise InvalidInput.one("name", None, "is a URL: give a short name, and the URL beside it")
    return value


def address_from(given: Mapping[str, Any]) -> Address:
    """Where a data source is: from its `url`, or from its fields; a password may stand beside a URL without one."""
    if given.get("url") is None:
        return _checked(given)
    fields = _beside(given)
    try:
        return _checked(fields)
    except InvalidInput as refused:
        raise InvalidInput(_of_url(each) for each in refused.errors) from None


def changed(before: DataSource, given: Mapping[str, Any]) -> Address:
    """Where it is after a change; its password is the one that was given, None where none was.

    A password that is kept is for the server it was given for: nobody who may not read it shall have it sent elsewhere.
    """
    if given.get("url") is not None:
        after = address_from(given)
    else:
        kept = {name: getattr(before, name) for name in FIELDS if name != "password"}
        if "dialect" in given and given["dialect"] not in (before.dialect, None) and "port" not in given:
            kept["port"] = None
        after = address_from({**kept, **given})
    keeps = before.secret is not None and after.password is None and "password" not in given
    if keeps and _place(after) != _place(before):
        raise InvalidInput.one(
            "password",
            None,
            f"is needed again: the one that is kept is for {before.address(None).shown}, and is not sent to another "
            "server; null removes it",
        )
    return after


def _place(where: Address | DataSource) -> tuple[object, ...]:
    family = Dialect.MARIADB if where.dialect in _SIBLINGS else where.dialect
    return family, where.host, where.port, where.options.get("unix_socket")


def _beside(given: Mapping[str, Any]) -> dict[str, Any]:
    beside = [name for name in FIELDS if name != "password" and given.get(name) is not None]
    if beside:
        raise InvalidInput(
            FieldError(name, None, "is given together with url: give one or the other") for name in beside
        )
    fields = fields_of(given["url"])
    if given.get("password") is not None:
        if fields["password"] is not None:
            raise InvalidInput.one("password", None, "is given twice, in the URL as well: give it once")
        fields["password"] = given["password"]
    return fields


def _of_url(error: FieldError) -> FieldError:
    """Said of the URL as a whole: a piece of a password may be where the name of an option should."""
    name = error.field.partition(".")[0]
    return FieldError("url", None, f"{'one of its options' if name == 'options' else f'its {name}'} {error.message}")


def _checked(given: Mapping[str, Any]) -> Address:
    """All refusals at once."""
    errors: list[FieldError] = []
    dialect = _dialect(given.get("dialect"), errors)
    if dialect is None:
        raise InvalidInput(errors)
    readers: Mapping[str, Callable[[Dialect, Any], Any]] = {
        "host": _host,
        "port": _port,
        "database": _database,
        "username": _username,
        "password": _password,
        "options": options_from,
    }
    values: dict[str, Any] = {}
    for name, read in readers.items():
        value = given.get(name)
        if dialect is Dialect.SQLITE and name in _OF_SERVERS:
            if value is not None:
                errors.append(FieldError(name, None, "has no meaning for sqlite: give dialect and database only"))
            continue
        try:
            values[name] = read(dialect, value)
        except InvalidInput as refused:
            errors += refused.errors
    if errors:
        raise InvalidInput(errors)
    return Address(dialect=dialect, **values)


def _dialect(value: object, errors: list[FieldError]) -> Dialect | None:
    known = ", ".join(Dialect)
    if value is None:
        errors.append(FieldError("dialect", None, f"is required, or url in its place: give one of {known}"))
    elif value in list(Dialect):
        return Dialect(str(value))
    else:
        errors.append(FieldError("dialect", None, f"is none that is known: give one of {known}"))
    return None


def _host(dialect: Dialect, value: object) -> str:
    if value is None:
        raise InvalidInput.one("host", None, "is required: give the server's name, such as db.example.com")
    text = _text("host", value)
    if text.startswith("/") and dialect is Dialect.POSTGRESQL:
        return text  # the folder of its socket
    if any(one in "/@,?# " for one in text):
        raise InvalidInput.one(
            "host", None, "is no name of a server: give it alone, such as db.example.com; each other part has its field"
        )
    return text


def _port(dialect: Dialect, value: object) -> int:
    if value is None:
        return PORTS[dialect]
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_PORT:
        raise InvalidInput.one("port", None, f"is no port: give a whole number from 1 to {HIGHEST_PORT}")
    return value


def _database(dialect: Dialect, value: object) -> str:
    if dialect is Dialect.SQLITE:
        right = "give the absolute path of its file, such as /srv/shop.db; executors open it on their own machine"
        path = "" if value is None else _text("database", value)
        if not path.startswith("/"):
            raise InvalidInput.one("database", None, f"{'is relative' if path else 'is required'}: {right}")
        return path
    if value is None:
        raise InvalidInput.one("database", None, "is required: give the name of the database on the server")
    return _text("database", value)


def _username(_: Dialect, value: object) -> str | None:
    return None if value is None else _text("username", value)


def _password(_: Dialect, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        raise InvalidInput.one("password", None, f"is none: give 1 to {LONGEST_TEXT} characters, or null for none")
    if any(one == "\0" or unicodedata.category(one) == "Cs" for one in value):
        raise InvalidInput.one("password", None, "holds NUL or half of a surrogate pair: no server takes it")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        raise InvalidInput.one(name, None, f"is no text of 1 to {LONGEST_TEXT} characters: give one, or leave it out")
    if _odd(value):
        raise InvalidInput.one(name, None, "holds a control character: remove it")
    return value


def _odd(text: str) -> bool:
    return any(unicodedata.category(one) in ("Cc", "Cs") for one in text)
