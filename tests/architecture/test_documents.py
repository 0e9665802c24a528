"""What the documents say exists must exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def named(document: Path) -> set[Path]:
    """Return the paths a document names: its relative links, and what it quotes from the repository's own folders."""
    text = document.read_text("utf-8")
    links = [document.parent / link for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)]
    quoted = [ROOT / name for name in re.findall(r"`((?:tests|src|scripts|docs|bench)/[\w./-]+)`", text)]
    return {path for path in [*links, *quoted] if "NNNN" not in path.name}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_a_document_names_exists(document: Path) -> None:
    missing = [str(path) for path in named(document) if not path.exists()]
    assert not missing
