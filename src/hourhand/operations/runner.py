"""Operations: the runner of operation tasks.

The plan is made at the first attempt and kept in the checkpoint: an attempt that takes over goes on with what was
approved, whatever the catalog has become since by the operation's own doing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from hourhand.contracts.operation import Session
from hourhand.contracts.runner import Attempt
from hourhand.model.data_source import Dialect
from hourhand.model.errors import Conflict, InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.operation import Plan
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.operations.config import Config
from hourhand.operations.desk import Desk, require_met
from hourhand.operations.failures import Drifted, OperationFailure
from hourhand.operations.kind import Kind
from hourhand.operations.locking import guarded
from hourhand.operations.looking import LiveLook, looking
from hourhand.operations.throttle import LOOK_SECONDS, shut
from hourhand.operations.work import LiveWork
from hourhand.rules.operations import differences, plan_from_json, plan_hash, script


class OperationRunner:
    """Runs operation tasks."""

    type: ClassVar[TaskType] = TaskType.OPERATION

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def run(self, attempt: Attempt) -> Outcome:
        """Plan or go on, execute, verify, sum up."""
        started = time.monotonic()
        try:
            summary = await self._carried_out(attempt)
        except OperationFailure as error:
            return _failed(started, str(error), retryable=error.retryable)
        except (InvalidInput, Conflict) as error:
            return _failed(started, str(error), retryable=False)
        return Outcome(kind=OutcomeKind.SUCCESS, summary=summary, duration_ms=_since(started))

    async def _carried_out(self, attempt: Attempt) -> Mapping[str, Any]:
        payload = attempt.definition.payload
        given = {**(payload.get("config") or {}), **(attempt.args.get("config") or {})}
        kind, config = self._desk.read(str(payload.get("kind")), given)
        kept: Mapping[str, Any] = attempt.assignment.checkpoint or {}
        if kept.get("plan") is None and not config.dry_run:
            await _opened(attempt, config)
        async with (
            looking(self._desk.addresses, config.data_source) as look,
            guarded(look.source, _place(kind.kind, config, look.source)),
        ):
            plan = await self._plan(attempt, kind, config, look, kept)
            if config.dry_run:
                attempt.log("dry run: nothing is changed")
                return {"dry_run": True, "plan_hash": plan_hash(plan), "steps": len(plan.steps)}
            work = LiveWork(look, config, plan, attempt, instance_id=attempt.assignment.instance_id, kept=kept)
            if kept.get("plan") is None:
                await work.save({})  # before anything is changed: who takes over must not plan for what we left
            summary = dict(await kind.execute(work, plan))
            undo = kind.undo(plan, summary)
            if undo is not None:
                summary["undo"] = {"kind": undo.kind, "config": dict(undo.config)}
            return summary | {"plan_hash": plan_hash(plan)}

    async def _plan(
        self, attempt: Attempt, kind: Kind[Any, Any], config: Config, look: LiveLook, kept: Mapping[str, Any]
    ) -> Plan:
        if kept.get("plan") is not None:
            attempt.log("goes on with the plan of the attempt before")
            return plan_from_json(kept["plan"])
        await attempt.progress(0.0, phase="plan")
        plan = await self._desk.planned(kind, config, look)
        approved = attempt.args.get("plan_hash")
        if approved is not None and approved != plan_hash(plan):
            before = attempt.args.get("plan")
            changed = (
                differences(plan_from_json(before), plan) if before is not None else ["the data source has changed"]
            )
            raise Drifted(
                f"the plan that was approved ({approved}) is not the one that would be executed now "
                f"({plan_hash(plan)}): {'; '.join(changed[:5])}; preview and start again"
            )
        require_met(plan)
        attempt.log(script(plan) if approved is None else f"the plan is the one that was approved: {approved}")
        return plan


async def _opened(attempt: Attempt, config: Config) -> None:
    """Wait for the window before anything is looked at: the plan is to be of then, and no session is held till then.

    What has begun goes on at once: it may have left something half done, which must not wait for a day.
    """
    if (reason := shut(config, datetime.now(UTC))) is None:
        return
    attempt.log(f"waits: {reason}")
    await attempt.progress(0.0, phase="wait")
    while shut(config, datetime.now(UTC)) is not None:  # noqa: ASYNC110 - nobody tells when it opens but the clock
        await asyncio.sleep(LOOK_SECONDS)


def _place(kind: str, config: Config, source: Session) -> str:
    """What two operations must not work on at once, whichever Hourhand they belong to.

    PostgreSQL keeps such locks for each database; MariaDB for the whole server, and of SQLite they are ours.
    """
    plain = config.plain()
    usual = "public" if source.dialect is Dialect.POSTGRESQL else source.database
    what = f"table {plain['table']}" if "table" in plain else kind
    return f"{plain.get('schema') or usual}: {what}"


def _failed(started: float, message: str, *, retryable: bool) -> Outcome:
    return Outcome(kind=OutcomeKind.FAILED, error_message=message, retryable=retryable, duration_ms=_since(started))


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
