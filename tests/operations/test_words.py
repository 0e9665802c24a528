"""What a wrong configuration is answered with: the value, and what would be right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hourhand.model.errors import InvalidInput
from hourhand.operations.catalogue import Catalogue
from hourhand.operations.desk import Desk
from operations.asking import execute
from operations.running import run

if TYPE_CHECKING:
    from hourhand.model.data_source import Address

ROOT = Path(__file__).parents[2]
STEP = {"name": "a", "sql": "SELECT 1"}


async def nowhere(_: str) -> Address:
    """Nothing is connected to here."""
    raise AssertionError


def told(kind: str, **config: object) -> list[str]:
    """Return what a configuration is refused with."""
    with pytest.raises(InvalidInput) as refused:
        Desk(nowhere, Catalogue()).read(kind, {"data_source": "shop", **config})
    return [f"{one.field}: {one.message}" for one in refused.value.errors]


def test_a_wrong_form_is_answered_with_what_the_field_is_for() -> None:
    [age] = told("data_cleanup", table="orders", older_than="banana", time_column="at")
    assert age.startswith(
        "config.older_than: 'banana' has not the form that it should have: Rows older than this go: `36h`"
    )
    [interval] = told("add_boundary", table="orders", interval="1 mont")
    assert "such as `1 month`" in interval


def test_one_thing_in_place_of_a_list_is_told_so() -> None:
    [tables] = told("statistics_update", tables="orders")
    assert tables == "config.tables: 'orders' is no list: give one in brackets, also of one thing"


def test_an_unknown_field_of_a_step_names_those_of_steps() -> None:
    [unknown] = told("custom", steps=[STEP | {"rolback_sql": "SELECT 2"}])  # and not that there are no steps
    assert unknown.startswith("config.steps.0.rolback_sql: is not a field of steps of custom; known are: name, sql,")
    assert "rollback_sql" in unknown
    assert "data_source" not in unknown


def test_a_list_that_is_empty_is_too_short() -> None:
    assert [one.partition(":")[0] for one in told("custom", steps=[])] == ["config.steps"]


async def test_what_is_kept_for_an_undo_is_never_what_somebody_meant(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE orders (n int)", "CREATE TABLE _hh_orders_1 (n int)")
    ran = await run("statistics_update", {"tables": ["ordrs"]}, {"source": pg_source})
    assert ran.error.endswith("did you mean public.orders?")


async def test_what_postgresql_suggests_is_told_once(pg_source: Address) -> None:
    await execute(pg_source, "CREATE TABLE orders (id int PRIMARY KEY, note text)")
    ran = await run("data_cleanup", {"table": "orders", "where": "orders.nota = ''"}, {"source": pg_source})
    assert ran.error.count("Perhaps you meant") == 1


def fields(schema: dict[str, Any]) -> set[str]:
    """Return the names of all fields, also of the things within."""
    return {*schema.get("properties", {})}.union(*(fields(one) for one in schema.get("$defs", {}).values()))


def test_every_field_has_its_chinese_and_nothing_else_has() -> None:
    words = json.loads((ROOT / "ui/src/i18n/zh/fields.json").read_text())
    every, common = words.pop("every"), words.pop("common")
    kinds = {kind.kind: fields(kind.config.model_json_schema(by_alias=True)) for kind in Catalogue().all()}
    for kind, names in kinds.items():
        own = words.pop(kind, {})
        assert names <= {*own, *common, *every}, kind
        assert {*own} <= names, kind
    assert words == {}, "no such kind"
    assert {*every} <= set.intersection(*kinds.values())
    assert {*common} <= set.union(*kinds.values())


@pytest.mark.parametrize(
    ("what", "said"),
    [
        pytest.param("phase", r'phase="(\w+)"', id="phases"),
        pytest.param("precondition", r'Precondition\(\s*name="([a-z_ ]+)"', id="preconditions"),
    ],
)
def test_phases_and_preconditions_have_words_in_the_browser(what: str, said: str) -> None:
    code = "".join(path.read_text() for path in (ROOT / "src/hourhand/operations").rglob("*.py"))
    found = set(re.findall(said, code))
    assert found
    for language in ("en", "zh"):
        assert found <= {*json.loads((ROOT / f"ui/src/i18n/{language}/operations.json").read_text())[what]}
