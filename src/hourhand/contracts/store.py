"""Contracts: the store, which is where everything that matters lives.

Terminology
    living      a row in `task_instances`: planned, pending or running
    ended       its row in `execution_logs`; an instance moves there in the transaction that ends it
    ledger      `task_instants`: one row per task and instant, for ever unique
    fence       the number of an attempt; whoever writes under an older one changes nothing
    lane        what can be served by the same executors; an instance is in one, an executor serves some
    aftermath   what follows from a committed change: waits to evaluate, endings to settle, permits to give

Every verb is one transaction: when it returns, its effect is durable; when it raises, nothing has been changed.
Verbs that change something also look after its aftermath, in transactions of their own after that commit; a crash in
between only delays, since `settle` and `sweep` find from the store alone what is left to do.

Refusals are the tree of `hourhand.model.errors`. `StoreUnavailable` is worth a retry, everything else is not.
All times are aware and in UTC; "now" is the store's clock, never the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, Self

from hourhand.contracts.accounts import Accounts
from hourhand.contracts.agenda import Agenda
from hourhand.contracts.alerting import Alerting
from hourhand.contracts.applying import Applying
from hourhand.contracts.auditing import Auditing
from hourhand.contracts.bulk import Bulk
from hourhand.contracts.data_sources import DataSources
from hourhand.contracts.demo import Demo
from hourhand.contracts.examining import Examining
from hourhand.contracts.explaining import Explaining
from hourhand.contracts.figures import Figures
from hourhand.contracts.operating import Operating
from hourhand.contracts.pausing import Pausing
from hourhand.contracts.sealing import Sealing
from hourhand.contracts.statistics import Statistics
from hourhand.contracts.windows import Windows
from hourhand.model.answers import Aftermath, Declared, Flush, FoundLines, Materialised, Reaped, Retained
from hourhand.model.audit import Author, Once
from hourhand.model.filters import InstanceFilter, LineFilter, TaskFilter
from hourhand.model.hints import Heard, Hint
from hourhand.model.instance import (
    Assignment,
    AttemptRecord,
    Beat,
    Ending,
    Finished,
    Held,
    Instance,
    LogLine,
    Progress,
    Submission,
    Submitted,
    SubmittedInstance,
)
from hourhand.model.page import Page
from hourhand.model.registry import Executor, Group
from hourhand.model.task import Declaration, Task, TaskDefinition, TaskVersion


class Definitions(Protocol):
    """Tasks: versioned, soft-deleted, refused as a whole when anything about them is wrong."""

    async def create_task(self, definition: TaskDefinition, *, by: str) -> Task:
        """Write a task and its first version.

        Refuses a taken name, an unknown group, a dependency that is unknown, deleted or cyclic (naming the cycle), and
        a date that has passed.
        """

    async def edit_task(
        self, task_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None, by: str
    ) -> Task:
        """Change some fields and make a new version; a stale `expected_version` is refused.

        Instants up to this moment follow the old definition. What was made ahead for later ones is taken back and
        made again from the new definition. An edit that changes nothing makes no version.
        """

    async def delete_task(self, task_id: int, *, force: bool = False, by: str) -> None:
        """Mark it deleted; what has not started is cancelled. Refused while others depend on it, unless forced."""

    async def declare(self, declarations: Sequence[Declaration], *, app: str, release: int) -> Declared:
        """Write what is new of the tasks that an app declares; its groups are made if need be.

        A task is written when its declaration, or the release that made it, is newer than what is stored. What a
        person edited, renamed or deleted, what belongs to somebody else, what a newer release declared, what depends
        on a task there is not and what has a date that has passed is kept as it is, with the reason. A name declared
        twice and a cycle of dependencies are refused.
        """

    async def get_task(self, task_id: int) -> Task:
        """The task, unless it is deleted."""

    async def find_task(self, name: str) -> Task:
        """The task of that name, unless it is deleted."""

    async def list_tasks(
        self, wanted: TaskFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Task]:
        """By name."""

    async def list_versions(self, task_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[TaskVersion]:
        """Newest first."""

    async def definitions(self, wanted: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], TaskDefinition]:
        """Versions of tasks, by id and number; unknown ones are left out. They never change, so they are remembered."""


class Time(Protocol):
    """Instants become instances; any number of schedulers may do this at once."""

    async def materialise(self, *, limit: int = 500) -> Materialised:
        """Carry up to `limit` due tasks forward; those that another scheduler holds are passed over.

        Every instant up to now plus the look-ahead becomes an instance or a recorded skip, exactly once (guarantees 1
        and 2).
        """

    async def next_wake(self) -> datetime | None:
        """When the next task is to be looked at; None when there is none."""

    async def backfill(self, task_id: int, begin: datetime, end: datetime, *, by: str) -> int:
        """Make the instants of a range that were never made; how many. Refused below the ledger's floor."""


