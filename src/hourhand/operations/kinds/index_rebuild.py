"""Operations: index_rebuild: build indexes anew, so that they hold no more pages than they need."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import Field

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step
from hourhand.operations.catalog import read_table
from hourhand.operations.catalog.table import Table
from hourhand.operations.config import Name, TableConfig
from hourhand.operations.failures import NotVerified, Refused
from hourhand.operations.indexes import FoundIndex, find_indexes, free_pct, is_leftover, keys_that_lock, made_beside
from hourhand.operations.indexes_script import script_steps
from hourhand.operations.indexes_work import rebuilt
from hourhand.operations.kind import Kind
from hourhand.operations.quoting import literal, qualified, quoted
from hourhand.operations.work import LiveWork

_MARIA = (Dialect.MARIADB, Dialect.MYSQL)
_SYSTEM = ("pg_catalog", "pg_toast", "information_schema")


class IndexConfig(TableConfig):
    """The indexes of a table that are built anew."""

    indexes: tuple[Name, ...] = Field(default=(), max_length=500)
    """The indexes, by name; of a partitioned table those of all its partitions are meant."""
    min_bloat_pct: float | None = Field(default=None, ge=0, le=100)
    """In place of names: all of which so much holds nothing, by estimate; 0 for all."""
    concurrently: bool = True
    """Let others read and write meanwhile; it takes longer."""
    max_duration_minutes: int | None = Field(default=None, ge=1)
    """Begin no other index after this time; those that are left are told."""


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    table: Table
    indexes: tuple[FoundIndex, ...] = ()
    locking: tuple[str, ...] = ()
    """MariaDB, MySQL: keys for whose sake others cannot write meanwhile."""
    free_pct: float = 0.0
    """MariaDB, MySQL: how much of the table's file holds nothing."""


class IndexRebuild(Kind[IndexConfig, State]):
    """Build indexes of a table anew, one after another, while others read and write."""

    kind: ClassVar[str] = "index_rebuild"
    number: ClassVar[int] = 70
    title: ClassVar[str] = "Build bloated indexes anew"
    marks_destructive: ClassVar[bool] = True
    config = IndexConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "table": "orders", "min_bloat_pct": 30}

    async def inspect(self, config: IndexConfig, look: Look) -> State:
        """The table, its indexes and how much of them holds nothing."""
        table = await read_table(look.source, config.schema_name, config.table)
        found = await find_indexes(look.source, table)
        if look.source.dialect not in _MARIA:
            return State(table, found)
        locking = await keys_that_lock(look.source, table)
        return State(table, found, tuple(locking), await free_pct(look.source, table))

    def script_state(self, config: IndexConfig) -> State:
        """The table and the indexes as they are named."""
        schema = config.schema_name or "dbo"
        table = Table(dialect=Dialect.SQLSERVER, schema=schema, name=config.table, columns=())
        return State(table, tuple(FoundIndex(name=name, root=name) for name in config.indexes))

    def plan(self, config: IndexConfig, state: State) -> Plan:
        """One step for each index; MariaDB and MySQL build all of a table's at once."""
        _check(config, state)
        table, dialect = state.table, state.table.dialect
        chosen, notes = _chosen(config, state)
        if dialect is Dialect.SQLSERVER:
            steps = script_steps(config.plain(), table, [one.name for one in chosen])
        elif dialect in _MARIA:
            steps = [_maria_step(config, state)] if chosen else []
            notes += _maria_notes(config, state) if chosen else []
        elif dialect is Dialect.SQLITE:
            steps = [_sqlite_step(one) for one in chosen]
        else:
            steps = [_postgres_step(config, one) for one in chosen]
        if dialect is Dialect.POSTGRESQL and steps:
            steps.append(_verifying(chosen))
        if config.max_duration_minutes and dialect is not Dialect.SQLSERVER:
            notes.append(f"no other index is begun {config.max_duration_minutes} minutes after the first one")
        detail = "owned" if table.owned else f"{table.shown} belongs to {table.owner}: sign in as its owner"
        return Plan(
            kind=self.kind,
            dialect=dialect,
            config=config.plain(),
            steps=tuple(steps),
            preconditions=(Precondition(name="ownership", ok=table.owned, detail=detail),),
            notes=tuple(notes),
        )

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """Each needs about as much room beside itself as it takes now."""
        table = await read_table(look.source, plan.config["schema"], plan.config["table"])
        sizes = {(one.schema, one.name): one.bytes for one in await find_indexes(look.source, table)}
        steps = []
        for step in plan.steps:
            size = table.bytes if plan.dialect in _MARIA else sizes.get(_key(step))
            told = size if step.phase == "rebuild" and size else None
            steps.append(replace(step, bytes=told, disk_bytes=told))
        return replace(plan, steps=tuple(steps))

    async def do_rebuild(self, work: LiveWork, step: Step) -> None:
        """One index, if there is time for it; how large it was is noted first."""
        name = step.values["shown"]
        began = work.facts.setdefault("began", time.time())
        minutes = work.plan.config["max_duration_minutes"]
        if minutes is not None and time.time() - began >= 60 * minutes:
            work.log(f"{step.name}: not begun, since {minutes} minutes are over", level="warning")
            work.facts.setdefault("left", []).append(name)
            return
        work.facts.setdefault("before", {}).setdefault(name, await _size(work, step))
        await work.save({})
        await work.breathe()
        if step.values.get("concurrently"):
            await work.climb(step, lambda: rebuilt(work, step))
        else:
            await work.climb(step, lambda: work.change(step, step.sql[-1]))
        work.facts.setdefault("after", {})[name] = await _size(work, step)

    async def do_verify(self, work: LiveWork, step: Step) -> None:
        """Every index is valid, and nothing is left beside it."""
        wrong = []
        for table, index, shown in step.values["indexes"]:
            rows = await work.source.fetch(
                "SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i "
                "JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass($1)",
                table,
            )
            valid = {row["name"]: row["valid"] for row in rows}
            if not valid.get(index, False) and shown not in work.facts.get("left", []):
                wrong.append(f"{shown} is {'not valid' if index in valid else 'not there'}")
            wrong += [f"{one} is left" for one, ok in valid.items() if not ok and is_leftover(one, index)]
        if wrong:
            raise NotVerified("; ".join(wrong))

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002
        """Sizes before and after, where the database tells."""
        before, after = work.facts.get("before", {}), work.facts.get("after", {})
        done = [{"index": name, "bytes_before": before.get(name), "bytes_after": size} for name, size in after.items()]
        known = [one for one in done if one["bytes_before"] is not None and one["bytes_after"] is not None]
        freed = sum(one["bytes_before"] - one["bytes_after"] for one in known)
        return {"indexes": done, "bytes_freed": freed if known else None, "left": work.facts.get("left", [])}


