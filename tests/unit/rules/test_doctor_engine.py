"""What doctor makes of those who schedule and execute, and of what they leave undone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hourhand.model.diagnosis import Demand, Examined, KeyState, Level, Resting, Unsent
from hourhand.model.figures import GroupFigures
from hourhand.rules import doctor_engine
from unit.rules.checkups import (
    AT,
    FILE,
    ON_POSTGRESQL,
    ON_SQLITE,
    POSTGRESQL,
    PROCESS,
    examined,
    executor,
    found,
    one,
    sight,
    told,
)


def demand(**changes: Any) -> Demand:
    values: dict[str, Any] = {"group": "default", "requires": "builtin", "labels": {}, "tasks": 2, "example": "nightly"}
    return Demand(**values | changes)


@pytest.mark.parametrize(
    "check",
    [
        doctor_engine.schedulers,
        doctor_engine.executors,
        doctor_engine.demands,
        doctor_engine.backlog,
        doctor_engine.rests,
        doctor_engine.partitions,
        doctor_engine.retention,
        doctor_engine.alerts,
        doctor_engine.audit,
        doctor_engine.secrets,
    ],
)
def test_of_a_store_that_was_not_seen_nothing_is_said(check: Any) -> None:
    assert found(check, sight()) == []


def test_schedulers() -> None:
    never = one(doctor_engine.schedulers, examined(tasks_due=3))
    assert never.level is Level.PROBLEM
    assert "3 tasks wait for one" in never.detail
    assert "1 task waits for one" in one(doctor_engine.schedulers, examined(tasks_due=1)).detail
    gone = one(doctor_engine.schedulers, examined(cycle_seconds=600))
    assert "for 10 min" in gone.summary
    assert [one.level for one in found(doctor_engine.schedulers, examined(cycle_seconds=2))] == ["ok", "ok"]
    late = found(doctor_engine.schedulers, examined(cycle_seconds=2, tasks_due=5, overdue_seconds=90))[1]
    assert (late.check, late.level) == ("schedulers.late", Level.WARNING)


def test_of_a_file_that_nobody_owns_it_is_not_said_again_that_nobody_works() -> None:
    store = replace(ON_SQLITE, file=FILE, examined=Examined(looked_at=AT))
    assert found(doctor_engine.schedulers, sight(store=store)) == []
    assert found(doctor_engine.executors, sight(store=store)) == []
    # Who was killed just now is still registered.
    registered = Examined(looked_at=AT, executors=(executor(),), demands=(demand(),))
    killed = sight(store=replace(store, examined=registered))
    assert found(doctor_engine.demands, killed) == found(doctor_engine.backlog, killed) == []


def test_executors() -> None:
    assert one(doctor_engine.executors, examined(executors=(executor(),))).level is Level.OK
    assert one(doctor_engine.executors, examined()).level is Level.WARNING
    assert one(doctor_engine.executors, examined(demands=(demand(),))).level is Level.PROBLEM
    waiting = GroupFigures(group="default", due=1)
    assert one(doctor_engine.executors, examined(groups=(waiting,))).level is Level.PROBLEM
    nobody, silent = found(doctor_engine.executors, examined(executors=(executor(silent_seconds=40),)))
    assert nobody.level is Level.WARNING
    assert "silent for 40 s" in silent.summary
    patient = told(replace(PROCESS, lease_seconds=60), Examined(looked_at=AT, executors=(executor(silent_seconds=40),)))
    assert one(doctor_engine.executors, patient).level is Level.OK


@pytest.mark.parametrize(
    ("wanted", "check", "remedy"),
    [
        (demand(), "executors.demand", ""),
        (demand(group="far"), "executors.group", "hourhand executor --group far"),
        (
            demand(group="far", requires="python:far"),
            "executors.group",
            "hourhand executor MODULE:APP --group far",
        ),
        (demand(requires="python:app"), "executors.handlers", "hourhand executor MODULE:APP --group default"),
        (
            demand(labels={"gpu": "yes"}),
            "executors.labels",
            "HOURHAND_LABELS=gpu=yes hourhand executor --group default",
        ),
    ],
)
def test_somebody_can_execute_every_task(wanted: Demand, check: str, remedy: str) -> None:
    said = one(doctor_engine.demands, examined(executors=(executor(),), demands=(wanted,)))
    assert (said.check, said.remedy) == (check, remedy)
    assert said.level is (Level.OK if check == "executors.demand" else Level.PROBLEM)
    if said.level is Level.PROBLEM:
        assert "'nightly'" in said.summary


@pytest.mark.parametrize(
    ("wanted", "remedy"),
    [
        (demand(group="far"), "hourhand serve --group far"),
        (demand(group="far", requires="python:far"), "hourhand serve MODULE:APP"),
        (demand(requires="python:app"), "hourhand serve MODULE:APP"),
        (demand(labels={"gpu": "yes"}), "HOURHAND_LABELS=gpu=yes hourhand serve"),
    ],
)
def test_on_sqlite_the_one_process_is_started_anew(wanted: Demand, remedy: str) -> None:
    said = one(doctor_engine.demands, told(store=Examined(looked_at=AT, executors=(executor(),), demands=(wanted,))))
    assert said.remedy == remedy
    assert "stop it first" in said.detail


def test_where_there_are_many_tasks_it_is_said_how_many_were_looked_at() -> None:
    seen = examined(executors=(executor(),), demands=(demand(),), tasks_left_out=True)
    assert "(of the first 2)" in one(doctor_engine.demands, seen).summary
    assert found(doctor_engine.demands, examined(demands=(demand(),))) == []


def test_the_backlog() -> None:
    assert one(doctor_engine.backlog, examined()).level is Level.OK
    group = GroupFigures(group="default", due=9, oldest_due_seconds=300, executors=1, slots=4, slots_used=4)
    full = one(doctor_engine.backlog, examined(groups=(group,)))
    assert "all 4 slots of its executors are taken" in full.summary
    assert full.remedy == "hourhand executor --group default"
    assert full.summary.startswith("9 instances wait in group 'default', the oldest for 5 min")
    single = one(doctor_engine.backlog, told(store=Examined(looked_at=AT, groups=(replace(group, due=1),))))
    assert single.summary.startswith("1 instance waits in group 'default'")
    assert single.remedy == "hourhand serve --concurrency NUMBER"
    free = one(doctor_engine.backlog, examined(groups=(replace(group, slots_used=1),)))
    assert "free slots" in free.summary
    assert "explain" in free.remedy
    unserved = replace(group, executors=0)
    assert one(doctor_engine.backlog, examined(groups=(unserved,))).level is Level.OK


def test_pauses() -> None:
    pauses = (Resting(group=None, reason="a move", until=None), Resting(group="billing", reason="x", until=AT))
    everything, group = found(doctor_engine.rests, examined(resting=pauses))
    assert "everything is paused until somebody resumes it (a move)" in everything.summary
    assert "the group 'billing' is paused until 2026-11-15 01:00:00Z" in group.summary


def test_partitions() -> None:
    assert one(doctor_engine.partitions, examined(days_ahead=14)).level is Level.OK
    assert found(doctor_engine.partitions, examined()) == []
    few = one(doctor_engine.partitions, examined(days_ahead=-1))
    assert few.level is Level.PROBLEM
    assert "0 days" in few.summary
    facts = replace(POSTGRESQL, default_partitions=("execution_logs_default",))
    said = one(doctor_engine.partitions, sight(store=replace(ON_POSTGRESQL, database=facts)))
    assert said.remedy == "psql -c 'ALTER TABLE execution_logs DETACH PARTITION execution_logs_default'"


def test_retention() -> None:
    assert "nothing is old enough" in one(doctor_engine.retention, examined()).summary
    floor = one(doctor_engine.retention, examined(ledger_floor=AT, oldest_log=AT))
    assert "before 2026-11-15 has been removed" in floor.summary
    old = examined(ledger_floor=AT, oldest_log=AT - timedelta(days=40))
    assert one(doctor_engine.retention, old).level is Level.WARNING
    store = Examined(looked_at=AT, oldest_log=AT - timedelta(days=40))
    assert one(doctor_engine.retention, told(replace(PROCESS, retention_days=60), store)).level is Level.OK


def test_alerts() -> None:
    assert "no alert rules" in one(doctor_engine.alerts, examined()).summary
    assert "2 alert rules" in one(doctor_engine.alerts, examined(alert_rules=2)).summary
    unsent = [
        Unsent(rule="my rule", target="https://x", error="answered 500", since=AT, given_up=given_up)
        for given_up in (False, True)
    ]
    again, given_up = found(doctor_engine.alerts, examined(unsent=tuple(unsent)))
    assert "is tried again" in again.summary
    assert "was given up" in given_up.summary
    assert again.remedy == "hourhand alert test 'my rule'"


def test_the_audit() -> None:
    assert "up to entry 5" in one(doctor_engine.audit, examined(audit_sealed=5)).summary
    behind = one(doctor_engine.audit, examined(audit_unsealed=4, audit_unsealed_seconds=3_600))
    assert (behind.level, behind.remedy) == (Level.WARNING, "hourhand audit verify")
    assert "4 entries of the audit wait to be" in behind.summary
    single = one(doctor_engine.audit, examined(audit_unsealed=1, audit_unsealed_seconds=3_600))
    assert single.summary.startswith("1 entry of the audit waits to be sealed")


@pytest.mark.parametrize(
    ("state", "level"),
    [
        (KeyState.UNUSED, "ok"),
        (KeyState.FITS, "ok"),
        (KeyState.MISSING, "problem"),
        (KeyState.WRONG, "problem"),
        (KeyState.UNREADABLE, "problem"),
    ],
)
def test_the_key_of_secrets(state: KeyState, level: str) -> None:
    direct = one(doctor_engine.secrets, sight(store=replace(ON_POSTGRESQL, key=state, key_detail="it")))
    asked = one(doctor_engine.secrets, told(replace(PROCESS, key=state), Examined(looked_at=AT, secrets=2)))
    assert [direct.level, asked.level] == [level, level]
    if level == "problem":
        assert direct.summary.startswith("this machine ")
        assert asked.summary.startswith("the server ")
        assert "2 secrets stored" in asked.detail
