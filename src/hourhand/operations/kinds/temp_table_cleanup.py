"""Operations: temp_table_cleanup: tables that somebody made for a while are renamed, and later dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from pydantic import Field, field_validator

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Plan, Precondition, Step, Undo
from hourhand.operations.cleaning_tables import (
    FORGET,
    QUARANTINED,
    STAMPS,
    FoundTable,
    Statements,
    find_tables,
    has_stale_stamps,
    quarantine_name,
)
from hourhand.operations.cleaning_tables_script import temp_tables_script
from hourhand.operations.config import Age, Config, Name
from hourhand.operations.failures import NotVerified
from hourhand.operations.kind import Kind
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import PREFIX, cutoff

_FEWEST = 3
_EVER = datetime.min.replace(tzinfo=UTC)
_LOCKS = {
    Dialect.POSTGRESQL: "ACCESS EXCLUSIVE on {} for a moment",
    Dialect.MARIADB: "an exclusive metadata lock on {} for a moment",
    Dialect.MYSQL: "an exclusive metadata lock on {} for a moment",
    Dialect.SQLITE: "the file, for writers, for a moment",
}


class TempTableConfig(Config):
    """Which tables go, and after how long."""

    schema_name: Name | None = Field(default=None, alias="schema")
    """The tables' schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one."""
    name_pattern: str = Field(min_length=1, max_length=128)
    """The names of the tables: `*` is any text, `?` any sign, `[ab]` one of these; such as `tmp_*`."""
    min_age: Age
    """Tables older than this go: `36h`, `14d`, `6w`, `3m` (months). Where the database does not know how old a table
    is (PostgreSQL, SQLite), it counts from when this operation first saw it."""
    exclude: tuple[Name, ...] = ()
    """Names or patterns of tables that stay."""
    quarantine_hours: int = Field(default=72, ge=1, le=24 * 366)
    """How long a table is kept under another name before this operation, done again, drops it."""

    @field_validator("name_pattern")
    @classmethod
    def _narrow(cls, value: str) -> str:
        if sum(sign not in "*?[]" for sign in value) < _FEWEST:
            message = f"{value!r} matches too much: give at least {_FEWEST} signs of the name, such as tmp_*"
            raise ValueError(message)
        return value

    def fits(self, name: str) -> bool:
        """Whether a table of that name is meant."""
        return fnmatchcase(name, self.name_pattern) and not any(fnmatchcase(name, one) for one in self.exclude)


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    tables: tuple[FoundTable, ...] = ()
    """Those that are meant, and those of them that are in quarantine."""
    stamp: datetime = _EVER
    """What is noted as the time: the next whole hour, so that nothing is taken for older than it is."""
    seen_before: datetime = _EVER
    quarantined_before: datetime = _EVER
    stale: bool = False
    """Whether there are stamps of tables that are gone (SQLite)."""


class TempTableCleanup(Kind[TempTableConfig, State]):
    """Put left-over tables in quarantine by renaming them, and drop those that nobody has missed."""

    kind: ClassVar[str] = "temp_table_cleanup"
    number: ClassVar[int] = 52
    title: ClassVar[str] = "Put left-over tables in quarantine, and drop them later"
    marks_destructive: ClassVar[bool] = True
    config = TempTableConfig
    example: ClassVar[Mapping[str, Any]] = {"data_source": "shop", "name_pattern": "tmp_*", "min_age": "14d"}

    async def inspect(self, config: TempTableConfig, look: Look) -> State:
        """The tables, how old they are, and who depends on them."""
        hour = look.now.replace(minute=0, second=0, microsecond=0)
        seen = cutoff(config.min_age, look.now, field="config.min_age")
        tables = [one for one in await find_tables(look.source, config.schema_name) if config.fits(one.original)]
        return State(
            look.source.dialect,
            tuple(one for one in tables if _in_quarantine(one) or not one.name.startswith((PREFIX, STAMPS))),
            hour + timedelta(hours=1),
            seen,
            hour - timedelta(hours=config.quarantine_hours),
            await has_stale_stamps(look.source),
        )

    def script_state(self, config: TempTableConfig) -> State:
        """What tables there are is for the script to find out."""
        del config
        return State(Dialect.SQLSERVER)

    def plan(self, config: TempTableConfig, state: State) -> Plan:
        """Drop what was long enough in quarantine, put there what is old enough, stamp what was never seen."""
        if state.dialect is Dialect.SQLSERVER:
            return temp_tables_script(
                self.kind,
                config.plain(),
                schema=config.schema_name,
                pattern=config.name_pattern,
                exclude=config.exclude,
                min_age=config.min_age,
                quarantine_hours=config.quarantine_hours,
            )
        say = Statements(state.dialect, config.schema_name or ("public" if _pg(state) else None))
        drop = [one for one in state.tables if _in_quarantine(one) and _since(one) <= state.quarantined_before]
        others = [one for one in state.tables if not _in_quarantine(one)]
        away = [one for one in others if one.known_since is not None and one.known_since <= state.seen_before]
        new = [one for one in others if one.known_since is None]
        steps = [
            *([Step(name="forget tables that are gone", phase="forget", sql=(FORGET,))] if state.stale else []),
            *(_step(state, "drop", one.name, say.drop(one.name), say.gone(one.name, one.oid)) for one in drop),
            *(_quarantine(state, say, one) for one in away),
            *(_stamping(state, say, one) for one in new),
        ]
        if drop or away:
            checks = [[f"{one.name} is still there", say.gone(one.name, one.oid)] for one in (*drop, *away)]
            checks += [[f"{one.name} is not in quarantine", _arrived(state, say, one)] for one in away]
            steps.append(Step(name="look at the catalog", phase="verify", action="verify", values={"checks": checks}))
        return Plan(
            kind=self.kind,
            dialect=state.dialect,
            config=config.plain(),
            steps=tuple(steps),
            preconditions=_preconditions([*drop, *away], new),
            notes=tuple(_notes(state, away, [one for one in others if one not in away and one not in new])),
        )

    async def do_verify(self, work: LiveWork, step: Step) -> None:
        """What should be gone is gone, what should be there is there."""
        wrong = [what for what, query in step.values["checks"] if not _truth(await work.source.fetch(query))]
        if wrong:
            raise NotVerified("; ".join(wrong))

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:  # noqa: ARG002
        """The names."""
        by = {phase: [step.values for step in plan.steps if step.phase == phase] for phase in _PHASES}
        return {
            "dropped": [one["table"] for one in by["drop"]],
            "quarantined": {one["table"]: one["to"] for one in by["quarantine"]},
            "stamped": [one["table"] for one in by["stamp"]],
        }

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """Give the tables in quarantine their names back."""
        back = [
            {
                "name": f"rename back {step.values['table']}",
                "sql": step.values["undo"],
                "check_sql": step.values["undone"],
            }
            for step in plan.steps
            if step.values.get("table") in summary.get("quarantined", {}) and step.phase == "quarantine"
        ]
        return Undo(kind="custom", config={"data_source": plan.config["data_source"], "steps": back}) if back else None


