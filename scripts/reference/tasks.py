"""docs/reference/tasks.md: the fields of a task."""

from __future__ import annotations

from hourhand.model.task import TaskDefinition
from reference.docstrings import docstrings_of
from reference.markdown import example, page
from reference.routes import document
from reference.schemas import fields

INTRODUCTION = """
A task is what to run and when. These are the fields that people write: as JSON over [REST](routes.md#post-tasks), as
options of [`hourhand task add`](commands.md#hourhand-task-add), as arguments of `@app.task`
([Python tasks](python-tasks.md)). Every edit makes a new version; an instance keeps the version it was made with.
"""
MORE = """
| about | see |
| --- | --- |
| `payload` | [payloads](payloads.md); [command](command-tasks.md), [http](http-tasks.md), [Python](python-tasks.md) |
| `schedule`, `timezone` | [schedules](schedules.md) |
| misfires and overlap | [time](../explanation/time.md#misfire) |
| retries, `executor_loss_policy` | [the life of an instance](../explanation/lifecycle.md#what-an-outcome-leads-to) |
| dependencies | [dependencies](../explanation/dependencies.md) |
| `concurrency_key` | [permits](../explanation/store.md#permits) |
"""


def tasks() -> str:
    """Write the page."""
    body = document()["paths"]["/api/v1/tasks"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return page(
        "Tasks",
        INTRODUCTION,
        example(body["examples"][0]),
        fields(body, described=docstrings_of(TaskDefinition)),
        "## More",
        MORE,
    )
