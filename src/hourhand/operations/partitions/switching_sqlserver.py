"""Operations: switching partitions out on SQL Server: a script, since nothing connects to it."""

from __future__ import annotations

import re

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Step
from hourhand.operations.failures import Refused
from hourhand.operations.partitions.sqlserver import RANGE_RIGHT, found_step, line, repeated, script_step, stop_if
from hourhand.operations.partitions.switching import SwitchConfig, SwitchPlan, SwitchState
from hourhand.operations.quoting import literal, qualified

MS = Dialect.SQLSERVER
_UNITS = {"h": "HOUR", "d": "DAY", "w": "WEEK", "m": "MONTH", "y": "YEAR"}
_COUNTED = """SET @sql = N'SELECT @rows = COUNT_BIG(*) FROM ' + @table + N' WHERE $PARTITION.' + QUOTENAME(@function)
        + N'(' + QUOTENAME(@key) + N') = @n'"""
_COUNT = "EXEC sys.sp_executesql @sql, N'@n int, @rows bigint OUTPUT', @n = @n, @rows = {} OUTPUT"
_IN_TARGET = """SET @sql = N'SELECT @rows = COUNT_BIG(*) FROM ' + @target
        + CASE WHEN @parted = 1 THEN N' WHERE $PARTITION.' + QUOTENAME(@function) + N'(' + QUOTENAME(@key) + N') = @n'
               ELSE N'' END"""
_SWITCH = """SET @sql = N'ALTER TABLE ' + @table + N' SWITCH PARTITION ' + CONVERT(nvarchar(10), @n) + N' TO ' + @target
        + CASE WHEN @parted = 1 THEN N' PARTITION ' + CONVERT(nvarchar(10), @n) ELSE N'' END
        + N' WITH (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF))'"""
_TRUNCATE = """SET @sql = N'TRUNCATE TABLE ' + @table + N' WITH (PARTITIONS (' + CONVERT(nvarchar(10), @n) + N'))'"""
_EXECUTE = "EXEC sys.sp_executesql @sql"


def plan(config: SwitchConfig, state: SwitchState) -> SwitchPlan:
    """Each partition goes to a table that is there, is alike and is empty; or it is truncated."""
    drop = config.after == "drop"
    if not drop and config.target_table is None:
        raise Refused(
            "SQL Server switches into a table that is there, with the same columns and indexes, on the same filegroup: "
            "name it",
            field="target_table",
        )
    steps = [found_step(state.table), _chosen(config)]
    if not drop:
        steps.append(_target(config, state))
    steps.append(_truncated(state) if drop else _switched(state))
    notes = [RANGE_RIGHT, "partitions are named by their numbers, of which the lowest is 1"]
    if not drop:
        notes.append(
            "the target must have the same columns, constraints and indexes, lie on the same filegroup, and be empty; "
            "one that is partitioned by the same function takes each partition at its own number"
        )
        notes.append("a table that is referred to by foreign keys cannot be switched: drop those first")
    return SwitchPlan(tuple(steps), tuple(notes))


def _chosen(config: SwitchConfig) -> Step:
    declared = (
        "DECLARE @leaving TABLE (n int PRIMARY KEY)",
        "DECLARE @n int, @before bigint, @after bigint, @parted bit = 0, @cutoff datetime2(3)",
    )
    if config.older_than is None:
        for name in config.partitions:
            if not re.fullmatch(r"[1-9]\d{0,4}", name):
                raise Refused(f"{name!r} is no number of a partition: give one such as 1", field="partitions")
        values = ", ".join(f"({name})" for name in dict.fromkeys(config.partitions))
        return script_step("choose the partitions", "find", *declared, f"INSERT INTO @leaving (n) VALUES {values}")  # noqa: S608
    age = config.older_than.strip()
    unit, count = age[-1], int(age[:-1])
    if count == 0:
        raise Refused(f"{age!r} is no age: use a form such as 36h, 400d, 6w, 13m (months) or 2y", field="older_than")
    rounded = {"h": "HOUR", "d": "DAY", "w": "DAY"}.get(unit, "MONTH")
    # By days since a day long ago, since hours since then would be too many for an int.
    base = "CONVERT(datetime2(3), '2000-01-01')"
    cutoff = (
        f"DATEADD({rounded}, DATEDIFF({rounded}, {base}, DATEADD({_UNITS[unit]}, -{count}, SYSUTCDATETIME())), {base})"
    )
    return script_step(
        "choose the partitions",
        "find",
        *declared,
        f"SET @cutoff = {cutoff}",
        "INSERT INTO @leaving (n) SELECT v.boundary_id FROM sys.partition_range_values AS v "
        "WHERE v.function_id = @function_id AND CONVERT(datetime2(3), v.value) <= @cutoff",
        "SELECT n AS [partition], @cutoff AS [lies before] FROM @leaving ORDER BY n",
    )


def _target(config: SwitchConfig, state: SwitchState) -> Step:
    name = qualified(MS, config.target_schema or state.table.schema, config.target_table or "")
    text = literal(MS, name)
    return script_step(
        "look at the target",
        "check",
        f"DECLARE @target nvarchar(600) = {text}",
        stop_if("OBJECT_ID(@target) IS NULL", 50006, "the target table is not there: create it, alike and empty"),
        "SELECT @parted = 1 FROM sys.indexes AS i JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id "
        "WHERE i.object_id = OBJECT_ID(@target) AND i.index_id IN (0, 1) AND s.function_id = @function_id",
    )


def _switched(state: SwitchState) -> Step:
    body = (
        "SELECT @n = MIN(n) FROM @leaving",
        _COUNTED,
        _COUNT.format("@before"),
        _SWITCH,
        _EXECUTE,
        _IN_TARGET,
        _COUNT.format("@after"),
        stop_if("@before <> @after", 50007, "the target has not as many rows as the partition had"),
        "SELECT @n AS [partition], @after AS [rows]",
        "DELETE FROM @leaving WHERE n = @n",
    )
    return script_step(
        "switch the partitions",
        "switch",
        repeated("EXISTS (SELECT 1 FROM @leaving)", body),
        lock=f"Sch-M on {line(state.table.shown)} and the target, waited for at low priority for a minute",
    )


def _truncated(state: SwitchState) -> Step:
    body = (
        "SELECT @n = MIN(n) FROM @leaving",
        _COUNTED,
        _COUNT.format("@before"),
        "SELECT @n AS [partition], @before AS [rows]",
        _TRUNCATE,
        _EXECUTE,
        "DELETE FROM @leaving WHERE n = @n",
    )
    return script_step(
        "truncate the partitions",
        "drop",
        repeated("EXISTS (SELECT 1 FROM @leaving)", body),
        lock=f"Sch-M on {line(state.table.shown)}, for a moment",
        destructive=True,
    )
