"""Contracts: an operation is built-in, resumable work on a data source; a kind says how one sort of it is done.

Terminology
    kind        one sort of operation, such as `split_boundary`; one file each in `hourhand.operations.kinds`
    session     one connection to a data source
    look        what a kind may do while it plans: read
    work        what a kind may do while it is executed: read, execute what the plan says, tell how far it has come
    position    where within its step an attempt is; stored as a checkpoint, from which the next attempt goes on

The life of an operation: `inspect` looks, `plan` decides without looking, a person approves the plan's hash, and
`execute` does what the plan says and nothing else: a statement that is not in the plan is refused. An attempt may end
at any statement. The next one is given the same plan and the last position, asks the catalog which steps are done
(`done_check`), and goes on; so every step must be safe to begin again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel

from hourhand.model.data_source import Address, Dialect
from hourhand.model.operation import Blocker, Plan, Step, Support, Undo

Row = Mapping[str, Any]
C = TypeVar("C", bound=BaseModel)
T = TypeVar("T")


class Session(Protocol):
    """One connection to a data source; one statement at a time.

    Parameters are marked as the database does: `$1` on PostgreSQL, `%s` on MariaDB and MySQL, `?` on SQLite. A caller
    that is cancelled while a statement runs has the statement stopped on the server; after that the session is of no
    use but to be closed.
    """

    @property
    def dialect(self) -> Dialect:
        """What it really speaks."""

    @property
    def version(self) -> tuple[int, ...]:
        """Of the server: (15, 18)."""

    @property
    def shown(self) -> str:
        """Where it is connected to, for people."""

    @property
    def database(self) -> str:
        """The database's name; of SQLite the file's path, as it is whatever links lead to it."""

    @property
    def driver(self) -> Any:  # noqa: ANN401 - asyncpg's, asyncmy's or sqlite3's connection
        """The driver's own connection, for what only that can do (COPY, LOAD DATA, backup)."""

    async def fetch(self, sql: str, *params: object) -> list[Row]:
        """Read rows."""

    async def execute(self, sql: str, *params: object) -> int:
        """Execute one statement; how many rows it touched, 0 where that means nothing."""

    def transaction(self, *, isolation: str | None = None) -> AbstractAsyncContextManager[None]:
        """All or nothing; `isolation` in the words of SQL, such as `REPEATABLE READ`."""

    async def blockers(self) -> list[Blocker]:
        """Who holds up the statement of this session that waits now; asked from a connection beside it."""

    async def close(self) -> None:
        """Give the connection back; never raises."""


class Look(Protocol):
    """What a kind may do while it plans."""

    @property
    def source(self) -> Session:
        """The data source of the configuration."""

    @property
    def now(self) -> datetime:
        """The data source's clock, in UTC."""

    async def open(self, data_source: str) -> Session:
        """A session to another data source, by name: the target; the same one each time."""

    async def address(self) -> Address:
        """Where the data source is, with its password, for programs that connect by themselves; never to be told."""


class Work(Look, Protocol):
    """What a kind may do while it is executed. Sessions are those of this attempt; reading is free on them."""

    @property
    def plan(self) -> Plan:
        """What was approved."""

    @property
    def instance_id(self) -> int:
        """The same for every attempt."""

    @property
    def position(self) -> Mapping[str, Any]:
        """Where the last attempt was within the present step; empty at its beginning."""

    @property
    def facts(self) -> dict[str, Any]:
        """What one step wants later ones to know, such as a count; plain JSON, kept with the next position."""

    async def execute(self, step: Step) -> int:
        """Execute a step's statements, up the ladder of lock time-outs; rows touched."""

    async def change(self, step: Step, sql: str, *params: object, session: Session | None = None) -> int:
        """Execute one statement of a step with parameters, within a transaction that the caller began, if any.

        Refused unless the step has exactly this statement.
        """

    async def climb(self, step: Step, body: Callable[[], Awaitable[T]]) -> T:
        """Begin a transaction on the source under the lock time-out, await the body in it, commit.

        On a lock time-out it is rolled back and begun again, up the ladder; LockNotGained names who holds it up.
        """

    async def save(self, position: Mapping[str, Any], fraction: float | None = None) -> None:
        """Make a position durable (returns once it is), and tell how much of this step is done: 0..1."""

    async def tell(self, fraction: float) -> None:
        """How much of this step is done; may be lost."""

    def log(self, message: str, *, level: str = "info") -> None:
        """Write to the instance log, under the step's phase."""

    async def breathe(self) -> None:
        """Between chunks: wait while the data source is too busy, its replicas lag or the window is shut."""


class Operation(Protocol[C]):
    """One kind; `hourhand.operations.kind.Kind` has what most share."""

    kind: ClassVar[str]
    number: ClassVar[int]
    config: type[C]
    example: ClassVar[Mapping[str, Any]]
    """A configuration that could be used; for forms and docs."""

    def support(self, dialect: Dialect) -> tuple[Support, str]:
        """What it can do there; if it is refused, why and what to do in its place."""

    async def inspect(self, config: C, look: Look) -> Any:  # noqa: ANN401 - each kind's own
        """Look at all that the plan depends on. Refuses (`Refused`) what cannot be planned at all."""

    def plan(self, config: C, state: Any) -> Plan:  # noqa: ANN401
        """Decide. Pure: the same configuration and state make the same plan; nothing else counts."""

    async def estimate(self, look: Look, plan: Plan) -> Plan:
        """The same plan with `rows`, `bytes` and `disk_bytes` of its steps."""

    async def execute(self, work: Work, plan: Plan) -> Mapping[str, Any]:
        """Carry the plan out, verify, and sum up."""

    def undo(self, plan: Plan, summary: Mapping[str, Any]) -> Undo | None:
        """What takes it back, if something does."""
