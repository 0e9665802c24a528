"""`/api/v1/instances/{instance_id}/explain`: why an instance has not started, still runs, or ended as it did."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hourhand.api.guarding import guarded_router
from hourhand.api.requests import TheStore
from hourhand.api.shapes import plain
from hourhand.model.explanation import Code
from hourhand.model.words import Status

router = guarded_router(prefix="/instances", tags=["instances"])
_REASON: dict[str, Any] = {
    "code": "paused",
    "text": "its group 'billing' is paused by admin until 2026-11-15T09:00:00Z: the ledger is moving",
    "data": {"pause_id": 3, "scope": "group", "owner": "admin", "reason": "the ledger is moving"},
    "since": "2026-11-15T01:00:00Z",
    "until": "2026-11-15T09:00:00Z",
}


class ReasonOutput(BaseModel):
    """One reason: a word for programs, a sentence for people, and the facts behind both."""

    model_config = ConfigDict(json_schema_extra={"examples": [_REASON]})

    code: Code
    text: str
    data: dict[str, Any] = Field(description="Which fields depends on the code")
    since: datetime | None
    until: datetime | None = Field(description="When this reason is over, if that is known")


class ExplanationOutput(BaseModel):
    """Why; the first reason is the one that decides."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "instance_id": 42,
                    "status": "pending",
                    "summary": f"It has not started: {_REASON['text']}.",
                    "reasons": [_REASON],
                }
            ]
        }
    )

    instance_id: int
    status: Status
    summary: str = Field(description="One sentence for people")
    reasons: list[ReasonOutput]


@router.get("/{instance_id}/explain", summary="Why an instance is where it is")
async def explain(instance_id: int, store: TheStore) -> ExplanationOutput:
    """Computed by the same predicates that decide; 410 once retention has removed the instance."""
    found = await store.explain(instance_id)
    reasons = [ReasonOutput(**plain(one)) for one in found.reasons]
    return ExplanationOutput(**{**plain(found), "reasons": reasons})
