"""Operations: cleaning as T-SQL, to read and run by hand."""

from __future__ import annotations

from datetime import UTC, datetime

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.cleaning import CleaningConfig
from hourhand.operations.cleaning_condition import check_expression
from hourhand.operations.quoting import qualified, quoted
from hourhand.rules.operations import cutoff

_SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_UNITS = {"h": ("hour", 1), "d": ("day", 1), "w": ("day", 7), "m": ("month", 1), "y": ("month", 12)}


def age_ago(age: str, field: str = "older_than", clock: str = "SYSUTCDATETIME()") -> str:
    """The moment that lies an age ago, as `rules.operations.cutoff` reckons it, but when the script is run."""
    cutoff(age, _SOME_DAY, field=f"config.{field}")
    text = age.strip()
    unit, times = _UNITS[text[-1]]
    return f"DATEADD({unit}, DATEDIFF({unit}, 0, {clock}) - {int(text[:-1]) * times}, 0)"


def script_plan(kind: str, config: CleaningConfig, schema: str | None, name: str) -> Plan:
    """A loop of small deletes, each a transaction of its own."""
    dialect = Dialect.SQLSERVER
    table = qualified(dialect, schema or "dbo", name)
    conditions, declared = [], []
    if config.older_than is not None and config.time_column is not None:
        declared.append(f"DECLARE @cutoff datetime2 = {age_ago(config.older_than)};")
        conditions.append(f"{quoted(dialect, config.time_column)} < @cutoff")
    if config.where is not None:
        check_expression(dialect, config.where)
        conditions.append(f"({config.where.strip()})")
    most = config.max_rows
    loop = [
        *declared,
        f"DECLARE @chunk int = {config.chunk_rows}, @deleted int = 1, @total bigint = 0;",
        f"SET LOCK_TIMEOUT {config.lock_timeout_ms};",
        f"WHILE @deleted > 0{f' AND @total < {most}' if most else ''}",
        "BEGIN",
        *([f"    IF @total + @chunk > {most} SET @chunk = {most} - @total;"] if most else []),
        f"    DELETE TOP (@chunk) FROM {table} WHERE {' AND '.join(conditions)};",
        "    SET @deleted = @@ROWCOUNT;",
        "    SET @total = @total + @deleted;",
        *([f"    WAITFOR DELAY '{_delay(config.sleep_ms)}';"] if config.sleep_ms else []),
        "END",
    ]
    rest = f"SELECT @total AS rows_deleted, COUNT_BIG(*) AS rows_left FROM {table} WHERE {' AND '.join(conditions)}"  # noqa: S608
    return Plan(
        kind=kind,
        dialect=dialect,
        config=config.plain(),
        steps=(
            Step(
                name=f"delete rows of {schema or 'dbo'}.{name}",
                phase="delete",
                sql=("\n".join(loop), rest),
                lock=f"the rows of a chunk; keep it below 5,000, or SQL Server locks all of {name}",
                duration=Duration.BY_SIZE,
                action="delete",
                destructive=True,
            ),
        ),
        notes=(
            "run it whole, as one batch: its variables end with the batch",
            "an index on the columns of the condition keeps each chunk from reading the whole table",
            "whole partitions go faster by TRUNCATE TABLE … WITH (PARTITIONS (…)), or by archive_switch",
        ),
    )


def _delay(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