def _check(config: IndexConfig, state: State) -> None:
    table, dialect = state.table, state.table.dialect
    if not config.indexes and config.min_bloat_pct is None:
        raise Refused("give the names of indexes, or min_bloat_pct (0 for all of the table's)", field="indexes")
    if config.indexes and config.min_bloat_pct is not None:
        raise Refused("give either indexes or min_bloat_pct, not both", field="min_bloat_pct")
    if dialect is Dialect.SQLITE and config.min_bloat_pct:
        raise Refused("SQLite does not tell how full an index is: name the indexes, or give 0", field="min_bloat_pct")
    if dialect in _MARIA and (table.engine or "").lower() != "innodb":
        raise Refused(f"{table.shown} is a table of {table.engine}: only InnoDB's are rebuilt", field="table")
    if dialect is Dialect.POSTGRESQL and config.concurrently and table.schema in _SYSTEM:
        raise Refused(
            f"{table.shown} is a system table, which PostgreSQL rebuilds only while nobody else uses it: "
            "say concurrently: false, at a quiet time",
            field="concurrently",
        )
    known = sorted({one.root for one in state.indexes} | {one.name for one in state.indexes})
    for name in config.indexes:
        if name not in known:
            there = ", ".join(known[:10]) or "none that could be rebuilt"
            raise Refused(f"{table.shown} has no index {name!r}; there are {there}", field="indexes")


def _chosen(config: IndexConfig, state: State) -> tuple[list[FoundIndex], list[str]]:
    """What is rebuilt, and what of the rest is worth a word."""
    dialect = state.table.dialect
    alone = {one.name for one in state.indexes if one.exclusion} if config.concurrently else set()
    if config.indexes:
        named = [one for one in state.indexes if one.root in config.indexes or one.name in config.indexes]
        for one in named:
            if one.name in alone:
                raise Refused(
                    f"{one.name} belongs to an exclusion constraint, which PostgreSQL does not rebuild concurrently: "
                    "say concurrently: false",
                    field="indexes",
                )
        return named, []
    least = config.min_bloat_pct or 0
    if dialect in _MARIA:
        enough = state.free_pct >= least
        return list(state.indexes) if enough else [], [] if enough else [
            f"by the catalog only {state.free_pct:.0f} % are free"
        ]
    if dialect is not Dialect.POSTGRESQL or not least:
        chosen = [one for one in state.indexes if one.name not in alone]
    else:
        chosen = [one for one in state.indexes if (one.bloat_pct or 0) >= least and one.name not in alone]
    notes = []
    unknown = [one.name for one in state.indexes if one.bloat_pct is None] if least and state.indexes else []
    if unknown:
        notes.append(f"left out, since how bloated they are cannot be told: {', '.join(unknown[:20])}")
    if alone:
        notes.append(f"left out, since they belong to exclusion constraints: {', '.join(sorted(alone))}")
    if not chosen and dialect is not Dialect.SQLSERVER:
        notes.append("no index is as bloated as that: nothing is done")
    return chosen, notes


