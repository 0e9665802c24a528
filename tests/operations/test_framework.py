"""What sessions and the ladder promise whatever the kind: nothing hangs, nothing is given away, blockers are named."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.model.operation import Plan, Step
from hourhand.model.task import TaskDefinition
from hourhand.model.words import TaskType
from hourhand.operations import runner, sessions
from hourhand.operations.config import Config
from hourhand.operations.failures import LockNotGained, OperationFailure, SourceUnreachable
from hourhand.operations.looking import looking
from hourhand.operations.sessions import open_session
from hourhand.operations.throttle import shut
from hourhand.operations.work import LiveWork
from hourhand.testing.attempts import FakeAttempt
from operations.asking import execute, file_connection, maria_connection, postgres_connection, value
from operations.rogue import rogue_server
from operations.running import preview, run

if TYPE_CHECKING:
    from pathlib import Path


def at(port: int, dialect: Dialect) -> Address:
    return Address(dialect=dialect, host="127.0.0.1", port=port, database="shop", username="hourhand")


async def test_a_server_that_asks_for_a_file_of_this_machine_is_not_given_it(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("seven quiet otters")
    async with rogue_server(str(secret)) as (port, got):
        with pytest.raises(OperationFailure, match="asks for a file of this machine"):
            await open_session(at(port, Dialect.MARIADB))
        assert got == []


async def test_a_statement_that_asks_for_a_file_of_this_machine_is_not_given_it(
    maria_source: Address, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("1\n")
    await execute(maria_source, "CREATE TABLE t (n int)")
    load = f"LOAD DATA LOCAL INFILE '{secret}' INTO TABLE t"
    config = {"steps": [{"name": "load", "sql": load, "check_sql": "SELECT count(*) FROM t", "in_transaction": False}]}
    ran = await run("custom", config, {"source": maria_source})
    assert "asks for a file of this machine" in ran.error
    assert await value(maria_source, "SELECT count(*) FROM t") == 0


@pytest.mark.parametrize("dialect", [Dialect.POSTGRESQL, Dialect.MARIADB])
async def test_a_server_that_says_nothing_is_not_waited_for(dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CONNECT_SECONDS", 1.0)
    writers: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    async with asyncio.timeout(30):
        with pytest.raises(SourceUnreachable):
            await open_session(at(server.sockets[0].getsockname()[1], dialect))
    for one in writers:
        one.close()
    server.close()


async def test_who_only_looks_does_not_wait_for_ever(
    pg_source: Address, maria_source: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CONNECT_SECONDS", 1.0)
    for source in (pg_source, maria_source):
        await execute(source, "CREATE TABLE t (n integer PRIMARY KEY)")
    config = {"table": "t", "where": "n < 5"}
    async with postgres_connection(pg_source) as other, asyncio.timeout(30):
        await other.execute("BEGIN")
        await other.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(LockNotGained):
            await preview("data_cleanup", config, {"source": pg_source})
    async with maria_connection(maria_source) as other, other.cursor() as cursor, asyncio.timeout(30):
        await cursor.execute("LOCK TABLES t WRITE")
        with pytest.raises(LockNotGained):
            await preview("data_cleanup", config, {"source": maria_source})


async def test_a_statement_that_takes_too_long_is_no_lock_that_is_waited_for(maria_source: Address) -> None:
    await execute(maria_source, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    steps = [{"name": "slow", "sql": "UPDATE t SET n = n + 1 + SLEEP(30)"}]
    ran = await run("custom", {"statement_timeout_ms": 200, "steps": steps}, {"source": maria_source})
    assert "stopped by the server" in ran.error
    assert not ran.outcome.retryable
    assert not any("waits for a lock" in line for line in ran.lines)


async def test_a_blocker_that_is_met_late_is_named_too(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    late = "WITH x AS (SELECT pg_sleep(1)) UPDATE t SET n = t.n + 1 FROM x"
    config = {"lock_timeout_ms": 400, "lock_retries": 0, "steps": [{"name": "late", "sql": late}]}
    async with postgres_connection(pg_source) as other:
        await other.execute("BEGIN")
        await other.execute("UPDATE t SET n = 7")
        ran = await run("custom", config, {"source": pg_source})
    assert "UPDATE t SET n = 7" in ran.error
    assert "its transaction open for" in ran.error


async def test_a_window_that_is_shut_is_waited_for_before_anything_is_looked_at(
    sqlite_source: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    await execute(sqlite_source, "CREATE TABLE t (n int)")
    reasons = iter(["the window opens at 22:00 UTC, and it is 21:59"] * 3)
    looked: list[str] = []

    def shut(*_: object) -> str | None:
        looked.append("clock")
        return next(reasons, None)

    monkeypatch.setattr(runner, "shut", shut)
    monkeypatch.setattr(runner, "LOOK_SECONDS", 0.01)
    ran = await run("statistics_update", {"tables": ["t"]}, {"source": sqlite_source})
    assert ran.summary["plan_hash"]
    assert ran.lines[0].startswith("waits: the window opens at 22:00 UTC")
    assert len(looked) == 4
    monkeypatch.setattr(runner, "shut", lambda *_: pytest.fail("what has begun does not wait"))
    again = await run("statistics_update", {"tables": ["t"]}, {"source": sqlite_source}, checkpoint=ran.checkpoint)
    assert again.summary["plan_hash"] == ran.summary["plan_hash"]
    await run("statistics_update", {"tables": ["t"], "dry_run": True}, {"source": sqlite_source})


@pytest.mark.parametrize(
    ("start", "end", "at", "is_open"),
    [
        (None, None, "12:00", True),
        ("22:00", "06:00", "21:59", False),
        ("22:00", "06:00", "22:00", True),
        ("22:00", "06:00", "05:59", True),
        ("22:00", "06:00", "06:00", False),
        ("08:00", "10:00", "09:59", True),
        ("08:00", "10:00", "10:00", False),
        ("22:00", None, "23:59", True),
        ("22:00", None, "00:00", False),
        (None, "06:00", "00:00", True),
        (None, "06:00", "06:00", False),
    ],
)
def test_a_window_may_reach_into_the_next_day(start: str | None, end: str | None, at: str, *, is_open: bool) -> None:
    config = Config(data_source="shop", window_start=start, window_end=end)
    moment = datetime.fromisoformat(f"2026-11-15T{at}:30+00:00")
    assert (shut(config, moment) is None) is is_open


@pytest.mark.parametrize(
    "given",
    [
        {"window_start": "22:00", "window_end": "22:00"},
        {"window_start": "1\u0663:00"},
        {"max_replica_lag_seconds": "Infinity"},
        {"max_replica_lag_seconds": "NaN"},
        {"statement_timeout_ms": 10**30},
        {"data_source": "\ud800"},
    ],
    ids=ascii,
)
def test_what_no_server_could_make_sense_of_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate({"data_source": "shop", **given})


async def test_sqlite_waits_for_its_lock_no_longer_than_it_is_told_to(sqlite_source: Address) -> None:
    await execute(sqlite_source, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    steps = [{"name": "change", "sql": "UPDATE t SET n = 2"}]
    config = {"lock_timeout_ms": 50, "lock_retries": 1, "steps": steps}
    with closing(file_connection(sqlite_source)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(sessions.CONNECT_SECONDS):  # which is how long it waits unless it is told
            ran = await run("custom", config, {"source": sqlite_source})
    assert "tried 2 times" in ran.error
    assert ran.outcome.retryable


async def test_a_lag_that_cannot_be_seen_is_not_promised_to_be_kept_to(sqlite_source: Address) -> None:
    await execute(sqlite_source, "CREATE TABLE t (n int)")
    config = {"tables": ["t"], "max_replica_lag_seconds": 5}
    with pytest.raises(InvalidInput, match="does not tell how far its replicas are behind"):
        await preview("statistics_update", config, {"source": sqlite_source})


async def test_a_server_does_not_wait_for_hours_for_a_machine_that_is_gone(pg_source: Address) -> None:
    session = await open_session(pg_source)
    try:
        seconds = [
            int((await session.fetch(f"SELECT current_setting('tcp_keepalives_{name}') AS n"))[0]["n"])
            for name in ("idle", "interval", "count")
        ]
        assert seconds == [30, 10, 3]
        assert (await session.fetch("SELECT current_setting('lock_timeout') AS n"))[0]["n"] == "10s"
    finally:
        await session.close()


async def test_a_cancel_at_the_end_of_a_chunk_is_not_lost(pg_source: Address) -> None:
    step = Step(name="a chunk", phase="copy", sql=(), transaction=False)
    config = Config(data_source="source")
    plan = Plan(kind="sample", dialect=pg_source.dialect, config=config.plain(), steps=(step,))
    attempt = FakeAttempt(TaskDefinition(name="t", type=TaskType.OPERATION, payload={}))

    async def addresses(_: str) -> Address:
        return pg_source

    async def chunk() -> None:
        """End at once, so that the cancel meets what comes after it."""
        asyncio.get_running_loop().call_soon(climbing.cancel)

    async with looking(addresses, "source") as look:
        work = LiveWork(look, config, plan, attempt, instance_id=1, kept={})
        climbing = asyncio.ensure_future(work.climb(step, chunk))
        with pytest.raises(asyncio.CancelledError):
            await climbing
