"""Rules: the tasks that operations are instances of: those that are built in, and what instances of all carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hourhand.model.errors import Conflict, InvalidInput
from hourhand.model.instance import Submission
from hourhand.model.operation import Start
from hourhand.model.task import TaskDefinition
from hourhand.model.words import RetryBackoff, TaskType

BUILT_IN = "built-in:hourhand"
"""Who manages the tasks that Hourhand makes for itself: nobody edits or deletes them."""
PREFIX = "operation:"
SUBMITTED = "submitted"
"""The phase of the lines that are written before the first attempt."""
_SOURCE = "datasource:"


def task_name(kind: str) -> str:
    """What the built-in task of a kind is called."""
    return f"{PREFIX}{kind}"


def kind_of(name: str) -> str | None:
    """The kind whose built-in task is called so, if it is one's name."""
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) and len(name) > len(PREFIX) else None


def built_in_task(kind: str) -> TaskDefinition:
    """The `@manual` task whose instances are the operations that people start."""
    return TaskDefinition(
        name=task_name(kind),
        type=TaskType.OPERATION,
        description=f"Operations of the kind {kind} that were started by hand; built in.",
        payload={"kind": kind},
        concurrency_key=f"{_SOURCE}${{data_source_id}}",
        max_retries=10,
        retry_delay_seconds=5,
        retry_backoff=RetryBackoff.EXPONENTIAL,
        managed_by=BUILT_IN,
    )


def source_key(data_source_id: int) -> str:
    """The concurrency key by which operations on one data source take turns."""
    return f"{_SOURCE}{data_source_id}"


def source_name(task: TaskDefinition) -> str | None:
    """The data source that a task's own configuration names."""
    config = task.payload.get("config")
    name = config.get("data_source") if isinstance(config, Mapping) else None
    return name if isinstance(name, str) and "\x00" not in name else None


def refuse_change(task: TaskDefinition) -> None:
    """Refuse to change or delete what Hourhand made for itself."""
    if task.managed_by == BUILT_IN:
        raise Conflict(
            f"task {task.name!r} is built in, for operations that are started by hand, and stays as it is: "
            "add a task of the type operation with a configuration of its own, and schedule that"
        )


def check_submission(task: TaskDefinition, submission: Submission) -> None:
    """Refuse arguments that would turn an operation into another one that nobody has approved."""
    if submission.operation_kind is not None:
        return
    if task.managed_by == BUILT_IN:
        kind = kind_of(task.name) or task.name
        raise InvalidInput.one(
            "task_id",
            submission.task_id,
            f"task {task.name!r} has no configuration of its own: preview and start the operation "
            f"(`hourhand operation start {kind}`, POST /api/v1/operations/{kind})",
        )
    refuse_args(submission.args, operation=task.type is TaskType.OPERATION)


def refuse_args(args: Mapping[str, Any] | None, *, operation: bool) -> None:
    """The configuration of an operation is its task's, or the one that was approved."""
    if operation and args:
        raise InvalidInput.one(
            "args", None, "an operation takes no arguments: change its task's configuration, or start another one"
        )


def submission_of(task_id: int, start: Start) -> Submission:
    """The instance that an operation becomes; its arguments are its configuration, frozen."""
    return Submission(
        task_id=task_id,
        args={
            "config": start.config,
            "plan_hash": start.plan_hash,
            "plan": start.plan,
            "data_source_id": start.data_source_id,
        },
        priority=start.priority,
        run_at=start.run_at,
        key=start.key,
        triggered_by=start.triggered_by,
        requested_by=start.requested_by,
        held=start.held,
        data_source_id=start.data_source_id,
        operation_kind=start.kind,
        notes=start.notes,
    )


def first_lines(start: Start, most: int) -> Iterator[str]:
    """What the instance log begins with: who asked for what, and the script, in pieces of at most so many bytes."""
    held = ", held until it is dispatched" if start.held else ""
    yield f"{start.kind} on {start.place}, asked for by {start.requested_by}: plan {start.plan_hash}{held}"
    piece: list[str] = []
    size = 0
    for line in start.script.splitlines(keepends=True):
        length = len(line.encode())
        if piece and size + length > most:
            yield "".join(piece)
            piece, size = [], 0
        piece.append(line)
        size += length
    if piece:
        yield "".join(piece)
