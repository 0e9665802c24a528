"""Operations: boundaries on SQL Server: scripts, since nothing connects to it.

No configuration can know the names of the partition function and scheme: the script finds them, and lists every table
that they serve, before it changes anything. The whole is one batch, so that its variables hold to the end.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.config import TableConfig
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.shapes import (
    AddConfig,
    BoundaryState,
    MergeConfig,
    MoveConfig,
    PartitionPlan,
    SplitConfig,
)
from hourhand.operations.quoting import literal
from hourhand.operations.work import LiveWork

MS = Dialect.SQLSERVER
ACTIONS: Mapping[str, Callable[[LiveWork, Step], Awaitable[object]]] = {}
RANGE_RIGHT = (
    "RANGE RIGHT is assumed: a boundary is the first value of the partition above it; the script stops at RANGE LEFT"
)
SERVES_ALL = (
    "a partition function may serve several tables and indexes: the script lists them first, and all of them change"
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_PART = {"hour": "HOUR", "day": "DAY", "week": "WEEK", "month": "MONTH", "quarter": "QUARTER", "year": "YEAR"}
_DECLARED = """DECLARE @table nvarchar(600) = {table}, @function sysname, @function_id int, @right bit, @key sysname,
        @filegroup sysname = {filegroup}, @next datetime2(3), @sql nvarchar(max)"""
_LOOKED_UP = """SELECT @function = f.name, @function_id = f.function_id, @key = c.name,
       @right = f.boundary_value_on_right
FROM sys.indexes AS i
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.partition_ordinal = 1
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.object_id = OBJECT_ID(@table) AND i.index_id IN (0, 1)"""
_SERVED = """SELECT OBJECT_SCHEMA_NAME(i.object_id) AS [schema], OBJECT_NAME(i.object_id) AS [table], i.name AS [index]
FROM sys.indexes AS i JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
WHERE s.function_id = @function_id
ORDER BY 1, 2, 3"""
_FILEGROUP = """SELECT TOP (1) @filegroup = g.name
FROM sys.partition_schemes AS s
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id
JOIN sys.filegroups AS g ON g.data_space_id = d.data_space_id
WHERE s.function_id = @function_id AND @filegroup IS NULL
ORDER BY d.destination_id DESC"""
_NEXT_USED = """SELECT @sql = STRING_AGG(CONVERT(nvarchar(max), N'ALTER PARTITION SCHEME ' + QUOTENAME(s.name)
    + N' NEXT USED ' + QUOTENAME(@filegroup)), N'; ')
