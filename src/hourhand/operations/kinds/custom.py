"""Operations: custom: statements of one's own, in order, each done once however often the operation is interrupted.

What tells that a step is done: its `check_sql`; or, where it has none, a row that its own transaction writes to a
table beside (`_hh_steps_…`), so that the one is never there without the other. What can be in no transaction and has
no `check_sql` is refused: after a crash nobody could tell whether it happened.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Plan, Precondition, Step, Undo
from hourhand.operations.config import Config
from hourhand.operations.custom_script import script_step
from hourhand.operations.custom_work import carried_out
from hourhand.operations.failures import Refused
from hourhand.operations.kind import Kind
from hourhand.operations.quoting import literal, qualified
from hourhand.operations.statements import Statement
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import temporary

Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=r"^[^\x00]*\S[^\x00]*$")]
_BACKTICK = (Dialect.MARIADB, Dialect.MYSQL)
_MARKS = {Dialect.POSTGRESQL: "$1, $2", Dialect.SQLITE: "?, ?"}
_UNTIMED = "MySQL limits only what a SELECT takes: leave timeout_ms out"


class CustomStep(BaseModel):
    """One step."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    """What it does, in words; unlike any other of the operation."""
    sql: tuple[Sql, ...] = Field(min_length=1, max_length=100)
    """A statement, or a list of them."""
    check_sql: Sql | None = None
    """A query whose first value says whether it has been done (true, or not 0): if so it is skipped."""
    in_transaction: bool = True
    """Whether its statements are one transaction; some cannot be in one at all (`CREATE INDEX CONCURRENTLY`)."""
    timeout_ms: int | None = Field(default=None, ge=1)
    """How long each of its statements may take; by default `statement_timeout_ms`."""
    rollback_sql: Sql | None = None
    """The statement that takes it back: executed by the undo of the whole, and if the step fails in no transaction."""

    @field_validator("sql", mode="before", json_schema_input_type=Sql | tuple[Sql, ...])
    @classmethod
    def _listed(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class CustomConfig(Config):
    """Statements of one's own."""

    steps: tuple[CustomStep, ...] = Field(min_length=1, max_length=200)
    """What is done, in this order."""

    @field_validator("steps")
    @classmethod
    def _told_apart(cls, steps: tuple[CustomStep, ...]) -> tuple[CustomStep, ...]:
        names = [one.name for one in steps]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"several steps are called {twice[0]!r}: give each a name of its own")
        return steps


@dataclass(frozen=True, slots=True)
class State:
    """What was found."""

    dialect: Dialect
    schema: str | None = None
    """Where the table of done steps is made."""
    may_create: bool = True


