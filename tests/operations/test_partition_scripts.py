"""The scripts of the partition kinds for SQL Server: as they were reviewed, and T-SQL to the last statement."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from hourhand.model.data_source import Address, Dialect
from hourhand.model.errors import InvalidInput
from operations.running import preview, run

GOLDEN = Path(__file__).parent / "golden"
SERVER = {"shop": Address(dialect=Dialect.SQLSERVER, host="sql.invalid", database="shop")}
SCRIPTS: dict[str, tuple[str, dict[str, Any]]] = {
    "add_boundary": ("add_boundary", {"table": "orders", "boundaries": ["2026-03-01", "2026-04-01"]}),
    "add_boundary_interval": ("add_boundary", {"table": "orders", "interval": "1 month", "tablespace": "fast"}),
    "split_boundary": ("split_boundary", {"table": "o]rd'ers", "schema": "s", "boundary": "it's"}),
    "merge_boundary": ("merge_boundary", {"table": "orders", "boundary": "5000"}),
    "archive_switch": (
        "archive_switch",
        {"table": "orders", "older_than": "13m", "target_schema": "archive", "target_table": "old orders"},
    ),
    "archive_switch_drop": ("archive_switch", {"table": "orders", "partitions": ["1", "2"], "after": "drop"}),
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_is_as_it_was_reviewed(name: str) -> None:
    kind, config = SCRIPTS[name]
    shown = await preview(kind, config, SERVER)
    assert shown.script == (GOLDEN / f"{name}.sql").read_text()
    assert shown.plan.script_only
    assert shown == await preview(kind, config, SERVER)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_every_statement_is_understood(name: str) -> None:
    """None falls back to what sqlglot does not look into; inside of dynamic SQL nobody looks."""
    kind, config = SCRIPTS[name]
    for step in (await preview(kind, config, SERVER)).plan.steps:
        for sql in step.sql:
            parsed = sqlglot.parse(sql, read="tsql")
            assert len(parsed) == 1, sql
            assert not isinstance(parsed[0], exp.Command), sql


@pytest.mark.parametrize("name", SCRIPTS)
async def test_it_is_never_executed(name: str) -> None:
    kind, config = SCRIPTS[name]
    assert "nothing connects to SQL Server" in (await run(kind, config, SERVER)).error


async def test_what_is_assumed_is_said() -> None:
    for kind, config in SCRIPTS.values():
        shown = await preview(kind, config, SERVER)
        assert any("RANGE RIGHT is assumed" in note for note in shown.plan.notes)
        assert "sys.partition_functions" in shown.script


async def test_no_value_gets_out_of_its_comment() -> None:
    config = {"table": "orders\nDROP TABLE x", "boundary": "a\r\nDROP TABLE orders"}
    shown = await preview("merge_boundary", config, SERVER)
    rest = [line for line in shown.script.splitlines() if not line.startswith("--")]
    assert "DROP TABLE" in "\n".join(rest)
    assert "DROP TABLE" not in re.sub(r"'(?:[^']|'')*'", "", "\n".join(rest))


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("archive_switch", {"partitions": ["p1"], "target_table": "old"}, "'p1' is no number of a partition"),
        ("archive_switch", {"partitions": ["1"]}, "a table that is there"),
        ("archive_switch", {"older_than": "0d", "target_table": "old"}, "is no age"),
        ("add_boundary", {"interval": "1000"}, "for numbers give the boundaries"),
        ("add_boundary", {"interval": "1 day", "start": "2026-01-01"}, "leave start out"),
        ("add_boundary", {"boundaries": ["1"], "name_template": "p"}, "numbers here, no names"),
        ("add_boundary", {"boundaries": ["2026-01-01T00:00:00+02:00"]}, "give the local value"),
        ("split_boundary", {"boundary": "1", "strategy": "online"}, "use auto or native"),
        ("split_boundary", {"boundary": "1", "name": "p"}, "leave it out"),
        ("merge_boundary", {"partitions": ["1", "2"]}, "give the boundary that goes"),
    ],
)
async def test_what_cannot_be_written_is_refused(kind: str, config: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        await preview(kind, {"table": "orders"} | config, SERVER)
