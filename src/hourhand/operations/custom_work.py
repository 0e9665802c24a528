"""Operations: how a custom step is carried out: under its own time-out, once, and taken back if it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Step
from hourhand.operations.failures import NotVerified, OperationFailure, StatementFailed
from hourhand.operations.work import LiveWork


async def carried_out(work: LiveWork, step: Step) -> int | None:
    """Rows touched; None if it was done before, though no checkpoint says so."""
    try:
        touched = await work.climb(step, lambda: _executed(work, step))
        await _require_done(work, step)
    except (StatementFailed, NotVerified) as error:
        # A transaction that failed has left nothing: to take that back would take back what was there before.
        if step.values["rollback"] is not None and (isinstance(error, NotVerified) or not step.transaction):
            await _taken_back(work, step, error)
        raise
    return touched


async def _executed(work: LiveWork, step: Step) -> int | None:
    values, session = step.values, work.source
    statements = list(step.sql)
    if values["marked"]:
        marker = statements.pop(0)
        if await _is_marked(work, step):
            work.log(f"{step.name}: was done, and its executor lost before it could say so")
            return None
        # First, so that whoever else is at the same step waits here, and then finds that it is done.
        await work.change(step, marker, work.facts["token"], step.name)
    await _limit(session, step)
    return sum([await _timed(work, step, sql) for sql in statements[: values["statements"]]])


async def _is_marked(work: LiveWork, step: Step) -> bool:
    dialect = work.source.dialect
    mine, name = {Dialect.POSTGRESQL: ("$1", "$2"), Dialect.SQLITE: ("?", "?")}.get(dialect, ("%s", "%s"))
    rows = await work.source.fetch(
        f"SELECT 1 AS done FROM {step.values['table']} WHERE operation = {mine} AND step = {name}",  # noqa: S608
        work.facts["token"],
        step.name,
    )
    return bool(rows)


async def _limit(session: Session, step: Step) -> None:
    """The ladder has set the operation's own time-out, and sets it again for the next step."""
    milliseconds = step.values["timeout_ms"]
    if milliseconds is None:
        return
    match session.dialect:
        case Dialect.POSTGRESQL:
            scope = "LOCAL" if step.transaction else "SESSION"
            await session.execute(f"SET {scope} statement_timeout = '{milliseconds}ms'")
        case Dialect.MARIADB:
            await session.execute(f"SET SESSION max_statement_time = {milliseconds / 1000}")


async def _timed(work: LiveWork, step: Step, sql: str) -> int:
    milliseconds = step.values["timeout_ms"]
    limit = milliseconds / 1000 if milliseconds is not None and work.source.dialect is Dialect.SQLITE else None
    try:
        async with asyncio.timeout(limit):
            return await work.change(step, sql)
    except TimeoutError:
        raise StatementFailed(f"it took longer than {milliseconds} ms: {sql[:200]}") from None
    except StatementFailed as error:
        if milliseconds is not None and "max_statement_time" in str(error):
            raise StatementFailed(f"it took longer than {milliseconds} ms: {sql[:200]}") from error
        raise


async def _require_done(work: LiveWork, step: Step) -> None:
    if step.done_check is None or _truth(await work.source.fetch(step.done_check)):
        return
    raise NotVerified(
        f"{step.name}: its statements were executed, and its check_sql still says that it is not done: "
        f"{step.done_check[:200]}"
    )


def _truth(rows: Sequence[object]) -> bool:
    first = rows[0] if rows else {}
    assert isinstance(first, dict)  # noqa: S101 - what every session gives
    return bool(first and next(iter(first.values())))


async def _taken_back(work: LiveWork, step: Step, error: OperationFailure) -> None:
    rollback = step.values["rollback"]
    work.log(f"{step.name}: failed ({error}); takes it back by {rollback}", level="warning")
    try:
        if step.transaction:
            async with work.source.transaction():
                await work.source.execute(rollback)
        else:
            await work.source.execute(rollback)
    except OperationFailure as second:
        error.args = (f"{error}; its rollback_sql failed, too ({second}): look at it by hand",)
    else:
        error.args = (f"{error}; it was taken back by its rollback_sql",)
