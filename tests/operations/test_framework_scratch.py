from __future__ import annotations
import asyncio, time, socket
from dataclasses import replace
import pytest
from operations.asking import execute, fetch, value, postgres_connection, maria_connection
from operations.running import preview, run
from hourhand.model.data_source import Address, Dialect
from hourhand.operations.sessions import open_session
from hourhand.bootstrap.sources import tried

SLEEP = {"postgresql": "UPDATE t SET n = n + 1 FROM (SELECT pg_sleep(30)) s", "mariadb": "UPDATE t SET n = n + 1 + SLEEP(30)"}

@pytest.mark.parametrize("transaction", [True, False])
@pytest.mark.parametrize("d", ["pg", "maria"])
async def test_cancel(d, transaction, request):
    src = request.getfixturevalue(f"{d}_source")
    await execute(src, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    sql = SLEEP[src.dialect.value]
    task = asyncio.ensure_future(run("custom", {"steps": [{"name": "a", "sql": sql, "in_transaction": transaction, "check_sql": "SELECT n > 1 FROM t"}]}, {"s": src}))
    q = ("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'UPDATE t SET%' AND state='active'" if d == "pg"
         else "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE t SET%'")
    for _ in range(100):
        if task.done(): print("ENDED", task.result().outcome); break
        if await value(src, q): break
        await asyncio.sleep(.1)
    else: assert 0
    t = time.monotonic(); task.cancel()
    with pytest.raises(asyncio.CancelledError): await task
    print(d, transaction, "cancel took", time.monotonic() - t, "still active", await value(src, q), await fetch(src, "SELECT n FROM t"))
    await asyncio.sleep(.3)
    print("after .3", await value(src, q))
    if d == "pg": print(await fetch(src, "SELECT pid,state,query FROM pg_stat_activity WHERE application_name like 'hourhand%'"), await fetch(src, "select locktype, mode, pid from pg_locks where pid <> pg_backend_pid()"))
    else: print(await fetch(src, "SELECT id,command,info FROM information_schema.processlist"))
    await asyncio.wait_for(execute(src, "UPDATE t SET n = 5"), 5)

async def test_preview_under_lock_pg(pg_source):
    await execute(pg_source, "CREATE TABLE t (n int primary key, d timestamptz)")
    async with postgres_connection(pg_source) as c:
        tr = c.transaction(); await tr.start(); await c.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        for kind, cfg in (("statistics_update", {"tables": ["t"]}), ("data_cleanup", {"table": "t", "where": "n < 5"}), ("index_rebuild", {"table": "t"})):
            b = time.monotonic()
            try:
                async with asyncio.timeout(15): p = await preview(kind, cfg, {"s": pg_source}); print(kind, "ok", time.monotonic()-b, p.impact.blockers)
            except BaseException as e: print(kind, type(e), e, time.monotonic()-b)
        await tr.rollback()

async def test_preview_under_lock_maria(maria_source):
    await execute(maria_source, "CREATE TABLE t (n int primary key, d datetime)")
    async with maria_connection(maria_source) as c, c.cursor() as cur:
        await cur.execute("LOCK TABLES t WRITE")
        for kind, cfg in (("statistics_update", {"tables": ["t"]}), ("data_cleanup", {"table": "t", "where": "n < 5"})):
            b = time.monotonic()
            try:
                async with asyncio.timeout(15): p = await preview(kind, cfg, {"s": maria_source}); print(kind, "ok", time.monotonic()-b, p.impact.blockers)
            except BaseException as e: print(kind, type(e), e, time.monotonic()-b)

@pytest.mark.parametrize("dialect", ["mariadb", "postgresql"])
async def test_tarpit(dialect):
    async def quiet(r, w):
        await asyncio.sleep(40)
    server = await asyncio.start_server(quiet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    b = time.monotonic()
    try:
        async with asyncio.timeout(14): await open_session(Address(dialect=Dialect(dialect), host="127.0.0.1", port=port, database="x", username="u"))
    except BaseException as e: print(dialect, repr(e), time.monotonic()-b)
    server.close()

async def test_maria_statement_timeout(maria_source):
    await execute(maria_source, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)")
    b = time.monotonic()
    ran = await run("custom", {"statement_timeout_ms": 300, "lock_retries": 2, "steps": [{"name": "a", "sql": "UPDATE t SET n = n + 1 + SLEEP(3)"}]}, {"s": maria_source})
    print(ran.outcome, time.monotonic()-b, ran.lines)

async def test_late_blocker(pg_source):
    await execute(pg_source, "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1)", "CREATE TABLE u (n int)", "INSERT INTO u VALUES (1)")
    async with postgres_connection(pg_source) as c:
        tr = c.transaction(); await tr.start(); await c.execute("UPDATE t SET n = 3")
        ran = await run("custom", {"lock_timeout_ms": 300, "lock_retries": 1, "steps": [{"name": "a", "sql": "WITH x AS (SELECT pg_sleep(1)) UPDATE t SET n = t.n + 1 FROM x"}]}, {"s": pg_source})
        print(ran.outcome.error_message)
        await tr.rollback()
