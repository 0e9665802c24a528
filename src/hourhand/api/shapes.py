"""The API's answers: the JSON of every noun is made from its dataclass, so that neither can forget a field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from hourhand.model.graph import Graph, GraphEdge, GraphNode
from hourhand.model.instance import AttemptRecord, Instance, LogLine
from hourhand.model.registry import Executor, Group
from hourhand.model.task import Task, TaskDefinition, TaskVersion
from hourhand.model.words import AddressType, OutcomeKind, Status, TaskType, TriggeredBy
from hourhand.rules.lines import line_seq

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Plain = dict[str, Any]
"""A noun on its way to its shape, which checks it, writes it, and describes it in the OpenAPI document."""


@lru_cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def plain(noun: DataclassInstance, /, **added: object) -> Plain:
    """Return a noun's fields, and those that its shape adds."""
    return {name: getattr(noun, name) for name in _names(type(noun))} | added


def shape(
    name: str, kind: type[DataclassInstance], example: Plain, *, without: Collection[str] = (), **added: object
) -> type[BaseModel]:
    """Make the JSON form of a dataclass: its fields but for some, and some more."""
    hints = get_type_hints(kind)
    told = {field: hints[field] for field in _names(kind) if field not in without} | added
    shown = TypeAdapter(Plain).dump_python({field: example[field] for field in told}, mode="json")
    made: Mapping[str, Any] = {field: (hint, ...) for field, hint in told.items()}
    config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [shown]})
    return create_model(name, __doc__=kind.__doc__, __config__=config, **made)


def page_of(item: type[BaseModel]) -> type[BaseModel]:
    """Make the JSON form of a list."""
    told: Mapping[str, Any] = {"items": (list[item], ...), "next_cursor": (str | None, None)}  # type: ignore[valid-type]
    return create_model(f"{item.__name__}Page", __doc__="Some items, and where the next page begins.", **told)


_AT = datetime(2026, 11, 15, 1, 0, tzinfo=UTC)
_DEFINITION = TaskDefinition(
    name="close_books",
    type=TaskType.COMMAND,
    schedule="0 9 * * MON-FRI",
    timezone="Asia/Shanghai",
    payload={"command": ["/opt/books/close", "--day", "${day}"]},
    max_retries=3,
    timeout_seconds=600,
    tags=("billing",),
)
_TASK = Task(
    **plain(_DEFINITION),
    id=7,
    group_id=1,
    version=1,
    created_at=_AT,
    updated_at=_AT,
    created_by="admin",
    updated_by="admin",
    anchored_at=_AT,
    next_fire_at=datetime(2026, 11, 16, 1, 0, tzinfo=UTC),
)
_VERSION = TaskVersion(task_id=7, version=1, definition=_DEFINITION, changed_by="admin", changed_at=_AT)
_INSTANCE = Instance(
    id=42,
    task_id=7,
    task_name="close_books",
    task_version=1,
    group_id=1,
    scheduled_time=_AT,
    status=Status.SUCCESS,
    created_at=_AT,
    executor_id="host-1-4711",
    start_time=_AT,
    end_time=_AT,
    result={"output": "40 posted\n", "error": "", "exit_code": 0},
    args={"day": "2026-11-15"},
    triggered_by=TriggeredBy.MANUAL,
    requested_by="admin",
    fence=1,
    log_id=40,
    duration_ms=12,
    output_summary="40 posted\n",
)
_ATTEMPT = AttemptRecord(
    instance_id=42,
    fence=1,
    executor_id="host-1-4711",
    start_time=_AT,
    end_time=_AT,
    outcome=OutcomeKind.FAILED,
    error_message="exit code 3",
)
_LINE = LogLine(seq=line_seq(1, 0), logged_at=_AT, message="40 posted\n", stream="stdout")
_GROUP = Group(
    id=1,
    name="default",
    title=None,
    address_type=AddressType.AUTO,
    address_list=(),
    created_at=_AT,
    updated_at=_AT,
)
_EXECUTOR = Executor(
    id="host-1-4711", group="default", hostname="host-1", pid=4711, version="1.0", started_at=_AT, last_heartbeat=_AT
)
_NODE = GraphNode(
    id=7,
    name="close_books",
    group="default",
    type=TaskType.COMMAND,
    schedule="0 9 * * MON-FRI",
    enabled=True,
    running=False,
    last_outcome=Status.SUCCESS,
    last_time=_AT,
    instance_id=42,
    waiting=0,
    paused=False,
)

_INNER = ("wake_at", "anchored_at", "declared_hash")
"""How the store keeps its place in a schedule, and what apps compare: of no use to anybody else."""
TASK = shape("Task", Task, plain(_TASK), without=_INNER)
DEFINITION = shape("TaskDefinition", TaskDefinition, plain(_DEFINITION), without=_INNER)
VERSION = shape(
    "TaskVersion",
    TaskVersion,
    plain(_VERSION) | {"definition": DEFINITION.model_validate(_DEFINITION)},
    definition=DEFINITION,
)
INSTANCE = shape("Instance", Instance, plain(_INSTANCE, group="default"), group=str)
SUBMITTED = shape(
    "SubmittedInstance", Instance, plain(_INSTANCE, group="default", existing=False), group=str, existing=bool
)
EXECUTION_LOG = shape(
    "ExecutionLog",
    Instance,
    plain(_INSTANCE, group="default", instance_id=42) | {"id": 40},
    without=("log_id",),
    instance_id=int,
    group=str,
)
ATTEMPT = shape("Attempt", AttemptRecord, plain(_ATTEMPT), end_time=datetime | None, outcome=OutcomeKind | None)
LINE = shape("LogLine", LogLine, plain(_LINE))
GROUP = shape("Group", Group, plain(_GROUP))
EXECUTOR = shape("Executor", Executor, plain(_EXECUTOR))
GRAPH_NODE = shape("GraphNode", GraphNode, plain(_NODE))
GRAPH_EDGE = shape("GraphEdge", GraphEdge, {"task_id": 8, "depends_on_id": 7})
GRAPH = shape(
    "Graph",
    Graph,
    {"nodes": [plain(_NODE)], "edges": [{"task_id": 8, "depends_on_id": 7}], "truncated": False},
    nodes=list[GRAPH_NODE],  # type: ignore[valid-type]  # made from the dataclass
    edges=list[GRAPH_EDGE],  # type: ignore[valid-type]
)

TASKS, VERSIONS, INSTANCES, EXECUTION_LOGS = map(page_of, (TASK, VERSION, INSTANCE, EXECUTION_LOG))
ATTEMPTS, GROUPS, EXECUTORS = map(page_of, (ATTEMPT, GROUP, EXECUTOR))
