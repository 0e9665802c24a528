"""What every kind promises on every dialect: pure plans, nothing but the plan, resumable, cancellable, told.

`contract_cases.py` has the cells. The exhaustive variants, at every checkpoint and every report, are run by
`make chaos`.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.model.operation import Plan, Step, Support
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.operations import looking
from hourhand.operations.catalogue import Catalogue
from hourhand.operations.runner import OperationRunner
from hourhand.operations.sessions import open_session
from hourhand.rules.operations import PREFIX, plan_hash
from operations.asking import execute
from operations.contract_cases import CELLS, DONE, Again, Cell
from operations.contract_ground import Ground, Picture, logical, picture
from operations.contract_listening import changes, listening, unplanned
from operations.running import Interrupted, InterruptedAttempt, desk, preview, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from operations.running import Ran
    from postgres import Cluster

GOLDEN = Path(__file__).parent / "golden"
KINDS = Catalogue().all()
LATER = dt.datetime.now(dt.UTC).replace(minute=30, second=0, microsecond=0) + dt.timedelta(days=20)
"""What clocks show: the same to every attempt, so that what they leave can be compared."""
SERVER = Address(dialect=Dialect.SQLSERVER, host="sql.invalid", database="shop")
REVIEWED_HERE = ("statistics_update",)
"""The scripts of other kinds are compared by tests of their own."""
DELETING = re.compile(r"DROP\s+(TABLE|DATABASE|SCHEMA)|TRUNCATE|DELETE|REPLACE|ALTER.*DROP\s+(PARTITION|COLUMN)")
OWN = (PREFIX, "hourhand_stamps")
"""What operations make for themselves and take away again."""
cells = pytest.mark.parametrize("cell", DONE, ids=lambda cell: cell.id)


@pytest.fixture
def ground(cell: Cell, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """Return fresh data sources of the cell's dialect, whose clocks stand still."""

    class Still(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return LATER.astimezone(tz)

    monkeypatch.setattr(looking, "datetime", Still)
    clocks = looking._CLOCKS  # noqa: SLF001 - nothing else knows them
    monkeypatch.setitem(clocks, Dialect.POSTGRESQL, f"SELECT timestamptz '{LATER.isoformat()}' AS now")
    monkeypatch.setitem(clocks, Dialect.MARIADB, f"SELECT TIMESTAMP '{LATER:%Y-%m-%d %H:%M:%S}' AS now")
    short = {Dialect.POSTGRESQL: "pg", Dialect.MARIADB: "maria", Dialect.SQLITE: "sqlite"}[cell.dialect]
    folder = tmp_path / "files"
    folder.mkdir()
    target = request.getfixturevalue(f"{short}_target") if cell.target else None
    return Ground(source=request.getfixturevalue(f"{short}_source"), target=target, folder=folder)


def test_every_kind_has_a_cell_for_every_dialect() -> None:
    told = {(cell.kind, cell.dialect): cell.expected for cell in CELLS}
    assert len(told) == len(CELLS), "a cell is there twice"
    assert {kind for kind, _ in told} == {kind.kind for kind in KINDS}, "add the kind to contract_cases.CELLS"
    for kind in KINDS:
        for dialect in Dialect:
            as_on = Dialect.MARIADB if dialect is Dialect.MYSQL else dialect
            assert kind.support(dialect)[0] is told[kind.kind, as_on], f"{kind.kind} on {dialect.value}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_a_kind_describes_itself(kind: Any) -> None:
    assert kind.title[0].isupper()
    assert kind.config.model_validate(dict(kind.example)).data_source == kind.example["data_source"]
    properties = kind.config.model_json_schema(by_alias=True)["properties"]
    assert [name for name, one in properties.items() if not one.get("description")] == []


async def test_what_nobody_approved_is_noticed(source: Address, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The suite's own ears, without which the tests below would say nothing."""
    mark = {Dialect.POSTGRESQL: "$1", Dialect.MARIADB: "%s"}.get(source.dialect, "?")
    planned, rogue = f"INSERT INTO made VALUES ({mark})", "UPDATE made SET n = 7"
    plan = Plan(kind="none", dialect=source.dialect, config={}, steps=(Step(name="one", phase="one", sql=(planned,)),))
    await execute(source, "CREATE TABLE made (n integer)")
    async with listening(Ground(source=source, folder=tmp_path), server_log(source.dialect, request)) as heard:
        session = await open_session(source)
        await session.execute(planned, 1)
        await session.fetch("SELECT n FROM made")
        await session.execute(rogue)
        await session.close()
    assert unplanned(plan, heard, source.dialect) == [rogue]


@cells
async def test_a_plan_is_pure_and_a_preview_changes_nothing(
    cell: Cell, ground: Ground, request: pytest.FixtureRequest
) -> None:
    config = await made(cell, ground)
    before = await picture(ground)
    async with listening(ground, server_log(cell.dialect, request)) as heard:
        first = await preview(cell.kind, config, ground.sources)
        second = await preview(cell.kind, config, ground.sources)
    assert [one for one in heard if changes(cell.dialect, one)] == []
    assert await picture(ground) == before
    assert lasting(first.plan) == lasting(second.plan)
    assert first.plan_hash == second.plan_hash
    assert first.plan.steps
    assert unmarked(first.plan) == []
    assert not first.plan.unmet
    assert len({step.name for step in first.plan.steps}) == len(first.plan.steps), "two steps have the same name"
    at = desk(ground.sources)
    kind, read = at.read(cell.kind, {"data_source": "source", **config})
    async with looking.looking(at.addresses, "source") as look:
        state = await kind.inspect(read, look)
        plans = [kind.plan(read, state) for _ in range(2)]
    assert plans[0] == plans[1]
    assert plan_hash(plans[0]) == plan_hash(plans[1]) == first.plan_hash


@cells
async def test_only_what_was_approved_is_executed_and_it_is_told(
    cell: Cell, ground: Ground, request: pytest.FixtureRequest
) -> None:
    config = await made(cell, ground)
    shown = await preview(cell.kind, config, ground.sources)
    before = await seen(cell, ground)
    async with listening(ground, server_log(cell.dialect, request)) as heard:
        ran = await run(cell.kind, config, ground.sources, args={"plan_hash": shown.plan_hash})
    assert ran.summary["plan_hash"] == shown.plan_hash
    assert len(ran.summary) > 1, "the summary says nothing of what was done"
    await cell.check(ground, ran)
    assert heard, "the server does not tell what it is asked"
    assert unplanned(shown.plan, heard, cell.dialect) == []
    if any(changes(cell.dialect, sql) for step in shown.plan.steps for sql in step.sql):
        assert any(changes(cell.dialect, one) for one in heard), "nothing that changes something was heard"
    assert await seen(cell, ground) == before
    phases = list(dict.fromkeys(ran.phases))
    assert phases == ["plan", *dict.fromkeys(step.phase for step in shown.plan.steps)]
    assert [step.name for step in shown.plan.steps if not any(step.name in line for line in ran.lines)] == []
    assert len(ran.fractions) > 1
    assert ran.checkpoint["done"] == [step.name for step in shown.plan.steps]
    assert_tidy(await picture(ground), ran)
    await planned_again(cell, config, ground, shown.plan)


@cells
async def test_what_is_interrupted_is_gone_on_with(cell: Cell, ground: Ground) -> None:
    await interrupted(cell, ground, few)


@pytest.mark.chaos
@cells
async def test_what_is_interrupted_anywhere_is_gone_on_with(cell: Cell, ground: Ground) -> None:
    await interrupted(cell, ground, each)


@pytest.mark.chaos
@cells
async def test_what_is_lost_after_any_statement_is_gone_on_with(cell: Cell, ground: Ground) -> None:
    config = await made(cell, ground)
    before, shown = await picture(ground), await seen(cell, ground)
    await run(cell.kind, config, ground.sources)
    end = await picture(ground)
    for number in count(1):
        config = await made(cell, ground)
        try:
            await run(cell.kind, config, ground.sources, stop_after=number)
        except Interrupted as lost:
            assert_in_order(before, await picture(ground), end)
            assert await seen(cell, ground) == shown, number
            ran = await run(cell.kind, config, ground.sources, checkpoint=lost.checkpoint)
            assert await picture(ground) == end, number
            await cell.check(ground, ran)
        else:
            break


@cells
async def test_what_is_cancelled_is_in_order_and_gone_on_with(cell: Cell, ground: Ground) -> None:
    await cancelled(cell, ground, few)


@pytest.mark.chaos
@cells
async def test_what_is_cancelled_anywhere_is_in_order_and_gone_on_with(cell: Cell, ground: Ground) -> None:
    await cancelled(cell, ground, each)


@pytest.mark.parametrize("cell", [one for one in CELLS if one.expected is Support.REFUSED], ids=lambda cell: cell.id)
async def test_what_is_not_done_says_why(cell: Cell, sqlite_source: Address) -> None:
    kind = Catalogue().get(cell.kind)
    source = SERVER if cell.dialect is Dialect.SQLSERVER else sqlite_source
    with pytest.raises(InvalidInput) as refused:
        await preview(cell.kind, {**kind.example, "data_source": "source"}, {"source": source})
    (error,) = refused.value.errors
    assert error.field == "config.data_source"
    reason = kind.support(cell.dialect)[1]
    assert reason in error.message
    assert len(reason.split()) > 5
    assert ";" in reason, "it says what to do in its place, too"
    ran = await run(cell.kind, {**kind.example, "data_source": "source"}, {"source": source})
    assert ran.outcome.kind is OutcomeKind.FAILED
    assert ran.outcome.retryable is False


@pytest.mark.parametrize("cell", [one for one in CELLS if one.expected is Support.SCRIPT], ids=lambda cell: cell.id)
async def test_what_is_a_script_says_so(cell: Cell) -> None:
    shown = await preview(cell.kind, cell.config, {"source": SERVER})
    assert shown.plan.script_only
    assert "never executed" in shown.script
    assert shown == await preview(cell.kind, cell.config, {"source": SERVER})
    known = [line for line in shown.script.splitlines() if not (cell.unread and line.startswith(cell.unread))]
    assert [one for one in sqlglot.parse("\n".join(known), read="tsql") if one is not None]
    assert "nothing connects to SQL Server" in (await run(cell.kind, cell.config, {"source": SERVER})).error
    golden = GOLDEN / f"{cell.kind}.sql"
    assert golden.exists(), "no script of it was reviewed"
    if cell.kind in REVIEWED_HERE:
        assert shown.script == golden.read_text(), f"if it is what is wanted, write it to {golden}"


def unmarked(plan: Plan) -> list[str]:
    """What deletes, by its words, in steps that are not said to be destructive."""
    return [
        f"{step.name}: {sql}"
        for step in plan.steps
        for sql in step.sql
        if not step.destructive and DELETING.match(sql) and not any(own in sql for own in OWN)
    ]


def lasting(plan: Plan) -> Plan:
    """Return the plan without what its preconditions tell of the moment, such as how much room there is."""
    return replace(plan, preconditions=tuple(replace(one, detail="") for one in plan.preconditions))


def few(cell: Cell, most: int) -> Iterable[tuple[int, bool]]:
    """Return a few moments: which of how many, and whether what was told last is lost."""
    middle = (most + 2) // 2
    if cell.slow:
        return [(middle, True)]
    return sorted({(min(2, most), True), (middle, False), (middle, True), (max(most - 1, 1), True)})


def each(_: Cell, most: int) -> Iterable[tuple[int, bool]]:
    """Return all of them."""
    return product(range(1, most + 1), (False, True))


async def made(cell: Cell, ground: Ground) -> dict[str, Any]:
    """Make what the cell works on anew, and return its configuration."""
    await ground.wipe()
    await cell.make(ground)
    return {**cell.config, **ground.config}


def server_log(dialect: Dialect, request: pytest.FixtureRequest) -> Path:
    if dialect is not Dialect.POSTGRESQL:
        return Path()
    server: Cluster = request.getfixturevalue("postgres_server")
    return server.log


async def seen(cell: Cell, ground: Ground) -> Any:
    """Return what readers of the cell's table see."""
    return await logical(ground, cell.table) if cell.table else None


def assert_tidy(end: Picture, ran: Ran) -> None:
    """Nothing is left that was made for a while, but for what the summary names."""
    told = re.findall(r"_hh_\w+", repr(dict(ran.summary)))
    assert [name for name in end.leftovers if not any(one in name for one in told)] == []  # an index is named after it


async def planned_again(cell: Cell, config: dict[str, Any], ground: Ground, first: Plan) -> None:
    if cell.again is Again.REFUSED:
        with pytest.raises(InvalidInput):
            await preview(cell.kind, config, ground.sources)
        return
    plan = (await preview(cell.kind, config, ground.sources)).plan
    match cell.again:
        case Again.NOTHING:
            assert plan.steps == ()
        case Again.LESS:
            assert {step.name for step in plan.steps} < {step.name for step in first.steps}
        case Again.REPEATED:
            assert [step.sql for step in plan.steps] == [step.sql for step in first.steps]
        case _:
            assert plan_hash(plan) == plan_hash(first)
            assert not plan.unmet
    if cell.again is Again.FAILS:
        before = await picture(ground)
        assert "already" in (await run(cell.kind, config, ground.sources)).error
        assert await picture(ground) == before


async def interrupted(cell: Cell, ground: Ground, moments: Callable[[Cell, int], Iterable[tuple[int, bool]]]) -> None:
    """Lose the executor at checkpoints, with and without the last of them, and go on: nobody can tell afterwards."""
    config = await made(cell, ground)
    before, shown = await picture(ground), await seen(cell, ground)
    whole = await run(cell.kind, config, ground.sources)
    end = await picture(ground)
    for number, lose_last in moments(cell, whole.checkpoints):
        config = await made(cell, ground)
        with pytest.raises(Interrupted) as first:
            await run(cell.kind, config, ground.sources, stop_at=number, lose_last=lose_last)
        assert_in_order(before, await picture(ground), end)
        assert await seen(cell, ground) == shown
        ran = await run(cell.kind, config, ground.sources, checkpoint=first.value.checkpoint)
        if not lose_last:  # what was done and never told may leave a summary with less
            assert told_of(cell, ran, whole) == told_of(cell, whole, ran), number
        assert await picture(ground) == end, number
        await cell.check(ground, ran)


async def cancelled(cell: Cell, ground: Ground, moments: Callable[[Cell, int], Iterable[tuple[int, bool]]]) -> None:
    """Cancel it at reports: what is there is in order, and another attempt finishes."""
    config = await made(cell, ground)
    before, shown = await picture(ground), await seen(cell, ground)
    whole = await run(cell.kind, config, ground.sources)
    end = await picture(ground)
    for number in dict(moments(cell, len(whole.attempt.reports))):
        config = await made(cell, ground)
        kept = await cancelled_at(cell, config, ground, number)
        assert_in_order(before, await picture(ground), end)
        assert await seen(cell, ground) == shown
        ran = await run(cell.kind, config, ground.sources, checkpoint=kept)
        await cell.check(ground, ran)
        assert await picture(ground) == end, number


async def cancelled_at(cell: Cell, config: dict[str, Any], ground: Ground, number: int) -> Any:
    """Cancel an attempt at a report, and return its last checkpoint; what must be finished may be finished."""
    payload = {"kind": cell.kind, "config": {"data_source": "source", **config}}
    definition = TaskDefinition(name=cell.kind, type=TaskType.OPERATION, payload=payload)
    attempt = InterruptedAttempt(definition, None, checkpoint=None, cancel_after=number, stop_at=None, lose_last=False)

    async def attempted() -> None:
        attempt.begins()
        outcome = await OperationRunner(desk(ground.sources)).run(attempt)
        assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message

    (ended,) = await asyncio.gather(asyncio.create_task(attempted()), return_exceptions=True)
    assert attempt.cancelled
    assert ended is None or isinstance(ended, asyncio.CancelledError), repr(ended)
    return attempt.stored


def assert_in_order(before: Picture, now: Picture, end: Picture) -> None:
    """No row that stays is missing at any moment, and none is there that nobody wrote."""
    assert (before.all_rows & end.all_rows) - now.all_rows == set(), "rows are missing"
    assert now.all_rows <= before.all_rows | end.all_rows


def told_of(cell: Cell, ran: Ran, other: Ran) -> dict[str, Any]:
    """Return what both summaries tell; the plan is another where tables were made anew."""
    shared = set(ran.summary) & set(other.summary) - {"plan_hash", "undo"} - cell.vague
    return {name: ran.summary[name] for name in shared}