class Custom(Kind[CustomConfig, State]):
    """Execute statements of one's own, each once, with checks that say what is done and statements to take it back."""

    kind: ClassVar[str] = "custom"
    number: ClassVar[int] = 90
    title: ClassVar[str] = "Execute statements of one's own, each exactly once"
    marks_destructive: ClassVar[bool] = True
    config = CustomConfig
    example: ClassVar[Mapping[str, Any]] = {
        "data_source": "shop",
        "steps": [
            {
                "name": "index orders by customer",
                "sql": "CREATE INDEX CONCURRENTLY orders_customer ON orders (customer_id)",
                "check_sql": "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('orders_customer') "
                "AND indisvalid)",
                "in_transaction": False,
                "rollback_sql": "DROP INDEX CONCURRENTLY IF EXISTS orders_customer",
            },
            {"name": "close old carts", "sql": "UPDATE carts SET status = 'closed' WHERE status = 'open'"},
        ],
    }

    async def inspect(self, config: CustomConfig, look: Look) -> State:  # noqa: ARG002 - the statements are its own
        """Where the table of done steps can be made."""
        dialect = look.source.dialect
        if dialect is not Dialect.POSTGRESQL:
            return State(dialect)
        rows = await look.source.fetch(
            "SELECT current_schema() AS schema, has_schema_privilege(current_schema(), 'CREATE') AS may"
        )
        return State(dialect, rows[0]["schema"], bool(rows[0]["may"]))

    def script_state(self, config: CustomConfig) -> State:  # noqa: ARG002
        """Nothing is assumed."""
        return State(Dialect.SQLSERVER)

    def plan(self, config: CustomConfig, state: State) -> Plan:
        """The steps as they are given; around them the table that says which are done, if one is needed."""
        dialect = state.dialect
        planned = [_planned(config, number, state) for number in range(len(config.steps))]
        marked = [step for step in planned if step.values.get("marked")]
        table = _table(config, state)
        there = _exists(state, _table_name(config))
        before = Step(
            name="make the table of done steps",
            phase="prepare",
            sql=(_creation(dialect, table),),
            done_check=f"SELECT {there}",
            transaction=dialect not in _BACKTICK,
        )
        after = Step(
            name="drop the table of done steps",
            phase="clean",
            sql=(f"DROP TABLE IF EXISTS {table}",),
            done_check=f"SELECT NOT {there}",
            transaction=dialect not in _BACKTICK,
        )
        return Plan(
            kind=self.kind,
            dialect=dialect,
            config=config.plain(),
            steps=(before, *planned, after) if marked else tuple(planned),
            preconditions=(_may_create(state),) if marked and dialect is Dialect.POSTGRESQL else (),
            notes=tuple(_notes(config, state, marked)),
        )

    async def execute(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """A step that is known to be done stays so, whatever its check says by now: later steps may have changed it."""
        if "token" not in work.facts:
            # Tells this operation's rows from those of another that had the same steps and was given up.
            work.facts["token"] = secrets.token_hex(8)
            await work.save({})
        for step in plan.steps:
            if step.action is not None and work.known_done(step):
                work.log(f"{step.name}: already done")
                continue
            await work.do(step, self._body(work, step))
        return self.summary(work, plan)

    async def do_statements(self, work: LiveWork, step: Step) -> None:
        """Once."""
        work.facts.setdefault("rows", {})[step.name] = await carried_out(work, step)

    def summary(self, work: LiveWork, plan: Plan) -> Mapping[str, Any]:
        """Rows that each step touched; None of one that was done already."""
        touched = work.facts.get("rows", {})
        return {
            "steps": [
                {"name": step.name, "rows": touched.get(step.name)} for step in plan.steps if step.action is not None
            ]
        }

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:  # noqa: ARG002 - what was done before, too
        """Take all steps back, the last one first; only if each says how."""
        given = CustomConfig.model_validate(dict(plan.config))
        if any(one.rollback_sql is None for one in given.steps):
            return None
        steps = [_taken_back(plan.dialect, one) for one in reversed(given.steps)]
        kept = ("data_source", "lock_timeout_ms", "lock_retries", "statement_timeout_ms")
        return Undo(kind="custom", config={name: plan.config[name] for name in kept} | {"steps": steps})


def _planned(config: CustomConfig, number: int, state: State) -> Step:
    given = config.steps[number]
    field = f"steps.{number}"
    statements = [Statement(state.dialect, sql) for sql in given.sql]
    for one in statements:
        _require_one(one, f"{field}.sql")
        if given.in_transaction and one.alone:
            raise Refused(
                f"{one.text[:80]!r} cannot be in a transaction: say in_transaction: false, and give a check_sql",
                field=f"{field}.in_transaction",
            )
    if given.check_sql is not None:
        check = Statement(state.dialect, given.check_sql)
        _require_one(check, f"{field}.check_sql")
        if not check.reads:
            raise Refused(f"{check.text[:80]!r} is no query: give one that only reads", field=f"{field}.check_sql")
    if given.rollback_sql is not None:
        _require_one(Statement(state.dialect, given.rollback_sql), f"{field}.rollback_sql")
    if given.timeout_ms is not None and state.dialect is Dialect.MYSQL:
        raise Refused(_UNTIMED, field=f"{field}.timeout_ms")
    if state.dialect is Dialect.SQLSERVER:
        return script_step(given.name, statements, given.model_dump())
    committing = next((one for one in statements if one.commits), None)
    together = given.in_transaction and committing is None
    if not together and given.check_sql is None:
        why = f"{committing.first} commits by itself" if committing else "it is in no transaction"
        raise Refused(
            f"the step {given.name!r} needs a check_sql, since {why}: after a crash nobody could tell whether it was "
            "done",
            field=f"{field}.check_sql",
        )
    return _step(config, given, state, statements, together=together)


def _step(
    config: CustomConfig, given: CustomStep, state: State, statements: list[Statement], *, together: bool
) -> Step:
    marked = given.check_sql is None
    marks = _MARKS.get(state.dialect, "%s, %s")
    table = _table(config, state)
    marker = f"INSERT INTO {table} (operation, step) VALUES ({marks})"  # noqa: S608 - a name of ours
    texts = [one.text.rstrip(";").rstrip() if one.first != "CREATE" else one.text for one in statements]
    told = "" if given.rollback_sql is None or together else "\n".join(
        f"-- if that fails: {line}" for line in given.rollback_sql.strip().splitlines()
    )  # fmt: skip
    return Step(
        name=given.name,
        phase="execute",
        sql=(*([marker] if marked else []), *texts, *([told] if told else [])),
        duration=Duration.UNKNOWN,
        transaction=together,
        done_check=given.check_sql,
        action="statements",
        destructive=any(one.destroys for one in statements),
        values={
            "marked": marked,
            "table": table,
            "statements": len(texts),
            "timeout_ms": given.timeout_ms,
            "rollback": given.rollback_sql,
        },
    )


def _require_one(statement: Statement, field: str) -> None:
    shown = statement.text[:80]
    if not statement.first:
        raise Refused(f"{shown!r} is no statement: nothing is in it but comments", field=field)
    if statement.controls and statement.dialect is not Dialect.SQLSERVER:
        raise Refused(
            f"{shown!r} begins or ends a transaction: leave it out; a step is one unless it says in_transaction: false",
            field=field,
        )
    if statement.first == "ATTACH" and statement.dialect is Dialect.SQLITE:
        # Nobody has looked whether that file may be worked on.
        raise Refused(f"{shown!r} opens another file: leave it out, and add that as a data source", field=field)
    if statement.several:
        raise Refused(
            f"{shown!r} is more than one statement: give a list of statements, or a step for each", field=field
        )


def _table_name(config: CustomConfig) -> str:
    steps = json.dumps(config.plain()["steps"], sort_keys=True)
    return temporary("custom", "steps", hashlib.sha256(steps.encode()).hexdigest())


def _table(config: CustomConfig, state: State) -> str:
    return qualified(state.dialect, state.schema, _table_name(config))


def _creation(dialect: Dialect, table: str) -> str:
    engine = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin" if dialect in _BACKTICK else ""
    return (
        f"CREATE TABLE IF NOT EXISTS {table} "
        f"(operation varchar(40) NOT NULL, step varchar(200) NOT NULL, PRIMARY KEY (operation, step)){engine}"
    )


def _exists(state: State, name: str) -> str:
    said = literal(state.dialect, name)
    match state.dialect:
        case Dialect.SQLITE:
            return f"EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = {said})"  # noqa: S608
        case Dialect.POSTGRESQL:
            schema = literal(state.dialect, state.schema)
            where = f"schemaname = {schema} AND tablename = {said}"
            return f"EXISTS (SELECT 1 FROM pg_tables WHERE {where})"  # noqa: S608
    where = f"TABLE_SCHEMA = DATABASE() AND TABLE_NAME = {said}"
    return f"EXISTS (SELECT 1 FROM information_schema.TABLES WHERE {where})"  # noqa: S608


def _may_create(state: State) -> Precondition:
    where = f"schema {state.schema}" if state.schema else "any schema of the search_path"
    detail = (
        f"the table of done steps can be made in {where}"
        if state.may_create and state.schema
        else f"this user may not create tables in {where}: grant CREATE, or give every step a check_sql"
    )
    return Precondition(name="table of done steps", ok=state.may_create and state.schema is not None, detail=detail)


def _notes(config: CustomConfig, state: State, marked: list[Step]) -> list[str]:
    found = []
    if marked:
        found.append(
            "a step without check_sql is one transaction with a row that says it is done: it is done exactly once"
        )
    if state.dialect in _BACKTICK:
        loose = [
            one.name
            for one in config.steps
            if one.in_transaction and any(Statement(state.dialect, sql).commits for sql in one.sql)
        ]
        if loose:
            found.append(f"in no transaction, since their statements commit by themselves: {', '.join(loose)}")
    return found


def _taken_back(dialect: Dialect, given: CustomStep) -> dict[str, Any]:
    check = None
    if given.check_sql is not None:
        asked = given.check_sql.strip().rstrip(";")
        if dialect is Dialect.POSTGRESQL:
            check = f"SELECT coalesce(({asked})::text, 'false') IN ('false', 'f', '0', '')"
        else:
            check = f"SELECT NOT coalesce(({asked}), 0)"
    return {
        "name": f"take back {given.name}"[:200],
        "sql": given.rollback_sql,
        "check_sql": check,
        "in_transaction": given.in_transaction,
        "timeout_ms": given.timeout_ms,
    }
