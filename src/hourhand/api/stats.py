"""`/api/v1/stats`: figures over what ended, what waits and what runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, create_model

from hourhand.api.guarding import guarded_router
from hourhand.api.inputs import Instant, QueryId, example
from hourhand.api.requests import TheGroups, ThePage, TheReach, TheStore
from hourhand.api.shapes import Plain, page_of, plain, shape
from hourhand.model.errors import FieldError, InvalidInput, shown
from hourhand.model.stats import Failure, LongRunning, Point, Share, Standing, TouchedTask
from hourhand.model.trends import Bar, TaskEnding, TaskStats
from hourhand.model.words import Status, TaskType
from hourhand.rules.definition import LARGEST_ID
from hourhand.rules.figures import usual_step

router = guarded_router(prefix="/stats", tags=["stats"])
MOST_HOURS = 366 * 24
MOST_TASKS = 200
UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_STEP = re.compile(r"([0-9]{1,9})([smhd]?)", re.ASCII)

_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_FIGURES: Plain = {
    "success": 98,
    "failed": 2,
    "cancelled": 0,
    "skipped": 1,
    "losses": 0,
    "failure_rate": 0.02,
    "average_ms": 412.5,
    "p50_ms": 240.0,
    "p95_ms": 1_412.0,
    "p99_ms": 2_890.0,
}
_STANDING = Standing(
    **_FIGURES, pending_due=3, pending_later=12, planned=1, running=4, executors=2, capacity=64, group_id=1
)
_POINT = Point(at=_AT, **_FIGURES)
_SHARE = Share(type="operation", operation_kind="archive", running=1, **_FIGURES)
_LONG = LongRunning(
    instance_id=42,
    task_id=7,
    task_name="close_books",
    type=TaskType.COMMAND,
    operation_kind=None,
    group_id=1,
    executor_id="host-1-4711",
    start_time=_AT,
    running_seconds=2_400.0,
    progress=0.4,
    phase="posting",
    retry_count=0,
    loss_count=0,
    cancel_requested=False,
    zombie=False,
    median_ms=61_000.0,
)
_TOUCHED = TouchedTask(id=7, name="close_books")
_FAILURE = Failure(
    type="command",
    operation_kind=None,
    reason="exit code 3",
    count=2,
    first_seen=_AT,
    last_seen=_AT,
    instance_id=41,
    tasks=(_TOUCHED,),
)
_ENDING = TaskEnding(
    instance_id=42,
    status=Status.SUCCESS,
    scheduled_time=_AT,
    start_time=_AT,
    end_time=_AT + timedelta(seconds=61),
    duration_ms=61_000,
    skip_reason=None,
)
_TASK_STATS = TaskStats(
    task_id=7,
    endings=(_ENDING,),
    running=1,
    pending=3,
    planned=0,
    more=False,
    median_ms=61_000.0,
    p95_ms=74_500.0,
)
_BAR = Bar(
    instance_id=42,
    task_id=7,
    task_name="close_books",
    group_id=1,
    status=Status.RUNNING,
    start_time=_AT,
    end_time=None,
    executor_id="host-1-4711",
    attempt=1,
)


def _of_period(name: str, doc: str, item: type[BaseModel], **added: int) -> type[BaseModel]:
    """Make the JSON form of what ended in a period, with the example of its items."""
    told: dict[str, Any] = {"from": (datetime, ...), "to": (datetime, ...)}
    told |= {key: (type(one), ...) for key, one in added.items()}
    told["items"] = (list[item], ...)  # type: ignore[valid-type]
    (shown_item,) = item.model_json_schema()["examples"]
    period = {"from": "2026-11-15T00:00:00Z", "to": "2026-11-15T01:00:00Z"}
    return create_model(name, __doc__=doc, __config__=example(**period, **added, items=[shown_item]), **told)


GROUP_STANDING = shape("GroupStanding", Standing, plain(_STANDING, group="default"), group=str)
OVERVIEW = shape(
    "Overview",
    Standing,
    plain(_STANDING, groups=[plain(_STANDING, group="default")]) | {"from": _AT, "to": _AT},
    without=("group_id",),
    groups=list[GROUP_STANDING],  # type: ignore[valid-type]  # made from the dataclass
    **{"from": datetime, "to": datetime},
)
SERIES = _of_period("Series", "Figures step by step.", shape("Point", Point, plain(_POINT)), step_seconds=60)
DISTRIBUTION = _of_period("Distribution", "Figures by type and operation kind.", shape("Share", Share, plain(_SHARE)))
TOUCHED_TASK = shape("TouchedTask", TouchedTask, plain(_TOUCHED))
FAILURE = shape(
    "Failure",
    Failure,
    plain(_FAILURE) | {"tasks": [plain(_TOUCHED)]},
    tasks=list[TOUCHED_TASK],  # type: ignore[valid-type]
)
FAILURES = _of_period("Failures", "Failures by reason, the most frequent first.", FAILURE)
TASK_ENDING = shape("TaskEnding", TaskEnding, plain(_ENDING))
TASK_STATS = page_of(
    shape(
        "TaskStats",
        TaskStats,
        plain(_TASK_STATS) | {"endings": [plain(_ENDING)]},
        endings=list[TASK_ENDING],  # type: ignore[valid-type]
    )
)
TIMELINE = _of_period(
    "Timeline",
    "What ran in a period.",
    shape("Bar", Bar, plain(_BAR, group="default"), without=("group_id",), group=str),
    truncated=False,
)
LONG_RUNNING = page_of(shape("LongRunning", LongRunning, plain(_LONG, group="default"), group=str))


async def _within(
    groups: TheGroups,
    reach: TheReach,
    group: Annotated[str | None, Query(max_length=200, description="A group's name; by default all")] = None,
) -> tuple[int, ...] | None:
    """Return the groups meant: the one asked for, or all within the caller's reach."""
    if group is None:
        return await reach.group_ids()
    reach.group(group)
    return (await groups.id_of(group),)


