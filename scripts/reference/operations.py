"""docs/reference/operations.md: every kind of operation, its fields, and what it does on which database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Support
from hourhand.operations.catalogue import Catalogue
from hourhand.operations.config import Config
from hourhand.operations.kind import Kind
from reference.markdown import anchor, code, example, page, prose, table
from reference.schemas import fields

INTRODUCTION = """
An operation is built-in work on a [data source](shapes.md#datasourceoutput): planned, shown, approved, executed,
verified, and gone on with where it was interrupted. Its kind says what it does; its configuration has the fields below,
and unknown keys are refused. It is started by [`hourhand operation start`](commands.md#hourhand-operation-start) or
[`POST /operations/{kind}`](routes.md#post-operationskind).
"""
WHERE = """
*script*: a T-SQL script to read and run by hand; Hourhand connects to no SQL Server, and has never executed it. *no*:
refused, for the reason below. MySQL is worked on in the same way as MariaDB; the suite is run on MariaDB only.
"""
NAMES = {
    Dialect.POSTGRESQL: "PostgreSQL",
    Dialect.MARIADB: "MariaDB",
    Dialect.MYSQL: "MySQL",
    Dialect.SQLITE: "SQLite",
    Dialect.SQLSERVER: "SQL Server",
}
WORDS = {Support.DONE: "yes", Support.SCRIPT: "script", Support.REFUSED: "no"}


def operations() -> str:
    """Write the page."""
    kinds = Catalogue().all()
    return page(
        "Operations",
        INTRODUCTION,
        "## Kinds and databases",
        table(
            ["no.", "kind", "what it does", *NAMES.values()],
            [
                (
                    str(kind.number),
                    f"[{code(kind.kind)}](#{anchor(kind.kind)})",
                    prose(kind.title),
                    *(WORDS[kind.support(dialect)[0]] for dialect in NAMES),
                )
                for kind in kinds
            ],
        ),
        WHERE,
        "## Fields of every kind",
        fields(_schema(Config)),
        *(part for kind in kinds for part in _kind(kind)),
    )


def _kind(kind: Kind[Any, Any]) -> Iterator[str]:
    schema = _schema(kind.config)
    own = {name: field for name, field in schema["properties"].items() if name not in _schema(Config)["properties"]}
    yield f"## {kind.kind}"
    yield f"Number {kind.number}. {prose(type(kind).__doc__ or kind.title)}"
    yield fields({**schema, "properties": own}, _below)
    for name, shape in schema.get("$defs", {}).items():
        yield f"### {name}"
        yield fields(shape, _below)
    yield example(dict(kind.example))
    refused = [(dialect, kind.support(dialect)) for dialect in NAMES]
    yield "\n".join(
        f"Not on {NAMES[dialect]}: {prose(why)}." for dialect, (support, why) in refused if support is Support.REFUSED
    )


def _schema(config: type[Config]) -> Mapping[str, Any]:
    return config.model_json_schema(by_alias=True)


def _below(name: str) -> str:
    """Lead to a shape of this page."""
    return f"[{name}](#{anchor(name)})"
