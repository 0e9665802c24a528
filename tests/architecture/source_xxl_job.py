"""XXL-JOB's schema: groups, infos, logs, the registry and the lock, with its list of limitations."""

from __future__ import annotations

from architecture.source_schemas import Section, Source

XXL_JOB = Source(
    "XXL-JOB's schema",
    "Five tables around one lock. What it lists as limitations are requirements here.",
    (
        Section(
            "xxl_job_group",
            5,
            {
                "id": "groups.id",
                "app_name": "groups.name",
                "title": "groups.title",
                "address_type": ("groups.address_type", "0 is auto, 1 is manual"),
                "address_list": "groups.address_list",
            },
        ),
        Section(
            "xxl_job_info",
            7,
            {
                "id": "tasks.id",
                "job_group": "tasks.group_id",
                "schedule_type": ("tasks.schedule", "the form of the text: cron, @every, @manual"),
                "schedule_conf": "tasks.schedule",
                "executor_handler": ("tasks.payload", "payload.handler of xxl and python tasks"),
                "trigger_next_time": (
                    "tasks.next_fire_at",
                    "tasks.wake_at",
                    "the instant, and when a scheduler looks at it",
                ),
                "trigger_status": "tasks.enabled",
            },
        ),
        Section(
            "xxl_job_log",
            7,
            {
                "id": ("execution_logs.id", "task_instances.id", "64 bits too"),
                "job_id": ("execution_logs.task_id", "task_instances.task_id"),
                "trigger_time": ("execution_logs.start_time", "task_instances.start_time"),
                "schedule_time": ("execution_logs.scheduled_time", "task_instances.scheduled_time"),
                "trigger_code": (
                    "pending→running",
                    "instance_attempts.outcome",
                    "a claim that was not accepted is handed back, and one that was lost is recorded as an attempt",
                ),
                "handle_code": ("execution_logs.status", "200 is success, 500 and 502 are failed; 0 is running"),
                "alarm_status": ("alert_outbox.sent_at", "alert_outbox.tries", "one row per alert, not per log"),
            },
        ),
        Section(
            "xxl_job_registry",
            5,
            {
                "id": "executors.id",
                "registry_group": ("executors.kind", "the kind of what registers"),
                "registry_key": ("executors.group_id", "by the group's name"),
                "registry_value": "executors.address",
                "update_time": "executors.last_heartbeat",
            },
        ),
        Section(
            "xxl_job_lock",
            2,
            {
                "lock_name": (
                    "leases.name",
                    "only for singleton chores; no lease is needed to schedule",
                ),
                "schedule_lock": (
                    "ix_tasks_due",
                    "pk_task_instants",
                    "due tasks are taken by FOR UPDATE SKIP LOCKED, and the ledger's key makes instants unique",
                ),
            },
        ),
        Section(
            "Relations",
            3,
            {
                "xxl_job_group contains xxl_job_info": "tasks.group_id",
                "xxl_job_info generates xxl_job_log": ("task_instances.task_id", "execution_logs.task_id"),
                "xxl_job_group registered xxl_job_registry": "executors.group_id",
            },
        ),
        Section(
            "Indexes and the queries they serve",
            3,
            {
                "I_trigger_time (pagination by time)": ("pk_execution_logs", "newest first by keyset"),
                "I_handle_code (find failed jobs)": "ix_execution_logs_status",
                "I_jobid_jobgroup (job-specific logs)": "ix_execution_logs_task",
            },
        ),
        Section(
            "Missing indexes, as recommended",
            3,
            {
                "INDEX (trigger_status, trigger_next_time)": (
                    "ix_tasks_due",
                    "wake_at is null while a task is disabled, so the index needs no status",
                ),
                "INDEX (alarm_status)": ("ix_alert_outbox_unsent", "holds only what is still to be sent"),
                "Cursor-based pagination": ("list_logs()", "list_instances()", "list_tasks()", "keyset only"),
            },
        ),
        Section(
            "Performance bottlenecks",
            3,
            {
                "scheduleJobQuery: full scan on trigger_status": ("materialise()", "ix_tasks_due"),
                "findFailJobLogIds: full scan on alarm_status": "ix_alert_outbox_unsent",
                "Slow pagination: large OFFSET values": ("list_logs()", "there is no OFFSET anywhere"),
            },
        ),
        Section(
            "Transactions and queries",
            8,
            {
                "Schedule cycle (explicit transaction)": (
                    "materialise()",
                    "ledger rows, instances and the advanced schedule in one transaction, by any number of schedulers",
                ),
                "SELECT jobs WHERE next_time ≤ now + 5s": ("materialise()", "with a look-ahead of 10 s"),
                "UPDATE job trigger times": ("tasks.next_fire_at", "one statement for the whole batch"),
                "Service layer (auto-commit)": "every verb of the store is one transaction",
                "Lost job detection": (
                    "reap()",
                    "ix_task_instances_running",
                    "by lease within lease + 5 s, not by an anti-join after ten minutes",
                ),
                "executor_address": ("task_instances.executor_id", "executors.address"),
                "Pessimistic lock, transaction-scoped": (
                    "there is no global lock; rows are locked in one order everywhere"
                ),
                "UPSERT registry record": ("register()", "beat()"),
            },
        ),
        Section(
            "Data lifecycle",
            5,
            {
                "Log retention (default 30 days)": ("retain()", "30 days by default"),
                "Delete in batches": ("retain()", "whole days on PostgreSQL, batches on SQLite"),
                "Heartbeat every 30s": ("beat()", "every 5 s; XXL-JOB executors keep their 30 s"),
                "Record > 90s old: DELETE from registry": "forget_executors()",
                "Admin monitor checks every cycle": ("reap()", "sweep()"),
            },
        ),
        Section(
            "Design strengths",
            4,
            {
                "Optimized for Log Volume": ("execution_logs.id", "64-bit ids, partitioned by day of end_time"),
                "Simple Locking": ("leases.lease_until", "the database is still the only coordinator"),
                "Flexible Queries": ("list_logs()", "list_instances()", "filters compiled once per combination"),
                "Denormalized for Performance": ("execution_logs.task_name", "one shape for the living and the ended"),
            },
        ),
        Section(
            "Design limitations",
            4,
            {
                "Single-Instance Scheduling": (
                    "pk_task_instants",
                    "any number of schedulers; uniqueness is a key, not a lock",
                ),
                "Offset Pagination": ("list_logs()", "keyset with an opaque cursor"),
                "Missing Indexes": (
                    "ix_tasks_due",
                    "ix_task_instances_claim",
                    "plans of the due, claim and list queries are pinned by tests",
                ),
                "N+1 Query Patterns": "batches everywhere: a constant number of statements per page, claim and flush",
            },
        ),
    ),
)
