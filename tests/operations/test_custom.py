"""custom: each statement takes effect once, wherever an attempt ends; what could not be told apart is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from hourhand.operations.statements import Statement
from operations.asking import count, execute, fetch, quoted, value
from operations.killing import run_and_kill
from operations.running import Interrupted, preview, run

GOLDEN = Path(__file__).parent / "golden" / "custom.sql"
SQL_SERVER = Address(dialect=Dialect.SQLSERVER, host="db.example.com", database="shop")
HOSTILE = 'order "by" `%s` 中\'x; --'


def exists(dialect: Dialect, table: str) -> str:
    """Whether there is a table."""
    match dialect:
        case Dialect.POSTGRESQL:
            return f"SELECT to_regclass('{table}') IS NOT NULL"
        case Dialect.SQLITE:
            return f"SELECT count(*) FROM sqlite_master WHERE name = '{table}'"
    return f"SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '{table}'"


def steps(dialect: Dialect) -> list[dict[str, Any]]:
    """A table that is made, counted up without a check, copied and dropped: its check says nothing afterwards."""
    return [
        {"name": "make", "sql": "CREATE TABLE work (n integer)", "check_sql": exists(dialect, "work")},
        {"name": HOSTILE, "sql": ["UPDATE tally SET n = n + 1;", "INSERT INTO work VALUES (7)"]},
        {"name": "more", "sql": "INSERT INTO tally2 SELECT n FROM work -- 100 % of 'them'"},
        {
            "name": "drop",
            "sql": "DROP TABLE work",
            "check_sql": exists(dialect, "work").replace("SELECT", "SELECT NOT (SELECT", 1) + ")",
        },
    ]


async def prepared(source: Address) -> list[dict[str, Any]]:
    for table in ("work", "tally", "tally2"):
        await execute(source, f"DROP TABLE IF EXISTS {table}")
    await execute(
        source, "CREATE TABLE tally (n integer)", "CREATE TABLE tally2 (n integer)", "INSERT INTO tally VALUES (0)"
    )
    return steps(source.dialect)


async def assert_done_once(source: Address) -> None:
    assert await fetch(source, "SELECT n FROM tally") == [(1,)]
    assert await fetch(source, "SELECT n FROM tally2") == [(7,)]
    assert not await value(source, exists(source.dialect, "work"))
    assert await leftovers(source) == []


async def leftovers(source: Address) -> list[str]:
    query = {
        Dialect.POSTGRESQL: "SELECT relname FROM pg_class WHERE relname LIKE '\\_hh\\_%'",
        Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE name LIKE '\\_hh\\_%' ESCAPE '\\'",
    }.get(source.dialect, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME LIKE '\\_hh\\_%'")
    return [name for (name,) in await fetch(source, query)]


async def test_steps_are_done_in_order(source: Address) -> None:
    given = await prepared(source)
    first = await preview("custom", {"steps": given}, {"source": source})
    assert first == await preview("custom", {"steps": given}, {"source": source})
    assert "UPDATE tally SET n = n + 1" in first.script
    ran = await run("custom", {"steps": given}, {"source": source}, args={"plan_hash": first.plan_hash})
    assert [one["name"] for one in ran.summary["steps"]] == ["make", HOSTILE, "more", "drop"]
    assert ran.summary["steps"][2]["rows"] == 1
    assert "undo" not in ran.summary
    await assert_done_once(source)


@pytest.mark.parametrize("lose_last", [False, True])
async def test_what_is_lost_at_any_checkpoint_is_done_once(source: Address, *, lose_last: bool) -> None:
    for stop_at in range(1, 9):
        given = {"steps": await prepared(source)}
        with pytest.raises(Interrupted) as first:
            await run("custom", given, {"source": source}, stop_at=stop_at, lose_last=lose_last)
        await run("custom", given, {"source": source}, checkpoint=first.value.checkpoint)
        await assert_done_once(source)


async def test_what_is_lost_after_any_statement_is_done_once(source: Address) -> None:
    interrupted = 0
    for stop_after in range(1, 12):
        given = {"steps": await prepared(source)}
        try:
            await run("custom", given, {"source": source}, stop_after=stop_after)
        except Interrupted as lost:
            interrupted += 1
            await run("custom", given, {"source": source}, checkpoint=lost.checkpoint)
        await assert_done_once(source)
    assert interrupted == 9  # two tables are made and dropped, two rows mark, and three statements write


async def test_rows_of_an_operation_that_was_given_up_say_nothing_about_the_next(source: Address) -> None:
    await prepared(source)
    given = {"steps": [{"name": f"to {one}", "sql": f"INSERT INTO {one} VALUES (5)"} for one in ("tally", "tally2")]}
    with pytest.raises(Interrupted) as first:
        await run("custom", given, {"source": source}, stop_at=4)
    assert await leftovers(source)
    assert (await count(source, "tally"), await count(source, "tally2")) == (2, 0)
    await run("custom", given, {"source": source})
    assert (await count(source, "tally"), await count(source, "tally2")) == (3, 1)
    await run("custom", given, {"source": source}, checkpoint=first.value.checkpoint)
    assert (await count(source, "tally"), await count(source, "tally2")) == (3, 2)
    assert await leftovers(source) == []


async def test_a_process_that_is_killed_is_gone_on_for(source: Address, tmp_path: Path) -> None:
    given = {"steps": await prepared(source)}
    dead = await run_and_kill("custom", given, {"source": source}, tmp_path, when=lambda told: told.line == "more …")
    assert dead.killed
    await run("custom", given, {"source": source}, checkpoint=dead.checkpoint)
    await assert_done_once(source)


async def test_what_is_done_already_is_skipped(source: Address) -> None:
    given = await prepared(source)
    await execute(source, "CREATE TABLE work (n integer)")
    ran = await run("custom", {"steps": given}, {"source": source})
    assert "make: already done" in ran.lines
    assert ran.summary["steps"][0] == {"name": "make", "rows": None}
    await assert_done_once(source)


async def test_a_step_that_fails_leaves_nothing_and_says_why(source: Address) -> None:
    await prepared(source)
    given = [{"name": "wrong", "sql": ["UPDATE tally SET n = 5", "INSERT INTO nowhere VALUES (1)"]}]
    ran = await run("custom", {"steps": given}, {"source": source})
    assert "nowhere" in ran.error
    assert ran.outcome.retryable is False
    assert await fetch(source, "SELECT n FROM tally") == [(0,)]


async def test_what_fails_is_taken_back_and_it_is_said(source: Address) -> None:
    await prepared(source)
    given = {
        "name": "half",
        "sql": ["UPDATE tally SET n = 5", "INSERT INTO nowhere VALUES (1)"],
        "in_transaction": False,
        "check_sql": "SELECT 1 WHERE 1 = 0" if source.dialect is not Dialect.MARIADB else "SELECT 0",
        "rollback_sql": "UPDATE tally SET n = 9",
    }
    ran = await run("custom", {"steps": [given]}, {"source": source})
    assert "nowhere" in ran.error
    assert "it was taken back by its rollback_sql" in ran.error
    assert await fetch(source, "SELECT n FROM tally") == [(9,)]
    wrong = {**given, "rollback_sql": "UPDATE nothing SET n = 9"}
    ran = await run("custom", {"steps": [wrong]}, {"source": source})
    assert "its rollback_sql failed, too" in ran.error


async def test_a_check_that_says_no_afterwards_is_a_failure(source: Address) -> None:
    await prepared(source)
    given = {"name": "idle", "sql": "UPDATE tally SET n = 5", "check_sql": "SELECT n = 6 FROM tally"}
    ran = await run("custom", {"steps": [given]}, {"source": source})
    assert "its check_sql still says that it is not done" in ran.error


async def test_undo_takes_back_every_step_the_last_one_first(source: Address) -> None:
    await prepared(source)
    there = exists(source.dialect, "work")
    given = [
        {"name": "make", "sql": "CREATE TABLE work (n integer)", "check_sql": there, "rollback_sql": "DROP TABLE work"},
        {"name": "fill", "sql": "INSERT INTO work VALUES (1)", "rollback_sql": "DELETE FROM work WHERE n = 1"},
    ]
    undo = (await run("custom", {"steps": given}, {"source": source})).summary["undo"]
    assert await count(source, "work") == 1
    assert [one["name"] for one in undo["config"]["steps"]] == ["take back fill", "take back make"]
    ran = await run("custom", undo["config"], {"source": source})
    assert ran.summary["steps"][0]["rows"] == 1
    assert not await value(source, there)


async def test_a_step_has_a_time_of_its_own(source: Address) -> None:
    slow = {
        Dialect.POSTGRESQL: "SELECT pg_sleep(60)",
        Dialect.MARIADB: "INSERT INTO tally SELECT count(*) FROM seq_1_to_1000000 a, seq_1_to_1000000 b",
        Dialect.SQLITE: "INSERT INTO tally WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(*) FROM n",
    }[source.dialect]
    await prepared(source)
    both = ["UPDATE tally SET n = 3", slow]
    given = {"name": "slow", "sql": both, "timeout_ms": 50, "rollback_sql": "UPDATE tally SET n = n - 3"}
    ran = await run("custom", {"steps": [given], "lock_retries": 0}, {"source": source})
    if source.dialect is Dialect.MARIADB:
        assert "took longer than 50 ms" in ran.error
    assert "rollback_sql" not in ran.error  # its transaction has left nothing that could be taken back
    assert await fetch(source, "SELECT n FROM tally") == [(0,)]


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"in_transaction": False}, "check_sql", "needs a check_sql, since it is in no transaction"),
        ({"sql": "COMMIT"}, "sql", "begins or ends a transaction"),
        ({"sql": "DELETE FROM a; DELETE FROM b"}, "sql", "more than one statement"),
        ({"sql": "-- nothing"}, "sql", "nothing is in it but comments"),
        ({"check_sql": "DELETE FROM a"}, "check_sql", "is no query"),
        ({"rollback_sql": "ROLLBACK"}, "rollback_sql", "begins or ends a transaction"),
    ],
)
async def test_what_cannot_be_done_once_is_refused(
    source: Address, given: dict[str, Any], field: str, said: str
) -> None:
    step = {"name": "one", "sql": "DELETE FROM a WHERE note = ';'", **given}
    with pytest.raises(InvalidInput, match=f"config.steps.0.{field}: .*{said}"):
        await preview("custom", {"steps": [step]}, {"source": source})


async def test_another_file_is_not_opened_beside_it(sqlite_source: Address, tmp_path: Path) -> None:
    step = {"name": "one", "sql": f"ATTACH '{tmp_path / 'hourhand.db'}' AS other"}
    with pytest.raises(InvalidInput, match="opens another file: leave it out"):
        await preview("custom", {"steps": [step]}, {"source": sqlite_source})


async def test_two_steps_of_one_name_are_refused(sqlite_source: Address) -> None:
    with pytest.raises(InvalidInput, match="several steps are called 'one'"):
        await preview("custom", {"steps": [{"name": "one", "sql": "SELECT 1"}] * 2}, {"source": sqlite_source})


@pytest.mark.parametrize(
    "sql", ["VACUUM work", "create index concurrently x on work (n)", "DROP DATABASE other", "ALTER SYSTEM RESET ALL"]
)
async def test_what_postgresql_does_in_no_transaction_needs_to_be_told(pg_source: Address, sql: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be in a transaction: say in_transaction: false"):
        await preview("custom", {"steps": [{"name": "one", "sql": sql}]}, {"source": pg_source})
    step = {"name": "one", "sql": sql, "in_transaction": False, "check_sql": "SELECT false"}
    shown = await preview("custom", {"steps": [step]}, {"source": pg_source})
    assert shown.plan.steps[0].transaction is False


async def test_what_mariadb_commits_by_itself_needs_a_check(maria_source: Address) -> None:
    given = {"name": "one", "sql": "ALTER TABLE work ADD m int"}
    with pytest.raises(InvalidInput, match="needs a check_sql, since ALTER commits by itself"):
        await preview("custom", {"steps": [given]}, {"source": maria_source})
    shown = await preview("custom", {"steps": [{**given, "check_sql": "SELECT 0"}]}, {"source": maria_source})
    assert shown.plan.steps[0].transaction is False
    assert "commit by themselves: one" in shown.script


async def test_statements_with_bodies_are_one(source: Address) -> None:
    await prepared(source)
    body = {
        Dialect.POSTGRESQL: [
            "CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS $x$ BEGIN NEW.n := 4; RETURN NEW; END; $x$",
            "CREATE TRIGGER t BEFORE INSERT ON tally FOR EACH ROW EXECUTE FUNCTION one()",
        ],
        Dialect.MARIADB: ["CREATE TRIGGER t BEFORE INSERT ON tally FOR EACH ROW BEGIN SET NEW.n = 4; SET @a = 1; END"],
        Dialect.SQLITE: [
            "CREATE TRIGGER t AFTER INSERT ON tally BEGIN UPDATE tally SET n = 4; DELETE FROM tally2; END;"
        ],
    }[source.dialect]
    made = {
        Dialect.POSTGRESQL: "SELECT count(*) FROM pg_trigger WHERE tgname = 't'",
        Dialect.MARIADB: "SELECT count(*) FROM information_schema.TRIGGERS WHERE TRIGGER_NAME = 't'",
        Dialect.SQLITE: "SELECT count(*) FROM sqlite_master WHERE name = 't'",
    }[source.dialect]
    await run("custom", {"steps": [{"name": "make", "sql": body, "check_sql": made}]}, {"source": source})
    assert await value(source, made) == 1
    await execute(source, "DELETE FROM tally", "INSERT INTO tally VALUES (1)")
    assert await fetch(source, "SELECT n FROM tally") == [(4,)]


async def test_names_and_values_stay_as_they_are_written(source: Address) -> None:
    table = quoted(source.dialect, HOSTILE)
    await execute(source, f"CREATE TABLE {table} (note varchar(50))")
    insert = f"INSERT INTO {table} VALUES ('50 %s; -- don''t ? $1 {{}}')"
    await run("custom", {"steps": [{"name": "fill", "sql": insert}]}, {"source": source})
    assert await fetch(source, f"SELECT note FROM {table}") == [("50 %s; -- don't ? $1 {}",)]


async def test_without_the_right_to_create_tables_it_is_told_what_helps(pg_source: Address) -> None:
    await execute(
        pg_source,
        "DO $$ BEGIN CREATE ROLE custom_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "CREATE TABLE tally (n integer)",
        "GRANT ALL ON tally TO custom_reader",
    )
    reader = Address(
        dialect=pg_source.dialect, host=pg_source.host, port=pg_source.port, database=pg_source.database,
        username="custom_reader",
    )  # fmt: skip
    step = {"name": "one", "sql": "INSERT INTO tally VALUES (1)"}
    (unmet,) = (await preview("custom", {"steps": [step]}, {"source": reader})).plan.unmet
    assert "may not create tables in schema public: grant CREATE, or give every step a check_sql" in unmet.detail
    checked = {**step, "check_sql": "SELECT count(*) FROM tally"}
    ran = await run("custom", {"steps": [checked]}, {"source": reader})
    assert ran.summary["steps"][0]["rows"] == 1


async def test_the_script_for_sql_server() -> None:
    given = [
        {
            "name": "add a column",
            "sql": "ALTER TABLE [dbo].[order]]s] ADD note nvarchar(50)",
            "check_sql": "SELECT CASE WHEN COL_LENGTH('dbo.[order]]s]', 'note') IS NULL THEN 0 ELSE 1 END",
            "rollback_sql": "ALTER TABLE [dbo].[order]]s] DROP COLUMN note",
        },
        {"name": "view", "sql": "CREATE VIEW dbo.notes AS SELECT note FROM [dbo].[order]]s] WHERE note <> 'é'"},
        {
            "name": "free",
            "sql": "CHECKPOINT",
            "in_transaction": False,
            "timeout_ms": 500,
            "rollback_sql": "PRINT 'again'",
        },
    ]
    shown = await preview("custom", {"steps": given}, {"source": SQL_SERVER})
    assert shown.script == GOLDEN.read_text()
    assert shown.plan.script_only
    parsed = [one for batch in shown.script.split("\nGO\n") for one in sqlglot.parse(batch, read="tsql") if one]
    unread = [one.sql(dialect="tsql").split()[0] for one in parsed if isinstance(one, exp.Command)]
    assert unread == ["BEGIN", "END", "END"]  # of TRY and CATCH, which sqlglot takes as they are


@pytest.mark.parametrize(
    ("sql", "destroys"),
    [
        ("INSERT INTO orders SELECT * FROM old", False),
        ("INSERT INTO orders VALUES (1) ON CONFLICT (id) DO UPDATE SET n = 2", True),
        ("CREATE TABLE lines (id int REFERENCES orders ON DELETE CASCADE)", False),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", True),
        ("SELECT id FROM orders WHERE note = 'DELETE me' FOR UPDATE", False),
        ("ALTER TABLE orders ADD note text", False),
        ("ALTER TABLE orders ALTER note TYPE varchar(3)", True),
        ("ALTER TABLE orders DROP COLUMN note", True),
        ("-- old ones\nDELETE FROM orders", True),
        ("WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone", True),
        ("CALL tidy()", True),
        ("DO $$ BEGIN PERFORM 1; END $$", True),
    ],
)
def test_what_may_delete_or_overwrite_is_known_by_its_words(sql: str, *, destroys: bool) -> None:
    assert Statement(Dialect.POSTGRESQL, sql).destroys is destroys


@pytest.mark.parametrize(
    ("dialect", "sql", "destroys"),
    [
        (Dialect.SQLSERVER, "SET NOCOUNT ON\nDELETE FROM dbo.orders", True),
        (Dialect.SQLSERVER, "SET XACT_ABORT ON TRUNCATE TABLE dbo.orders", True),
        (Dialect.SQLSERVER, "SET IDENTITY_INSERT [dbo].[orders] ON\nUPDATE [dbo].[orders] SET n = 1", True),
        (Dialect.SQLSERVER, "CREATE TABLE l (o int REFERENCES orders ON DELETE SET NULL ON UPDATE NO ACTION)", False),
        (Dialect.SQLSERVER, "SET NOCOUNT ON\nINSERT INTO dbo.orders VALUES (1)", False),
        (Dialect.MARIADB, "ALTER TABLE orders ADD note text /*!50000 , DROP COLUMN n */", True),
        (Dialect.MARIADB, "ALTER TABLE orders ADD note text /*M! , DROP COLUMN n */", True),
        (Dialect.MARIADB, "/*M!100100 SET WAIT_TIMEOUT=DEFAULT */", False),
        (Dialect.MYSQL, "ALTER TABLE orders ADD note text /* , DROP COLUMN n */", False),
        (Dialect.MYSQL, "CREATE TABLE t (at datetime ON UPDATE CURRENT_TIMESTAMP)", False),
        (Dialect.MYSQL, "INSERT INTO orders VALUES (1) ON DUPLICATE KEY UPDATE n = 2", True),
    ],
)
def test_what_a_dialect_takes_for_the_end_of_a_statement_or_a_comment_hides_nothing(
    dialect: Dialect, sql: str, *, destroys: bool
) -> None:
    assert Statement(dialect, sql).destroys is destroys
