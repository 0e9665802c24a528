"""Rules: whether anybody schedules and executes what there is to do, and looks after the rest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from datetime import timedelta

from hourhand.model.checkup import Seen
from hourhand.model.diagnosis import Demand, Examined, Finding, KeyState, SeenExecutor
from hourhand.model.registry import BUILTIN, Executor, Lane
from hourhand.model.task import DEFAULT_GROUP
from hourhand.rules.doctor_words import MINUTE, fine, length, named, plural, problem, wait, warning
from hourhand.rules.lanes import Lacks, labels_text, lacks

CYCLE_SECONDS = 30.0
OVERDUE_NOTED = 30.0
WAITING_NOTED = 60.0
DAYS_LEAST = 2
LATE_RETENTION = timedelta(days=2)
UNSEALED_NOTED = 10 * MINUTE


def schedulers(seen: Seen) -> Iterator[Finding]:
    """Whether anybody turns instants into instances."""
    examined = seen.examined
    if examined is None or _nobody(seen):
        return
    ago = examined.cycle_seconds
    if ago is None or ago > CYCLE_SECONDS:
        since = "no scheduler was ever seen" if ago is None else f"no scheduler was seen for {length(ago)}"
        late = examined.tasks_due and f" {wait(examined.tasks_due, 'task')} for one."
        yield problem(
            "schedulers.alive",
            since,
            f"No task fires, nothing is retried or taken back from lost executors, and no alert is sent.{late or ''}",
            "hourhand serve   (or on a cluster: hourhand scheduler)",
        )
        return
    yield fine("schedulers.alive", f"a scheduler completed a cycle {length(ago)} ago")
    if examined.overdue_seconds > OVERDUE_NOTED:
        yield warning(
            "schedulers.late",
            f"{plural(examined.tasks_due, 'task')} should have been looked at by now, the oldest "
            f"{length(examined.overdue_seconds)} ago",
            "Schedulers do not keep up; what they missed fires late, or is skipped, by each task's misfire policy.",
            "look into the schedulers' logs; on a cluster start another one: hourhand scheduler",
        )
    else:
        yield fine("schedulers.late", "no task waits for a scheduler")


def _nobody(seen: Seen) -> bool:
    """Whether it is a SQLite file that no process owns: that no server runs has been said already."""
    store = seen.store
    return store is not None and store.sqlite and store.file is not None and store.owner is None


def executors(seen: Seen) -> Iterator[Finding]:
    """Whether anybody is there at all."""
    examined = seen.examined
    if examined is None or _nobody(seen):
        return
    lease = _lease(seen)
    alive = [one for one in examined.executors if one.silent_seconds <= lease]
    silent = [one for one in examined.executors if one.silent_seconds > lease]
    wanted = sum(one.tasks for one in examined.demands) + sum(one.due for one in examined.groups)
    if alive:
        yield fine("executors.alive", f"{plural(len(alive), 'executor')} alive: {named(one.id for one in alive)}")
    else:
        say = problem if wanted else warning
        yield say(
            "executors.alive",
            "no executor is alive",
            "Nothing is executed: what fires or is submitted waits.",
            "hourhand serve   (or on a cluster: hourhand executor)",
        )
    for one in silent:
        yield warning(
            "executors.silent",
            f"executor {one.id} on {one.hostname} has been silent for {length(one.silent_seconds)}",
            "It died, or cannot reach the store. What it ran is given to others; after 90 s it is forgotten.",
            f"look at the process on {one.hostname}",
        )


def _lease(seen: Seen) -> float:
    return seen.lease_seconds if seen.told is None else seen.told.process.lease_seconds


def demands(seen: Seen) -> Iterator[Finding]:
    """Whether somebody can execute each of the enabled tasks."""
    examined = seen.examined
    if examined is None or _nobody(seen):  # who died just now is still registered
        return
    lease = _lease(seen)
    alive = [one for one in examined.executors if one.silent_seconds <= lease]
    unserved = [one for one in examined.demands if alive and not _served(one, alive)]
    for one in unserved:
        yield _unserved(one, alive, _Starting(seen))
    if examined.demands and alive and not unserved:
        left = f" (of the first {sum(one.tasks for one in examined.demands):,})" if examined.tasks_left_out else ""
        yield fine("executors.demand", f"somebody can execute every enabled task{left}")


def _served(demand: Demand, alive: list[SeenExecutor]) -> bool:
    return any(_lacks(one, demand) is None for one in alive)


def _lacks(executor: SeenExecutor, demand: Demand) -> Lacks | None:
    """By the rule that decides who may claim; groups are told apart by name here."""
    if executor.group != demand.group:
        return Lacks.GROUP
    described = Executor(id=executor.id, group=executor.group, labels=executor.labels, provides=executor.provides)
    return lacks(described, 0, Lane(0, demand.requires, labels_text(demand.labels)))


class _Starting:
    """How executors are started: on SQLite there is one process, which is started anew with what is missing."""

    def __init__(self, seen: Seen) -> None:
        self._alone = seen.database is not None and seen.database.dialect == "sqlite"
        self.hint = (
            " On SQLite one process does everything, for one group and that of its app: stop it first."
            if self._alone
            else ""
        )

    def command(self, group: str, app: str = "") -> str:
        """What to type."""
        if not self._alone:
            return f"hourhand executor{app} --group {shlex.quote(group)}"
        return (
            f"hourhand serve{app}" if app or group == DEFAULT_GROUP else f"hourhand serve --group {shlex.quote(group)}"
        )

    def more(self, group: str) -> str:
        """The same, where there are too few slots."""
        return "hourhand serve --concurrency NUMBER" if self._alone else self.command(group)


def _unserved(demand: Demand, alive: list[SeenExecutor], starting: _Starting) -> Finding:
    which = f"{plural(demand.tasks, 'enabled task')} of group {demand.group!r} (such as {demand.example!r})"
    found = {_lacks(one, demand) for one in alive}
    own = "" if demand.requires == BUILTIN else " MODULE:APP"
    means = "What fires waits until somebody can execute it."
    if Lacks.LABELS in found:
        wanted = ",".join(f"{name}={value}" for name, value in sorted(demand.labels.items()))
        return problem(
            "executors.labels",
            f"no executor carries the labels {wanted}, asked for by {which}",
            f"{means}{starting.hint}",
            f"HOURHAND_LABELS={shlex.quote(wanted)} {starting.command(demand.group, own)}",
        )
    if Lacks.REQUIRES in found:
        return problem(
            "executors.handlers",
            f"no executor of the group provides {demand.requires}, needed by {which}",
            f"{means} A handler is found in the app that an executor was started with.{starting.hint}",
            starting.command(demand.group, own),
        )
    return problem(
        "executors.group",
        f"no executor serves the group of {which}",
        f"{means}{starting.hint}",
        starting.command(demand.group, own),
    )


def backlog(seen: Seen) -> Iterator[Finding]:
    """Whether what is pending is claimed in time."""
    examined = seen.examined
    if examined is None or _nobody(seen):
        return
    late = [one for one in examined.groups if one.executors and one.oldest_due_seconds > WAITING_NOTED and one.due]
    for one in late:
        full = one.slots_used >= one.slots
        why = f"all {plural(one.slots, 'slot')} of its executors are taken" if full else "its executors have free slots"
        yield warning(
            "executors.backlog",
            f"{wait(one.due, 'instance')} in group {one.group!r}, the oldest for "
            f"{length(one.oldest_due_seconds)}: {why}",
            "There is more to do than is done."
            if full
            else "They may need labels or a handler that nobody has, or the group rests.",
            _Starting(seen).more(one.group)
            if full
            else f"hourhand instance list --status pending --group {shlex.quote(one.group)}, then "
            "hourhand instance explain ID",
        )
    if not late:
        yield fine("executors.backlog", "nothing that could run has been waiting for long")


def rests(seen: Seen) -> Iterator[Finding]:
    """What somebody has told to rest."""
    for one in () if seen.examined is None else seen.examined.resting:
        what = "everything is" if one.group is None else f"the group {one.group!r} is"
        until = "somebody resumes it" if one.until is None else f"{one.until:%Y-%m-%d %H:%M:%SZ}"
        yield warning(
            "engine.paused",
            f"{what} paused until {until} ({one.reason})",
            "Its tasks do not fire, and nothing of it starts.",
            "hourhand pause list",
        )


def partitions(seen: Seen) -> Iterator[Finding]:
    """Whether there is a place for what ends in the days to come."""
    examined, database = seen.examined, seen.database
    if examined is not None and examined.days_ahead is not None:
        days = plural(max(examined.days_ahead, 0), "day")
        if examined.days_ahead < DAYS_LEAST:
            yield problem(
                "logs.partitions",
                f"there are partitions for {days} after today, and 14 is usual",
                "Every process makes more each hour. When they run out, nothing that ends can be kept.",
                "look into the logs of the processes: they say what keeps them from it",
            )
        else:
            yield fine("logs.partitions", f"there are partitions for {days} after today")
    for name in () if database is None else database.default_partitions:
        yield problem(
            "logs.partitions",
            f"somebody has attached a default partition: {name}",
            "Days cannot be removed beside one, and rows in it may keep new days from being made.",
            f"psql -c 'ALTER TABLE {name.rpartition('_')[0] or '…'} DETACH PARTITION {name}'",
        )


def retention(seen: Seen) -> Iterator[Finding]:
    """Whether what is too old is removed."""
    examined = seen.examined
    if examined is None:
        return
    days = seen.retention_days if seen.told is None else seen.told.process.retention_days
    oldest, kept = examined.oldest_log, timedelta(days=days) + LATE_RETENTION
    if oldest is not None and examined.looked_at - oldest > kept:
        yield warning(
            "logs.retention",
            f"the oldest execution log is of {oldest:%Y-%m-%d}, and {days} days are to be kept",
            "Retention has not run for long, or this machine's HOURHAND_RETENTION_DAYS is not the schedulers'.",
            "look into the schedulers' logs for `retention`",
        )
    elif examined.ledger_floor is not None:
        yield fine("logs.retention", f"what ended before {examined.ledger_floor:%Y-%m-%d} has been removed")
    else:
        yield fine("logs.retention", "nothing is old enough to be removed")


def alerts(seen: Seen) -> Iterator[Finding]:
    """Whether notices arrive."""
    examined = seen.examined
    if examined is None:
        return
    for one in examined.unsent:
        tried = "was given up" if one.given_up else "is tried again"
        yield warning(
            "alerts.unsent",
            f"the last notice of alert rule {one.rule!r} to {one.target} did not arrive, and {tried}",
            one.error,
            f"hourhand alert test {shlex.quote(one.rule)}",
        )
    if not examined.unsent:
        rules = plural(examined.alert_rules, "alert rule") if examined.alert_rules else "there are no alert rules"
        yield fine("alerts.unsent", f"{rules}; no notice has failed")


def audit(seen: Seen) -> Iterator[Finding]:
    """Whether the audit is being sealed."""
    examined = seen.examined
    if examined is None:
        return
    if examined.audit_unsealed_seconds > UNSEALED_NOTED:
        count = examined.audit_unsealed
        entries = "1 entry of the audit waits" if count == 1 else f"{count:,} entries of the audit wait"
        yield warning(
            "audit.sealed",
            f"{entries} to be sealed, the oldest for {length(examined.audit_unsealed_seconds)}",
            "A scheduler does it every few seconds, unless somebody has meddled with the chain.",
            "hourhand audit verify",
        )
    else:
        yield fine("audit.sealed", f"the audit is sealed up to entry {examined.audit_sealed}")


def secrets(seen: Seen) -> Iterator[Finding]:
    """Whether the key is there that stored secrets were sealed with."""
    state, detail, whose = _key(seen)
    match state:
        case None:
            return
        case KeyState.UNUSED:
            yield fine("secrets.key", "no secret is stored, so that no key is needed yet")
        case KeyState.FITS:
            yield fine("secrets.key", f"the key of secrets is the right one ({detail})")
        case _:
            yield _bad_key(state, detail, whose, seen.examined)


def _key(seen: Seen) -> tuple[KeyState | None, str, str]:
    if seen.told is not None:
        return seen.told.process.key, seen.told.process.key_detail, "the server"
    if seen.store is not None:
        return seen.store.key, seen.store.key_detail, "this machine"
    return None, "", ""


_WRONG: Mapping[KeyState, str] = {
    KeyState.MISSING: "has no key of secrets",
    KeyState.WRONG: "has another key of secrets than the store's secrets were sealed with",
    KeyState.UNREADABLE: "cannot read its key of secrets",
}


def _bad_key(state: KeyState, detail: str, whose: str, examined: Examined | None) -> Finding:
    stored = plural(examined.secrets, "secret") if examined is not None else "secrets"
    return problem(
        "secrets.key",
        f"{whose} {_WRONG[state]} ({detail})",
        f"{stored} stored: alerts to such targets cannot be sent.",
        "set HOURHAND_SECRET_KEY (or HOURHAND_SECRET_KEY_FILE) to the key they were written under; on SQLite put back "
        "the file secret-key of the data folder",
    )
