"""`/api/v1/callbacks`: where work that goes on elsewhere reports; the address itself is the credential."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from hourhand.api.inputs import Input
from hourhand.api.requests import TheStore
from hourhand.contracts.store import Store
from hourhand.model.errors import NotFound, StaleFence
from hourhand.model.instance import Ending, Held, Instance, LogLine, Outcome, Progress
from hourhand.model.words import OutcomeKind, Status
from hourhand.rules.callback import verify
from hourhand.rules.lines import FIRST_OF_CALLBACKS, line_seq

router = APIRouter(prefix="/callbacks", tags=["callbacks"])
MOST_COLLISIONS = 100
_NUMBER = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)


class CallbackInput(Input):
    """How the work stands."""

    status: Literal["success", "failed", "running"]
    progress: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False, strict=True)
    phase: str | None = Field(default=None, max_length=200)
    result: Any = None
    error: str | None = Field(default=None, description="What went wrong, when it failed")
    message: str | None = Field(default=None, description="A line for the instance log")


class CallbackOutput(BaseModel):
    """How the instance stands now; `cancel_requested` asks the work to stop."""

    status: Status
    cancel_requested: bool


async def _attempt(instance_id: str, fence: str, signature: str, store: TheStore) -> Held:
    """Return the attempt that an address was signed for; whatever else is asked for is not there."""
    if _NUMBER.fullmatch(instance_id) and _NUMBER.fullmatch(fence):
        held = Held(int(instance_id), int(fence))
        if verify(await store.callback_key(), held.instance_id, held.fence, signature):
            return held
    raise NotFound("callback", f"{instance_id}/{fence}")


@router.post("/{instance_id}/{fence}/{signature}", summary="Report how the work of an attempt stands")
async def report(held: Annotated[Held, Depends(_attempt)], given: CallbackInput, store: TheStore) -> CallbackOutput:
    """Take progress, log lines and the outcome; refused (409) once the attempt has been superseded or has ended."""
    instance = await store.get_instance(held.instance_id)
    if instance.status is not Status.RUNNING or instance.fence != held.fence:
        raise StaleFence(held.instance_id, held.fence)
    # Guarantee 6: each of these verbs compares the fence again.
    reported = Progress(instance_id=held.instance_id, fence=held.fence, progress=given.progress, phase=given.phase)
    if await store.report_progress([reported]):
        raise StaleFence(held.instance_id, held.fence)
    if given.message:
        await _write_line(store, instance, held, given)
    if given.status == "running":
        return CallbackOutput(status=Status.RUNNING, cancel_requested=instance.cancel_requested)
    (finished,) = await store.finish([await _ending(store, instance, held, given)])
    if finished.status is None:
        raise StaleFence(held.instance_id, held.fence)
    return CallbackOutput(status=finished.status, cancel_requested=instance.cancel_requested)


async def _ending(store: Store, instance: Instance, held: Held, given: CallbackInput) -> Ending:
    kind = OutcomeKind(given.status)
    error = given.error
    if kind is OutcomeKind.FAILED and not error:
        error = "the callback reported a failure and did not say which"
    outcome = Outcome(
        kind=kind,
        result={"output": None, "error": error, "value": given.result},
        error_message=error if kind is OutcomeKind.FAILED else None,
        duration_ms=await _milliseconds(store, instance),
    )
    return Ending(instance_id=held.instance_id, fence=held.fence, outcome=outcome)


async def _milliseconds(store: Store, instance: Instance) -> int:
    """How long the attempt has been running."""
    started = instance.start_time or instance.created_at  # what runs has started
    return max(0, (await store.now() - started) // _MILLISECOND)


async def _write_line(store: Store, instance: Instance, held: Held, given: CallbackInput) -> None:
    """Number the line by its millisecond, which keeps the order of those that come after each other.

    Its time says no more than its number does, so that two in the same millisecond meet in the store, which keeps the
    first and nothing below it; the other one tries a later number, and the further on the more often it was overtaken.
    """
    started = instance.start_time or instance.created_at
    after = await _milliseconds(store, instance)
    for tried in range(MOST_COLLISIONS):
        line = LogLine(
            seq=line_seq(held.fence, FIRST_OF_CALLBACKS + min(after, FIRST_OF_CALLBACKS - 1)),
            logged_at=started + after * _MILLISECOND,
            message=given.message or "",
            level="error" if given.status == "failed" else "info",
            phase=given.phase or instance.phase,
        )
        if await store.write_lines([(held, line)]):
            return
        after = max(after + 2 ** min(tried, 10), await _milliseconds(store, instance))
