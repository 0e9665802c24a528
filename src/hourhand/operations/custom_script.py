"""Operations: a custom step as T-SQL: its check around it, its statements in a transaction, what takes it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Step
from hourhand.operations.quoting import literal
from hourhand.operations.statements import Statement


def script_step(name: str, statements: Sequence[Statement], given: Mapping[str, Any]) -> Step:
    """One batch; what must be the first of its own is executed as a text."""
    lines = [_said(one) for one in statements]
    if given["in_transaction"]:
        lines = ["BEGIN TRANSACTION;", *lines, "COMMIT TRANSACTION;"]
    elif given["rollback_sql"] is not None:  # a transaction is taken back by XACT_ABORT
        back = _said(Statement(Dialect.SQLSERVER, given["rollback_sql"]))
        lines = ["BEGIN TRY", *_inside(lines), "END TRY", "BEGIN CATCH", *_inside([back, "THROW;"]), "END CATCH;"]
    if given["check_sql"] is not None:
        asked = given["check_sql"].strip().rstrip(";")
        lines = [f"IF ISNULL(({asked}), 0) = 0", "BEGIN", *_inside(lines), "END;"]
    waits = [] if given["timeout_ms"] is None else [f"-- give the client a time-out of {given['timeout_ms']} ms"]
    return Step(
        name=name,
        phase="execute",
        sql=(*waits, "SET XACT_ABORT ON;", "\n".join(lines), "GO"),
        duration=Duration.UNKNOWN,
        transaction=False,
        destructive=any(one.destroys for one in statements),
    )


def _said(statement: Statement) -> str:
    text = statement.text.rstrip(";").rstrip()
    if statement.own_batch:
        said = literal(Dialect.SQLSERVER, text)
        return f"EXEC sys.sp_executesql {said if said.startswith('N') else f'N{said}'};"
    return f"{text};"


def _inside(lines: Sequence[str]) -> list[str]:
    """Texts of several lines keep theirs: blanks within a literal would count."""
    return [indent(line, "    ") if "\n" not in line else line for line in lines]
