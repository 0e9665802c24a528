"""Operations: archive_restore: rows of an archive's files back into a table, each file exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, field_validator

from hourhand.contracts.operation import Look, Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Side, Step
from hourhand.operations.catalog import find_table, read_table
from hourhand.operations.catalog.table import Column, Table
from hourhand.operations.config import Config, Name
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.transfer import canonical, files_sqlserver
from hourhand.operations.transfer.checksum import Compared, agreed_form
from hourhand.operations.transfer.manifest import NAME, Manifest, Part, check_part, read_manifest
from hourhand.operations.transfer.restoring import Target, load_part, refuse_keys_there
from hourhand.operations.transfer.target import create_sql, require_same_definition
from hourhand.operations.transfer.target_types import translated
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

_MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_LOCKS = {
    Dialect.POSTGRESQL: "ROW EXCLUSIVE on {}: reads and writes go on",
    Dialect.MARIADB: "the new rows of {}, one file at a time: reads and writes go on",
    Dialect.MYSQL: "the new rows of {}, one file at a time: reads and writes go on",
    Dialect.SQLITE: "the database file, for writers, one file at a time",
}


class RestoreConfig(Config):
    """The archive, and where its rows go."""

    manifest: str = Field(min_length=1, max_length=4_000)
    """The archive's manifest.jsonl on the executor's machine, as an absolute path."""
    target_data_source: Name | None = None
    """The data source to restore to; by default `data_source`."""
    target_schema: Name | None = None
    """The table's schema or database; by default the usual one."""
    target_table: Name | None = None
    """The table to restore to; by default the one that was archived."""
    create_target: bool = False
    """Make the table if it is missing, with the archived columns and the primary key."""

    @field_validator("manifest")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not Path(value).is_absolute() or "\x00" in value:
            raise ValueError(f"{value!r} is not an absolute path: give one, such as /var/archive/orders-7/{NAME}")
        return value


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    manifest: Manifest | None
    target: Table | None
    """None: it is to be made."""
    schema: str | None = None
    occupied: bool = False
    """Whether the target has rows."""


class ArchiveRestore(Kind[RestoreConfig, State]):
    """Load the files of an archive back into a table, and verify that it has gained just these rows."""

    kind: ClassVar[str] = "archive_restore"
    number: ClassVar[int] = 33
    title: ClassVar[str] = "Bring archived rows back from their files"
    marks_destructive: ClassVar[bool] = True
    config = RestoreConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "manifest": "/var/archive/orders_2025_01-7/manifest.jsonl",
        "target_table": "orders",
    }

    async def inspect(self, config: RestoreConfig, look: Look) -> State:
        """The manifest, its files' lengths, and the table."""
        manifest = await asyncio.to_thread(read_manifest, Path(config.manifest))
        session = await look.open(config.target_data_source) if config.target_data_source else look.source
        name = config.target_table or manifest.header.table
        found = await find_table(session, config.target_schema, name)
        if found is None and not config.create_target:
            found = await read_table(session, config.target_schema, name, field="target_table")
        schema = found.schema if found else config.target_schema or await _usual_schema(session)
        rows = await session.fetch(f"SELECT 1 AS one FROM {found.sql} LIMIT 1") if found is not None else []  # noqa: S608
        return State(session.dialect, manifest, found, schema, bool(rows))

    def script_state(self, config: RestoreConfig) -> State:  # noqa: ARG002
        """Nothing is known of it."""
        return State(Dialect.SQLSERVER, None, None)

    def plan(self, config: RestoreConfig, state: State) -> Plan:
        """Check the files, make what is missing, load, verify, tidy up."""
        if state.manifest is None:
            return files_sqlserver.plan_restore(config)
        archived, name = _archived(state.manifest), config.target_table or state.manifest.header.table
        if state.target is not None:
            require_same_definition(archived, state.target)
            if state.target.engine not in (None, "InnoDB"):
                raise Refused(
                    f"{state.target.shown} is of engine {state.target.engine}, which cannot take back what failed: "
                    "make it InnoDB",
                    field="target_table",
                )
        target = Target(
            dialect=state.dialect,
            archived=archived.dialect,
            schema=state.schema,
            table=name,
            ledger=temporary(self.kind, name, state.manifest.digest),
            columns=tuple(_compared(archived, column, state) for column in archived.columns),
            key=state.manifest.header.key,
            verify=config.verify,
        )
        return Plan(
            kind=self.kind,
            dialect=state.dialect,
            config=config.plain(),
            steps=tuple(_steps(config, state, archived, target)),
            preconditions=(
                Precondition(
                    name="no rows in the way",
                    ok=bool(target.key) or not state.occupied,
                    detail="the archive has no key by which rows that are there already could be told: restore into an "
                    "empty table" if not target.key and state.occupied else "rows with the same key are looked for "
                    "before anything is loaded",
                ),
            ),
            notes=tuple(_notes(state, target)),
        )  # fmt: skip

    async def estimate(self, look: Look, plan: Plan) -> Plan:  # noqa: ARG002
        """The manifest knows."""
        manifest = await asyncio.to_thread(read_manifest, Path(plan.config["manifest"]))
        return replace(
            plan,
            steps=tuple(
                replace(step, rows=manifest.rows, bytes=manifest.bytes) if step.action == "load" else step
                for step in plan.steps
            ),
        )

    async def do_check(self, work: LiveWork, step: Step) -> None:
        """Every byte of every file, then the keys; nothing is written before all are right."""
        found, target = await _opened(step), Target.read(work.plan.dialect, step.values)
        for number, part in enumerate(found.parts):
            await asyncio.to_thread(check_part, found.folder, part, digest=True)
            await work.tell((number + 1) / len(found.parts))
        if step.values["exists"]:
            await refuse_keys_there(await work.side(step), target, found)

    async def do_load(self, work: LiveWork, step: Step) -> None:
        """File by file; the ledger knows which are in."""
        found, target = await _opened(step), Target.read(work.plan.dialect, step.values)
        for number, part in enumerate(found.parts):
            await work.breathe()
            await asyncio.to_thread(check_part, found.folder, part, digest=True)
            await work.climb(step, lambda part=part: _loaded(work, step, target, found, part))  # type: ignore[misc]
            await work.save({"files": number + 1}, (number + 1) / len(found.parts))
            work.log(f"{part.file}: {part.rows} rows")

    async def do_sum(self, work: LiveWork, step: Step) -> None:
        """What the ledger says against what the manifest says."""
        found, target = await _opened(step), Target.read(work.plan.dialect, step.values)
        row = (await (await work.side(step)).fetch(target.total_sql()))[0]
        if (int(row["files"]), int(row["loaded"])) != (len(found.parts), found.rows):
            raise NotVerified(
                f"{row['loaded']} rows of {row['files']} files were loaded, but the manifest tells of {found.rows} of "
                f"{len(found.parts)}"
            )
        work.facts |= {"rows": int(row["loaded"]), "files": int(row["files"]), "table": step.values["table"]}


