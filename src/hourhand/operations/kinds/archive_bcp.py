"""Operations: archive_bcp: rows of a table to files, read again and compared before anything is deleted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Side, Step, Undo
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.cleaning import about
from hourhand.operations.cleaning_condition import read_condition
from hourhand.operations.cleaning_keys import Reference, cascades, foreign_keys_precondition, references
from hourhand.operations.config import Name, TableConfig
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.quoting import quoted
from hourhand.operations.transfer import files_sqlserver
from hourhand.operations.transfer.checksum import Checksum, difference
from hourhand.operations.transfer.files_room import Room, find_room, room_for, size_of
from hourhand.operations.transfer.files_source import ArchiveSource, archived
from hourhand.operations.transfer.files_writing import export_part
from hourhand.operations.transfer.keyset import check_key, choose_key, from_json
from hourhand.operations.transfer.manifest import (
    NAME,
    ArchivedColumn,
    Header,
    Manifest,
    Part,
    append,
    check_part,
    open_folder,
)
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import plan_hash

_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


class ArchiveConfig(TableConfig):
    """The rows that are archived, and how."""

    partition: Name | None = None
    """Archive this partition; by default the whole table."""
    where: str | None = Field(default=None, min_length=1, max_length=10_000)
    """Archive the rows for which this holds: one expression of SQL, such as `created_at < '2025-01-01'`."""
    format: Literal["parquet", "csv"] = "parquet"
    """Parquet keeps every type; CSV can be read by anything."""
    compression: Literal["zstd", "gzip", "none"] = "zstd"
    """How the files are compressed."""
    output_dir: str = Field(min_length=1, max_length=4_000)
    """A folder on the executor's machine, as an absolute path; each archive gets a folder of its own in it."""
    rows_per_file: int = Field(default=500_000, ge=1, le=100_000_000)
    """How many rows each file has; one file is written, compared and deleted at a time."""
    key_columns: tuple[Name, ...] = Field(default=(), max_length=16)
    """The columns of a unique key to go by; by default the primary key."""
    delete_after_verify: bool = False
    """Delete the archived rows, once the files were read again and found to hold them."""

    @field_validator("output_dir")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not Path(value).is_absolute() or "\x00" in value:
            raise ValueError(f"{value!r} is not an absolute path: give one, such as /var/archive")
        return value

    @model_validator(mode="after")
    def _one_choice(self) -> ArchiveConfig:
        if self.partition is not None and self.where is not None:
            raise ValueError("give partition or where, not both")
        if self.delete_after_verify and self.verify != "hash":
            raise ValueError(f"delete_after_verify needs verify=hash, not {self.verify}: else nobody knows what goes")
        return self


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    table: Table
    source: ArchiveSource
    references: tuple[Reference, ...] = ()
    room: Room | None = None


