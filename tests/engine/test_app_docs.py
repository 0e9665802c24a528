"""The examples of the page on Python tasks run as they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import Recorded, Report
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners.python import PythonRunner
from hourhand.sdk.fields import FIELDS
from hourhand.sdk.loading import load_app
from hourhand.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hourhand.model.instance import Outcome
    from hourhand.sdk.app import App

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "python-tasks.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", PAGE, flags=re.DOTALL))


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Write each example into its file, and work in their folder."""
    for name, text in EXAMPLES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in EXAMPLES:
        sys.modules.pop(name, None)


async def run(app: App, handler: str, **more: Any) -> tuple[Outcome, Recorded]:
    attempt = Recorded(TaskType.PYTHON, {"handler": handler, "app": app.name}, **more)
    return await PythonRunner(app.handlers, settings=Settings()).run(attempt), attempt


def test_every_example_is_an_app() -> None:
    assert PAGE.count("```python") == len(EXAMPLES)
    for name in EXAMPLES:
        assert load_app(f"{name}:app").declarations()


def test_every_field_is_on_the_page() -> None:
    assert not [field for field in FIELDS if f"`{field}`" not in PAGE]


async def test_the_books_are_closed_from_where_the_last_attempt_stopped() -> None:
    outcome, attempt = await run(load_app("billing:app"), "close_books", checkpoint={"page": 38})
    assert outcome.result == {"value": {"posted": 40}}
    assert attempt.reports[-1] == Report(39 / 40, "posting", {"page": 39})
    assert len(attempt.reports) == 2


def test_the_report_follows_what_it_depends_on() -> None:
    first, second, _ = load_app("reports:app").declarations()
    assert (first.definition.name, second.depends_on) == ("extract", ("extract", "close_books"))


async def test_arguments_become_what_the_hints_say() -> None:
    args = {"source": {"url": "http://books", "pages": "3"}, "day": "2026-11-15", "rate": "1.50"}
    outcome, attempt = await run(load_app("loading:app"), "load", args=args)
    assert outcome.result == {"value": "full 15.11.2026 1.50"}
    assert attempt.lines[0].message == "loading 3 pages of http://books"
    refused, _ = await run(load_app("loading:app"), "load", args={**args, "source": {"url": "x", "pages": 0}})
    assert (refused.error_message or "").startswith("args.source.pages: 0 is refused")


async def test_what_is_raised_decides_what_follows() -> None:
    app = load_app("charging:app")
    failed, _ = await run(app, "charge", args={"customer": -1})
    assert (failed.error_message, failed.retryable) == ("Fail: there is no customer -1", False)
    later, _ = await run(app, "charge", args={"customer": 1})
    assert (later.error_message, later.retry_after_seconds) == ("Retry: the bank is closed", 600.0)
    done, _ = await run(app, "charge", args={"customer": 1, "open_at": 0})
    assert done.result == {"value": "hourhand-7"}


async def test_threads_and_processes_work_as_shown() -> None:
    app = load_app("crunching:app")
    crunched, _ = await run(app, "crunch", args={"pages": 10})
    assert crunched.result == {"value": 10}
    converted, attempt = await run(app, "convert")
    assert (converted.kind, converted.result) == (OutcomeKind.SUCCESS, {"value": "a.png"})
    assert attempt.written("stdout") == "what is printed is kept here\n"
