"""Store: joining: a submission inside a caller's own PostgreSQL transaction; it exists if and when that commits.

What may be done beforehand is done in transactions of our own: a lane that the caller's transaction inserted would
keep everybody else from using that lane until it ends. What would come after the commit is left to those who look by
themselves: executors for what is pending, schedulers for permits. `available_at` is the time of the insert; claimers
may have passed it by when the commit comes much later, and then see it at their next look at everything (30 s).
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Text, bindparam, text
from sqlalchemy.dialects.postgresql import asyncpg

from hourhand.model.errors import Conflict, InvalidInput
from hourhand.model.instance import Submission, SubmittedInstance
from hourhand.model.registry import Lane
from hourhand.rules.lanes import lane_of
from hourhand.store import submit
from hourhand.store.callers import Caller, caller_of, elsewhere, translate
from hourhand.store.database import Database, Row, Tx
from hourhand.store.definitions import tasks_by_id
from hourhand.store.instants import targets_of
from hourhand.store.listing_statements import SELECT_LIVING
from hourhand.store.registry import alive_executors, lane_ids
from hourhand.store.rows import instance_of
from hourhand.store.schema import task_instances
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Instant

T = TypeVar("T")
TABLE = "task_instances"
_ATTEMPTS = 2
_HERE = Statement(
    text(
        "SELECT current_database() AS database, CAST(c.oid AS bigint) AS number, CAST(n.nspname AS text) AS schema "
        "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid = to_regclass(CAST(:table AS text))"
    )
    .bindparams(bindparam("table", type_=Text))
    .columns(database=Text, number=BigInteger, schema=Text)
)
_NOW = Statement(text("SELECT clock_timestamp() AS now").columns(now=Instant))
_ALLOCATE = Statement(
    text("SELECT nextval(CAST(CAST(:name AS text) AS regclass)) AS id FROM generate_series(1, :count)")
    .bindparams(bindparam("name", type_=Text), bindparam("count", type_=BigInteger))
    .columns(id=BigInteger)
)
_quoted = asyncpg.dialect().identifier_preparer.quote  # type: ignore[no-untyped-call]
_LIVING = Statement(SELECT_LIVING.where(task_instances.c.id == bindparam("id", type_=Id)))


@dataclass(frozen=True, slots=True)
class Place:
    """Where the store's tables are; another database may hold another store."""

    database: str
    number: int
    """PostgreSQL's own for the table of the living."""
    schema: str

    def named(self, relation: str) -> str:
        """A relation of the store, whatever a connection's search path is."""
        return f"{_quoted(self.schema)}.{relation}"


class JoinedTx:
    """The caller's transaction, as the verbs of the store see it."""

    dialect = "postgresql"

    def __init__(self, caller: Caller, place: Place) -> None:
        self._caller = caller
        self._place = place

    async def fetch(self, statement: Statement, **params: Any) -> Sequence[Row]:
        """Run it and read what it returns."""
        compiled = statement.joined(self._caller.dialect, self._place.schema)
        try:
            return compiled.rows(await self._caller.fetch(compiled.sql, compiled.arguments(params)))
        except Exception as error:
            raise translate(error) from error

    async def run(self, statement: Statement, **params: Any) -> int:
        """Run it and tell how many rows it touched."""
        compiled = statement.joined(self._caller.dialect, self._place.schema)
        try:
            return await self._caller.run(compiled.sql, compiled.arguments(params))
        except Exception as error:
            raise translate(error) from error

    async def allocate(self, sequence: str, count: int) -> Sequence[int]:
        """Fresh ids; those of a transaction that is rolled back are never used."""
        rows = await self.fetch(_ALLOCATE, name=self._place.named(sequence), count=count)
        return [row["id"] for row in rows]

    async def now(self) -> datetime:
        """The server's clock at this moment, not at the beginning of the caller's transaction."""
        (row,) = await self.fetch(_NOW)
        return row["now"]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Joining:
    """A submission that is ready to be made in a caller's transaction."""

    submission: Submission
    place: Place
    lease_seconds: float

    async def submit(self, conn: object) -> SubmittedInstance:
        """In the transaction of an asynchronous connection."""
        return await self._submit(caller_of(conn, blocking=False))

    def submit_blocking(self, conn: object) -> SubmittedInstance:
        """In the transaction of a blocking connection, in the thread of whoever calls this."""
        return _drive(self._submit(caller_of(conn, blocking=True)))

    async def _submit(self, caller: Caller) -> SubmittedInstance:
        tx = JoinedTx(caller, self.place)
        await self._check(tx, caller)
        for _ in range(_ATTEMPTS):
            # Nothing was written when the key turns out to be taken, so looking again needs no savepoint.
            try:
                accepted = await submit.submit(tx, [self.submission], lease_seconds=self.lease_seconds)
            except submit.KeyFreed:
                continue
            (submitted,) = accepted.submitted
            if rows := await tx.fetch(_LIVING, id=submitted.instance_id):
                return SubmittedInstance.of(instance_of(rows[0]), existing=submitted.existing)
        raise Conflict(
            f"the instance with the key {self.submission.key!r} ended while this transaction looked at it, "
            f"{_ATTEMPTS} times in a row: submit it again"
        )

    async def _check(self, tx: JoinedTx, caller: Caller) -> None:
        found = await tx.fetch(_HERE, table=self.place.named(TABLE))
        if not found:
            raise elsewhere(f"it has no table {self.place.named(TABLE)}")
        if (found[0]["database"], found[0]["number"]) != (self.place.database, self.place.number):
            raise elsewhere(f"it leads to another store, in {found[0]['database']!r}")
        if not caller.in_transaction():
            raise InvalidInput.one(
                "conn", None, "the connection is not in a transaction, so there is nothing to join: begin one first"
            )


class Joiner:
    """Prepares submissions, and remembers what need not be looked at again."""

    def __init__(self, database: Database, *, lease_seconds: float) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._place: Place | None = None
        self._lanes: set[Lane] = set()

    async def prepare(self, submission: Submission) -> Joining:
        """Do beforehand what must not be done in the caller's transaction."""
        if self._database.dialect != "postgresql":
            raise InvalidInput.one(
                "conn",
                None,
                "this store is an SQLite file, which no transaction of yours can contain: leave conn out, "
                "or keep the store in your PostgreSQL database",
            )
        if self._place is None:
            (row,) = await self._database.read(lambda tx: tx.fetch(_HERE, table=TABLE))
            self._place = Place(row["database"], row["number"], row["schema"])
        wanted = await self._database.read(lambda tx: self._wanted(tx, submission))
        if missing := wanted - self._lanes:
            await self._database.write(lambda tx: lane_ids(tx, missing))
            # Lanes of one executor are removed when it is gone; the others stay for ever.
            self._lanes |= {lane for lane in missing if not lane.target_executor_id}
        return Joining(submission, self._place, self._lease_seconds)

    async def _wanted(self, tx: Tx, submission: Submission) -> set[Lane]:
        task = (await tasks_by_id(tx, [submission.task_id])).get(submission.task_id)
        if task is None:
            return set()  # refused by the submission itself, like everything else that is wrong with it
        alive = await alive_executors(tx, self._lease_seconds) if task.broadcast else []
        return {lane_of(task, task.group_id, one.target_executor_id or "") for one in targets_of(task, alive)}


def _drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits: a blocking connection has its answer when it returns."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("a blocking connection was waited for: this is a fault of Hourhand")