class ArchiveBcp(Kind[ArchiveConfig, State]):
    """Write rows to Parquet or CSV files, verify them, and delete the rows if that is wanted."""

    kind: ClassVar[str] = "archive_bcp"
    number: ClassVar[int] = 31
    title: ClassVar[str] = "Archive rows to files, and delete them once the files are verified"
    marks_destructive: ClassVar[bool] = True
    config = ArchiveConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "table": "orders",
        "partition": "orders_2025_01",
        "output_dir": "/var/archive",
        "delete_after_verify": True,
    }

    async def inspect(self, config: ArchiveConfig, look: Look) -> State:
        """The table, what refers to it, and the folder."""
        table = await read_table(look.source, config.schema_name, config.table)
        condition = ""
        if config.where is not None:
            condition = (await read_condition(
                look.source, table, where=config.where, time_column=None, cutoff=None
            )).sql  # fmt: skip
        source = _source(config, table, condition)
        if source.key:
            await check_key(look.source, table, source.keys)
        found = await references(look.source, table, condition or "1 = 1") if config.delete_after_verify else ()
        # How many rows a condition takes nobody knows beforehand.
        size = await size_of(look, table, config.partition) if not condition else None
        needed = None if size is None else room_for(size, config.format, config.compression)
        return State(table, source, found, await find_room(config.output_dir, needed))

    def script_state(self, config: ArchiveConfig) -> State:
        """The table as it is named; its columns are not needed for bcp."""
        table = Table(dialect=Dialect.SQLSERVER, schema=config.schema_name or "dbo", name=config.table, columns=())
        return State(
            table, ArchiveSource(dialect=Dialect.SQLSERVER, relation=table.sql, columns=(), key=(), condition="")
        )

    def plan(self, config: ArchiveConfig, state: State) -> Plan:
        """Export, verify, delete."""
        if state.table.dialect is Dialect.SQLSERVER:
            return files_sqlserver.plan_archive(config, state.table)
        source, values = state.source, {**state.source.values(), "primary_key": list(state.table.primary_key)}
        values["nullable"] = [column.nullable for column in state.table.writable]
        lows = (False, True) if source.key else (False,)
        reads = [source.rows_sql(lo=lo) for lo in lows]
        if source.key:
            reads = [sql for lo in lows for sql in (source.bound_sql(lo=lo), source.last_sql(lo=lo))] + reads
        steps = [
            Step(name="export rows to files", phase="export", sql=tuple(reads), action="export", values=values,
                 duration=Duration.BY_SIZE, side=Side.EXECUTOR, weight=10),
            Step(name="compare files with the table", phase="verify", sql=tuple(self._compared(config, source)),
                 action="compare", values=values, duration=Duration.BY_SIZE, weight=5),
        ]  # fmt: skip
        if config.delete_after_verify:
            deletes = tuple(sql for lo in lows for sql in source.delete_sql(lo=lo))
            steps.append(
                Step(name="delete what was archived", phase="delete", sql=deletes, action="delete", values=values,
                     lock=_LOCKS[state.table.dialect].format(state.table.shown), duration=Duration.BY_SIZE, weight=5,
                     destructive=True)
            )  # fmt: skip
        return Plan(
            kind=self.kind,
            dialect=state.table.dialect,
            config=config.plain(),
            steps=tuple(steps),
            preconditions=(
                *(state.room.preconditions() if state.room is not None else ()),
                *((foreign_keys_precondition(state.references),) if config.delete_after_verify else ()),
            ),
            notes=tuple(_notes(config, state)),
        )

    def _compared(self, config: ArchiveConfig, source: ArchiveSource) -> list[str]:
        lows = (False, True) if source.key else (False,)
        match config.verify:
            case "hash":
                return [source.digest_sql(lo=lo) for lo in lows]
            case "count":
                return [source.count_sql(lo=lo) for lo in lows]
        return []

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """Rows and bytes as the catalog tells them; how many bytes a condition takes is not known beforehand."""
        config = ArchiveConfig.model_validate(plan.config)
        first, *rest = plan.steps
        table = await read_table(look.source, config.schema_name, config.table)
        source = ArchiveSource.read(plan.dialect, first.values)
        rows = await about(look.source, source.relation, source.condition, _rows(table, config))
        if config.where is not None:
            return replace(plan, steps=(replace(first, rows=rows), *rest))
        size = await size_of(look, table, config.partition)
        room = room_for(size, config.format, config.compression)
        return replace(plan, steps=(replace(first, rows=rows, bytes=size, disk_bytes=room), *rest))

    async def do_export(self, work: LiveWork, step: Step) -> None:
        """One file after another; the manifest says which are there, whatever the checkpoint says."""
        config, source = _config(work), ArchiveSource.read(work.plan.dialect, step.values)
        found = await asyncio.to_thread(open_folder, _folder(work, config), _header(work, config, source, step.values))
        parts, last = list(found.parts), found.end is not None or (bool(found.parts) and not source.key)
        expected = await _expected(work, config)
        while not last:
            await work.breathe()
            lo = from_json(parts[-1].hi) if parts else None
            chunk = await source.chunk(work.source, lo, config.rows_per_file)
            if chunk is None:
                break
            part = await export_part(work.source, source, chunk, found, len(parts) + 1, verify=config.verify)
            await asyncio.to_thread(append, found.folder, part)
            parts.append(part)
            last = chunk.last
            rows = sum(one.rows for one in parts)
            work.log(f"{part.file}: {part.rows} rows, {part.bytes} bytes")
            await work.save({"files": len(parts), "rows": rows}, min(rows / expected, 0.99) if expected else None)

    async def do_compare(self, work: LiveWork, step: Step) -> None:
        """Each range as it is now with its file, then say that the archive is complete."""
        config, source = _config(work), ArchiveSource.read(work.plan.dialect, step.values)
        found = await self._opened(work, step)
        for number, part in enumerate(found.parts):
            if number < int(work.position.get("compared", 0)) or config.verify == "none":
                continue
            await work.breathe()
            await asyncio.to_thread(check_part, found.folder, part, digest=True)
            lo, hi = from_json(part.lo), from_json(part.hi)
            if config.verify == "hash":
                now, kept = await source.digest(work.source, lo, hi), Checksum(part.rows, part.checksum or 0)
            else:
                now, kept = Checksum(await source.count(work.source, lo, hi), 0), Checksum(part.rows, 0)
            if now != kept:
                raise NotVerified(_differs(part, now, kept))
            await work.save({"compared": number + 1}, (number + 1) / len(found.parts))
        if found.end is None:
            end = {"end": True, "files": len(found.parts), "rows": found.rows, "verified": config.verify}
            await asyncio.to_thread(append, found.folder, end)
        last = from_json(found.parts[-1].hi) if found.parts else None
        work.facts |= {
            "rows": found.rows,
            "files": len(found.parts),
            "bytes": found.bytes,
            "manifest": str(found.folder / NAME),
            "added_since": await source.after(work.source, last) if last is not None else 0,
        }

    async def do_delete(self, work: LiveWork, step: Step) -> None:
        """File by file: what goes must be what the file has, or it stays."""
        source, found = ArchiveSource.read(work.plan.dialect, step.values), await self._opened(work, step)
        if found.end is None:
            raise NotVerified(f"{found.folder / NAME} does not say that the archive is complete: nothing is deleted")
        for number, part in enumerate(found.parts):
            if number < int(work.position.get("deleted", 0)):
                continue
            await work.breathe()
            await asyncio.to_thread(check_part, found.folder, part, digest=True)
            await work.climb(step, lambda part=part: _deleted(work, step, source, part))  # type: ignore[misc]  # of this file
            await work.save({"deleted": number + 1}, (number + 1) / len(found.parts))
        work.facts["deleted"] = found.rows

    async def _opened(self, work: LiveWork, step: Step) -> Manifest:
        config, source = _config(work), ArchiveSource.read(work.plan.dialect, step.values)
        header = _header(work, config, source, step.values)
        return await asyncio.to_thread(open_folder, _folder(work, config), header, begun=True)

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """What was deleted comes back from the files."""
        if not summary.get("deleted"):
            return None
        return Undo(
            kind="archive_restore",
            config={
                "data_source": plan.config["data_source"],
                "manifest": summary["manifest"],
                "target_schema": plan.config["schema"],
                "target_table": plan.config["table"],
            },
        )


