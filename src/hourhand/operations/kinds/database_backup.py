"""Operations: database_backup: write a database to a folder, read it back, and keep so many."""

from __future__ import annotations

import asyncio
import shlex
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Side, Step
from hourhand.operations import backups_mariadb, backups_postgresql, backups_sqlite
from hourhand.operations.backups import STARTED, begun, folder_name, kept, noted, old_ones, removed, written
from hourhand.operations.backups_found import Found
from hourhand.operations.backups_script import script_steps
from hourhand.operations.config import Config
from hourhand.operations.failures import FilesFailed, OperationFailure, Refused
from hourhand.operations.kind import Kind
from hourhand.operations.transfer.files_room import Room, find_room
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

_MODULES = {
    Dialect.POSTGRESQL: backups_postgresql,
    Dialect.MARIADB: backups_mariadb,
    Dialect.MYSQL: backups_mariadb,
    Dialect.SQLITE: backups_sqlite,
}
_SHARE = {"none": 1.1, "gzip": 0.6, "zstd": 0.6}
"""How much room a backup takes at the most, as a share of the database's."""


class BackupConfig(Config):
    """A backup of a database."""

    method: Literal["logical", "physical"] = "logical"
    """`logical`: one database, which any newer server can restore; `physical`: all files of a PostgreSQL server."""
    output_dir: Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"^[^\x00\n]+$")]
    """The folder that backups are kept in, on the executor's machine (SQL Server: on the server's)."""
    jobs: int = Field(default=2, ge=1, le=64)
    """How many tables are written at once, where the database's program can."""
    compression: Literal["none", "gzip", "zstd"] | None = None
    """By default gzip; none for SQLite and physical backups."""
    verify_restore: bool = False
    """Restore it for trial into a scratch database, compare the rows of each table, and drop that again."""
    retain_count: int | None = Field(default=None, ge=1, le=10_000)
    """Keep so many backups of this data source in the folder and remove older ones; by default all."""

    @field_validator("output_dir")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not (value.startswith(("/", "\\\\")) or value[1:3] == ":\\") or ".." in Path(value).parts:
            raise ValueError(f"{value!r} is not absolute: give the whole path, such as /var/backups/hourhand")
        return value.rstrip("/") or "/"


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    found: Found
    room: Room | None = None


