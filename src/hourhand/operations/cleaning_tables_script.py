"""Operations: putting left-over tables in quarantine as T-SQL, to read and run by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Plan, Step
from hourhand.operations.cleaning_script import age_ago
from hourhand.operations.quoting import literal

_LOCK = "Sch-M on each table for a moment"
_FULL = "QUOTENAME(s.name) + N'.' + QUOTENAME(t.name)"
_SINCE = "DATEADD(hour, TRY_CAST(SUBSTRING(t.name, 15, 2) AS int), TRY_CAST(SUBSTRING(t.name, 7, 8) AS datetime2))"
"""When a table was put in quarantine, by its name: `_hh_q_2026013123_…`."""


def temp_tables_script(
    kind: str,
    plain: dict[str, Any],
    *,
    schema: str | None,
    pattern: str,
    exclude: Sequence[str],
    min_age: str,
    quarantine_hours: int,
) -> Plan:
    """Statements that make statements: what tables there are is known on the server alone."""

    def meant(name: str) -> str:
        return " AND ".join([_like(name, pattern), *(f"NOT {_like(name, one)}" for one in exclude)])

    tables = (
        "FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id "
        f"WHERE s.name = {literal(Dialect.SQLSERVER, schema or 'dbo')}"
    )
    drop = (
        "DECLARE @drop nvarchar(max) = N'';",
        f"SELECT @drop = @drop + N'DROP TABLE ' + {_FULL} + N';' {tables}",
        f"  AND {_like('t.name', '_hh_q_*')} AND {meant('SUBSTRING(t.name, 18, 128)')}",
        f"  AND {_SINCE} <= DATEADD(hour, -{quarantine_hours}, SYSDATETIME());",
        "PRINT @drop;",
        "EXEC sp_executesql @drop",
    )
    rename = (
        "DECLARE @prefix nvarchar(20) = N'_hh_q_' + FORMAT(DATEADD(hour, 1, SYSDATETIME()), 'yyyyMMddHH') + N'_';",
        # create_date is the server's local time.
        f"DECLARE @born_before datetime = {age_ago(min_age, 'min_age', 'SYSDATETIME()')};",
        "DECLARE @rename nvarchar(max) = N'';",
        f"SELECT @rename = @rename + N'EXEC sp_rename N''' + REPLACE({_FULL}, N'''', N'''''') + N''', N'''",
        f"  + REPLACE(@prefix + t.name, N'''', N'''''') + N''';' {tables}",
        f"  AND {meant('t.name')} AND NOT {_like('t.name', '_hh_*')} AND t.create_date < @born_before",
        "  AND LEN(@prefix + t.name) <= 128",
        "  AND NOT EXISTS (SELECT 1 FROM sys.foreign_keys AS k WHERE k.referenced_object_id = t.object_id)",
        "  AND NOT EXISTS (SELECT 1 FROM sys.sql_expression_dependencies AS d WHERE d.referenced_id = t.object_id);",
        "PRINT @rename;",
        "EXEC sp_executesql @rename",
    )
    return Plan(
        kind=kind,
        dialect=Dialect.SQLSERVER,
        config=plain,
        steps=(
            Step(
                name="drop what was long enough in quarantine",
                phase="drop",
                sql=("\n".join(drop),),
                lock=_LOCK,
                destructive=True,
            ),
            Step(name="put in quarantine what is old enough", phase="quarantine", sql=("\n".join(rename),), lock=_LOCK),
        ),
        notes=(
            "tables that a foreign key, a view or a procedure depends on are left alone",
            "leave out the EXEC at first, and read what is printed",
        ),
    )


def _like(name: str, pattern: str) -> str:
    """A pattern of file names as one of LIKE; what LIKE would take for its own is put in brackets."""
    signs = {"*": "%", "?": "_", "%": "[%]", "_": "[_]"}
    text, place = "", 0
    while place < len(pattern):
        closing = pattern.find("]", place + 2) if pattern[place] == "[" else -1
        if closing >= 0:
            inside = pattern[place + 1 : closing]
            text += f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
            place = closing + 1
            continue
        text += "[[]" if pattern[place] == "[" else signs.get(pattern[place], pattern[place])
        place += 1
    return f"{name} LIKE {literal(Dialect.SQLSERVER, text)}"
