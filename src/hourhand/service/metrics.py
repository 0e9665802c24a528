"""Service: the metrics of a process, each named here once; docs/reference/metrics.md says what they mean to operators.

They are on a registry of their own: users' handlers may keep theirs on the library's, and neither sees the other's.
Whoever is on the way of every instance asks for bound metrics once (`of_executor`, `of_instances`): finding a label's
child costs more than counting does.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

from hourhand import __version__
from hourhand.model.words import ENDED, SkipReason, Status

REGISTRY = CollectorRegistry()
_INSTANTLY = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_BATCHES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)

ProcessCollector(registry=REGISTRY)
Info("hourhand_build", "Which Hourhand this is", registry=REGISTRY).info({"version": __version__})

# Instances and their attempts

ENDED_INSTANCES = Counter(
    "hourhand_instances_ended",
    "Instances that this process ended",
    ("group", "type", "status"),
    registry=REGISTRY,
)
DURATION = Histogram(
    "hourhand_instance_duration_seconds",
    "How long the last attempt of an ended instance took",
    ("group", "type"),
    registry=REGISTRY,
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 21_600),
)
RETRIED = Counter(
    "hourhand_attempts_retried", "Attempts that failed and are tried again", ("group", "type"), registry=REGISTRY
)
LOST = Counter("hourhand_attempts_lost", "Attempts whose executor was lost", ("group", "type"), registry=REGISTRY)

# Executors

LATENESS = Histogram(
    "hourhand_instance_lateness_seconds",
    "From when an instance could be claimed to the start of its first attempt",
    ("group",),
    registry=REGISTRY,
    buckets=(*_INSTANTLY, 30.0, 60.0, 300.0),
)
CLAIMED = Histogram(
    "hourhand_claim_batch_instances",
    "Instances of a claim that got any",
    ("group",),
    registry=REGISTRY,
    buckets=_BATCHES,
)
FINISHED = Histogram(
    "hourhand_finish_batch_instances", "Outcomes reported at once", ("group",), registry=REGISTRY, buckets=_BATCHES
)
FENCED = Counter(
    "hourhand_outcomes_fenced",
    "Outcomes that changed nothing, since their attempt was superseded",
    ("group",),
    registry=REGISTRY,
)
BEATS_FAILED = Counter(
    "hourhand_beats_failed", "Heartbeats that the store did not answer", ("group",), registry=REGISTRY
)

# Schedulers

INSTANTS_MADE = Counter("hourhand_instants_made", "Instants that became instances on schedule", registry=REGISTRY)
_INSTANTS_SKIPPED = Counter(
    "hourhand_instants_skipped", "Instants that were recorded as skipped", ("reason",), registry=REGISTRY
)
INSTANTS_SKIPPED = {reason: _INSTANTS_SKIPPED.labels(reason.value) for reason in SkipReason}
REAPED = Counter("hourhand_attempts_reaped", "Attempts that this scheduler took back", ("fate",), registry=REGISTRY)
REAPED_REQUEUED, REAPED_ENDED = REAPED.labels("requeued"), REAPED.labels("ended")
CYCLE = Histogram(
    "hourhand_scheduler_cycle_seconds",
    "How long one cycle of a scheduler's chore took",
    ("chore",),
    registry=REGISTRY,
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60),
)
CYCLES_FAILED = Counter(
    "hourhand_scheduler_cycles_failed",
    "Cycles of a scheduler's chore that did not come to their end",
    ("chore",),
    registry=REGISTRY,
)

# The store, as this process sees it

STORE_FAILURES = Counter("hourhand_store_failures", "Questions that the store did not answer", registry=REGISTRY)
STORE_OUTAGES = Counter("hourhand_store_outages", "Times that the store went away", registry=REGISTRY)
HINTS_SENT = Counter("hourhand_hints_sent", "Messages with hints sent to other processes", registry=REGISTRY)
HINTS_HEARD = Counter("hourhand_hints_heard", "Messages with hints heard of other processes", registry=REGISTRY)

# The API

REQUESTS = Counter("hourhand_api_requests", "Requests answered", ("method", "route", "status"), registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "hourhand_api_request_seconds",
    "From a request to the first byte of its answer",
    ("method", "route"),
    registry=REGISTRY,
    buckets=_INSTANTLY,
)
STREAMS = Gauge("hourhand_streams_open", "Streams of events that are open", registry=REGISTRY)

# Alerts

_NOTICES = Counter("hourhand_alert_notices", "Notices of alerts", ("outcome",), registry=REGISTRY)
NOTICES_SENT, NOTICES_FAILED = _NOTICES.labels("sent"), _NOTICES.labels("failed")


@dataclass(frozen=True, slots=True)
class OfInstances:
    """What is counted of the instances of one group and type."""

    ended: dict[Status, Counter]
    duration: Histogram
    retried: Counter
    lost: Counter


@dataclass(frozen=True, slots=True)
class OfExecutor:
    """What the executors of one group measure."""

    lateness: Histogram
    claimed: Histogram
    finished: Histogram
    fenced: Counter
    beats_failed: Counter


@lru_cache(maxsize=10_000)
def of_instances(group: str, kind: str) -> OfInstances:
    """Bind the metrics of a group and type; all its statuses appear at once, so that the first failure is a rise."""
    return OfInstances(
        ended={status: ENDED_INSTANCES.labels(group, kind, status.value) for status in sorted(ENDED)},
        duration=DURATION.labels(group, kind),
        retried=RETRIED.labels(group, kind),
        lost=LOST.labels(group, kind),
    )


@lru_cache(maxsize=10_000)
def of_executor(group: str) -> OfExecutor:
    """Bind the metrics of a group's executors."""
    return OfExecutor(
        lateness=LATENESS.labels(group),
        claimed=CLAIMED.labels(group),
        finished=FINISHED.labels(group),
        fenced=FENCED.labels(group),
        beats_failed=BEATS_FAILED.labels(group),
    )


def timed(chore: str, step: Callable[[], Awaitable[float]]) -> Callable[[], Awaitable[float]]:
    """Measure each cycle of a scheduler's chore."""
    seconds, failed = CYCLE.labels(chore), CYCLES_FAILED.labels(chore)

    async def measured() -> float:
        begun = time.perf_counter()
        try:
            rest = await step()
        except Exception:
            failed.inc()
            raise
        seconds.observe(time.perf_counter() - begun)
        return rest

    return measured
