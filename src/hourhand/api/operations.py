"""`/api/v1/operations`: built-in work on data sources: previewed, approved by its plan's hash, started, taken back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from starlette.responses import Response

from hourhand.api.guarding import guarded_router
from hourhand.api.instances import shown as shown_instances
from hourhand.api.operation_shapes import ConfigInput, OperationPreview, OperationUndo, StartInput, shown
from hourhand.api.requests import Caller, TheGroups, TheOperations, TheStore
from hourhand.api.shapes import SUBMITTED, Plain
from hourhand.bootstrap.operations import Asked

router = guarded_router(tags=["operations"])
Kind = Annotated[str, Path(max_length=100, examples=["statistics_update"], description="Such as `split_boundary`")]


@router.post("/operations/{kind}/preview", summary="What an operation would do now")
async def preview_operation(kind: Kind, given: ConfigInput, operations: TheOperations) -> OperationPreview:
    """Look at the data source and answer with the plan; nothing is changed.

    A data source that cannot be reached is a 424; a configuration that cannot be planned a 422 under `config.…`.
    """
    return shown(await operations.preview(kind, given.config))


@router.post("/operations/{kind}", status_code=202, response_model=SUBMITTED, summary="Start an operation")
async def start_operation(
    kind: Kind,
    given: StartInput,
    store: TheStore,
    operations: TheOperations,
    *,
    groups: TheGroups,
    caller: Caller,
    response: Response,
) -> Plain:
    """Plan it again, and submit it if the plan is the one with `plan_hash`; without one, as it is now.

    409 with `reasons` and the new `plan_hash` if anything has changed, or if a precondition is not met. With `held` it
    stays planned until somebody, perhaps somebody else, dispatches it. Whoever executes it compares again.
    """
    asked = Asked(
        by=caller.name,
        plan_hash=given.plan_hash,
        priority=given.priority,
        run_at=given.run_at,
        held=given.held,
        notes=given.notes,
        key=given.key,
    )
    made = await operations.start(store, kind, given.config, asked)
    (found,) = await shown_instances(groups, [await store.get_instance(made.instance_id)])
    response.headers["Location"] = f"/api/v1/instances/{made.instance_id}"
    return {**found, "existing": made.existing}


@router.get("/instances/{instance_id}/undo", summary="What would take an operation back")
async def undo_operation(instance_id: int, store: TheStore, operations: TheOperations) -> OperationUndo:
    """Answer with the operation that does it, and its preview; start it as any other. 409 where nothing does."""
    undo = await operations.undo(store, instance_id)
    return OperationUndo(
        kind=undo.kind, config=dict(undo.config), preview=shown(await operations.preview(undo.kind, undo.config))
    )
