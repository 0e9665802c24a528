"""BackgroundTask's schema: its class, tables, states, operation types, verbs, figures and logs."""

from __future__ import annotations

from architecture.source_schemas import Carriers, Section, Source


def kind(word: str) -> Carriers:
    """Return what carries an operation type."""
    return ("task_instances.operation_kind", f"the kind {word}")


BACKGROUND_TASK = Source(
    "BackgroundTask's schema",
    "Durable background tasks. A BackgroundTask is an instance; what it operates with is frozen in its arguments.",
    (
        Section(
            "BackgroundTask: class and table",
            28,
            {
                "Id": "task_instances.id",
                "PartitionConfigurationId": "task_instances.operation_config_id",
                "DataSourceId": "task_instances.data_source_id",
                "RequestedBy": "task_instances.requested_by",
                "CreatedBy": ("tasks.created_by", "operation_configs.created_by"),
                "OperationType": "task_instances.operation_kind",
                "Status": "task_instances.status",
                "Priority": ("task_instances.priority", "0 is the highest here too"),
                "QueuedAtUtc": "task_instances.queued_at",
                "StartedAtUtc": "task_instances.start_time",
                "CompletedAtUtc": "execution_logs.end_time",
                "LastHeartbeatUtc": "task_instances.last_heartbeat",
                "Progress": ("task_instances.progress", "0 to 1"),
                "LastCheckpoint": ("task_instances.checkpoint", "JSON, where the next attempt resumes"),
                "Phase": "task_instances.phase",
                "ConfigurationSnapshot": ("task_instances.args", "frozen when the instance is made"),
                "SummaryJson": "execution_logs.summary",
                "FailureReason": "execution_logs.error_message",
                "ArchiveScheme": ("task_instances.args", "a field of the kind's configuration"),
                "ArchiveTargetConnection": (
                    "task_instances.args",
                    "data_sources.secret",
                    "named by data source; the credential is encrypted and nowhere else",
                ),
                "ArchiveTargetDatabase": ("task_instances.args", "a field of the kind's configuration"),
                "ArchiveTargetTable": ("task_instances.args", "a field of the kind's configuration"),
                "BackupReference": (
                    "task_instances.backup_reference",
                    "execution_logs.summary",
                    "given beforehand; of the kind database_backup, which makes one",
                ),
                "Notes": "task_instances.notes",
                "CreatedAtUtc": "task_instances.created_at",
                "UpdatedAtUtc": (
                    "tasks.updated_at",
                    "operation_configs.updated_at",
                    "an instance's changes are audited",
                ),
                "UpdatedBy": ("tasks.updated_by", "operation_configs.updated_by", "audit_logs.user_id"),
                "IsDeleted": (
                    "tasks.deleted_at",
                    "operation_configs.deleted_at",
                    "instances are not deleted: they end, and retention removes them",
                ),
            },
        ),
        Section(
            "BackgroundTask: keys and indexes",
            3,
            {
                "PK_BackgroundTask": "pk_task_instances",
                "IX_BackgroundTask_DataSourceId_Status": "ix_task_instances_data_source",
                "IX_BackgroundTask_PartitionConfigurationId_IsDeleted": (
                    "pk_operation_configs",
                    "uq_operation_configs_name",
                    "a configuration is a row of its own, found by its id, or by its name while it is not deleted",
                ),
            },
        ),
        Section(
            "BackgroundTask: methods",
            8,
            {
                "Create": ("submit()", "held, so that it is born planned"),
                "MarkAsQueued": ("dispatch()", "planned→pending"),
                "Start": ("claim()", "pending→running"),
                "UpdateProgress": "report_progress()",
                "UpdateHeartbeat": "beat()",
                "Complete": ("finish()", "running→success"),
                "Fail": ("finish()", "running→failed"),
                "SaveConfigurationSnapshot": ("submit()", "task_instances.args"),
            },
        ),
        Section(
            "BackgroundTaskLog",
            10,
            {
                "Id": ("instance_logs.seq", "the fence and a counter: ordered, and unique per instance"),
                "ExecutionTaskId": "instance_logs.instance_id",
                "LogTimeUtc": "instance_logs.logged_at",
                "Level": "instance_logs.level",
                "Phase": "instance_logs.phase",
                "Message": "instance_logs.message",
                "Exception": "instance_logs.exception",
                "PK_BackgroundTaskLog": "pk_instance_logs",
                "FK_BackgroundTaskLog_BackgroundTask": (
                    "write_lines()",
                    "lines are inserted joined to the living instance and its fence",
                ),
                "IX_BackgroundTaskLog_ExecutionTaskId_LogTimeUtc": (
                    "pk_instance_logs",
                    "by instance and sequence, which is the order of writing",
                ),
            },
        ),
        Section(
            "BackgroundTaskStatus",
            6,
            {
                "Planned": "planned",
                "Queued": "pending",
                "InProgress": "running",
                "Completed": "success",
                "Failed": "failed",
                "Cancelled": "cancelled",
            },
        ),
        Section(
            "Transitions",
            6,
            {
                "Planned → Queued (DispatchAsync)": ("planned→pending", "dispatch()"),
                "Queued → InProgress (taken from the queue)": ("pending→running", "claim()"),
                "InProgress → Completed (succeeded)": ("running→success", "finish()"),
                "InProgress → Failed (failed)": ("running→failed", "finish()"),
                "InProgress → Cancelled (cancelled by a user)": ("running→cancelled", "cancel()"),
                "Failed → Queued (retried by a user)": ("failed→pending", "retry()"),
            },
        ),
        Section(
            "BackgroundTaskOperationType",
            13,
            {
                "AddBoundary = 10": kind("add_boundary"),
                "SplitBoundary = 11": kind("split_boundary"),
                "MergeBoundary = 12": kind("merge_boundary"),
                "ArchiveSwitch = 30": kind("archive_switch"),
                "ArchiveBcp = 31": kind("archive_bcp"),
                "ArchiveBulkCopy = 32": kind("archive_bulk_copy"),
                "DataCleanup = 50": kind("data_cleanup"),
                "LogCleanup = 51": kind("log_cleanup"),
                "TempTableCleanup = 52": kind("temp_table_cleanup"),
                "IndexRebuild = 70": kind("index_rebuild"),
                "StatisticsUpdate = 71": kind("statistics_update"),
                "DatabaseBackup = 72": kind("database_backup"),
                "Custom = 90": kind("custom"),
            },
        ),
        Section(
            "IBackgroundTaskRepository",
            4,
            {
                "GetByIdAsync": "get_instance()",
                "AddAsync": "submit()",
                "UpdateAsync": (
                    "dispatch()",
                    "report_progress()",
                    "finish()",
                    "cancel()",
                    "one verb per change, each by compare and set",
                ),
                "GetZombieTasksAsync": "reap()",
            },
        ),
        Section(
            "IBackgroundTaskDispatcher",
            2,
            {"DispatchAsync": "dispatch()", "DispatchBatchAsync": ("dispatch()", "takes any number of ids")},
        ),
        Section(
            "BackgroundTaskHostedService and BackgroundTaskProcessor",
            8,
            {
                "ScanZombieTasksAsync": ("reap()", "by every scheduler, all the time"),
                "StartHeartbeatTimer": "beat()",
                "ConsumeQueueAsync": "claim()",
                "taskQueue (a channel in memory)": ("ix_task_instances_claim", "the table is the queue"),
                "semaphore": ("executors.capacity", "concurrency_permits.slot", "per executor, and per key"),
                "ExecuteTaskAsync": ("claim()", "finish()"),
                "ProcessAsync": "the runner of the task's type; for operations the module of its kind",
                "NotSupportedException": "a kind or handler nobody knows is handed back, uncounted",
            },
        ),
        Section(
            "BackgroundTaskDetailModel",
            10,
            {
                "Id": "task_instances.id",
                "OperationType": "task_instances.operation_kind",
                "Status": "task_instances.status",
                "Progress": "task_instances.progress",
                "LastCheckpoint": "task_instances.checkpoint",
                "QueuedAtUtc": "task_instances.queued_at",
                "StartedAtUtc": "task_instances.start_time",
                "CompletedAtUtc": "execution_logs.end_time",
                "FailureReason": "execution_logs.error_message",
                "Notes": "task_instances.notes",
            },
        ),
        Section(
            "Key figures",
            5,
            {
                "Queue length": ("pending", "ix_task_instances_claim"),
                "Tasks in progress": ("running", "ix_task_instances_running"),
                "Failure rate": ("stats_minutely.status", "stats_minutely.count"),
                "Average duration": ("stats_minutely.duration_ms", "stats_minutely.buckets", "percentiles too"),
                "Zombie tasks": ("task_instances.lease_until", "ix_task_instances_running", "leases that have run out"),
            },
        ),
        Section(
            "Monitoring queries",
            3,
            {
                "Status by operation type": ("stats_minutely.kind", "stats_minutely.status", "task_instances.status"),
                "Long-running tasks": ("task_instances.start_time", "ix_task_instances_running"),
                "Failures by reason over seven days": (
                    "stats_minutely.fingerprint",
                    "ix_execution_logs_status",
                    "execution_logs.error_message",
                ),
            },
        ),
        Section(
            "PartitionOperationLog",
            5,
            {
                "OperationType": "execution_logs.operation_kind",
                "DataSourceId": "execution_logs.data_source_id",
                "TargetTable": ("execution_logs.args", "audit_logs.summary", "audit_logs.payload"),
                "OperatedBy": "execution_logs.requested_by",
                "Details": ("execution_logs.args", "execution_logs.summary"),
            },
        ),
        Section(
            "PartitionAuditLog",
            9,
            {
                "Action": "audit_logs.action",
                "ResourceType": "audit_logs.resource_type",
                "ResourceId": "audit_logs.resource_id",
                "UserId": "audit_logs.user_id",
                "OccurredAtUtc": "audit_logs.occurred_at",
                "Summary": "audit_logs.summary",
                "PayloadJson": "audit_logs.payload",
                "Script": "audit_logs.script",
                "Result": "audit_logs.result",
            },
        ),
    ),
)