_PHASES = ("drop", "quarantine", "stamp")


def _pg(state: State) -> bool:
    return state.dialect is Dialect.POSTGRESQL


def _in_quarantine(table: FoundTable) -> bool:
    return table.stamp is not None and table.stamp.what == QUARANTINED and table.name.startswith(PREFIX)


def _since(table: FoundTable) -> datetime:
    assert table.stamp is not None  # noqa: S101 - it is in quarantine
    return table.stamp.at


def _truth(rows: Sequence[Mapping[str, Any]]) -> bool:
    return bool(rows and next(iter(rows[0].values())))


def _step(state: State, phase: str, name: str, sql: tuple[str, ...], done: str, **values: Any) -> Step:  # noqa: ANN401
    return Step(
        name=f"{phase} {name}",
        phase=phase,
        sql=sql,
        lock=_LOCKS[state.dialect].format(name),
        transaction=state.dialect in (Dialect.POSTGRESQL, Dialect.SQLITE),
        done_check=done,
        destructive=phase == "drop",
        values={"table": name, **values},
    )


def _arrived(state: State, say: Statements, table: FoundTable) -> str:
    return say.exists(quarantine_name(state.dialect, table.name, state.stamp), table.oid)


def _quarantine(state: State, say: Statements, table: FoundTable) -> Step:
    to = quarantine_name(state.dialect, table.name, state.stamp)
    sql = say.quarantine(table, to, state.stamp)
    undo = list(say.restore(table, to))
    undone = say.exists(table.name, table.oid)
    return _step(state, "quarantine", table.name, sql, _arrived(state, say, table), to=to, undo=undo, undone=undone)


def _stamping(state: State, say: Statements, table: FoundTable) -> Step:
    step = _step(state, "stamp", table.name, say.stamp(table, state.stamp), "")
    lock = f"SHARE UPDATE EXCLUSIVE on {table.name}: reads and writes go on" if _pg(state) else step.lock
    return Step(name=step.name, phase="stamp", sql=step.sql, lock=lock, values=step.values)


def _preconditions(touched: list[FoundTable], stamped: list[FoundTable]) -> tuple[Precondition, ...]:
    foreign = [one.name for one in (*touched, *stamped) if not one.owned]
    views = [f"{one.name} (by {', '.join(one.views)})" for one in touched if one.views]
    keys = [f"{one.name} (by {', '.join(one.referrers)})" for one in touched if one.referrers]
    return (
        Precondition(
            name="ownership",
            ok=not foreign,
            detail=f"{', '.join(foreign)} belong to another role: sign in as their owner, or exclude them"
            if foreign
            else "owned",
        ),
        Precondition(
            name="views",
            ok=not views,
            detail=f"views or triggers use {', '.join(views)}: drop those first, or exclude the tables"
            if views
            else "no view uses any of them",
        ),
        Precondition(
            name="foreign keys",
            ok=not keys,
            detail=f"foreign keys refer to {', '.join(keys)}: drop those first, or exclude the tables"
            if keys
            else "no foreign key refers to any of them",
        ),
    )


def _notes(state: State, away: list[FoundTable], young: list[FoundTable]) -> list[str]:
    noted = f"times are noted as whole hours, rounded up: {state.stamp:%Y-%m-%d %H:%M} UTC"
    notes = [f"{noted}; what is approved is to be started before that, or approved again"]
    if away:
        notes.append("indexes keep their names: whoever makes the table anew with the same ones is refused meanwhile")
    if state.dialect is Dialect.SQLITE:
        notes.append("a table that is dropped and made anew between two looks is taken for as old as the one before")
    if young:
        notes.append(f"not old enough: {', '.join(one.name for one in young[:20])}")
    return notes
