"""What the rooms promise beyond the layers that import-linter checks."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "hourhand"
ROOMS = (
    "api webui cli demo sdk scheduler executor runners operations notifiers store contracts rules model".split()  # noqa: SIM905
)
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "managers", "base", "misc"}
IMPURE = {"asyncio", "os", "pathlib", "random", "secrets", "socket", "sqlite3", "subprocess", "threading", "time"}
LONGEST_FILE = 500  # the aim is 400; a list, such as the schema, may take a little more


def imported_modules(path: Path) -> set[str]:
    """Return the full names of the modules a file imports, at any depth."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def sources(room: str = "") -> list[Path]:
    return sorted((SOURCE / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_opens_with_a_sentence_naming_it(room: str) -> None:
    docstring = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text("utf-8"))) or ""
    stem = room.removesuffix("s")
    assert stem in docstring.lower()


def test_every_module_opens_with_a_docstring() -> None:
    silent = [path for path in sources() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert not silent


def test_model_imports_the_standard_library_only() -> None:
    foreign = {
        (path.name, name)
        for path in sources("model")
        for name in imported_modules(path)
        if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith("hourhand.model")
    }
    assert not foreign


def test_rules_are_pure() -> None:
    """Rules read no clock, no file and no network: neither a module that does, nor `now()`, nor another package."""
    impure = {
        (path.name, name)
        for path in sources("rules")
        for name in imported_modules(path)
        if name.split(".")[0] in IMPURE
        or (
            name.split(".")[0] not in sys.stdlib_module_names
            and not name.startswith(("hourhand.model", "hourhand.rules"))
        )
    }
    clocks = [
        (path.name, node.lineno)
        for path in sources("rules")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"now", "utcnow", "today"}
    ]
    assert not impure
    assert not clocks


def test_no_module_has_a_vague_name() -> None:
    folders = [ROOT / name for name in ("src", "tests", "bench")]
    vague = [path for folder in folders for path in folder.rglob("*") if path.stem in VAGUE_NAMES]
    assert not vague


def test_no_file_is_too_long_to_be_read_in_one_sitting() -> None:
    lengths = {
        path.name: len(path.read_text("utf-8").splitlines()) for path in sources() if "migrations" not in path.parts
    }
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE}