_LOCKS = {
    Dialect.POSTGRESQL: "the rows of one file at a time in {}: reads and other writes go on",
    Dialect.MARIADB: "the key range of one file at a time in {}: reads go on, writes into the range wait",
    Dialect.MYSQL: "the key range of one file at a time in {}: reads go on, writes into the range wait",
    Dialect.SQLITE: "the database file, for writers, one file at a time",
}


async def _deleted(work: LiveWork, step: Step, source: ArchiveSource, part: Part) -> None:
    """Within a transaction: what is raised takes the delete back."""
    lo, hi = from_json(part.lo), from_json(part.hi)
    told, *delete = source.delete_sql(lo=lo is not None)
    params = source.params(lo, hi)
    if told not in step.sql:
        raise NotVerified(f"step {step.name!r} has no such statement, so that nobody has approved it: {told}")
    gone, kept = await source.told(work.source, told, params), Checksum(part.rows, part.checksum or 0)
    if gone.rows == 0:
        return  # by the attempt before, which did not get to say so
    if gone != kept:
        raise NotVerified(_differs(part, gone, kept) + "; nothing of it was deleted")
    if delete and (count := await work.change(step, delete[0], *params)) != part.rows:
        raise NotVerified(f"{part.file} has {part.rows} rows, but {count} would have been deleted; none was")


