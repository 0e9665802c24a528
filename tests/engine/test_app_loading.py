"""Loading and declaring an app: `module:app` finds it, or says what would."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import pytest

from hourhand.model.answers import Declared
from hourhand.model.errors import InvalidInput
from hourhand.sdk.app import App
from hourhand.sdk.declare import declare
from hourhand.sdk.loading import load_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hourhand.store import Store

BILLING = """
from hourhand import App, Context

app = App(group="billing")
reports = App("reports")
number = 3

@app.task("0 2 * * *")
async def close_books(ctx: Context) -> None: ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of one's own, and forget what was imported from it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def refused(name: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        load_app(name)
    return str(caught.value)


def test_an_app_is_found_in_the_working_folder_and_its_handlers_know_where(folder: Path) -> None:
    (folder / "billing.py").write_text(BILLING)
    app = load_app("billing:app")
    assert (app.name, app.group) == ("billing", "billing")
    assert [handler.source for handler in app.handlers.values()] == ["billing:app"]


def test_an_app_is_found_in_a_package(folder: Path) -> None:
    (folder / "company").mkdir()
    (folder / "company" / "__init__.py").touch()
    (folder / "company" / "billing.py").write_text(BILLING)
    assert load_app("company.billing:reports").name == "reports"


@pytest.mark.parametrize("name", ["billing", "billing:", ":app", ""])
def test_a_name_without_its_two_parts_is_refused(name: str) -> None:
    assert "write MODULE:APP, such as billing:app" in refused(name)


def test_a_module_that_is_not_there_is_named(folder: Path) -> None:
    assert f"there is no module 'biling' in {folder}" in refused("biling:app")
    assert "there is no module 'company'" in refused("company.billing:app")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere_at_all", "billing_bad cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_a"),
        ("x = 1\nx.y", "cannot be imported: AttributeError: 'int' object has no attribute 'y' ("),
        ("def f(:", "cannot be imported: SyntaxError: invalid syntax"),
        ("x = 1\ndef f(:", "billing_bad.py:2)"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
    ],
)
def test_what_is_wrong_inside_a_module_is_told_apart_from_its_absence(folder: Path, text: str, said: str) -> None:
    (folder / "billing_bad.py").write_text(text)
    assert said in refused("billing_bad:app")


def test_a_refused_task_is_told_as_it_is(folder: Path) -> None:
    (folder / "billing_late.py").write_text(BILLING.replace("0 2", "0 25"))
    message = refused("billing_late:app")
    assert f"{folder}/billing_late.py:8 close_books(): schedule" in message


def test_an_attribute_that_is_not_there_is_answered_with_what_is(folder: Path) -> None:
    (folder / "billing.py").write_text(BILLING)
    assert "billing has no 'ap': its apps are: billing:app, billing:reports" in refused("billing:ap")
    assert "'number' of billing is a int, not an App: its apps are: billing:app" in refused("billing:number")
    (folder / "empty.py").write_text("number = 3")
    assert "empty has no 'numbr': did you mean 'number'?" in refused("empty:numbr")
    assert "it makes no App" in refused("empty:app")


async def test_declaring_says_what_was_done_and_what_was_not(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    app = App("billing", release=2)
    app.task(name="load", depends_on=["missing"])(lambda: None)
    app.task(name="report")(lambda: None)
    with caplog.at_level(logging.INFO, "hourhand"):
        declared = await declare(app, store)
    assert declared.created == ("report",)
    created, kept = [one.getMessage() for one in caplog.records]
    assert created == "app billing: created report"
    assert kept.startswith("app billing: the task 'load' is not as declared: it depends on 'missing', and there is no")
    task = await store.find_task("report")
    assert (task.managed_by, task.payload) == ("app:billing", {"handler": "report", "app": "billing"})


async def test_declaring_the_same_app_again_changes_nothing(store: Store) -> None:
    def app() -> App:
        made = App(group="billing")
        made.task("@every 1h", name="load", tags=["a"], executor_labels={"zone": "eu"})(lambda day=None: day)
        return made

    await declare(app(), store)
    before = await store.find_task("load")
    assert await declare(app(), store) == Declared()
    assert await store.find_task("load") == before