def _postgres_step(config: IndexConfig, one: FoundIndex) -> Step:
    dialect = Dialect.POSTGRESQL
    place = qualified(dialect, one.schema, one.name)
    table = qualified(dialect, one.table_schema, one.table)
    beside = sorted({*made_beside(one.name), *one.leftovers})
    drops = [f"DROP INDEX CONCURRENTLY IF EXISTS {qualified(dialect, one.schema, name)}" for name in beside]
    names = ", ".join(literal(dialect, name) for name in beside)
    done = (
        f"SELECT i.indisvalid AND pg_relation_filenode(i.indexrelid) <> {one.filenode} AND NOT EXISTS "  # noqa: S608
        "(SELECT 1 FROM pg_index o JOIN pg_class c ON c.oid = o.indexrelid WHERE o.indrelid = i.indrelid "
        f"AND NOT o.indisvalid AND c.relname IN ({names})) AS done "
        f"FROM pg_index i WHERE i.indexrelid = to_regclass({literal(dialect, place)})"
    )
    shown = f"{one.table_schema}.{one.table}"
    return Step(
        name=f"rebuild {one.schema}.{one.name}",
        phase="rebuild",
        sql=(*drops, f"REINDEX INDEX CONCURRENTLY {place}") if config.concurrently else (f"REINDEX INDEX {place}",),
        lock=f"SHARE UPDATE EXCLUSIVE on {shown}: reads and writes go on"
        if config.concurrently
        else f"ACCESS EXCLUSIVE on the index, SHARE on {shown}: nobody writes, and who plans a query waits",
        duration=Duration.BY_SIZE,
        transaction=not config.concurrently,
        done_check=done,
        weight=10.0,
        action="rebuild",
        values={
            "index": one.name,
            "schema": one.schema,
            "shown": f"{one.schema}.{one.name}",
            "place": place,
            "table": table,
            "filenode": one.filenode,
            "concurrently": config.concurrently,
        },
    )


def _verifying(chosen: Sequence[FoundIndex]) -> Step:
    indexes = [
        [qualified(Dialect.POSTGRESQL, one.table_schema, one.table), one.name, f"{one.schema}.{one.name}"]
        for one in chosen
    ]
    return Step(name="look whether all are valid", phase="verify", action="verify", values={"indexes": indexes})


def _maria_step(config: IndexConfig, state: State) -> Step:
    table = state.table
    others = "SHARED" if state.locking or not config.concurrently else "NONE"
    return Step(
        name=f"rebuild {table.shown} with all its indexes",
        phase="rebuild",
        sql=(f"ALTER TABLE {table.sql} FORCE, ALGORITHM=INPLACE, LOCK={others}",),
        lock=f"a metadata lock on {table.shown}: {'reads and writes' if others == 'NONE' else 'reads'} go on",
        duration=Duration.BY_SIZE,
        transaction=False,
        action="rebuild",
        values={"shown": table.shown, "table": table.name, "schema": table.schema},
    )


def _maria_notes(config: IndexConfig, state: State) -> list[str]:
    notes = [f"all of {state.table.shown} is rebuilt, rows and all indexes: nothing less can be"]
    if state.locking and config.concurrently:
        notes.append(f"nobody can write meanwhile, for the sake of {', '.join(state.locking)}")
    notes.append(
        "its last moment needs the table alone: whoever keeps a transaction on it open then longer than "
        "lock_timeout_ms has it begin again"
    )
    return notes


def _sqlite_step(one: FoundIndex) -> Step:
    return Step(
        name=f"rebuild {one.name}",
        phase="rebuild",
        sql=(f"REINDEX {quoted(Dialect.SQLITE, one.name)}",),
        lock="the file, for writers",
        duration=Duration.BY_SIZE,
        action="rebuild",
        values={"shown": one.name, "index": one.name},
    )


def _key(step: Step) -> tuple[str | None, str]:
    return step.values.get("schema"), step.values.get("index", "")


async def _size(work: LiveWork, step: Step) -> int | None:
    match work.source.dialect:
        case Dialect.POSTGRESQL:
            rows = await work.source.fetch("SELECT pg_relation_size(to_regclass($1)) AS n", step.values["place"])
        case Dialect.SQLITE:
            return None
        case _:
            rows = await work.source.fetch(
                "SELECT DATA_LENGTH + INDEX_LENGTH + DATA_FREE AS n FROM information_schema.TABLES "
                "WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
                step.values["schema"],
                step.values["table"],
            )
    return int(rows[0]["n"]) if rows and rows[0]["n"] is not None else None
