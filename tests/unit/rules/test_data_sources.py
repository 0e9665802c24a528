"""A data source is read from a URL or from fields; whatever is refused, no password is ever repeated."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hourhand.model.data_source import Address, DataSource, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.rules.data_sources import PORTS, address_from, changed, name_from
from hourhand.rules.source_urls import SCHEMES

AT = datetime(2026, 11, 15, tzinfo=UTC)
CANARY = "canary7f3a"
WORD = "pw"
PG: dict[str, Any] = {"dialect": "postgresql", "host": "db", "database": "shop"}


def kept(**changes: Any) -> DataSource:
    values: dict[str, Any] = {
        "id": 7,
        "name": "shop",
        "dialect": Dialect.POSTGRESQL,
        "host": "db",
        "port": 5432,
        "database": "shop",
        "username": "ann",
        "secret": b"sealed",
        "created_at": AT,
        "updated_at": AT,
        "created_by": "ann",
    }
    return DataSource(**{**values, **changes})


def refusals(error: InvalidInput) -> dict[str, str]:
    assert all(one.value is None for one in error.errors)
    return {one.field: one.message for one in error.errors}


@pytest.mark.parametrize(
    ("url", "dialect", "port"),
    [
        ("postgresql://ann:pw@db.example.com/shop", Dialect.POSTGRESQL, 5432),
        ("postgres://ann:pw@db.example.com:6543/shop", Dialect.POSTGRESQL, 6543),
        ("POSTGRESQL://ann:pw@db.example.com/shop", Dialect.POSTGRESQL, 5432),
        ("mysql://ann:pw@db.example.com/shop", Dialect.MYSQL, 3306),
        ("mariadb://ann:pw@db.example.com:3307/shop", Dialect.MARIADB, 3307),
        ("mssql://ann:pw@db.example.com/shop", Dialect.SQLSERVER, 1433),
        ("sqlserver://ann:pw@db.example.com:1444/shop", Dialect.SQLSERVER, 1444),
    ],
)
def test_a_url_names_a_server(url: str, dialect: Dialect, port: int) -> None:
    assert address_from({"url": url}) == Address(
        dialect=dialect, host="db.example.com", port=port, database="shop", username="ann", password=WORD
    )


def test_every_scheme_has_a_dialect_and_every_server_a_port() -> None:
    assert set(SCHEMES.values()) == set(Dialect)
    assert PORTS.keys() == set(Dialect) - {Dialect.SQLITE}


def test_parts_of_a_url_are_decoded() -> None:
    address = address_from({"url": "postgresql://an%40n:p%40%3A%2F%3F%23%25+w@h/my%20shop?search_path=a%2Cb"})
    assert (address.username, address.password, address.database) == ("an@n", "p@:/?#%+w", "my shop")
    assert address.options == {"search_path": "a,b"}


def test_a_url_may_leave_out_user_and_password() -> None:
    for url in ("postgresql://db/shop", "postgresql://:@db/shop"):
        address = address_from({"url": url})
        assert (address.username, address.password) == (None, None)
    assert address_from({"url": "postgresql://ann@db/shop"}).username == "ann"
    assert address_from({"url": "postgresql://ann@[::1]:5433/shop"}).host == "::1"
    assert address_from({"url": "postgresql://ann@db/shop", "password": "pw"}).password == WORD
    assert address_from({"url": "postgresql://a@b:pw@w@db/shop"}).password == f"{WORD}@w"


def test_a_socket_is_named_as_its_database_does() -> None:
    assert address_from({"url": "postgresql:///shop?host=/run/postgresql"}).host == "/run/postgresql"
    assert address_from(PG | {"host": "/run/postgresql"}).host == "/run/postgresql"
    socket = address_from({"url": "mariadb://ann@localhost/shop?unix_socket=/run/m.sock&ssl=false"})
    assert socket.options == {"unix_socket": "/run/m.sock", "ssl": False}
    with pytest.raises(InvalidInput, match="is no name of a server"):
        address_from({"dialect": "mysql", "host": "/run/m.sock", "database": "shop"})


def test_a_file_has_an_absolute_path() -> None:
    address = address_from({"url": "sqlite:////srv/my%20shop@2.db"})
    assert address == Address(dialect=Dialect.SQLITE, database="/srv/my shop@2.db")
    assert address_from({"dialect": "sqlite", "database": "/srv/shop.db"}).database == "/srv/shop.db"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"oracle://ann:{CANARY}@db/shop", "begins with none of postgresql://, postgres://, mariadb://"),
        (f"{CANARY}", "begins with none of"),
        (f"ann:{CANARY}@db/shop", "begins with none of"),
        ("", "is no URL of 1 to"),
        (7, "is no URL of 1 to"),
        (f"postgresql://{CANARY * 500}", "is no URL of 1 to"),
        (f"postgresql://ann:{CANARY} x@db/shop", "holds a blank"),
        (f"postgresql://ann:{CANARY}\n@db/shop", "holds a blank or a control character"),
        (f"postgresql://ann:{CANARY}%zz@db/shop", "a % that begins no escape"),
        (f"postgresql://ann:{CANARY}%ff@db/shop", "cannot be read"),
        (f"postgresql://ann:{CANARY}/x@db/shop", "behind the host, an @"),
        (f"postgresql://ann:1/{CANARY}@db/shop", "behind the host, an @"),
        (f"postgresql://ann:1?{CANARY}@db/shop", "behind the host, an @"),
        (f"postgresql://ann:{CANARY}#x@db/shop", "has a #"),
        (f"postgresql://ann:{CANARY}/shop", "cannot be read"),
        (f"postgresql://ann:{CANARY}[@db/shop", "cannot be read"),
        (f"postgresql://ann:{CANARY}@db:99999/shop", "cannot be read"),
        (f"postgresql://ann:{CANARY}@db:0/shop", "its port is no port"),
        (f"postgresql://ann:{CANARY}@/shop", "its host is required"),
        (f"postgresql://ann:{CANARY}@db", "its database is required"),
        (f"postgresql://ann:{CANARY}@db/", "its database is required"),
        (f"postgresql://ann:{CANARY}@a,b/shop", "its host is no name of a server"),
        (f"postgresql://ann:{CANARY}@db/shop?password={CANARY}", "one of its options is not known of postgresql"),
        (f"postgresql://ann:1/shop?{CANARY}", "one of its options is not known"),
        (f"postgresql://ann:{CANARY}@db/shop?sslmode=a&sslmode=b", "an option twice"),
        (f"postgresql://ann:{CANARY}@db/shop?sslmode={CANARY}", "one of its options is refused: give one of disable"),
        (f"postgresql://ann:{CANARY}@db/shop?host=/tmp", "one of its options is not known"),
        (f"mariadb://ann:{CANARY}@db/shop?ssl=perhaps", "give true or false"),
        (f"mssql://ann:{CANARY}@db/shop?encrypt=1", "not known of sqlserver, which has no options"),
        ("sqlite:///shop.db", "names no absolute path"),
        ("sqlite://", "names no absolute path"),
        ("sqlite://host/shop.db", "names no absolute path"),
        ("sqlite:////srv/shop.db?mode=ro", "has a ? or a #"),
        ("sqlite:////srv/shop.db#1", "has a ? or a #"),
        ("sqlite:////srv/%00.db", "its database holds a control character"),
    ],
)
def test_a_wrong_url_is_refused_without_being_repeated(url: Any, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        address_from({"url": url})
    (message,) = {text for field, text in refusals(refused.value).items() if field == "url"}
    assert told in message
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({}, "dialect", "is required, or url in its place: give one of postgresql"),
        ({"dialect": f"postgresql://a:{CANARY}@b"}, "dialect", "is none that is known"),
        ({"dialect": ["postgresql"]}, "dialect", "is none that is known"),
        (PG | {"host": None}, "host", "is required"),
        (PG | {"host": f"ann:{CANARY}@db"}, "host", "give it alone"),
        (PG | {"host": ""}, "host", "is no text of 1 to 1000"),
        (PG | {"host": "x" * 1001}, "host", "is no text of 1 to 1000"),
        (PG | {"port": "5432"}, "port", "is no port"),
        (PG | {"port": True}, "port", "is no port"),
        (PG | {"port": 65_536}, "port", "is no port"),
        (PG | {"database": None}, "database", "is required"),
        (PG | {"database": 5}, "database", "is no text"),
        (PG | {"username": "a\tb"}, "username", "holds a control character"),
        (PG | {"password": ""}, "password", "is none"),
        (PG | {"password": 5}, "password", "is none"),
        (PG | {"password": f"{CANARY}\0"}, "password", "holds NUL"),
        (PG | {"password": f"{CANARY}\ud800"}, "password", "surrogate"),
        (PG | {"options": [CANARY]}, "options", "is no object"),
        (PG | {"options": {"passfile": CANARY}}, "options.passfile", "is not known of postgresql, which has sslmode"),
        (PG | {"options": {"x" * 500: CANARY}}, f"options.{'x' * 50}", "is not known"),
        (PG | {"options": {"sslrootcert": "ca.pem"}}, "options.sslrootcert", "give an absolute path"),
        (PG | {"options": {"sslrootcert": 5}}, "options.sslrootcert", "give an absolute path"),
        (PG | {"options": {"sslrootcert": "/a\nb"}}, "options.sslrootcert", "without control characters"),
        (PG | {"options": {"search_path": ""}}, "options.search_path", "a text of 1 to"),
        (PG | {"options": {"search_path": 5}}, "options.search_path", "a text of 1 to"),
        ({"dialect": "sqlite"}, "database", "is required: give the absolute path"),
        ({"dialect": "sqlite", "database": "shop.db"}, "database", "is relative: give the absolute path"),
        ({"dialect": "sqlite", "database": "/a", "host": "db"}, "host", "has no meaning for sqlite"),
        ({"dialect": "sqlite", "database": "/a", "port": 1}, "port", "has no meaning"),
        ({"dialect": "sqlite", "database": "/a", "username": "a"}, "username", "has no meaning"),
        ({"dialect": "sqlite", "database": "/a", "password": CANARY}, "password", "has no meaning"),
        ({"dialect": "sqlite", "database": "/a", "options": {"x": 1}}, "options.x", "not known of sqlite"),
        (PG | {"url": f"postgresql://a:{CANARY}@b/c"}, "host", "is given together with url"),
        ({"url": f"postgresql://a:{CANARY}@b/c", "password": CANARY}, "password", "is given twice"),
        ({"url": "postgresql://a@b/c", "password": ""}, "url", "its password is none"),
    ],
    ids=lambda one: str(one)[:60] if isinstance(one, dict) else None,
)
def test_wrong_fields_are_refused_without_being_repeated(given: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        address_from(given)
    assert told in refusals(refused.value)[field]
    assert CANARY not in str(refused.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        address_from({"dialect": "postgresql", "port": 0, "options": {"a": 1, "sslmode": 2}})
    assert list(refusals(refused.value)) == ["host", "port", "database", "options.a", "options.sslmode"]


def test_options_have_the_types_that_drivers_take() -> None:
    tls = {"sslmode": "verify-full", "sslrootcert": "/ca.pem", "sslcert": "/c.pem", "sslkey": "/k.pem"}
    assert address_from(PG | {"options": tls | {"role": "owner"}}).options == tls | {"role": "owner"}
    maria = {"dialect": "mariadb", "host": "db", "database": "shop"}
    for given, meant in ((True, True), ("TRUE", True), ("1", True), (False, False), ("off", False)):
        assert address_from(maria | {"options": {"ssl": given, "ssl_ca": "/ca.pem"}}).options["ssl"] is meant


@pytest.mark.parametrize("name", ["shop", "x" * 100, "店", "a b"])
def test_a_name_is_a_line(name: str) -> None:
    assert name_from(name) == name


@pytest.mark.parametrize("name", ["", "x" * 101, " a", "a\nb", "\ud800", None, 7])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(InvalidInput, match="is no name: give 1 to 100 characters"):
        name_from(name)


def test_a_url_is_no_name() -> None:
    with pytest.raises(InvalidInput, match="is a URL") as refused:
        name_from(f"postgresql://ann:{CANARY}@db/shop")
    assert CANARY not in str(refusals(refused.value))


# Changes


def test_some_fields_are_changed_and_the_others_stay() -> None:
    after = changed(kept(options={"sslmode": "require"}), {"database": "archive", "username": None})
    assert (after.host, after.port, after.database, after.username) == ("db", 5432, "archive", None)
    assert after.options == {"sslmode": "require"}
    assert after.password is None
    assert changed(kept(), {"password": WORD}).password == WORD
    assert changed(kept(options={"role": "x"}), {"options": None}).options == {}


def test_another_dialect_has_another_port() -> None:
    assert changed(kept(secret=None), {"dialect": "mariadb"}).port == 3306
    assert changed(kept(secret=None), {"dialect": "mariadb", "port": 5}).port == 5
    assert changed(kept(port=6543), {"dialect": "postgresql"}).port == 6543


def test_a_url_takes_the_place_of_all_fields() -> None:
    after = changed(kept(options={"role": "x"}), {"url": "postgresql://bob@db/archive"})
    assert after == Address(dialect=Dialect.POSTGRESQL, host="db", port=5432, database="archive", username="bob")


@pytest.mark.parametrize(
    "given",
    [
        {"host": "evil"},
        {"port": 1},
        {"dialect": "mysql", "port": 5432},
        {"url": "postgresql://ann@evil/shop"},
        {"url": "postgresql://ann@db:1/shop"},
    ],
    ids=str,
)
def test_a_password_that_is_kept_goes_to_no_other_server(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="is for postgresql://ann@db:5432/shop, and is not sent to another"):
        changed(kept(), given)
    assert changed(kept(), {**given, "password": None}).password is None
    assert changed(kept(), {**given, "password": WORD}).password == WORD
    assert changed(kept(secret=None), given).password is None


def test_nor_to_another_socket() -> None:
    maria = kept(dialect=Dialect.MARIADB, port=3306, options={"unix_socket": "/run/m.sock"})
    with pytest.raises(InvalidInput, match="is not sent to another"):
        changed(maria, {"options": {"unix_socket": "/tmp/evil.sock"}})  # noqa: S108 - nobody opens it
    assert changed(maria, {"dialect": "mysql"}).dialect is Dialect.MYSQL
