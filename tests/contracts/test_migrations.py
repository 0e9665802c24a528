"""The schema of a store: made from nothing, brought forward from every revision, and refused when it does not fit."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection

from contracts.schema_comparison import checks, differences, predicates, words
from hourhand.model.audit import AuditFilter
from hourhand.model.errors import (
    InvalidInput,
    SchemaTooNew,
    SchemaTooOld,
    StoreError,
    StoreOwned,
    StoreUnavailable,
)
from hourhand.store import migrate, open_store, revision, upgrade
from hourhand.store.schema import metadata
from postgres import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres import Cluster

REVISIONS = [
    script.revision
    for script in reversed(list(ScriptDirectory.from_config(migrate._config()).walk_revisions()))  # noqa: SLF001
]
NEWEST = REVISIONS[-1]
FUTURE = '''"""A later schema."""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{newest}"


def upgrade() -> None:
    op.add_column("tasks", sa.Column("later", sa.Text()))
    op.execute("{statement}")
'''


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of a database without a schema, once for each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'hourhand.db'}"
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    url = cluster.create_database()
    yield url
    cluster.drop_database(url)


@pytest.fixture
def postgresql_url(cluster: Cluster, postgresql_template: str) -> Iterator[str]:
    """Return the URL of a store of our own: what these tests do to a schema must not be handed on."""
    url = cluster.create_database(template=postgresql_template)
    yield url
    cluster.drop_database(url)


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what turns this program into its next release, with one more revision."""

    def install(statement: str = "UPDATE tasks SET later = name") -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(Path(migrate.__file__).parent / "migrations", folder, dirs_exist_ok=True)
        (folder / "versions" / "9999_later.py").write_text(FUTURE.format(newest=NEWEST, statement=statement))
        config = Config()
        config.set_main_option("script_location", str(folder))
        config.set_main_option("path_separator", "os")
        monkeypatch.setattr(migrate, "_config", lambda: config)

    return install


async def on(url: str, work: Callable[[Connection], Any]) -> Any:
    """Work on a connection as the migrations do."""
    path = migrate.sqlite_path(url)
    if path is None:
        return await migrate._on_postgresql(url, work)  # noqa: SLF001
    return await asyncio.to_thread(migrate._on_sqlite, path, work)  # noqa: SLF001


def file_of(url: str) -> Path:
    path = migrate.sqlite_path(url)
    assert path is not None
    return path