class Joining(Protocol):
    """A submission to be made in a transaction that a caller has begun and will end.

    Rolled back, it was never made. Committed, it is there; whoever looks for pending instances finds it by itself, so
    it may start a little later than others. What PostgreSQL gives up (a deadlock) is not tried again: Conflict.
    """

    async def submit(self, conn: object) -> SubmittedInstance:
        """An asyncpg connection, a psycopg AsyncConnection, a SQLAlchemy AsyncConnection or AsyncSession."""

    def submit_blocking(self, conn: object) -> SubmittedInstance:
        """A psycopg Connection, a SQLAlchemy Connection or Session, Django's; in the thread that uses it."""


class Instances(Protocol):
    """What people and programs do with instances."""

    async def submit(self, submissions: Sequence[Submission]) -> list[Submitted]:
        """Accept all or none, in order. A key that lives already answers with the living instance."""

    async def joining(self, submission: Submission) -> Joining:
        """Prepare a submission for a caller's own transaction; refused where the store is no PostgreSQL database."""

    async def dispatch(self, ids: Sequence[int]) -> None:
        """Let held instances go on, all or none."""

    async def cancel(self, instance_id: int, *, reason: str) -> Instance:
        """End what has not started; ask what runs to stop (its next beat tells it). Refused once ended."""

    async def retry(
        self, instance_id: int, *, args: Mapping[str, Any] | None = None, current_version: bool = False
    ) -> Instance:
        """Revive what failed or was cancelled, with its id and checkpoint; of two retries one wins.

        It keeps the version of its task that it was made with, unless it is to take the one there is now.
        """

    async def get_instance(self, instance_id: int) -> Instance:
        """Living or ended, in one shape; Gone after retention."""

    async def list_instances(
        self, wanted: InstanceFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Instance]:
        """The living, newest first, then the ended, newest first.

        A page looks at a bounded number for what no index finds: it may be short, or empty, and be followed by another.
        """

    async def list_logs(
        self, wanted: InstanceFilter | None = None, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Instance]:
        """One item per ending, superseded ones included, newest first; a page may be short as well."""

    async def list_attempts(self, instance_id: int) -> list[AttemptRecord]:
        """The attempts that did not end the instance, or not for good: it was retried by hand since."""

    async def read_lines(
        self, instance_id: int, *, after: int = -1, before: int | None = None, limit: int = 1_000
    ) -> list[LogLine]:
        """What it wrote after a sequence number, in order; with `before`, the last lines before that."""

    async def search_lines(
        self, instance_id: int, wanted: LineFilter, *, after: int = -1, before: int | None = None, limit: int = 1_000
    ) -> FoundLines:
        """The same for lines that fit; looks at some 20,000 at most, so that there may be more though few were found.

        A line that has an exception is an error, whatever its level is. What a command writes has the level info, be
        it to stdout or to stderr.
        """


class Executing(Protocol):
    """What an executor does. Everything an attempt writes is checked against its fence (guarantee 6)."""

    async def register(self, executor: Executor) -> tuple[int, ...]:
        """Enter the registry, or enter it again; the lanes it may serve now."""

    async def deregister(self, executor_id: str) -> None:
        """Leave the registry at once."""

    async def beat(self, executor_id: str, held: Sequence[Held] = (), *, extend: Sequence[Held] | None = None) -> Beat:
        """Show a sign of life and extend the leases of `extend` (all that is held, unless told otherwise).

        The answer names the lanes to claim from, what was cancelled and what was superseded, and whether to register
        again.
        """

    async def claim(
        self, executor_id: str, lanes: Sequence[int], *, limit: int, take_lost: bool = True
    ) -> list[Assignment]:
        """Take up to `limit` instances: the highest priority first, in each lane the oldest first.

        Lanes of the same priority come in another order at each claim, so that a backlog in one starves no other.
        Each is then running, leased to this executor alone, under a new fence (guarantee 5). At most one of them has
        lost two executors, none without `take_lost`.
        """

    async def next_available(self, lanes: Sequence[int]) -> float | None:
        """In how many seconds the next instance of these lanes may be claimed; None when there is none to come."""

    async def hand_back_unheld(self, executor_id: str, held: Sequence[int]) -> None:
        """After a claim whose answer was lost: give back what runs under this id but is not held."""

    async def report_progress(self, reports: Sequence[Progress]) -> list[Held]:
        """Store progress and checkpoints; the attempts that were superseded, for which nothing was stored.

        A checkpoint that cannot be stored refuses the whole batch, so check each with `rules.definition.check_json`
        before it joins others.
        """

    async def write_lines(self, lines: Sequence[tuple[Held, LogLine]]) -> int:
        """Store lines; how many. Sent twice is stored once; lines of superseded attempts are dropped.

        None appears behind where a reader may be, if an executor sends its own in the order of their numbers: an
        attempt neither ends nor is superseded while lines of it are on their way, and a callback's that was overtaken
        by a later one is not stored (see `rules.lines.Place`).
        """

    async def finish(self, endings: Sequence[Ending]) -> list[Finished]:
        """Report outcomes; the rules decide what follows.

        Superseded attempts are answered as fenced and change nothing. One outcome that cannot be stored ends failed on
        its own and does not hold up the others.
        """

    async def flush(self, endings: Sequence[Ending]) -> Flush:
        """The same without looking after the aftermath, for callers that do so in their own time by `follow`."""


