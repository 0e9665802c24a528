"""Time for the contract suite: instead of waiting, everything in the store becomes older; and what then became."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from hourhand.model.filters import InstanceFilter
from hourhand.model.instance import Ending, Outcome
from hourhand.model.words import OutcomeKind
from hourhand.rules.schedule import parse
from hourhand.store.schema import task_instants
from hourhand.store.statements import Statement
from hourhand.store.types import Id, to_micros

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from contracts.world import World
    from hourhand.model.instance import Instance
    from hourhand.model.task import Task

_TIMES = {
    "tasks": ("anchored_at", "next_fire_at", "wake_at", "created_at", "updated_at"),
    "task_instances": ("scheduled_time", "available_at", "created_at", "queued_at", "start_time", "lease_until"),
    "instance_waits": ("upstream_time",),
    "execution_logs": ("scheduled_time", "available_at", "created_at"),
    "task_instants": ("scheduled_time", "ended_at"),
    "pauses": ("created_at", "until"),
    "maintenance_windows": ("active_since",),
    "past_windows": ("active_since", "active_until"),
}
_FAR = 400 * 366 * 86_400
_LEDGER = Statement(
    select(task_instants)
    .where(task_instants.c.task_id == bindparam("task_id", type_=Id))
    .order_by(task_instants.c.scheduled_time)
)


async def elapse(world: World, seconds: float) -> None:
    """Let time pass: tasks, instances and the ledger (but no executor's heartbeat) are that much older."""
    for table, columns in _TIMES.items():
        if table == "task_instants":
            # By a detour, since moving the rows of a key one after the other would let them meet.
            await _shift(world, table, columns, _FAR)
            await _shift(world, table, columns, seconds - _FAR)
        else:
            await _shift(world, table, columns, seconds)
    world.store._marks.clear()  # noqa: SLF001 - claimers remember how far they have read


async def _shift(world: World, table: str, columns: tuple[str, ...], seconds: float) -> None:
    sqlite = world.store.database.dialect == "sqlite"
    by = f"{int(seconds * 1_000_000)}" if sqlite else f"make_interval(secs => {seconds!r})"
    moves = ", ".join(f"{column} = {column} - {by}" for column in columns)
    await world.execute(f"UPDATE {table} SET {moves}")  # noqa: S608 - names from above


def moment(world: World, time: datetime) -> Any:
    """A time as a parameter of plain SQL."""
    return to_micros(time) if world.store.database.dialect == "sqlite" else time


async def align(world: World, *tasks: Task) -> None:
    """Let these `@every` tasks count from one and the same moment: that of the first."""
    for task in tasks:
        period = parse(task.schedule, task.timezone).period  # type: ignore[union-attr]  # it is an `@every`
        first = tasks[0].anchored_at + period
        await world.execute(
            "UPDATE tasks SET anchored_at = :anchor, next_fire_at = :first, wake_at = :wake WHERE id = :id",
            anchor=moment(world, tasks[0].anchored_at),
            first=moment(world, first),
            wake=moment(world, first - world.store.look_ahead),
            id=task.id,
        )


async def ledger(world: World, task: Task) -> dict[datetime, dict[str, Any]]:
    """The instants of a task that were made, with what the ledger says of each."""
    rows = await world.store.database.read(lambda tx: tx.fetch(_LEDGER, task_id=task.id))
    return {row["scheduled_time"]: dict(row) for row in rows}


async def instances(world: World, task: Task) -> list[Instance]:
    """All instances of a task by instant, living or ended, without the records of skips."""
    page = await world.store.list_instances(InstanceFilter(task_id=task.id), limit=200)
    return sorted((one for one in page.items if one.skip_reason is None), key=lambda one: (one.scheduled_time, one.id))


async def only(world: World, task: Task) -> Instance:
    """The one instance of a task."""
    (found,) = await instances(world, task)
    return found


async def skips(world: World, task: Task) -> list[Instance]:
    """The records of skips, in the order of their instants."""
    page = await world.store.list_logs(InstanceFilter(task_id=task.id), limit=200)
    return sorted((one for one in page.items if one.skip_reason is not None), key=lambda one: one.scheduled_time)


async def report(world: World, instance: Instance, kind: OutcomeKind = OutcomeKind.SUCCESS) -> None:
    """End the running attempt of an instance."""
    outcome = Outcome(kind=kind)
    (finished,) = await world.store.finish([Ending(instance_id=instance.id, fence=instance.fence, outcome=outcome)])
    assert not finished.fenced


async def silence(world: World, *executors: str) -> None:
    """Their last heartbeats were a long time ago."""
    long_ago = moment(world, datetime(2020, 1, 1, tzinfo=UTC))
    for executor in executors:
        await world.execute("UPDATE executors SET last_heartbeat = :at WHERE id = :id", at=long_ago, id=executor)


@asynccontextmanager
async def transaction(world: World) -> AsyncIterator[Any]:
    """A transaction of PostgreSQL that somebody else holds open; rolled back unless it was committed."""
    async with world.store.database.pool.acquire() as connection:  # type: ignore[attr-defined]  # PostgreSQL only
        opened = connection.transaction()
        await opened.start()
        try:
            yield connection
        except BaseException:
            await opened.rollback()
            raise
        await opened.commit()
