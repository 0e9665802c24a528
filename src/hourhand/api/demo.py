"""`/api/v1/demo`: sample tasks to look at, put into the store and taken out again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel, Field
from starlette.requests import Request

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import example
from hourhand.api.requests import Caller, TheStore
from hourhand.demo import loading
from hourhand.model.demo import DEMO_GROUP, DemoState
from hourhand.settings import is_loopback

router = guarded_router(prefix="/demo", tags=["demo"])
_STATE = {
    "loaded": True,
    "loaded_at": "2026-11-15T09:00:00Z",
    "group": DEMO_GROUP,
    "tasks": 31,
    "instances": 5,
    "executors": 1,
}


class DemoOutput(BaseModel):
    """What of the demo there is in the store."""

    model_config = example(**_STATE)

    loaded: bool
    loaded_at: datetime | None
    group: str = Field(description="The group of the sample tasks; it is there while the demo is")
    tasks: int
    instances: int = Field(description="Of sample tasks, that have not ended")
    executors: int = Field(description="Of that group, that are alive; `hourhand serve` is one")


class KeptOutput(BaseModel):
    """A sample task that is not as it should be, since it is not the demo's to change."""

    model_config = example(name="demo-backup", reason="the task of this name was created by admin: choose another name")

    name: str
    reason: str


class DemoLoaded(DemoOutput):
    """What of the demo there is now."""

    model_config = example(**_STATE, new=True, kept=[])

    new: bool = Field(description="False if it had been loaded before: then nothing was changed")
    kept: list[KeptOutput]


class DemoGone(BaseModel):
    """How much was removed."""

    model_config = example(tasks=31, execution_logs=12_376)

    tasks: int
    execution_logs: int


def _shown(state: DemoState) -> dict[str, object]:
    return {
        "loaded": state.loaded_at is not None and state.tasks > 0,
        "loaded_at": state.loaded_at,
        "group": DEMO_GROUP,
        "tasks": state.tasks,
        "instances": state.living,
        "executors": state.executors,
    }


async def _address(request: Request) -> str | None:
    """Where tasks may call this process: an executor that is on another machine, or may not call here, cannot."""
    if not is_loopback(request.app.state.settings.host):
        return None
    return getattr(request.app.state, "address", None)


@router.get("", summary="Whether the demo is loaded")
async def get_demo(store: TheStore) -> DemoOutput:
    """As it stands now."""
    return DemoOutput.model_validate(_shown(await store.demo_state()))


@router.post("", summary="Load sample tasks, with a past to look at")
async def load_demo(store: TheStore, address: Annotated[str | None, Depends(_address)]) -> DemoLoaded:
    """Loaded twice is loaded once. Tasks that have the name of a sample task already are left alone, and named."""
    loaded = await loading.load(store, address=address)
    kept = [{"name": name, "reason": reason} for name, reason in loaded.kept]
    return DemoLoaded.model_validate({**_shown(loaded.state), "new": loaded.new, "kept": kept})


@router.delete("", summary="Remove the sample tasks and all that they did")
async def remove_demo(store: TheStore, caller: Caller) -> DemoGone:
    """What runs is cancelled first, which may take some seconds. What people made themselves stays.

    409 names what of that is in the way: tasks, alert rules and maintenance windows about the demo, users and tokens
    limited to its group. 409 too when the demo is not loaded.
    """
    removed = await loading.remove(store, by=caller.name)
    return DemoGone(tasks=removed.tasks, execution_logs=removed.execution_logs)
