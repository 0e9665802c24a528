"""Store: groups, executors and lanes: who is alive and what it may claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Double, Text, bindparam, delete, exists, select

from hourhand.model.errors import DuplicateName, InvalidInput
from hourhand.model.registry import Executor, Group, Lane
from hourhand.rules.lanes import serves
from hourhand.rules.pausing import closed
from hourhand.store.database import Row, Tx
from hourhand.store.rests import covered_now
from hourhand.store.rows import executor_of, group_of, readable
from hourhand.store.schema import executors, groups, lanes
from hourhand.store.schema_alerts import alert_states
from hourhand.store.sql import any_of, insert, lease_clock, plus_seconds, records, store_clock
from hourhand.store.statements import Statement
from hourhand.store.types import Id, Json

EXECUTOR_GONE_SECONDS = 90.0

_GROUP_BY_NAME = Statement(select(groups).where(groups.c.name == bindparam("name", type_=Text)))
# Held until the task that names it is committed, so that nobody removes the group in between.
_KEEP_GROUP = Statement(
    select(groups.c.id).where(groups.c.name == bindparam("name", type_=Text)).with_for_update(read=True, key_share=True)
)
_ALL_GROUPS = Statement(select(groups).order_by(groups.c.name))
_ADD_GROUP = Statement(
    insert(groups)
    .values(
        name=bindparam("name", type_=Text),
        title=bindparam("title", type_=Text),
        address_type=bindparam("address_type", type_=Text),
        address_list=bindparam("address_list", type_=Json()),
        created_at=store_clock(),
        updated_at=store_clock(),
    )
    .on_conflict_do_nothing()
    .returning(groups)
)
_SELECT_EXECUTORS = select(executors, groups.c.name.label("group")).join(groups, groups.c.id == executors.c.group_id)
_alive = executors.c.last_heartbeat >= plus_seconds(lease_clock(), bindparam("ago", type_=Double))
_ALL_EXECUTORS = Statement(_SELECT_EXECUTORS.add_columns(_alive.label("alive")).order_by(executors.c.id))
_ALIVE = Statement(_SELECT_EXECUTORS.where(_alive).order_by(executors.c.id))
_REGISTERED_COLUMNS = (
    "group_id",
    "address",
    "hostname",
    "pid",
    "version",
    "capacity",
    "running",
    "labels",
    "provides",
    "kind",
)
_new_executor = insert(executors).values(
    id=bindparam("id", type_=Text),
    started_at=store_clock(),
    last_heartbeat=lease_clock(),
    **{name: bindparam(name, type_=executors.c[name].type) for name in _REGISTERED_COLUMNS},
)
_REGISTER = Statement(
    _new_executor.on_conflict_do_update(
        index_elements=["id"],
        set_={name: _new_executor.excluded[name] for name in (*_REGISTERED_COLUMNS, "last_heartbeat")},
    )
)
_DEREGISTER = Statement(delete(executors).where(executors.c.id == bindparam("executor_id", type_=Text)))
# After its own row, which alerts hold while they remember it: else it would be taken for lost.
_NOT_LOST = Statement(delete(alert_states).where(alert_states.c.subject == bindparam("subject", type_=Text)))
_FORGET = Statement(
    delete(executors)
    .where(executors.c.last_heartbeat < plus_seconds(lease_clock(), bindparam("ago", type_=Double)))
    .returning(executors.c.id)
)
_LANES_OF_GROUP = Statement(
    select(lanes).where(lanes.c.group_id == bindparam("group_id", type_=Id)).order_by(lanes.c.id)
)
_ALL_LANES = Statement(select(lanes).order_by(lanes.c.id))
_LANES_BY_ID = Statement(select(lanes).where(any_of(lanes.c.id, "ids")))
_ORPHANED_LANES = Statement(
    select(lanes)
    .where(lanes.c.target_executor_id != "", ~exists().where(executors.c.id == lanes.c.target_executor_id))
    .order_by(lanes.c.id)
)
_WANTED = records("wanted", {"group_id": Id, "requires": Text(), "labels": Text(), "target_executor_id": Text()})
_find_lanes = select(lanes).join(
    _WANTED,
    (lanes.c.group_id == _WANTED.c.group_id)
    & (lanes.c.requires == _WANTED.c.requires)
    & (lanes.c.labels == _WANTED.c.labels)
    & (lanes.c.target_executor_id == _WANTED.c.target_executor_id),
)
_FIND_LANES = Statement(_find_lanes)
_KEEP_LANES = Statement(
    _find_lanes.order_by(lanes.c.id).with_for_update(read=True, key_share=True, of=lanes),
)
_ADD_LANES = Statement(
    insert(lanes)
    .from_select(
        [column.name for column in _WANTED.c], select(_WANTED).where(_WANTED.c.group_id > 0), include_defaults=False
    )
    .on_conflict_do_nothing()
)


async def ensure_group(tx: Tx, name: str) -> Group:
    """The group of that name, made if need be."""
    await tx.fetch(_ADD_GROUP, name=name, title=None, address_type="auto", address_list=[])
    (row,) = await tx.fetch(_GROUP_BY_NAME, name=name)
    return group_of(row)


async def add_group(tx: Tx, values: Mapping[str, Any]) -> Group:
    """A new group; its name must be free."""
    rows = await tx.fetch(_ADD_GROUP, **values)
    if not rows:
        raise DuplicateName("group", values["name"])
    return group_of(rows[0])


async def require_group(tx: Tx, name: str) -> int:
    """The id of an existing group, or a refusal that names those there are."""
    rows = await tx.fetch(_KEEP_GROUP, name=name)
    if not rows:
        known = ", ".join(row["name"] for row in await tx.fetch(_ALL_GROUPS))
        raise InvalidInput.one("group", name, f"there is no group {name!r}; there are: {known}")
    return int(rows[0]["id"])


async def list_groups(tx: Tx) -> list[Group]:
    """All of them: there are tens."""
    return readable(await tx.fetch(_ALL_GROUPS), group_of)


async def list_executors(tx: Tx, within_seconds: float) -> list[Executor]:
    """All that are registered: there are hundreds; alive are those that have beaten lately."""
    rows = await tx.fetch(_ALL_EXECUTORS, ago=-within_seconds)
    return readable(rows, lambda row: replace(executor_of(row), alive=row["alive"]))


async def alive_executors(tx: Tx, within_seconds: float) -> list[tuple[Executor, int]]:
    """Those that have beaten lately, each with its group's id."""
    return readable(await tx.fetch(_ALIVE, ago=-within_seconds), lambda row: (executor_of(row), int(row["group_id"])))


