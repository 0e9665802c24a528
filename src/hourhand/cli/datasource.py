"""`hourhand datasource`: the databases that operations work on."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hourhand.cli import completing, moments
from hourhand.cli.accounts import read_password
from hourhand.cli.flattening import flattened
from hourhand.cli.json_options import Json
from hourhand.cli.printing import AsJson, Column, note, print_facts, print_json, print_table, say
from hourhand.cli.refusals import in_words_of
from hourhand.model.errors import InvalidInput

if TYPE_CHECKING:
    from hourhand.cli.rest import Rest

app = typer.Typer(
    name="datasource", help="Look after data sources: the databases that operations work on.", no_args_is_help=True
)
PATH = "/data-sources"
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The data source's name.", show_default=False, autocompletion=completing.data_sources
    ),
]
NoTest = Annotated[bool, typer.Option("--no-test", help="Keep it without connecting to it first.")]
WORDS = {"name": "NAME"} | {
    name: f"--{name}" for name in ("dialect", "host", "port", "database", "username", "options")
}
WORDS |= {"password": "--password-stdin", "options": "--option"}
IN_URL = (
    "The password in the URL stays in your shell's record of commands, and was to be seen in the list of processes: "
    "leave it out and use --password-stdin."
)


class Speaks(StrEnum):
    """The dialects there are."""

    POSTGRESQL = "postgresql"
    MARIADB = "mariadb"
    MYSQL = "mysql"
    SQLITE = "sqlite"
    SQLSERVER = "sqlserver"


def _option(help_: str, *names: str, **more: Any) -> Any:  # noqa: ANN401 - Typer's own type
    return typer.Option(*names, help=help_, show_default=False, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOptions:
    """What was given; None is what was not."""

    dialect: Annotated[Speaks | None, _option("What it speaks.")] = None
    host: Annotated[str | None, _option("The server's name, or the folder of PostgreSQL's socket.")] = None
    port: Annotated[int | None, _option("The server's port. [dim]5432, 3306 or 1433[/dim]", min=1, max=65_535)] = None
    database: Annotated[str | None, _option("The database; of SQLite the absolute path of its file.")] = None
    username: Annotated[str | None, _option("As whom to sign in.")] = None
    option: Annotated[
        list[str] | None, _option("An option such as sslmode=verify-full; repeatable.", metavar="NAME=VALUE")
    ] = None
    password_stdin: Annotated[bool, _option("Read the password from standard input.", "--password-stdin")] = False

    def fields(self) -> Json:
        """The fields of a data source that the options make."""
        given = {
            "dialect": None if self.dialect is None else self.dialect.value,
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "username": self.username,
            "options": None if self.option is None else dict(_pair(one) for one in self.option),
            "password": read_password(from_stdin=True) if self.password_stdin else None,
        }
        return {name: value for name, value in given.items() if value is not None}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidInput.one("--option", None, "is no NAME=VALUE: write one such as sslmode=verify-full")
    return name, value


@app.command()
@flattened(PlaceOptions)
def add(
    name: Name,
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL]", help="Such as postgresql://user@host/database; or use the options.", show_default=False
        ),
    ] = None,
    *,
    no_test: NoTest = False,
    as_json: AsJson = False,
    options: PlaceOptions,
) -> None:
    """Add a data source, such as: hourhand datasource add shop postgresql://user@host/shop --password-stdin."""
    from hourhand.cli.rest import connected

    fields = options.fields()
    if url is None and "dialect" not in fields:
        raise InvalidInput.one("URL", None, "is missing: give one, or --dialect, --host and so on in its place")
    with connected() as rest, in_words_of(WORDS | {"url": "URL"}):
        source = rest.post(PATH, **(fields | {"name": name, "url": url, "test": not no_test}))
    _warn(url)
    if as_json:
        print_json(source)
        return
    say(f"Data source {source['name']!r} is added: {source['url']}.")
    if no_test:
        note(f"Nobody has connected to it yet: `hourhand datasource test {shlex.quote(name)}`.")


@app.command()
@flattened(PlaceOptions)
def edit(
    name: Name,
    *,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Another place, instead of all options.", show_default=False)
    ] = None,
    rename: Annotated[str | None, typer.Option(metavar="NAME", help="A new name.", show_default=False)] = None,
    no_password: Annotated[bool, typer.Option("--no-password", help="Forget the password.")] = False,
    no_test: NoTest = False,
    as_json: AsJson = False,
    options: PlaceOptions,
) -> None:
    """Change what is given of a data source; all else stays. --option replaces all options."""
    from hourhand.cli.rest import connected

    changes = options.fields() | {field: value for field, value in (("name", rename), ("url", url)) if value}
    if no_password:
        if "password" in changes:
            raise InvalidInput.one("--no-password", None, "is given together with --password-stdin: give one of them")
        changes["password"] = None
    if not changes:
        raise InvalidInput.one("NAME", name, "is all that is given: give the options to change, such as --host")
    with connected() as rest, in_words_of(WORDS | {"url": "--url", "name": "--rename"}):
        source = rest.patch(f"{PATH}/{_found(rest, name)['id']}", changes | {"test": not no_test})
    _warn(url)
    if as_json:
        print_json(source)
    else:
        say(f"Data source {source['name']!r} is changed ({', '.join(changes)}): {source['url']}.")


@app.command("list")
def list_sources(*, as_json: AsJson = False) -> None:
    """List data sources, by name."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.get(PATH)
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        note("There are no data sources: `hourhand datasource add`.")
        return
    print_table(
        (Column("NAME"), Column("DIALECT", 8), Column("AT", 7), Column("PASSWORD", 4), Column("UPDATED", 2)),
        [
            (one["name"], one["dialect"], one["url"], _sealed(one), moments.shown(one["updated_at"]))
            for one in found["items"]
        ],
    )


@app.command()
def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that is known of a data source; of its password only whether there is one."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        source = _found(rest, name)
    if as_json:
        print_json(source)
        return
    told = {
        "password": _sealed(source),
        "options": ", ".join(f"{option}={value}" for option, value in source["options"].items()),
        "created_at": moments.shown(source["created_at"]),
        "updated_at": moments.shown(source["updated_at"]),
    }
    print_facts({field: value for field, value in source.items() if field != "has_password"} | told)


@app.command("test")
def try_source(name: Name, *, as_json: AsJson = False) -> None:
    """Connect to a data source now, from the server; exit 1 unless it answers."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = rest.post(f"{PATH}/{_found(rest, name)['id']}/test")
    if as_json:
        print_json(found)
    else:
        took = "" if found["latency_ms"] is None else f" ({found['latency_ms']} ms)"
        say(f"{found['detail']}{took}")
    if not found["ok"]:
        raise typer.Exit(1)


@app.command()
def delete(name: Name, *, as_json: AsJson = False) -> None:
    """Delete a data source; refused while tasks or instances need it. The database itself is not touched."""
    from hourhand.cli.rest import connected

    with connected() as rest:
        found = _found(rest, name)
        rest.delete(f"{PATH}/{found['id']}")
    if as_json:
        print_json({"id": found["id"], "name": name, "deleted": True})
    else:
        typer.echo(f"Data source {name!r} is deleted; the database itself is as it was.")


def _found(rest: Rest, name: str) -> Json:
    return rest.named("data source", PATH, name, paged=False)


def _sealed(source: Json) -> str:
    return "sealed" if source["has_password"] else "none"


def _warn(url: str | None) -> None:
    from hourhand.rules.redaction import without_password

    if url is not None and without_password(url) != url:
        note(IN_URL)
