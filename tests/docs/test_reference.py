"""The pages that are read off the code say what the code says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hourhand.service.metrics import REGISTRY
from hourhand.service.scrape import OF_GROUPS
from hourhand.settings import Settings
from hourhand.store.schema_access import users

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"


def generate(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate-reference", *arguments],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    done = generate("--into", str(folder), HOURHAND_PORT="9999", HOURHAND_GROUP="elsewhere", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    return folder


def test_what_is_committed_is_what_the_code_says(written: Path) -> None:
    stale = [
        str(path.relative_to(written))
        for path in written.rglob("*")
        if path.is_file() and path.read_bytes() != (ROOT / "docs" / path.relative_to(written)).read_bytes()
    ]
    assert stale == [], "run `make reference`"


def test_a_stale_page_and_a_missing_one_are_named(written: Path, tmp_path: Path) -> None:
    for path in (written / "reference").iterdir():
        (tmp_path / "reference").mkdir(exist_ok=True)
        (tmp_path / "reference" / path.name).write_bytes(path.read_bytes())
    page = tmp_path / "reference" / "settings.md"
    page.write_text(page.read_text("utf-8").replace("8420", "8421"), "utf-8")
    done = generate("--check", "--into", str(tmp_path))
    assert done.returncode == 1
    assert "assets/lifecycle.svg, reference/settings.md: not what the code says" in done.stderr
    assert "8421" in page.read_text("utf-8")  # a check changes nothing


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_what_is_said_of_the_store_names_every_table() -> None:
    text = (ROOT / "docs" / "explanation" / "store.md").read_text("utf-8")
    tables = users.metadata.tables
    assert {"tasks", "users"} <= set(tables)
    assert [name for name in tables if f"`{name}`" not in text] == []


def test_what_is_said_of_metrics_names_them_all() -> None:
    text = (REFERENCE / "metrics.md").read_text("utf-8")
    families = [*(metric.name for metric in REGISTRY.collect() if metric.name.startswith("hourhand_")), *OF_GROUPS]
    assert len(families) > 20
    assert [name for name in families if f"`{name}" not in text] == []
