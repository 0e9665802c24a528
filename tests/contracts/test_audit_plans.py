"""Audit plans: with many entries nothing that is asked often reads them from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contracts import plans
from contracts.audits import fill, on_behalf
from contracts.plans import PostgresqlPlans, SqlitePlans, statements
from hourhand.model.audit import AuditFilter

if TYPE_CHECKING:
    from contracts.world import World

MANY = 30_000


@pytest.fixture
async def many(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A store with many entries, of which the last few are not sealed."""
    monkeypatch.setattr(plans, "BIG", ("audit_logs",))
    dialect = world.store.database.dialect
    await world.execute(
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "  # noqa: S608 - a test's own words
        "INSERT INTO audit_logs "
        "(action, resource_type, resource_id, task_id, user_id, occurred_at, result, sealed_no, hash) "
        "SELECT 'edit', 'task', CAST(i % 1000 AS text), i % 1000, CAST(i % 7 AS text), "
        f"{'i' if dialect == 'sqlite' else 'to_timestamp(i)'}, 'done', i, 'x' FROM n"
    )
    await world.execute(f"INSERT INTO store_values (name, number, text) VALUES ('audit_head', {MANY}, 'x')")  # noqa: S608 - a test's own words
    await (world.execute if dialect == "sqlite" else world.sql)("ANALYZE audit_logs")
    return world


WANTED = [
    AuditFilter(),
    AuditFilter(resource_type="task", resource_id="7"),
    AuditFilter(resource_type="task", resource_id="7", action="rare"),
    AuditFilter(task_id=7),
    AuditFilter(task_id=7, action="rare"),
    AuditFilter(resource_type="group"),
    AuditFilter(user_id="nobody"),
    AuditFilter(action="rare", result="refused"),
]


async def test_nothing_reads_all_entries(many: World, store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with statements(monkeypatch) as seen:
        for wanted in WANTED:
            await many.store.list_audit(wanted)
        await many.store.get_audit(7)
        await on_behalf(many).task()
        await fill(many.store, 3)
        await many.store.seal_audit()
        await many.store.retain_audit(days=400_000)
        await many.store.verify_audit()
    assert len(seen) > 2 * len(WANTED)
    if many.store.database.dialect == "postgresql":
        found: PostgresqlPlans | SqlitePlans = PostgresqlPlans(many.store)
    else:
        found = SqlitePlans(Path(store_url.removeprefix("sqlite:///")))
    try:
        for statement, params in seen:
            assert await found.scans(statement, params) == [], statement.compiled(many.store.database.dialect).sql
    finally:
        if isinstance(found, SqlitePlans):
            found.close()


async def test_a_look_for_what_is_not_there_is_bounded(many: World) -> None:
    cursor, pages = None, 0
    while True:
        page = await many.store.list_audit(AuditFilter(user_id="nobody"), cursor=cursor)
        assert page.items == ()
        pages += 1
        if (cursor := page.next_cursor) is None:
            break
    assert pages == 4


async def test_what_concerns_a_task_is_found_at_once(many: World) -> None:
    page = await many.store.list_audit(AuditFilter(task_id=7), limit=50)
    assert (len(page.items), page.next_cursor) == (30, None)
    assert {entry.resource_id for entry in page.items} == {"7"}