def _differs(part: Part, now: Checksum, kept: Checksum) -> str:
    reach = "all rows" if part.hi is None else f"the rows after {part.lo} up to {part.hi}"
    return (
        f"{reach} are no longer what {part.file} has: {difference(now, kept)} (first the table's, then the file's); "
        "rows have changed since they were read: archive what nobody writes to any more, such as a detached partition"
    )


def _config(work: LiveWork) -> ArchiveConfig:
    return ArchiveConfig.model_validate(work.plan.config)


async def _expected(work: LiveWork, config: ArchiveConfig) -> int:
    """About how many rows there will be; 0: nobody can tell."""
    if config.where is not None:
        return 0
    return _rows(await read_table(work.source, config.schema_name, config.table), config)


def _rows(table: Table, config: ArchiveConfig) -> int:
    part = table.partition(config.partition or "")
    return part.rows if part is not None else table.rows or sum(one.rows for one in table.partitions)


def _folder(work: LiveWork, config: ArchiveConfig) -> Path:
    name = _UNSAFE.sub("_", config.partition or config.table)[:60]
    return Path(config.output_dir) / f"{name}-{work.instance_id}"


def _header(work: LiveWork, config: ArchiveConfig, source: ArchiveSource, values: Mapping[str, Any]) -> Header:
    return Header(
        table=config.table,
        schema=config.schema_name,
        dialect=work.plan.dialect.value,
        columns=tuple(
            ArchivedColumn(name=name, type=type_, nullable=nullable)
            for (name, type_), nullable in zip(source.columns, values["nullable"], strict=True)
        ),
        key=source.key,
        primary_key=tuple(values["primary_key"]),
        partition=config.partition,
        where=config.where,
        format=config.format,
        compression=config.compression,
        plan_hash=plan_hash(work.plan),
        instance=work.instance_id,
        source=work.source.shown,
        created=work.now.isoformat(timespec="seconds"),
    )


def _source(config: ArchiveConfig, table: Table, condition: str) -> ArchiveSource:
    relation = table.sql
    if config.partition is not None:
        part = table.partition(config.partition)
        if part is None:
            there = ", ".join(one.name for one in table.partitions[:10])
            raise Refused(
                f"{table.shown} has no partition {config.partition!r}: "
                + (f"it has {there}" if there else "it is not partitioned; give where, or nothing for the whole table"),
                field="partition",
            )
        if table.dialect is Dialect.POSTGRESQL:
            relation = table.partition_sql(part)
        else:
            relation = f"{table.sql} PARTITION ({quoted(table.dialect, part.name)})"
    key = choose_key(table, config.key_columns) if config.key_columns or table.unique_keys else ()
    source = ArchiveSource(
        dialect=table.dialect, relation=relation, columns=archived(table.writable), key=key, condition=condition
    )
    if config.verify == "hash":
        _ = source.compared  # refuses what cannot be compared
    return source


def _notes(config: ArchiveConfig, state: State) -> list[str]:
    name = _UNSAFE.sub("_", config.partition or config.table)[:60]
    notes = [
        f"the files go to {config.output_dir}/{name}-<instance>/, with a manifest that archive_restore reads",
        "rows that change while they are archived make the comparison fail, and are then not deleted",
    ]
    if not state.source.key:
        notes.append("the table has no key, so that all rows go to one file, and are deleted in one transaction")
    texts = [form.name for form in state.source.forms if form.form == "other"]
    if texts:
        notes.append(f"kept as the database writes them, as text: {', '.join(texts)}")
    left = [column.name for column in state.table.columns if column.generated]
    if left:
        notes.append(f"computed by the database, and so not archived: {', '.join(left)}")
    if config.delete_after_verify:
        notes += cascades(state.references)
        if state.table.triggers:
            notes.append(f"triggers that a delete may fire: {', '.join(state.table.triggers)}")
    return notes
