"""`/api/v1/diagnosis`: what this server knows of itself and of its store, for `hourhand doctor`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, cast

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from hourhand import __version__
from hourhand.api.guarding import guarded_router
from hourhand.api.requests import TheStore
from hourhand.bootstrap.diagnosis import diagnose
from hourhand.model.diagnosis import (
    DatabaseFacts,
    Demand,
    Diagnosis,
    Examined,
    KeyState,
    ProcessFacts,
    Program,
    SeenExecutor,
)
from hourhand.model.figures import GroupFigures
from hourhand.settings import Settings

router = guarded_router(tags=["health"])
_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_EXAMPLE = Diagnosis(
    process=ProcessFacts(
        version=__version__,
        hostname="host-1",
        looked_at=_AT,
        python="3.13.1",
        root=False,
        loopback=True,
        proxies=False,
        open_files=1_048_576,
        lease_seconds=15,
        retention_days=30,
        key=KeyState.UNUSED,
        key_detail="no secret is stored yet",
    ),
    database=DatabaseFacts(
        dialect="sqlite", version="3.46.1", major=3, settings={"journal_mode": "wal", "synchronous": "2"}
    ),
    store=Examined(
        looked_at=_AT,
        groups=(GroupFigures(group="default", executors=1, slots=32),),
        executors=(
            SeenExecutor(
                id="host-1-4711",
                group="default",
                hostname="host-1",
                version=__version__,
                silent_seconds=2.5,
                capacity=32,
                running=0,
                labels={},
                provides=("builtin",),
            ),
        ),
        demands=(Demand(group="default", requires="builtin", labels={}, tasks=1, example="close_books"),),
        programs=(Program(group="default", name="/opt/books/close", tasks=1, example="close_books"),),
        cycle_seconds=1.5,
    ),
)


class DiagnosisOutput(BaseModel):
    """Facts, and no judgement: `hourhand doctor` says what they mean."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [TypeAdapter(Diagnosis).dump_python(_EXAMPLE, mode="json")]}
    )

    process: ProcessFacts
    database: DatabaseFacts
    store: Examined


async def _settings(request: Request) -> Settings:
    return cast("Settings", request.app.state.settings)


@router.get("/diagnosis", summary="What this server knows of itself and of its store")
async def get_diagnosis(
    store: TheStore, settings: Annotated[Settings, Depends(_settings)], response: Response
) -> DiagnosisOutput:
    """What `hourhand doctor` asks for; its fields may change from one release to the next."""
    response.headers["Cache-Control"] = "no-store"
    found = await diagnose(settings, store)
    return DiagnosisOutput(process=found.process, database=found.database, store=found.store)
