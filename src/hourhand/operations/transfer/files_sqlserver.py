"""Operations: archiving on SQL Server: command lines of bcp and T-SQL, to be read and run by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Side, Step
from hourhand.operations.catalog.table import Table
from hourhand.operations.cleaning_condition import check_expression
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import qualified
from hourhand.rules.operations import temporary

if TYPE_CHECKING:
    from hourhand.operations.kinds.archive_bcp import ArchiveConfig
    from hourhand.operations.kinds.archive_restore import RestoreConfig

_CHUNK = 5_000
_LOGIN = '-S "$SERVER" -d "$DATABASE" -T'
_NATIVE = "-N -b 10000"
"""Native types, text as Unicode: nothing is lost on the way to a file and back."""


def plan_archive(config: ArchiveConfig, table: Table) -> Plan:
    """Export, load the file into a table beside, compare both ways, delete."""
    if config.partition is not None:
        raise Refused("on SQL Server give where in place of partition: bcp knows no partitions", field="partition")
    if config.where is not None:
        check_expression(Dialect.SQLSERVER, config.where)
    where = f" WHERE ({config.where})" if config.where is not None else ""
    file = f"{config.output_dir}/{table.name}.bcp"
    beside = temporary("archive_bcp", table.name, "again")
    again = qualified(Dialect.SQLSERVER, table.schema, beside)
    query = f"SELECT * FROM {table.sql}{where}"  # noqa: S608 - a script that is only read
    # bcp would write over the archive of the last time, whose rows are nowhere else.
    fresh = f"test ! -e {_argument(file)}"
    steps = [
        Step(
            name="export rows to a file", phase="export", side=Side.EXECUTOR, duration=Duration.BY_SIZE,
            sql=(f"-- {fresh} && bcp {_argument(query)} queryout {_argument(file)} {_LOGIN} {_NATIVE}",),
        ),
        Step(name=f"make {beside}", phase="verify", sql=(f"SELECT TOP (0) * INTO {again} FROM {table.sql}",)),  # noqa: S608
        Step(
            name="read the file again", phase="verify", side=Side.EXECUTOR, duration=Duration.BY_SIZE,
            sql=(f"-- bcp {_argument(again)} in {_argument(file)} {_LOGIN} {_NATIVE} -E",),
        ),
        Step(name="compare both ways", phase="verify", sql=_compared(query, again), duration=Duration.BY_SIZE,
             transaction=False),
    ]  # fmt: skip
    if config.delete_after_verify:
        steps.append(
            Step(name="delete what was archived", phase="delete", sql=_deleted(table.sql, where),
                 lock=f"row locks on {table.shown}, {_CHUNK} rows at a time", duration=Duration.BY_SIZE,
                 transaction=False, destructive=True)
        )  # fmt: skip
    steps.append(Step(name=f"drop {beside}", phase="clean", sql=(f"DROP TABLE {again}",)))
    return Plan(
        kind="archive_bcp",
        dialect=Dialect.SQLSERVER,
        config=config.plain(),
        steps=tuple(steps),
        notes=(
            "the lines of bcp are for a shell, with SERVER and DATABASE set; the statements are for the database",
            "bcp writes its own format (-N); format, compression and rows_per_file are not used",
            "stop at the first error: nothing is deleted unless the comparison passes, and no file is written over",
            "nothing may write to these rows meanwhile: the delete takes whatever the condition finds then",
        ),
    )


def plan_restore(config: RestoreConfig) -> Plan:
    """Load the file into a table beside, and from there what is not yet in the table, all or nothing."""
    schema = config.target_schema or "dbo"
    table = config.target_table or ""
    if not table:
        raise Refused("on SQL Server give target_table: the file does not say where it came from", field="target_table")
    target, beside = qualified(Dialect.SQLSERVER, schema, table), temporary("archive_restore", table, "file")
    again = qualified(Dialect.SQLSERVER, schema, beside)
    moved = (
        "SET XACT_ABORT ON",
        "BEGIN TRANSACTION",
        f"DECLARE @again bigint = (SELECT COUNT_BIG(*) FROM {again})",  # noqa: S608
        f"INSERT INTO {target} SELECT * FROM {again}",  # noqa: S608
        "IF ROWCOUNT_BIG() <> @again THROW 50000, 'not all rows came back', 1",
        "COMMIT TRANSACTION",
    )
    return Plan(
        kind="archive_restore",
        dialect=Dialect.SQLSERVER,
        config=config.plain(),
        steps=(
            Step(name=f"make {beside}", phase="prepare", sql=(f"SELECT TOP (0) * INTO {again} FROM {target}",)),  # noqa: S608
            Step(
                name="load the file", phase="load", side=Side.EXECUTOR, duration=Duration.BY_SIZE,
                sql=(f"-- bcp {_argument(again)} in {_argument(config.manifest)} {_LOGIN} {_NATIVE} -E",),
            ),
            Step(name="put the rows back", phase="load", sql=moved, transaction=False, duration=Duration.BY_SIZE,
                 lock=f"row locks on {schema}.{table}, or one on all of it if they are many"),
            Step(name=f"drop {beside}", phase="clean", sql=(f"DROP TABLE {again}",)),
        ),
        notes=(
            "the lines of bcp are for a shell, with SERVER and DATABASE set; the statements are for the database",
            "manifest is here the file that bcp wrote",
            "a table with an identity column needs SET IDENTITY_INSERT, and a list of its columns in the INSERT",
        ),
    )  # fmt: skip


def _compared(query: str, again: str) -> tuple[str, ...]:
    """EXCEPT takes equal rows for one, so they are counted too."""
    checks = {
        "@ours <> @again": "another number of rows than the table",
        f"EXISTS ({query} EXCEPT SELECT * FROM {again})": "not all rows of the table",  # noqa: S608
        f"EXISTS (SELECT * FROM {again} EXCEPT {query})": "rows that the table does not have",  # noqa: S608
    }
    return (
        f"DECLARE @ours bigint = (SELECT COUNT_BIG(*) FROM ({query}) AS ours)",  # noqa: S608
        f"DECLARE @again bigint = (SELECT COUNT_BIG(*) FROM {again})",  # noqa: S608
        *(f"IF {check} THROW 50000, 'the file has {what}', 1" for check, what in checks.items()),
    )


def _deleted(table: str, where: str) -> tuple[str, ...]:
    return (
        "DECLARE @gone int = 1",
        f"WHILE @gone > 0 BEGIN DELETE TOP ({_CHUNK}) FROM {table}{where}; SET @gone = @@ROWCOUNT; END",
    )


def _argument(text: str) -> str:
    """An argument for a POSIX shell, on one line."""
    plain = " ".join(text.split())
    return "'" + plain.replace("'", "'\\''") + "'"