async def _loaded(work: LiveWork, step: Step, target: Target, manifest: Manifest, part: Part) -> None:
    """One file, within a transaction."""
    session = await work.side(step)
    if session.dialect is Dialect.POSTGRESQL:
        # What others write meanwhile is not seen, and so not taken for the file's.
        await session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    if await session.fetch(target.noted_sql(), part.file):
        return
    await work.change(step, target.note_sql(), part.file, part.rows)
    await load_part(session, target, manifest, part)


async def _opened(step: Step) -> Manifest:
    """The manifest that was approved."""
    found = await asyncio.to_thread(read_manifest, Path(step.values["manifest"]))
    if found.digest != step.values["digest"]:
        raise Refused(f"{step.values['manifest']} has changed since it was approved: preview and start again")
    return found


async def _usual_schema(session: Session) -> str | None:
    match session.dialect:
        case Dialect.POSTGRESQL:
            return "public"
        case Dialect.MARIADB | Dialect.MYSQL:
            return str((await session.fetch("SELECT DATABASE() AS name"))[0]["name"])
    return None


def _archived(manifest: Manifest) -> Table:
    """The table as it was."""
    header = manifest.header
    return Table(
        dialect=Dialect(header.dialect),
        schema=header.schema,
        name=header.table,
        columns=tuple(Column(name=one.name, type=one.type, nullable=one.nullable) for one in header.columns),
    )


def _compared(archived: Table, column: Column, state: State) -> Compared:
    there = state.target.column(column.name) if state.target is not None else None
    if there is not None:
        type_ = there.type
    else:
        type_ = translated(archived.dialect, column, state.dialect, field="create_target")
    if archived.dialect is state.dialect is Dialect.SQLITE:
        form = canonical.form_of(state.dialect, column.type)
    else:
        form = agreed_form(archived.dialect, column.type, state.dialect, type_.lower())
    if form is None:
        raise Refused(
            f"column {column.name!r} ({column.type}) cannot be compared with what is written as {type_}: "
            "restore to the same sort of database",
            field="target_table",
        )
    return Compared(name=column.name, form=form, types=(column.type, type_))


def _steps(config: RestoreConfig, state: State, archived: Table, target: Target) -> list[Step]:
    if state.manifest is None:
        return []
    values = {
        **target.values(),
        "manifest": config.manifest,
        "digest": state.manifest.digest,
        "exists": state.target is not None,
    }
    shown = f"{target.schema}.{target.table}" if target.schema else target.table
    steps = [Step(name="check the files", phase="check", side=Side.TARGET, action="check", values=values,
                  duration=Duration.BY_SIZE, weight=2)]  # fmt: skip
    if state.target is None:
        key = state.manifest.header.primary_key or state.manifest.header.key
        if not key:
            raise Refused(
                f"the archive of {state.manifest.header.table} has no primary key: make the table by hand",
                field="create_target",
            )
        made = create_sql(archived, (target.dialect, target.schema, target.table), key, {})
        steps.append(Step(name=f"make {shown}", phase="prepare", side=Side.TARGET, sql=(made,)))
    lock = _LOCKS[target.dialect].format(shown)
    return [
        *steps,
        Step(name="make a ledger", phase="prepare", side=Side.TARGET, sql=(target.create_ledger_sql(),)),
        Step(name="load the files", phase="load", side=Side.TARGET, action="load", values=values, lock=lock,
             sql=(target.note_sql(), target.write_sql()), duration=Duration.BY_SIZE, weight=10),
        Step(name="compare with the manifest", phase="verify", side=Side.TARGET, action="sum", values=values,
             sql=(target.total_sql(),)),
        Step(name="drop the ledger", phase="clean", side=Side.TARGET,
             sql=(f"DROP TABLE IF EXISTS {target.ledger_sql}",)),
    ]  # fmt: skip


def _notes(state: State, target: Target) -> list[str]:
    header = state.manifest.header if state.manifest is not None else None
    if header is None:
        return []
    notes = [f"archived {header.created} from {header.source}"]
    if state.target is None:
        notes.append("the table is made with its columns and primary key only: add indexes, grants and keys by hand")
    if not target.ranged:
        notes.append("its key is not sorted alike everywhere: the whole table is looked at for each file")
    if state.target is not None and state.target.triggers:
        notes.append(f"triggers that an insert may fire: {', '.join(state.target.triggers)}")
    return notes
