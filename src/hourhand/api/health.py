"""`/healthz`, `/readyz`: whether the process lives, and whether it and its cluster are fit to work."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from hourhand.api.problems import RETRY_AFTER_SECONDS, Problem
from hourhand.service.health import Health

router = APIRouter(tags=["health"])


class Alive(BaseModel):
    """The process lives: its event loop answers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]


class CheckOutput(BaseModel):
    """One thing that must hold."""

    name: Literal["store", "scheduler", "partitions"]
    ok: bool
    detail: str


class Ready(BaseModel):
    """Everything that was looked at holds."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "status": "ok",
                    "checks": [
                        {"name": "store", "ok": True, "detail": "the store answers"},
                        {"name": "scheduler", "ok": True, "detail": "a scheduler completed a cycle 2 s ago"},
                        {"name": "partitions", "ok": True, "detail": "there are partitions for 14 days after today"},
                    ],
                }
            ]
        }
    )

    status: Literal["ok"]
    checks: list[CheckOutput]


async def _health(request: Request) -> Health:
    return cast("Health", request.app.state.health)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", summary="Whether the process lives")
async def healthz() -> Alive:
    """Answer; that is all there is to it."""
    return Alive(status="ok")


@router.head("/readyz", include_in_schema=False, response_model=Ready)
@router.get(
    "/readyz",
    summary="Whether the store answers, something is scheduling, and there is room for what ends",
    response_model=Ready,
)
async def readyz(
    health: Annotated[Health, Depends(_health)],
    only: Annotated[
        Literal["store"] | None, Query(description="`store`: only whether this process reaches the store")
    ] = None,
) -> Ready | Problem:
    """Say 200 when everything holds, else 503; both list each check and what it found."""
    report = await health.ready(store_only=only == "store")
    if report.ok:
        return Ready.model_validate({"status": "ok", "checks": report.listed()})
    later = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return Problem(503, report.wrong, headers=later, checks=report.listed())
