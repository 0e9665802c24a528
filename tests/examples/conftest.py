"""Each example is started in a copy of its folder, as its README says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of the folder that the test is named after: test_fan_out.py is about examples/fan-out."""
    name = request.path.stem.removeprefix("test_").replace("_", "-")
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))
