"""Bootstrap: operations of a process: planned, previewed, approved and started, by whichever way somebody asks."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hourhand.bootstrap.sources import build_sources
from hourhand.contracts.store import Store
from hourhand.model.data_source import Address
from hourhand.model.errors import Conflict, InvalidInput, NotFound, PlanRefused, SourceError
from hourhand.model.instance import Submitted
from hourhand.model.operation import Plan, Preview, Start, Undo
from hourhand.model.words import Status, TriggeredBy
from hourhand.operations.desk import Desk, require_met
from hourhand.operations.failures import OperationFailure, Refused
from hourhand.operations.looking import Addresses
from hourhand.rules.closest import Closest
from hourhand.rules.operations import differences, plan_to_json
from hourhand.service.envelope import Unsealable
from hourhand.settings import Settings

REMEMBERED = 200
"""So many previewed plans are kept, to tell what has changed since."""
MOST_PLAN_BYTES = 160 * 1024
"""A plan is kept with its instance, and again in each of its checkpoints."""
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How an operation is to be started."""

    by: str
    plan_hash: str | None = None
    """What was approved; None: whatever the plan is now."""
    priority: int | None = None
    run_at: datetime | None = None
    held: bool = False
    notes: str | None = None
    key: str | None = None
    triggered_by: TriggeredBy = TriggeredBy.MANUAL


def build_desk(settings: Settings, store: Store) -> Desk:
    """What plans operations on the data sources of a store."""
    return Desk(_addresses(settings, store))


def _addresses(settings: Settings, store: Store) -> Addresses:
    sources = build_sources(settings, store)

    async def address(name: str) -> Address:
        try:
            found = await store.find_data_source(name)
        except NotFound:
            raise Refused(await _unknown(store, name), field="data_source") from None
        try:
            return await sources.address_of(found)
        except Unsealable as error:
            why = f"the password of data source {name!r} cannot be opened: {error}"
            raise Refused(why, field="data_source") from None

    return address


async def _unknown(store: Store, name: str) -> str:
    there = [one.name for one in await store.list_data_sources()]
    near = Closest(there).to(name)
    some = ", ".join(there[:_NAMED]) + (" …" if len(there) > _NAMED else "")
    known = f"there are {some}" if there else "add one (`hourhand datasource add`)"
    hint = f"did you mean {near!r}?" if near else known
    return f"there is no data source {name!r}: {hint}"


class Operations:
    """The way of an operation from a configuration to an instance."""

    def __init__(self, desk: Desk, *, elsewhere: bool) -> None:
        """`elsewhere`: executors may be on other machines than this process, as those of a cluster are."""
        self.desk = desk
        self._elsewhere = elsewhere
        self._previewed: OrderedDict[str, Plan] = OrderedDict()

    async def preview(self, kind: str, config: Mapping[str, Any]) -> Preview:
        """What it would do now; SourceError if nobody can look."""
        async with _told():
            found = await self.desk.preview(kind, config)
        self._previewed[found.plan_hash] = found.plan
        self._previewed.move_to_end(found.plan_hash)
        while len(self._previewed) > REMEMBERED:
            self._previewed.popitem(last=False)
        return found

    async def start(self, store: Store, kind: str, config: Mapping[str, Any], asked: Asked) -> Submitted:
        """Plan again, compare with what was approved, and submit; the same request that comes again starts nothing."""
        before = await store.started_before()
        if before is not None:
            return before
        approved = None if asked.plan_hash is None else self._previewed.get(asked.plan_hash)
        found = await self.preview(kind, config)
        _require_approved(asked.plan_hash, approved, found)
        require_met(found.plan, elsewhere=self._elsewhere)
        plan = plan_to_json(found.plan)
        _require_room(plan)
        settled = dict(found.plan.config)
        name = str(settled["data_source"])
        return await store.start_operation(
            Start(
                kind=found.plan.kind,
                data_source_id=(await store.find_data_source(name)).id,
                place=_place(name, settled),
                config=settled,
                plan_hash=found.plan_hash,
                plan=plan,
                script=found.script,
                requested_by=asked.by,
                triggered_by=asked.triggered_by,
                priority=asked.priority,
                run_at=asked.run_at,
                held=asked.held,
                notes=asked.notes,
                key=asked.key,
            )
        )

    async def undo(self, store: Store, instance_id: int) -> Undo:
        """The operation that takes an instance back; Conflict says why there is none."""
        instance = await store.get_instance(instance_id)
        if instance.operation_kind is None:
            raise Conflict(f"instance {instance_id} is no operation, so that there is nothing to take back")
        if instance.status is not Status.SUCCESS:
            raise Conflict(
                f"instance {instance_id} is {instance.status.value}: only an operation that has succeeded can be taken "
                "back"
            )
        undo = (instance.summary or {}).get("undo")
        if not isinstance(undo, Mapping):
            raise Conflict(f"nothing takes {instance.operation_kind} back as instance {instance_id} has done it")
        return Undo(kind=str(undo["kind"]), config=undo["config"])


def _require_approved(given: str | None, approved: Plan | None, now: Preview) -> None:
    if given is None or given == now.plan_hash:
        return
    unknown = ["what it was is not known to this server any more"]
    changed = unknown if approved is None else differences(approved, now.plan)
    raise PlanRefused(
        f"the plan that was approved ({given}) is not the one that would be executed now ({now.plan_hash}): "
        f"{'; '.join(changed[:_NAMED])}; look at the new preview, and approve that",
        changed,
        now.plan_hash,
    )


def _require_room(plan: Mapping[str, Any]) -> None:
    size = len(json.dumps(plan, default=str).encode())
    if size > MOST_PLAN_BYTES:
        raise InvalidInput.one(
            "config",
            None,
            f"its plan takes {size} bytes, of which at most {MOST_PLAN_BYTES} can be kept: do less of it at a time, "
            "such as fewer tables or partitions",
        )


def _place(data_source: str, config: Mapping[str, Any]) -> str:
    """What it works on, for people."""
    schema = f"{config['schema']}." if config.get("schema") else ""
    tables = [one for one in (config.get("table"), *(config.get("tables") or ())) if one]
    shown = ", ".join(f"{schema}{one}" for one in tables[:_NAMED]) + (" …" if len(tables) > _NAMED else "")
    return f"{data_source}/{shown}" if tables else data_source


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """What went wrong with a data source, in the words of the one tree of refusals."""
    try:
        yield
    except OperationFailure as error:
        raise SourceError(str(error)) from error