def python(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a real process."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


UPGRADE = "import asyncio, sys; from hourhand.store import upgrade; print(asyncio.run(upgrade(sys.argv[1])))"
OWN = """
import asyncio, sys
from hourhand.store import open_store

async def own() -> None:
    store = await open_store(sys.argv[1], migrate=True, owner="http://127.0.0.1:8420")
    await store.add_group("kept")
    print("owned", flush=True)
    await asyncio.sleep(600)

asyncio.run(own())
"""


class TestUpgrading:
    async def test_an_empty_database_gets_the_newest_schema(self, empty_url: str) -> None:
        assert await revision(empty_url) == (None, NEWEST)
        assert await upgrade(empty_url) == (None, NEWEST)
        assert await revision(empty_url) == (NEWEST, NEWEST)

    async def test_a_second_upgrade_changes_nothing(self, empty_url: str) -> None:
        await upgrade(empty_url)
        assert await upgrade(empty_url) == (NEWEST, NEWEST)

    async def test_the_migrated_schema_is_the_program_s_schema(self, store_url: str) -> None:
        assert await on(store_url, differences) == []

    async def test_the_checks_are_the_program_s_checks(self, store_url: str) -> None:
        expected = {
            str(check.name): words(str(check.sqltext))
            for table in metadata.tables.values()
            for check in table.constraints
            if isinstance(check, CheckConstraint)
        }
        assert await on(store_url, checks) == expected

    async def test_the_partial_indexes_are_the_program_s(self, store_url: str) -> None:
        dialect = store_url.partition(":")[0]
        expected = {
            str(index.name): words(str(condition))
            for table in metadata.tables.values()
            for index in table.indexes
            if (condition := index.dialect_options[dialect]["where"]) is not None
        }
        assert await on(store_url, predicates) == expected

    @pytest.mark.parametrize("former", REVISIONS)
    async def test_every_former_revision_is_brought_to_the_newest_schema(self, empty_url: str, former: str) -> None:
        await on(empty_url, lambda connection: migrate._upgrade(connection, former))  # noqa: SLF001
        assert await revision(empty_url) == (former, NEWEST)
        assert await upgrade(empty_url) == (former, NEWEST)
        assert await on(empty_url, differences) == []

    async def test_entries_of_the_audit_of_before_are_found_by_their_task(self, empty_url: str) -> None:
        await on(empty_url, lambda connection: migrate._upgrade(connection, "0004"))  # noqa: SLF001
        kept = [
            ("task", "7", None, '{"name": "x"}'),
            ("task", "9" * 30, None, None),
            ("task", "x7", None, None),
            ("instance", "70", None, '{"task_id": 7}'),
            ("instance", "71", '{"task_id": 7}', '{"task_id": 7}'),
            ("instance", "72", None, None),
            ("pause", "1", '{"scope": "task", "scope_id": 7}', None),
            ("pause", "2", None, '{"scope": "group", "scope_id": 7}'),
            ("user", "7", None, '{"task_id": 7}'),
        ]

        def fill(connection: Connection) -> None:
            at = "1" if connection.dialect.name == "sqlite" else "now()"
            for values in kept:
                row = ", ".join("NULL" if one is None else f"'{one}'" for one in values)
                connection.exec_driver_sql(
                    'INSERT INTO audit_logs (resource_type, resource_id, "before", "after", action, user_id, '  # noqa: S608 - a test's own words
                    f"occurred_at, result) VALUES ({row}, 'edit', 'local', {at}, 'done')"
                )
            connection.commit()

        await on(empty_url, fill)
        store = await open_store(empty_url, migrate=True)
        try:
            found = await store.list_audit(AuditFilter(task_id=7))
            assert sorted((one.resource_type, one.resource_id) for one in found.items) == [
                ("instance", "70"),
                ("instance", "71"),
                ("pause", "1"),
                ("task", "7"),
            ]
            assert len((await store.list_audit()).items) == len(kept)
        finally:
            await store.close()

    async def test_revisions_are_numbered_in_order(self) -> None:
        assert [f"{number:04}" for number, _ in enumerate(REVISIONS, 1)] == REVISIONS

    async def test_a_fresh_store_has_the_default_group(self, empty_url: str) -> None:
        store = await open_store(empty_url, migrate=True)
        try:
            assert [group.name for group in await store.list_groups()] == ["default"]
        finally:
            await store.close()

    async def test_an_upgrade_that_fails_leaves_everything_as_it_was(
        self, store_url: str, next_release: Callable[..., None]
    ) -> None:
        next_release("UPDATE nonsense SET later = 1")
        with pytest.raises(StoreError, match="nonsense"):
            await upgrade(store_url)
        assert await revision(store_url) == (NEWEST, "9999")
        assert await on(store_url, differences) == []
        next_release()
        assert await upgrade(store_url) == (NEWEST, "9999")


class TestManyAtOnce:
    async def test_tasks_of_one_process_upgrade_an_empty_database_once(self, cluster: Cluster) -> None:
        url = cluster.create_database()
        done = await asyncio.gather(*(upgrade(url) for _ in range(4)))
        assert sorted(done, key=str) == [(NEWEST, NEWEST)] * 3 + [(None, NEWEST)]
        assert await on(url, differences) == []

    async def test_processes_upgrade_an_empty_database_once(self, cluster: Cluster) -> None:
        url = cluster.create_database()
        running = [python(UPGRADE, url) for _ in range(2)]
        told = [await asyncio.to_thread(one.communicate, timeout=60) for one in running]
        assert [one.returncode for one in running] == [0, 0], told
        assert sorted(out.strip() for out, _ in told) == [str((NEWEST, NEWEST)), str((None, NEWEST))]


class TestRefusals:
    async def test_an_empty_database_is_refused_naming_the_remedy(self, empty_url: str) -> None:
        with pytest.raises(SchemaTooOld) as refused:
            await open_store(empty_url)
        assert str(refused.value) == (
            f"the store's schema is at revision none (empty), this program needs {NEWEST}: "
            "run `hourhand db upgrade` for this store, or open it with migrate=True"
        )

    async def test_looking_at_a_sqlite_file_that_is_not_there_does_not_make_it(self, tmp_path: Path) -> None:
        path = tmp_path / "hourhand.db"
        with pytest.raises(SchemaTooOld):
            await open_store(f"sqlite:///{path}")
        assert not path.exists()

    async def test_an_older_schema_is_refused_naming_the_remedy(
        self, store_url: str, next_release: Callable[..., None]
    ) -> None:
        next_release()
        with pytest.raises(
            SchemaTooOld,
            match=f"revision {NEWEST}, this program needs 9999: run `hourhand db upgrade`",
        ):
            await open_store(store_url)

    @pytest.mark.parametrize("verb", [open_store, upgrade])
    async def test_a_newer_schema_is_refused_and_left_alone(self, store_url: str, verb: Callable[..., Any]) -> None:
        def age(connection: Connection) -> None:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
            connection.commit()

        await on(store_url, age)
        with pytest.raises(SchemaTooNew) as refused:
            await verb(store_url)
        assert str(refused.value) == (
            f"the store's schema is at revision 9999, which this program does not know (its newest is {NEWEST}): "
            "it was written by a newer release; install that release or a newer one"
        )
        assert await revision(store_url) == ("9999", NEWEST)

    @pytest.mark.parametrize("verb", [open_store, upgrade])
    async def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(
        self, tmp_path: Path, verb: Callable[..., Any]
    ) -> None:
        path = tmp_path / "letter.txt"
        path.write_text("Dear reader,\n" * 1_000)
        with pytest.raises(StoreError) as refused:
            await verb(f"sqlite:///{path}")
        told = f"cannot open {path}: file is not a database; is it a SQLite file that this user may write?"
        assert str(refused.value) == told
        assert path.read_text() == "Dear reader,\n" * 1_000

    async def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"cannot open .*: unable to open database file"):
            await open_store(f"sqlite:///{tmp_path}", migrate=True)

    @pytest.mark.parametrize("verb", [open_store, upgrade])
    async def test_a_postgresql_that_does_not_answer_is_worth_a_retry(self, verb: Callable[..., Any]) -> None:
        port = free_port()
        with pytest.raises(StoreUnavailable) as refused:
            await verb(f"postgresql://me:secret@127.0.0.1:{port}/hourhand")
        assert str(port) in str(refused.value)
        assert "secret" not in str(refused.value)

    @pytest.mark.parametrize("verb", [open_store, upgrade])
    async def test_a_database_that_does_not_exist_is_named(self, cluster: Cluster, verb: Callable[..., Any]) -> None:
        with pytest.raises(StoreError, match='database "nowhere" does not exist') as refused:
            await verb(cluster.url("nowhere"))
        assert not isinstance(refused.value, StoreUnavailable)
        assert "check the user, password and database in the store's URL" in str(refused.value)

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("nonsense", "nonsense"),
            ("", ""),
            ("sqlite://", "sqlite://"),
            ("sqlite:///:memory:", "sqlite:///:memory:"),
            ("mysql://me:secret@host/db", "mysql://me:***@host/db"),
            ("postgresql://me:secret@host", "postgresql://me:***@host"),
            ("postgresql://me:secret@host:port/db", "postgresql://me:***@host:port/db"),
        ],
    )
    async def test_what_is_no_url_of_a_store_is_refused_without_its_password(self, url: str, shown: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            await open_store(url)
        (error,) = refused.value.errors
        assert (error.field, error.value) == ("store", shown)
        assert error.message == (
            f"{shown!r} is no store: write sqlite:///path/to/hourhand.db or postgresql://user:password@host/database"
        )


class TestOneOwner:
    @pytest.mark.parametrize("verb", [open_store, upgrade])
    async def test_a_second_process_is_told_who_owns_the_file(self, sqlite_url: str, verb: Callable[..., Any]) -> None:
        store = await open_store(sqlite_url, owner="http://127.0.0.1:8420")
        try:
            with pytest.raises(StoreOwned) as refused:
                await verb(sqlite_url)
        finally:
            await store.close()
        assert str(refused.value) == (
            f"{file_of(sqlite_url)} is in use by http://127.0.0.1:8420 (pid {os.getpid()}): stop it first, "
            "use it through its URL, or run a cluster on PostgreSQL (--store postgresql://…)"
        )

    async def test_a_closed_store_leaves_the_file_to_the_next(self, sqlite_url: str) -> None:
        for _ in range(2):
            await (await open_store(sqlite_url)).close()

    async def test_the_file_is_free_again_when_its_owner_was_killed(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path / 'hourhand.db'}"
        owner = python(OWN, url)
        try:
            assert owner.stdout is not None
            assert await asyncio.to_thread(owner.stdout.readline) == "owned\n"
            with pytest.raises(StoreOwned, match=rf"in use by http://127\.0\.0\.1:8420 \(pid {owner.pid}\)"):
                await open_store(url)
        finally:
            owner.send_signal(signal.SIGKILL)
            owner.communicate()
        store = await open_store(url)
        try:
            assert "kept" in [group.name for group in await store.list_groups()]
        finally:
            await store.close()


class TestTheCopyBeforeAnUpgrade:
    async def test_an_older_file_is_copied_before_it_is_changed(
        self, sqlite_url: str, next_release: Callable[..., None]
    ) -> None:
        path = file_of(sqlite_url)
        next_release()
        assert await upgrade(sqlite_url) == (NEWEST, "9999")
        copy = path.with_name(f"{path.name}.{NEWEST}.bak")
        assert (columns(copy) ^ columns(path)) == {"later"}
        with sqlite3.connect(copy) as connection:
            assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (NEWEST,)
        connection.close()

    async def test_the_copy_holds_what_a_killed_owner_had_committed(
        self, tmp_path: Path, next_release: Callable[..., None]
    ) -> None:
        path = tmp_path / "hourhand.db"
        owner = python(OWN, f"sqlite:///{path}")
        assert owner.stdout is not None
        await asyncio.to_thread(owner.stdout.readline)
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
        next_release()
        await upgrade(f"sqlite:///{path}")
        connection = sqlite3.connect(path.with_name(f"{path.name}.{NEWEST}.bak"))
        assert ("kept",) in connection.execute("SELECT name FROM groups").fetchall()
        connection.close()

    async def test_a_file_that_is_up_to_date_is_not_copied(self, sqlite_url: str) -> None:
        await upgrade(sqlite_url)
        assert not list(file_of(sqlite_url).parent.glob("*.bak"))


def columns(path: Path) -> set[str]:
    """Return the columns of a file's tasks."""
    connection = sqlite3.connect(path)
    try:
        return {row[1] for row in connection.execute("PRAGMA table_info(tasks)")}
    finally:
        connection.close()