async def register(tx: Tx, executor: Executor) -> tuple[int, ...]:
    """Enter an executor, or enter it again; the lanes it may serve."""
    group = await ensure_group(tx, executor.group)
    values = {name: getattr(executor, name) for name in _REGISTERED_COLUMNS if name != "group_id"}
    values |= {"labels": dict(executor.labels), "provides": list(executor.provides)}
    await tx.run(_REGISTER, id=executor.id, group_id=group.id, **values)
    return await lanes_served(tx, executor, group.id)


async def deregister(tx: Tx, executor_id: str) -> None:
    """A clean stop: gone at once."""
    await tx.run(_DEREGISTER, executor_id=executor_id)
    await tx.run(_NOT_LOST, subject=f"executor:{executor_id}")


async def forget_executors(tx: Tx) -> list[str]:
    """Remove those that have not beaten for long; their instances are the reaper's affair."""
    return [row["id"] for row in await tx.fetch(_FORGET, ago=-EXECUTOR_GONE_SECONDS)]


async def lanes_served(tx: Tx, executor: Executor, group_id: int) -> tuple[int, ...]:
    """The lanes it may claim from; none while its group, or everything, rests."""
    if closed(await covered_now(tx), group_id):
        return ()
    rows = await tx.fetch(_LANES_OF_GROUP, group_id=group_id)
    return tuple(row["id"] for row in rows if serves(executor, group_id, _lane(row)))


async def lanes_with_an_executor(tx: Tx, within_seconds: float) -> list[int]:
    """The lanes that somebody alive serves; none of a group that rests."""
    resting = await covered_now(tx)
    alive = [one for one in await alive_executors(tx, within_seconds) if not closed(resting, one[1])]
    return [
        row["id"]
        for row in await tx.fetch(_ALL_LANES)
        if any(serves(executor, group_id, _lane(row)) for executor, group_id in alive)
    ]


async def lanes_by_id(tx: Tx, ids: Iterable[int]) -> dict[int, Lane]:
    """What these lanes ask for."""
    return {row["id"]: _lane(row) for row in await tx.fetch(_LANES_BY_ID, ids=sorted(set(ids)))}


async def orphaned_lanes(tx: Tx) -> dict[int, Lane]:
    """The lanes of executors that have left the registry."""
    return {row["id"]: _lane(row) for row in await tx.fetch(_ORPHANED_LANES)}


async def lane_ids(tx: Tx, wanted: Iterable[Lane]) -> dict[Lane, int]:
    """The ids of these lanes, made if need be; they stay at least until this transaction ends."""
    missing = set(wanted)
    # Retention removes the lanes of executors that are gone. The others stay for ever, and a lock on what everybody
    # uses would have every submission write to the same rows.
    find = _KEEP_LANES if any(lane.target_executor_id for lane in missing) else _FIND_LANES
    found: dict[Lane, int] = {}
    while missing:
        params = [
            {
                "group_id": lane.group_id,
                "requires": lane.requires,
                "labels": lane.labels,
                "target_executor_id": lane.target_executor_id,
            }
            for lane in sorted(missing)
        ]
        for row in await tx.fetch(find, wanted=params):
            found[_lane(row)] = row["id"]
        missing -= found.keys()
        if missing:
            await tx.run(_ADD_LANES, wanted=[one for one in params if _lane(one) in missing])
    return found


def _lane(row: Row) -> Lane:
    return Lane(row["group_id"], row["requires"], row["labels"], row["target_executor_id"])
