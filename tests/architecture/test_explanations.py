"""The explanations say what the code does: the picture of the lifecycle, and the tests that check the guarantees."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from architecture.lifecycle_diagram import PAGE, PICTURE, REASONS, picture
from hourhand.rules.lifecycle import EDGES

ROOT = Path(__file__).resolve().parents[2]
GUARANTEES = (ROOT / "docs" / "explanation" / "guarantees.md").read_text("utf-8")
SECTIONS = re.split(r"^## ", GUARANTEES, flags=re.MULTILINE)[1:]


def references(text: str) -> list[tuple[str, str]]:
    """Return the tests that a text names, each with its file."""
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)


def functions_in(path: Path) -> set[str]:
    """Return the names of the functions in a file."""
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_picture_of_the_lifecycle_is_fresh() -> None:
    told = "run: python tests/architecture/lifecycle_diagram.py"
    assert PICTURE.findall(PAGE.read_text("utf-8")) == [picture()], told


def test_every_edge_in_the_picture_has_its_reason() -> None:
    assert set(REASONS) == {(state.value, to.value) for state, following in EDGES.items() for to in following}


def test_there_are_ten_guarantees() -> None:
    assert [section.partition(".")[0] for section in SECTIONS] == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("section", SECTIONS, ids=[section.partition("\n")[0] for section in SECTIONS])
def test_every_guarantee_names_tests_that_exist(section: str) -> None:
    named = references(section)
    assert named
    missing = [(file, name) for file, name in named if name not in functions_in(ROOT / file)]
    assert not missing