class Chores(Protocol):
    """What schedulers do in the background; each is safe to run anywhere, any number of times."""

    async def follow(self, aftermath: Aftermath) -> None:
        """Look after what a change led to; failing that, leave it to `settle` and `sweep`."""

    async def settle(self) -> int:
        """Look after endings that nobody has settled; how many there were (guarantee 8)."""

    async def sweep(self) -> int:
        """Do what everybody else may have left undone; how many waiting instances there were to evaluate.

        Evaluates waits whose upstream changed unseen or that have timed out, frees stray permits and gives free ones.
        """

    async def give_permits(self, keys: Iterable[str] | None = None) -> int:
        """Give the free slots of these concurrency keys, or of all that somebody waits for; how many."""

    async def next_permit(self) -> float | None:
        """In how many seconds the next instance wants its permit; None when none is to come."""

    async def reap(self, *, limit: int = 500) -> Reaped:
        """Take back attempts whose lease has run out (guarantee 7)."""

    async def forget_executors(self) -> list[str]:
        """Remove executors that have long been silent; their ids."""

    async def ensure_partitions(self) -> int:
        """Make the days ahead; how many days, from today, every history table has."""

    async def retain(self, *, days: int) -> Retained:
        """Remove what ended more than `days` days ago; the living and what they need stay."""

    async def take_lease(self, name: str, holder: str, seconds: float) -> bool:
        """Take or prolong the lease of a chore that one process at a time should do."""

    async def give_lease(self, name: str, holder: str) -> None:
        """Give it back before it runs out."""


class Directory(Protocol):
    """Groups and executors."""

    async def add_group(
        self, name: str, *, title: str | None = None, address_type: str = "auto", address_list: Sequence[str] = ()
    ) -> Group:
        """A new group; its name must be free."""

    async def ensure_group(self, name: str) -> Group:
        """The group of that name, made if need be."""

    async def get_group(self, group_id: int) -> Group:
        """One group."""

    async def edit_group(self, group_id: int, changes: Mapping[str, Any]) -> Group:
        """Change its title, address_type or address_list; its name stays, for others know it by that."""

    async def delete_group(self, group_id: int) -> None:
        """Remove it; refused while tasks, executors or living instances need it, and for the default group."""

    async def set_access_token(self, group_id: int, token_hash: str) -> Group:
        """Replace the token by which executors of the XXL protocol show that they belong to it."""

    async def list_groups(self) -> list[Group]:
        """All of them."""

    async def list_executors(self) -> list[Executor]:
        """All that are registered."""

    async def callback_key(self) -> bytes:
        """What the addresses of callbacks are signed with; the same for every process, made at first use."""


class Hints(Protocol):
    """What may be worth a look: a hint may be lost or come for nothing, so only speed depends on it."""

    def listen(self, hint: Hint, heard: Heard) -> Callable[[], None]:
        """Call `heard` at each such hint of any process, until the function returned is called."""


class Store(
    Definitions,
    Time,
    Agenda,
    Instances,
    Bulk,
    Applying,
    Executing,
    Chores,
    Directory,
    Accounts,
    Pausing,
    Windows,
    DataSources,
    Operating,
    Explaining,
    Statistics,
    Figures,
    Demo,
    Examining,
    Alerting,
    Sealing,
    Auditing,
    Hints,
    Protocol,
):
    """The whole contract."""

    def on_behalf(self, author: Author, *, once: Once | None = None) -> Self:
        """The same store for one request: its verbs keep in the audit, in the transaction of the change, who asked.

        With `once` a verb that creates something creates it once, however often the same request comes; it then
        answers with what it created the first time. Another request under the same key is refused.
        """

    async def now(self) -> datetime:
        """The store's clock."""

    async def ping(self) -> None:
        """Raise StoreUnavailable if the store does not answer."""

    async def close(self) -> None:
        """Give everything back."""
