"""Bodies and answers of `/api/v1/operations`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from hourhand.api.inputs import Input, Instant, Priority, example
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Preview, Side

CONFIG = {"data_source": "shop", "tables": ["orders"]}
_HASH = "0fda9ba91dfe4e6ad1b2d14ec9ea2b36"
_LOCK = "SHARE UPDATE EXCLUSIVE on public.orders: reads and writes go on"


class ConfigInput(Input):
    """What to do with which data source."""

    model_config = example(config=CONFIG)

    config: dict[str, Any] = Field(description="The fields of its kind: `GET /kinds` has their JSON Schema")


class StartInput(ConfigInput):
    """An operation to be started."""

    model_config = example(config=CONFIG, plan_hash=_HASH)

    plan_hash: str | None = Field(
        default=None, max_length=64, description="That of the preview which was approved; if the plan is another: 409"
    )
    priority: Priority | None = Field(default=None, description="0 (highest) to 9")
    run_at: Instant | None = Field(default=None, description="Not before this time")
    held: bool = Field(default=False, strict=True, description="Stay planned until somebody dispatches it")
    notes: str | None = Field(default=None, max_length=10_000, description="Why, for those who look at it later")
    key: str | None = Field(default=None, description="While an instance with this key lives, it is the answer")


class OperationStatement(BaseModel):
    """One statement of a plan; a step without any has one whose `sql` is null."""

    step: str
    phase: str
    sql: str | None
    side: Side
    lock: str | None = Field(description="What its step locks, in the words of the database")
    duration: Duration
    transaction: bool = Field(description="Whether all statements of the step are one transaction")
    cancellable: bool
    destructive: bool = Field(
        description="Whether its step deletes or overwrites rows, tables or files of somebody's, as its kind says; of "
        "a kind that does not say, true"
    )
    rows: int | None = Field(description="An estimate for the step, and so are the next two")
    bytes: int | None
    disk_bytes: int | None


class OperationBlocker(BaseModel):
    """A session that holds now what a step would wait for."""

    session: str
    who: str
    doing: str


class OperationImpact(BaseModel):
    """What the whole plan costs, as far as it can be told beforehand."""

    rows: int | None
    bytes: int | None
    disk_bytes: int | None
    strongest_lock: str | None
    blockers: list[OperationBlocker]


class OperationPrecondition(BaseModel):
    """Something that must hold, or nothing is executed."""

    name: str
    ok: bool
    detail: str
    side: Side = Field(
        description="Where it was looked for. `executor` is the machine that previews: in a cluster the executor that "
        "executes it looks again on its own, and that counts"
    )


_STATEMENT = {
    "step": "analyze public.orders",
    "phase": "analyze",
    "sql": 'ANALYZE "public"."orders"',
    "side": "source",
    "lock": _LOCK,
    "duration": "by size",
    "transaction": True,
    "cancellable": True,
    "destructive": False,
    "rows": None,
    "bytes": None,
    "disk_bytes": None,
}


class OperationPreview(BaseModel):
    """What an operation would do now; `plan_hash` is what is approved."""

    model_config = example(
        kind="statistics_update",
        data_source="shop",
        dialect="postgresql",
        config=CONFIG,
        plan_hash=_HASH,
        script='-- 1. analyze: analyze public.orders\nANALYZE "public"."orders";\n',
        script_only=False,
        statements=[_STATEMENT],
        impact={"rows": None, "bytes": None, "disk_bytes": None, "strongest_lock": _LOCK, "blockers": []},
        preconditions=[{"name": "ownership", "ok": True, "detail": "owned", "side": "source"}],
        notes=[],
    )

    kind: str
    data_source: str
    dialect: Dialect
    config: dict[str, Any] = Field(description="With every default filled in")
    plan_hash: str
    script: str
    script_only: bool = Field(description="To be read and run by hand: Hourhand does not execute it")
    statements: list[OperationStatement]
    impact: OperationImpact
    preconditions: list[OperationPrecondition]
    notes: list[str]


class OperationUndo(BaseModel):
    """The operation that takes another one back; start it as any other."""

    model_config = example(
        kind="statistics_update",
        config=CONFIG,
        preview=OperationPreview.model_config["json_schema_extra"]["examples"][0],  # type: ignore[index]
    )

    kind: str
    config: dict[str, Any]
    preview: OperationPreview


_OF_STEP = (
    *("phase", "side", "lock", "duration", "transaction", "cancellable", "destructive"),
    *("rows", "bytes", "disk_bytes"),
)


def shown(preview: Preview) -> OperationPreview:
    """Return a preview as it is answered."""
    plan, impact = preview.plan, preview.impact
    return OperationPreview(
        kind=plan.kind,
        data_source=str(plan.config["data_source"]),
        dialect=plan.dialect,
        config=dict(plan.config),
        plan_hash=preview.plan_hash,
        script=preview.script,
        script_only=plan.script_only,
        statements=[
            OperationStatement(step=step.name, sql=sql, **{name: getattr(step, name) for name in _OF_STEP})
            for step in plan.steps
            for sql in step.sql or (None,)
        ],
        impact=OperationImpact(
            rows=impact.rows,
            bytes=impact.bytes,
            disk_bytes=impact.disk_bytes,
            strongest_lock=impact.strongest_lock,
            blockers=[OperationBlocker(session=one.session, who=one.who, doing=one.doing) for one in impact.blockers],
        ),
        preconditions=[
            OperationPrecondition(name=one.name, ok=one.ok, detail=one.detail, side=one.side)
            for one in plan.preconditions
        ],
        notes=list(plan.notes),
    )
