from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hourhand.model.data_source import Dialect
from hourhand.model.errors import InvalidInput
from hourhand.model.operation import Plan, Precondition, Side, Step
from hourhand.rules.operations import (
    cutoff,
    differences,
    fraction,
    impact,
    marked,
    plan_from_json,
    plan_hash,
    plan_to_json,
    script,
    temporary,
)

ADD = Step(name="create p1", phase="prepare", sql=("CREATE TABLE p1 (LIKE t)",))
ATTACH = Step(
    name="attach p1",
    phase="swap",
    sql=("ALTER TABLE t ATTACH PARTITION p1", "ALTER TABLE p1 DROP CONSTRAINT c"),
    lock="SHARE UPDATE EXCLUSIVE on t",
    weight=3.0,
)
PLAN = Plan(kind="add_boundary", dialect=Dialect.POSTGRESQL, config={"table": "t"}, steps=(ADD, ATTACH))
NOW = datetime(2026, 11, 16, 14, 35, 12, 345, tzinfo=UTC)


def test_what_a_kind_does_not_mark_destroys_unless_it_marks_its_steps() -> None:
    plan = replace(PLAN, steps=(replace(ADD, destructive=False), ATTACH, replace(ATTACH, name="x", destructive=True)))
    assert [step.destructive for step in marked(plan, kind_marks=False).steps] == [False, True, True]
    assert [step.destructive for step in marked(plan, kind_marks=True).steps] == [False, False, True]
    assert plan_hash(marked(plan, kind_marks=False)) == plan_hash(plan)


def test_estimates_are_no_part_of_what_is_approved() -> None:
    estimated = replace(PLAN, steps=(replace(ADD, rows=10, bytes=20, disk_bytes=30), ATTACH), notes=("mind",))
    assert plan_hash(estimated) == plan_hash(PLAN)


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, kind="split_boundary"),
        replace(PLAN, dialect=Dialect.MARIADB),
        replace(PLAN, config={"table": "u"}),
        replace(PLAN, steps=(ATTACH, ADD)),
        replace(PLAN, steps=(ADD,)),
        replace(PLAN, steps=(replace(ADD, sql=("CREATE TABLE p2 (LIKE t)",)), ATTACH)),
        replace(PLAN, steps=(replace(ADD, values={"rows": 1}), ATTACH)),
        replace(PLAN, steps=(replace(ADD, transaction=False), ATTACH)),
    ],
    ids=["kind", "dialect", "config", "order", "steps", "sql", "values", "transaction"],
)
def test_whatever_would_be_executed_changes_the_hash(other: Plan) -> None:
    assert plan_hash(other) != plan_hash(PLAN)


def test_a_plan_outlives_being_kept() -> None:
    plan = replace(
        PLAN,
        steps=(*PLAN.steps, Step(name="copy", phase="copy", side=Side.TARGET, action="copy", values={"a": [1]})),
        preconditions=(Precondition(name="ownership", ok=False, detail="belongs to root", side=Side.EXECUTOR),),
        notes=("slow",),
    )
    kept = plan_to_json(plan)
    assert plan_from_json(kept) == plan
    kept["steps"][0]["said_by_a_newer_release"] = 1
    assert plan_from_json(kept) == plan


def test_a_script_shows_each_step_with_its_lock_and_its_transaction() -> None:
    there = replace(ADD, name="x", side=Side.TARGET)
    plan = replace(PLAN, notes=("keep an eye on it",), steps=(*PLAN.steps, there))
    assert script(plan).splitlines() == [
        f"-- add_boundary on postgresql, plan {plan_hash(plan)}",
        "-- Note: keep an eye on it",
        "",
        "-- 1. prepare: create p1",
        "CREATE TABLE p1 (LIKE t);",
        "",
        "-- 2. swap: attach p1",
        "--    locks: SHARE UPDATE EXCLUSIVE on t",
        "BEGIN;",
        "ALTER TABLE t ATTACH PARTITION p1;",
        "ALTER TABLE p1 DROP CONSTRAINT c;",
        "COMMIT;",
        "",
        "-- 3. prepare: x (target)",
        "CREATE TABLE p1 (LIKE t);",
    ]


def test_a_name_cannot_end_the_comment_it_stands_in() -> None:
    name = "t\r\nDROP TABLE u;\u2028\x1b[2K\t--"
    step = Step(
        name=f"attach {name}", phase="swap", sql=(f'ALTER TABLE "{name}" ADD x int',), lock=f"EXCLUSIVE on {name}"
    )
    lines = script(replace(PLAN, steps=(step,), notes=(f"{name} is large",))).split("\n")
    assert [line for line in lines if line.startswith("--")] == [
        lines[0],
        "-- Note: t␍␊DROP TABLE u;\ufffd\ufffd[2K␉-- is large",
        "-- 1. swap: attach t␍␊DROP TABLE u;\ufffd\ufffd[2K␉--",
        "--    locks: EXCLUSIVE on t␍␊DROP TABLE u;\ufffd\ufffd[2K␉--",
    ]


