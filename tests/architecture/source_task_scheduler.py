"""The task-scheduler schema: the collections tasks, task_instances and execution_logs."""

from __future__ import annotations

from architecture.source_schemas import Section, Source

TASK_SCHEDULER = Source(
    "The task-scheduler schema",
    "Three collections. Every field keeps its name.",
    (
        Section(
            "tasks: fields",
            13,
            {
                "_id": "tasks.id",
                "name": "tasks.name",
                "description": "tasks.description",
                "dependency_ids": ("task_dependencies.depends_on_id", "one row per dependency; a list in the API"),
                "type": "tasks.type",
                "schedule": "tasks.schedule",
                "enabled": "tasks.enabled",
                "payload": "tasks.payload",
                "timeout_seconds": "tasks.timeout_seconds",
                "max_retries": "tasks.max_retries",
                "created_at": "tasks.created_at",
                "updated_at": ("tasks.updated_at", "not touched by deletion"),
                "deleted_at": "tasks.deleted_at",
            },
        ),
        Section(
            "tasks: values",
            5,
            {
                "type: command": ("tasks.type", "the word command"),
                "type: http": ("tasks.type", "the word http"),
                "payload: url": ("tasks.payload", "payload.url of http tasks"),
                "payload: command": ("tasks.payload", "payload.command of command tasks"),
                "deleted_at: null": ("uq_tasks_name", "not deleted; the name is unique among these only"),
            },
        ),
        Section(
            "tasks: indexes",
            4,
            {
                "name (unique where deleted_at is null)": "uq_tasks_name",
                "dependency_ids (multikey)": "ix_task_dependencies_depends_on_id",
                "enabled:1 (where enabled and deleted_at is null)": "ix_tasks_enabled",
                "deleted_at:1": "ix_tasks_deleted_at",
            },
        ),
        Section(
            "task_instances: fields",
            10,
            {
                "_id": "task_instances.id",
                "task_id": "task_instances.task_id",
                "scheduled_time": "task_instances.scheduled_time",
                "status": "task_instances.status",
                "executor_id": "task_instances.executor_id",
                "start_time": "task_instances.start_time",
                "end_time": ("execution_logs.end_time", "the living have none: an instance moves when it ends"),
                "retry_count": "task_instances.retry_count",
                "result": ("task_instances.result", "execution_logs.result", "with output and error"),
                "created_at": "task_instances.created_at",
            },
        ),
        Section(
            "task_instances: states",
            5,
            {
                "pending": "pending",
                "running": "running",
                "success": "success",
                "failed": "failed",
                "cancelled": "cancelled",
            },
        ),
        Section(
            "task_instances: indexes",
            4,
            {
                "task_id:1, scheduled_time:-1": "ix_task_instances_task",
                "status:1": (
                    "ix_task_instances_claim",
                    "ix_task_instances_claim_lost",
                    "ix_task_instances_planned",
                    "ix_task_instances_running",
                    "ix_execution_logs_status",
                    "one partial index per state of the living; the ended are in the execution logs",
                ),
                "scheduled_time:1": (
                    "ix_tasks_due",
                    "ix_task_instances_task",
                    "ix_execution_logs_scheduled_time",
                    "what is due is found by task; the table holds only the living",
                ),
                "end_time:1": ("pk_execution_logs", "history is read from the execution logs, whose key it leads"),
            },
        ),
        Section(
            "execution_logs: fields",
            12,
            {
                "_id": "execution_logs.id",
                "task_id": "execution_logs.task_id",
                "task_name": "execution_logs.task_name",
                "instance_id": "execution_logs.instance_id",
                "scheduled_time": "execution_logs.scheduled_time",
                "start_time": "execution_logs.start_time",
                "end_time": "execution_logs.end_time",
                "status": "execution_logs.status",
                "duration_ms": "execution_logs.duration_ms",
                "output_summary": ("execution_logs.output_summary", "the last 4 KiB, with a marker when cut"),
                "error_message": "execution_logs.error_message",
                "triggered_by": "execution_logs.triggered_by",
            },
        ),
        Section(
            "execution_logs: values",
            2,
            {
                "triggered_by: scheduler": ("execution_logs.triggered_by", "the word scheduler"),
                "triggered_by: manual": ("execution_logs.triggered_by", "the word manual"),
            },
        ),
        Section(
            "execution_logs: indexes",
            4,
            {
                "task_id:1, end_time:-1": "ix_execution_logs_task",
                "scheduled_time:1": ("ix_execution_logs_scheduled_time", "a BRIN on PostgreSQL: cheap to write"),
                "status:1, end_time:-1": (
                    "ix_execution_logs_status",
                    "pk_execution_logs",
                    "successes, the bulk, are read by time",
                ),
                "triggered_by:1, end_time:-1": (
                    "ix_execution_logs_triggered_by",
                    "pk_execution_logs",
                    "submissions by programs, the bulk, are read by time",
                ),
            },
        ),
    ),
)