async def _period(
    store: TheStore,
    begin: Annotated[
        Instant | None, Query(alias="from", description="Its beginning, rounded down; by default a day before `to`")
    ] = None,
    end: Annotated[Instant | None, Query(alias="to", description="Its end, rounded up; by default now")] = None,
) -> tuple[datetime, datetime]:
    """Return a period."""
    end = end or await store.now()
    begin = begin or end - timedelta(days=1)
    if begin >= end:
        raise InvalidInput.one("from", begin, f"{begin.isoformat()} is not before `to` ({end.isoformat()})")
    return begin, end


def step_of(step: str) -> int:
    """Read a step: its seconds."""
    found = _STEP.fullmatch(step)
    if found is None:
        raise InvalidInput.one("step", step, f"{shown(step)} is no step: write seconds, or one such as 1m, 5m, 1h, 1d")
    return int(found[1]) * UNITS[found[2]]


def _ids(text: str) -> list[int]:
    """Read ids, separated by commas."""
    words = [word.strip() for word in text.split(",")]
    wrong = [one for one in words if not (one.isascii() and one.isdecimal() and 0 < int(one[:20]) <= LARGEST_ID)]
    if wrong:
        right = "give the ids of tasks, separated by commas, such as 1,2,3"
        raise InvalidInput([FieldError("ids", one, f"{shown(one)} is no id: {right}") for one in wrong[:10]])
    ids = list(dict.fromkeys(map(int, words)))
    if len(ids) > MOST_TASKS:
        raise InvalidInput.one("ids", len(ids), f"these are {len(ids)} tasks: give at most {MOST_TASKS}")
    return ids


Within = Annotated[tuple[int, ...] | None, Depends(_within)]
Period = Annotated[tuple[datetime, datetime], Depends(_period)]
OfType = Annotated[TaskType | None, Query(alias="type", description="A type of tasks; by default all")]


@router.get("/overview", response_model=OVERVIEW, summary="The key figures: what waits, runs, failed, how long it took")
async def overview(
    store: TheStore,
    groups: TheGroups,
    within: Within,
    hours: Annotated[int, Query(ge=1, le=MOST_HOURS, description="How far back endings are counted")] = 24,
) -> Plain:
    """Count what lives now, and what ended in the last hours, in all and by group."""
    found = await store.overview(hours=hours, groups=within)
    names = await groups.of(one.group_id for one in found.groups if one.group_id is not None)
    by_group = [plain(one, group=names.get(one.group_id or 0, "")) for one in found.groups]
    return plain(found.total, groups=by_group) | {"from": found.begin, "to": found.end}