@pytest.mark.parametrize(
    ("dialect", "sql", "written"),
    [
        (Dialect.POSTGRESQL, "-- why\nDELETE FROM t", "-- why\nDELETE FROM t;"),
        (Dialect.POSTGRESQL, "DELETE FROM t -- all", "DELETE FROM t -- all\n;"),
        (Dialect.POSTGRESQL, "SELECT a # b", "SELECT a # b;"),
        (Dialect.MARIADB, "DELETE FROM t # all", "DELETE FROM t # all\n;"),
        (Dialect.POSTGRESQL, "-- nothing\n  -- to do", "-- nothing\n  -- to do"),
    ],
)
def test_a_comment_does_not_swallow_the_end_of_a_statement(dialect: Dialect, sql: str, written: str) -> None:
    step = Step(name="x", phase="swap", sql=(sql,))
    assert script(replace(PLAN, dialect=dialect, steps=(step,))).endswith(f"-- 1. swap: x\n{written}\n")


def test_a_script_that_nothing_executed_says_so() -> None:
    steps = (
        replace(ATTACH, sql=("ALTER TABLE t SWITCH PARTITION 1 TO s;", "GO", "-- see sys.partitions")),
        replace(ADD, transaction=False, sql=("GO", "SELECT 1")),
    )
    text = script(replace(PLAN, dialect=Dialect.SQLSERVER, script_only=True, steps=steps))
    assert "never executed" in text
    assert "BEGIN TRANSACTION;\nALTER TABLE t SWITCH PARTITION 1 TO s;\nGO\n-- see sys.partitions\nCOMMIT;" in text
    assert text.endswith("GO\nSELECT 1;\n")


@given(st.floats(-1, 2), st.floats(-1, 2))
def test_progress_never_goes_back_and_is_whole_only_when_all_is_done(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert fraction(PLAN, 0, low) <= fraction(PLAN, 0, high) <= fraction(PLAN, 1, low) <= fraction(PLAN, 1, high) < 1


def test_a_step_counts_by_its_weight() -> None:
    assert fraction(PLAN, 1, 0) == pytest.approx(0.25 * 0.99)
    assert fraction(PLAN, 2, 0) == pytest.approx(0.99)
    assert fraction(replace(PLAN, steps=()), 0, 1) == 0


def test_the_impact_is_the_sum_and_the_strongest_lock() -> None:
    steps = (
        replace(ADD, rows=5, bytes=10, lock="SHARE on t"),
        replace(ATTACH, rows=7, disk_bytes=3),
        replace(ADD, name="z", lock="ACCESS EXCLUSIVE on t"),
    )
    found = impact(replace(PLAN, steps=steps))
    assert (found.rows, found.bytes, found.disk_bytes) == (12, 10, 3)
    assert found.strongest_lock == "ACCESS EXCLUSIVE on t"
    assert impact(replace(PLAN, steps=steps[:2])).strongest_lock == "SHARE UPDATE EXCLUSIVE on t"
    nothing = impact(replace(PLAN, steps=()))
    assert (nothing.rows, nothing.strongest_lock) == (None, None)


def test_what_has_changed_is_named() -> None:
    now = replace(PLAN, steps=(replace(ADD, sql=("CREATE TABLE p1 (LIKE u)",)), replace(ADD, name="create p2")))
    assert differences(PLAN, now) == [
        "step 'attach p1' is no longer needed",
        "step 'create p2' is new",
        "step 'create p1' has changed: CREATE TABLE p1 (LIKE u)",
    ]
    assert differences(PLAN, replace(PLAN, steps=(ATTACH, ADD))) == ["the configuration, or the order of its steps"]


@pytest.mark.parametrize(
    ("age", "moment"),
    [
        ("36h", datetime(2026, 11, 15, 2, tzinfo=UTC)),
        ("400d", datetime(2025, 10, 12, tzinfo=UTC)),
        (" 2 w ", datetime(2026, 11, 2, tzinfo=UTC)),
        ("11m", datetime(2025, 12, 1, tzinfo=UTC)),
        ("2y", datetime(2024, 11, 1, tzinfo=UTC)),
    ],
)
def test_an_age_is_the_beginning_of_an_hour_a_day_or_a_month(age: str, moment: datetime) -> None:
    assert cutoff(age, NOW) == moment


def test_an_age_is_counted_in_utc_whatever_the_clock_says() -> None:
    assert cutoff("1d", NOW.astimezone(timezone(timedelta(hours=10)))) == datetime(2026, 11, 15, tzinfo=UTC)


@given(st.integers(0, 3000), st.integers(0, 3599))
def test_within_an_hour_the_plan_stays_the_same(hours: int, seconds: int) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    assert cutoff("36h", begin) == cutoff("36h", begin + timedelta(seconds=seconds))


@pytest.mark.parametrize("age", ["", "0d", "d", "-1d", "10", "1s", "999999d", "9999y"])
def test_what_is_no_age_is_refused(age: str) -> None:
    with pytest.raises(InvalidInput, match=r"older_than: .*(is no age|before the year 1)"):
        cutoff(age, NOW)


def test_a_temporary_name_is_short_and_always_the_same() -> None:
    long = "a" * 63
    assert temporary("split", long) == temporary("split", long) != temporary("merge", long)
    assert temporary("split", "t", "low") != temporary("split", "t", "high")
    assert len(temporary("split", long)) < 50
    assert temporary("split", "t").startswith("_hh_t_")


def test_what_is_not_met_keeps_a_plan_from_being_executed() -> None:
    met, unmet = (Precondition(name=name, ok=name == "met", detail="") for name in ("met", "unmet"))
    assert replace(PLAN, preconditions=(met, unmet)).unmet == (unmet,)
