"""Operations: moving or copying rows as a T-SQL script."""

from __future__ import annotations

from typing import Any

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Step
from hourhand.operations.cleaning_condition import check_expression
from hourhand.operations.failures import Refused
from hourhand.operations.quoting import literal, qualified, quoted

_SQL = Dialect.SQLSERVER


def tsql_plan(kind: str, config: Any) -> Plan:  # noqa: ANN401 - a BulkCopyConfig
    """A script: chunks of keys, each inserted, counted and deleted in one transaction."""
    if not config.key_columns:
        raise Refused(
            "nothing connects to SQL Server, so that the key cannot be looked up: give key_columns", field="key_columns"
        )
    if config.where is not None:
        check_expression(_SQL, config.where)
    source = qualified(_SQL, config.schema_name or "dbo", config.table)
    name = config.target_table or config.table
    linked = config.target_data_source not in (None, config.data_source)
    target = qualified(_SQL, config.target_schema or "dbo", name)
    if linked:
        # A linked server of the data source's name, and the database that it is set to.
        target = f"{quoted(_SQL, config.target_data_source)}..{target}"
    if target == source:
        raise Refused(f"{target} is the source itself: give another target_table", field="target_table")
    like = f"SELECT * INTO {target} FROM {source} WHERE 1 = 0"  # noqa: S608
    steps = []
    if config.create_target and not linked:
        steps.append(
            Step(
                name=f"create the table {name}",
                phase="prepare",
                sql=(f"IF OBJECT_ID({literal(_SQL, target)}) IS NULL {like}",),
            )
        )
    steps.append(
        Step(
            name=f"{'move' if config.delete_source else 'copy'} the rows of {config.table}",
            phase="move" if config.delete_source else "copy",
            sql=_chunks(config, source, target),
            lock=f"rows of {source}, chunk by chunk",
            duration=Duration.BY_SIZE,
            transaction=False,
            destructive=config.delete_source or config.on_conflict == "replace",
        )
    )
    columns = "the target needs the same columns in the same order, and a unique key; identity columns of it: "
    notes = [f"{columns}SET IDENTITY_INSERT ON, with the columns written out"]
    if linked:
        notes.append("a linked server of that name is needed, with MSDTC for the transaction that spans both")
    return Plan(
        kind=kind, dialect=_SQL, config=config.plain(), steps=tuple(steps), notes=tuple(notes), script_only=True
    )


def _chunks(config: Any, source: str, target: str) -> tuple[str, ...]:  # noqa: ANN401
    keys = [quoted(_SQL, name) for name in config.key_columns]
    listed = ", ".join(keys)
    alike = " AND ".join(f"s.{key} = k.{key}" for key in keys)
    there = " AND ".join(f"t.{key} = k.{key}" for key in keys)
    where = f"({config.where})" if config.where else "1 = 1"
    after = " OR ".join(
        "(" + " AND ".join([*(f"s.{one} = l.{one}" for one in keys[:place]), f"s.{key} > l.{key}"]) + ")"
        for place, key in enumerate(keys)
    )
    found = ", ".join(f"s.{key}" for key in keys)
    chosen = (
        f"INSERT INTO #_hh_keys ({listed}) SELECT TOP ({config.chunk_rows}) {found} "  # noqa: S608
        f"FROM {source} AS s WITH (UPDLOCK, HOLDLOCK) WHERE {where} AND (NOT EXISTS (SELECT 1 FROM #_hh_last) "
        f"OR EXISTS (SELECT 1 FROM #_hh_last AS l WHERE {after})) ORDER BY {found}"
    )
    lines = [
        "SET XACT_ABORT ON",
        f"SELECT TOP (0) {listed} INTO #_hh_keys FROM {source}",  # noqa: S608
        f"SELECT TOP (0) {listed} INTO #_hh_last FROM {source}",  # noqa: S608
        "DECLARE @chunk int = 1, @moved bigint = 0, @written int, @there int",
        "WHILE @chunk > 0\nBEGIN",
        "  BEGIN TRANSACTION",
        "  DELETE FROM #_hh_keys",
        f"  {chosen}",
        "  SET @chunk = @@ROWCOUNT",
    ]
    if config.on_conflict == "replace":
        lines.append(f"  DELETE t FROM {target} AS t WHERE EXISTS (SELECT 1 FROM #_hh_keys AS k WHERE {there})")  # noqa: S608
    lines += [
        f"  INSERT INTO {target} SELECT s.* FROM {source} AS s JOIN #_hh_keys AS k ON {alike}",  # noqa: S608
        "  SET @written = @@ROWCOUNT",
        f"  SELECT @there = COUNT(*) FROM {target} AS t JOIN #_hh_keys AS k ON {there}",  # noqa: S608
        "  IF @written <> @chunk OR @there <> @chunk\n  BEGIN",
        "    ROLLBACK TRANSACTION",
        "    RAISERROR(N'the chunk is not the same on both sides: nothing of it was changed', 16, 1)",
        "    BREAK",
        "  END",
    ]
    if config.delete_source:
        lines.append(f"  DELETE s FROM {source} AS s WHERE EXISTS (SELECT 1 FROM #_hh_keys AS k WHERE {alike})")  # noqa: S608
    last = ", ".join(f"{key} DESC" for key in keys)
    lines += [
        "  DELETE FROM #_hh_last",
        f"  INSERT INTO #_hh_last ({listed}) SELECT TOP (1) {listed} FROM #_hh_keys ORDER BY {last}",  # noqa: S608
        "  SET @moved = @moved + @chunk",
        "  COMMIT TRANSACTION",
        "END",
        "SELECT @moved AS moved",
    ]
    return (";\n".join(lines).replace("BEGIN;", "BEGIN"),)