FROM sys.partition_schemes AS s WHERE s.function_id = @function_id"""
_SPLIT_AT_NEXT = """SET @sql = N'ALTER PARTITION FUNCTION ' + QUOTENAME(@function) + N'() SPLIT RANGE ('''
        + CONVERT(nvarchar(30), @next, 126) + N''')'"""
_MOVING = "Sch-M on {} and every table of the function: nobody reads or writes while rows are moved"
_EXECUTE = "EXEC sys.sp_executesql @sql"
_LAST_FILLED = """EXISTS (SELECT 1 FROM sys.partitions AS p
    JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
    JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id AND s.function_id = @function_id
    JOIN sys.partition_functions AS f ON f.function_id = s.function_id AND f.fanout = p.partition_number
    WHERE p.rows > 0)"""
_USE_SPLIT = "the last partition has rows, which a new boundary would move: use split_boundary"


def found_step(table: Table, filegroup: str | None = None) -> Step:
    """Look up the function, its key and its tables; stop at what is not as assumed."""
    declared = _DECLARED.format(table=_text(table.sql), filegroup="NULL" if filegroup is None else _text(filegroup))
    return script_step(
        "find the partition function",
        "find",
        "SET XACT_ABORT ON",
        "SET DATEFORMAT ymd",
        declared,
        _LOOKED_UP,
        stop_if("@function IS NULL", 50001, f"{table.shown} is not there, or is not partitioned"),
        stop_if("@right = 0", 50002, "the function is RANGE LEFT: shift the boundaries by one, by hand"),
        _SERVED,
    )


def script_step(name: str, phase: str, *sql: str, lock: str | None = None, destructive: bool = False) -> Step:
    """A step of a script."""
    duration = Duration.UNKNOWN if lock else Duration.MOMENT
    return Step(
        name=name, phase=phase, sql=sql, lock=lock, transaction=False, duration=duration, destructive=destructive
    )


def stop_if(condition: str, number: int, message: str) -> str:
    """End the script there."""
    return f"IF {condition} BEGIN THROW {number}, {_text(message)}, 1; END"


def line(value: str) -> str:
    """A value as part of a comment, out of which it must not get."""
    return " ".join(value.split())


def _text(value: str) -> str:
    """A literal that may hold any character."""
    text = literal(MS, value)
    return text if text.startswith("N") else f"N{text}"


def _written(value: str, *, field: str) -> tuple[str, str]:
    """A boundary as a literal, and the type by which it is compared; a date in a form that no setting changes."""
    if _NUMBER.fullmatch(value.strip()):
        return value.strip(), "decimal(38, 10)"
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return _text(value), "nvarchar(4000)"
    if moment.tzinfo is not None:
        raise Refused(f"{value!r} has an offset, and nobody knows the key's: give the local value", field=field)
    plain = moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat()
    return f"'{plain}'", "datetime2(7)"


def _there(value: str, *, field: str) -> str:
    """The condition that the function has the boundary."""
    written, type_ = _written(value, field=field)
    return (
        f"EXISTS (SELECT 1 FROM sys.partition_range_values AS v WHERE v.function_id = @function_id "  # noqa: S608
        f"AND TRY_CONVERT({type_}, v.value) = CONVERT({type_}, {written}))"
    )


def _changed(verb: str, value: str, *, field: str) -> str:
    written = _written(value, field=field)[0]
    return (
        "SET @sql = N'ALTER PARTITION FUNCTION ' + QUOTENAME(@function) + N'() "
        f"{verb} RANGE (' + {_text(written)} + N')'"
    )


def _split(value: str, *, field: str) -> tuple[str, ...]:
    """One boundary, unless it is there; every scheme of the function needs a filegroup for what is new."""
    return (
        f"IF {_there(value, field=field)} SET @sql = NULL ELSE {_NEXT_USED}",
        f"IF @sql IS NOT NULL {_EXECUTE}",
        f"IF @sql IS NOT NULL {_changed('SPLIT', value, field=field)}",
        f"IF @sql IS NOT NULL {_EXECUTE}",
    )


def script_facts(config: TableConfig) -> None:  # noqa: ARG001 - as all have it
    """Nothing: the script looks for itself."""
    return


def plan_add(config: AddConfig, state: BoundaryState) -> PartitionPlan:
    """NEXT USED and SPLIT RANGE at an empty end, which changes the catalog only."""
    if config.name_template is not None:
        raise Refused("partitions have numbers here, no names: leave it out", field="name_template")
    lock = f"Sch-M on {line(state.table.shown)} and every table of the function, for a moment"
    steps = [
        found_step(state.table, config.tablespace),
        script_step("find the filegroup", "find", _FILEGROUP),
        script_step("refuse a last partition that has rows", "check", stop_if(_LAST_FILLED, 50003, _USE_SPLIT)),
    ]
    if config.interval is not None:
        steps.append(script_step("add boundaries ahead of time", "add", _premade(config), lock=lock))
    for value in config.boundaries:
        statements = _split(value, field="boundaries")
        steps.append(script_step(f"add the boundary {line(value)}", "add", *statements, lock=lock))
    steps += [_verified(value, "boundaries") for value in config.boundaries]
    return PartitionPlan(steps=tuple(steps), notes=(RANGE_RIGHT, SERVES_ALL))


def _premade(config: AddConfig) -> str:
    given = re.fullmatch(r"\s*(\d+)\s*([a-z]+?)s?\s*", config.interval or "")
    if given is None or given[2] not in _PART or int(given[1]) == 0:
        raise Refused(f"{config.interval!r} is no span of time: for numbers give the boundaries", field="interval")
    if config.start is not None:
        raise Refused("the script goes on from the last boundary there is: leave start out", field="start")
    last = (
        "(SELECT MAX(CONVERT(datetime2(3), v.value)) FROM sys.partition_range_values AS v "
        "WHERE v.function_id = @function_id)"
    )
    ahead = (
        "(SELECT COUNT(*) FROM sys.partition_range_values AS v WHERE v.function_id = @function_id "
        "AND CONVERT(datetime2(3), v.value) > SYSUTCDATETIME())"
    )
    step = f"SET @next = DATEADD({_PART[given[2]]}, {int(given[1])}, {last})"
    return repeated(f"{config.premake_count} >= {ahead}", (step, _NEXT_USED, _EXECUTE, _SPLIT_AT_NEXT, _EXECUTE))


def _native(config: MoveConfig) -> None:
    if config.strategy not in ("auto", "native"):
        raise Refused(f"{config.strategy} is PostgreSQL's: use auto or native", field="strategy")
    if config.name is not None:
        raise Refused("partitions have numbers here, no names: leave it out", field="name")


def plan_split(config: SplitConfig, state: BoundaryState) -> PartitionPlan:
    """SPLIT RANGE; where the partition has rows, they are moved under the lock."""
    _native(config)
    lock = _MOVING.format(line(state.table.shown))
    steps = (
        found_step(state.table),
        script_step("find the filegroup", "find", _FILEGROUP),
        script_step(
            f"split at {line(config.boundary)}", "split", *_split(config.boundary, field="boundary"), lock=lock
        ),
        _verified(config.boundary, "boundary"),
    )
    return PartitionPlan(steps=steps, notes=(RANGE_RIGHT, SERVES_ALL, _offline("split")))


def plan_merge(config: MergeConfig, state: BoundaryState) -> PartitionPlan:
    """MERGE RANGE."""
    _native(config)
    if config.boundary is None:
        raise Refused("partitions have no names here: give the boundary that goes", field="partitions")
    lock = _MOVING.format(line(state.table.shown))
    there = _there(config.boundary, field="boundary")
    steps = (
        found_step(state.table),
        script_step(
            f"merge at {line(config.boundary)}",
            "merge",
            stop_if(f"NOT {there}", 50004, f"{config.boundary} is no boundary of the function"),
            _changed("MERGE", config.boundary, field="boundary"),
            _EXECUTE,
            lock=lock,
        ),
        _verified(config.boundary, "boundary", gone=True),
    )
    return PartitionPlan(steps=steps, notes=(RANGE_RIGHT, SERVES_ALL, _offline("merge")))


def _offline(what: str) -> str:
    return (
        f"a {what} of partitions that have rows moves them under the lock and writes them to the log: try it on a copy"
    )


def _verified(value: str, field: str, *, gone: bool = False) -> Step:
    wrong = f"{value} is still there" if gone else f"{value} is not there"
    condition = _there(value, field=field) if gone else f"NOT {_there(value, field=field)}"
    return script_step(f"verify {line(value)}", "verify", stop_if(condition, 50005, wrong))


async def inspect(config: TableConfig, look: Look, table: Table) -> None:
    """Nothing connects to it."""
    raise NotImplementedError


async def estimate(look: Look, plan: Plan) -> Plan:  # noqa: ARG001 - as all have it
    """Nothing can be told."""
    return plan


def repeated(condition: str, statements: Sequence[str]) -> str:
    """A loop."""
    body = ";\n    ".join(statements)
    return f"WHILE {condition}\nBEGIN\n    {body};\nEND"