@router.get("/series", response_model=SERIES, summary="What ended, step by step")
async def series(
    store: TheStore,
    within: Within,
    period: Period,
    *,
    of_type: OfType = None,
    step: Annotated[
        str | None,
        Query(max_length=20, description="Seconds, or one such as 1m, 5m, 1h, 1d; whole minutes, at most 1,000 steps"),
    ] = None,
    timezone: Annotated[
        str | None,
        Query(
            max_length=100, description="By whose clock steps begin: parts of a day or whole days; by default none's"
        ),
    ] = None,
) -> Plain:
    """Give one item a step, also for steps in which nothing ended."""
    step_seconds = usual_step(*period, timezone) if step is None else step_of(step)
    found = await store.series(*period, step_seconds=step_seconds, groups=within, task_type=of_type, timezone=timezone)
    items = [plain(point) for point in found.points]
    return {"from": found.begin, "to": found.end, "step_seconds": found.step_seconds, "items": items}


@router.get("/distribution", response_model=DISTRIBUTION, summary="What became of each type and operation kind")
async def distribution(store: TheStore, within: Within, period: Period) -> Plain:
    """Count what ended in the period, and what lives now."""
    found = await store.distribution(*period, groups=within)
    return {"from": found.begin, "to": found.end, "items": [plain(share) for share in found.shares]}


@router.get("/long-running", response_model=LONG_RUNNING, summary="What has been running for long, the longest first")
async def long_running(
    store: TheStore,
    groups: TheGroups,
    within: Within,
    page: ThePage,
    *,
    minutes: Annotated[int, Query(ge=0, le=MOST_HOURS * 60, description="Longer than this")] = 30,
    of_type: OfType = None,
) -> Plain:
    """List each with its progress, and with the median of what its task took lately."""
    found = await store.long_running(
        minutes=minutes, groups=within, task_type=of_type, limit=page.limit, cursor=page.cursor
    )
    names = await groups.of(one.group_id for one in found.items)
    items = [plain(one, group=names[one.group_id]) for one in found.items]
    return {"items": items, "next_cursor": found.next_cursor}


@router.get("/failures", response_model=FAILURES, summary="Why instances failed, the most frequent reason first")
async def failures(
    store: TheStore,
    within: Within,
    days: Annotated[int, Query(ge=1, le=366, description="How far back failures are counted")] = 7,
    limit: Annotated[int, Query(ge=1, le=200, description="How many reasons at most")] = 50,
    of_type: OfType = None,
) -> Plain:
    """Give one item a reason: the message without numbers and the like, by type and operation kind."""
    found = await store.failures(days=days, groups=within, task_type=of_type, limit=limit)
    items = [plain(one) | {"tasks": [plain(task) for task in one.tasks]} for one in found.reasons]
    return {"from": found.begin, "to": found.end, "items": items}


@router.get("/tasks", response_model=TASK_STATS, summary="How single tasks fared lately, and what of them lives")
async def task_stats(
    store: TheStore,
    reach: TheReach,
    ids: Annotated[str, Query(max_length=4_000, description="Up to 200 ids of tasks, separated by commas")],
    last: Annotated[int, Query(ge=1, le=100, description="How many endings of each at most")] = 30,
) -> Plain:
    """Give one item a task, in the order of `ids`; tasks that there are not, or out of reach, are left out."""
    found = await store.task_stats(_ids(ids), last=last, groups=await reach.group_ids())
    items = [plain(one) | {"endings": [plain(ending) for ending in one.endings]} for one in found]
    return {"items": items, "next_cursor": None}


@router.get("/timeline", response_model=TIMELINE, summary="What ran in a period, and what still runs")
async def timeline(
    store: TheStore,
    groups: TheGroups,
    reach: TheReach,
    within: Within,
    *,
    begin: Annotated[
        Instant | None,
        Query(alias="from", description="Its beginning; by default an hour before `to`, at most 7 days before it"),
    ] = None,
    end: Annotated[Instant | None, Query(alias="to", description="Its end; by default now")] = None,
    task_id: Annotated[QueryId | None, Query(description="Of this task only")] = None,
    q: Annotated[str | None, Query(max_length=200, description="A part of the task's name, in any case")] = None,
    limit: Annotated[int, Query(ge=1, le=2_000, description="How many items at most")] = 500,
) -> Plain:
    """List what still runs, the oldest first, then what ended, the newest first; `truncated` when there is more.

    What ended more than a day after the period is left out.
    """
    if task_id is not None:
        await reach.task(task_id)
    end = end or await store.now()
    begin = begin or end - timedelta(hours=1)
    found = await store.timeline(begin, end, groups=within, task_id=task_id, q=q, limit=limit)
    names = await groups.of({one.group_id for one in found.bars})
    items = [plain(one, group=names.get(one.group_id, "")) for one in found.bars]
    return {"from": found.begin, "to": found.end, "truncated": found.truncated, "items": items}