class DatabaseBackup(Kind[BackupConfig, State]):
    """Back a database up: written aside, read back, renamed when it is whole, older ones removed after that."""

    kind: ClassVar[str] = "database_backup"
    number: ClassVar[int] = 72
    title: ClassVar[str] = "Back a database up, and read the backup back"
    marks_destructive: ClassVar[bool] = True
    config = BackupConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "output_dir": "/var/backups/hourhand",
        "verify_restore": True,
        "retain_count": 7,
    }

    async def inspect(self, config: BackupConfig, look: Look) -> State:
        """The database, the programs of this machine, and the folder."""
        dialect = look.source.dialect
        if config.method == "physical" and config.verify_restore:
            raise Refused(
                "a physical backup is verified file by file; a trial restore needs a server of its own",
                field="verify_restore",
            )
        if config.method == "physical" and config.compression not in (None, "none"):
            raise Refused("a physical backup that can be verified is not compressed: use none", field="compression")
        found = await _MODULES[dialect].look(_filled(config, dialect), look)
        share = _SHARE[_filled(config, dialect)["compression"]]
        return State(found, await find_room(config.output_dir, round(found.bytes * share)))

    def script_state(self, config: BackupConfig) -> State:
        """The database has the data source's name."""
        return State(Found(dialect=Dialect.SQLSERVER, database=config.data_source))

    def plan(self, config: BackupConfig, state: State) -> Plan:
        """The commands, with a mark for the moment of the first attempt."""
        found = state.found
        if found.dialect is Dialect.SQLSERVER:
            steps = script_steps(config.plain(), found.database)
            return Plan(kind=self.kind, dialect=found.dialect, config=config.plain(), steps=tuple(steps))
        notes = [f"{STARTED} is the moment at which the first attempt begins, in UTC", *found.notes]
        if config.retain_count is not None:
            notes.append("only backups with a manifest of this data source, database and method are ever removed")
        return Plan(
            kind=self.kind,
            dialect=found.dialect,
            config=config.plain(),
            steps=tuple(_steps(config, found)),
            preconditions=(*found.conditions, *(state.room.preconditions() if state.room else ())),
            notes=tuple(notes),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """How much is read, and how much room it takes at the most."""
        config = BackupConfig.model_validate(dict(plan.config))
        found = await _MODULES[plan.dialect].look(_filled(config, plan.dialect), look)
        room = round(found.bytes * _SHARE[_filled(config, plan.dialect)["compression"]])
        steps = [
            replace(step, bytes=found.bytes, disk_bytes=room) if step.action == "dump" else step for step in plan.steps
        ]
        return replace(plan, steps=tuple(steps))

    async def execute(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """As any other, but for what an attempt on another machine has written: it is of no use here."""
        if "started" not in work.facts:
            work.facts["started"] = f"{work.now:%Y%m%dT%H%M%S}.{work.now.microsecond // 1000:03}Z"
            await work.save({})  # before there is a folder of that name
        folder, final = _folders(work)
        if not folder.exists() and not final.exists() and any(work.known_done(step) for step in plan.steps):
            work.log(f"{folder} is not on this machine ({socket.gethostname()}): begins again", level="warning")
            work.begin_again()
        try:
            return await super().execute(work, plan)
        except OSError as error:
            raise FilesFailed(f"{error.filename or folder}: {error.strerror or error}") from error

    async def do_begin(self, work: LiveWork, step: Step) -> None:  # noqa: ARG002
        """An empty folder."""
        await asyncio.to_thread(begun, _folders(work)[0])

    async def do_dump(self, work: LiveWork, step: Step) -> None:
        """Write it, from the beginning: half a dump is of no use."""
        folder, _ = _folders(work)
        await work.breathe()
        await asyncio.to_thread(begun, folder)
        await _MODULES[work.plan.dialect].dump(work, _filled_in(work, step), folder)

    async def do_verify(self, work: LiveWork, step: Step) -> None:
        """Read it back."""
        folder, final = _folders(work)
        if folder.exists():
            await _MODULES[work.plan.dialect].verify(work, _filled_in(work, step), folder)
            files = await asyncio.to_thread(written, folder)
            await asyncio.to_thread(noted, folder, files)
            work.facts |= {"files": len(files), "bytes": sum(one["bytes"] for one in files)}
        elif not final.exists():
            raise FilesFailed(f"{folder} has gone: somebody removed it")

    async def do_restore(self, work: LiveWork, step: Step) -> None:
        """Into a scratch database, which is dropped whatever comes of it."""
        folder, _ = _folders(work)
        drop = next((sql for sql in step.sql if sql.startswith("DROP DATABASE")), None)
        if drop is not None:
            await work.change(step, drop)
            await work.change(step, next(sql for sql in step.sql if sql.startswith("CREATE DATABASE")))
        try:
            await _MODULES[work.plan.dialect].restored(work, _filled_in(work, step), step.values["scratch"], folder)
        finally:
            if drop is not None:
                await asyncio.shield(_dropped(work, step, drop))

    async def do_keep(self, work: LiveWork, step: Step) -> None:
        """From here on it is a backup."""
        folder, final = _folders(work)
        manifest = {
            "made_by": "hourhand",
            **step.values["same"],
            "started": work.facts["started"],
            "server_version": ".".join(map(str, work.source.version)),
            "verified": True,
            "restored": work.facts.get("restored"),
        }
        await asyncio.to_thread(kept, folder, final, manifest)

    async def do_retain(self, work: LiveWork, step: Step) -> None:
        """Only now that a new one is whole."""
        output = Path(work.plan.config["output_dir"])
        gone = work.facts.setdefault("removed", [])
        for folder in await asyncio.to_thread(old_ones, output, step.values["same"], step.values["keep"]):
            work.log(f"removes {folder}")
            await asyncio.to_thread(removed, folder)
            gone.append(str(folder))
            await work.save({})

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002
        """Where it is, how large, and what was removed."""
        return {
            "backup_reference": str(_folders(work)[1]),
            "host": socket.gethostname(),
            "files": work.facts["files"],
            "bytes": work.facts["bytes"],
            "restored": work.facts.get("restored"),
            "removed": work.facts.get("removed", []),
        }


async def _dropped(work: LiveWork, step: Step, drop: str) -> None:
    """By a session of its own: that of an attempt which was cancelled may be of no use."""
    try:
        beside = await work.open(work.config.data_source)
        await work.change(step, drop, session=beside)
    except OperationFailure as error:
        work.log(f"the scratch database is still there ({error}): {drop}", level="error")


def _filled(config: BackupConfig, dialect: Dialect) -> dict[str, Any]:
    usual = "none" if dialect is Dialect.SQLITE or config.method == "physical" else "gzip"
    return {**config.plain(), "compression": config.compression or usual}


def _folders(work: LiveWork) -> tuple[Path, Path]:
    """Where it is written, and what that is called in the end."""
    final = work.plan.steps[0].values["final"].replace(STARTED, work.facts["started"])
    return Path(f"{final}.tmp"), Path(final)


def _filled_in(work: LiveWork, step: Step) -> list[str]:
    return [one.replace(STARTED, work.facts["started"]) for one in step.values["command"]]


def _said(command: list[str]) -> str:
    return "-- " + " ".join(one if one in ("|", ">") else shlex.quote(one) for one in command)


def _steps(config: BackupConfig, found: Found) -> list[Step]:
    given, module = _filled(config, found.dialect), _MODULES[found.dialect]
    final = f"{config.output_dir.rstrip('/')}/{folder_name(config.data_source, found.database)}"
    folder = f"{final}.tmp"
    same = {
        "data_source": config.data_source,
        "database": found.database,
        "dialect": found.dialect.value,
        "method": config.method,
    }
    dump, check = module.dump_command(given, found, folder), module.verify_command(given, found, folder)
    steps = [
        _step("make the folder", "prepare", f"-- mkdir {shlex.quote(folder)}", "begin", final=final),
        _step("write the backup", "dump", _said(dump), "dump", weight=10.0, command=dump),
        _step("read the backup", "verify", _said(check), "verify", weight=3.0, command=check),
    ]
    if config.verify_restore:
        statements, restore = module.restore_statements(given, found, folder)
        scratch = temporary("database_backup", found.database, config.data_source)
        steps.append(
            Step(
                name="restore it for trial",
                phase="restore",
                sql=(*statements, _said(restore)),
                duration=Duration.BY_SIZE,
                transaction=False,
                weight=10.0,
                action="restore",
                values={"command": restore, "scratch": scratch},
            )
        )
    steps.append(_step("keep it", "keep", f"-- mv {shlex.quote(folder)} {shlex.quote(final)}", "keep", same=same))
    if config.retain_count is not None:
        what = f"-- rm -r: backups of {config.data_source} but for the newest {config.retain_count}"
        steps.append(_step("remove old ones", "retain", what, "retain", same=same, keep=config.retain_count))
    return steps


def _step(name: str, phase: str, said: str, action: str, *, weight: float = 1.0, **values: Any) -> Step:  # noqa: ANN401
    return Step(
        name=name,
        phase=phase,
        sql=(said,),
        side=Side.EXECUTOR,
        duration=Duration.BY_SIZE if weight > 1 else Duration.MOMENT,
        transaction=False,
        weight=weight,
        action=action,
        values=values,
        destructive=action == "retain",
    )
