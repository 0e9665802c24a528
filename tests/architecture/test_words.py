"""What no file of the repository may say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Put together here, so that this file does not say them either.
FORBIDDEN = [".." + "/shared", "/" + "work/", "/" + "root/"]
GENERATED = {".git", ".venv", "__pycache__", "hourhand-data", "node_modules", "dist", "build"}


def files() -> list[Path]:
    """Return the files of the repository: what git tracks or would, or every file where there is no git."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        found = [path for path in ROOT.rglob("*") if not GENERATED & set(path.relative_to(ROOT).parts)]
    else:
        found = [ROOT / name for name in listed if name]
    return [path for path in found if path.is_file()]


@pytest.mark.parametrize("word", FORBIDDEN)
def test_no_file_speaks_of_a_machine_it_was_written_on(word: str) -> None:
    speaking = [str(path.relative_to(ROOT)) for path in files() if word.encode() in path.read_bytes()]
    assert not speaking


def test_every_file_ends_with_a_newline() -> None:
    texts = {".py", ".md", ".toml", ".txt", ".yaml", ".yml", ""}
    bad = [path.name for path in files() if path.suffix in texts and path.read_bytes()[-1:] not in (b"\n", b"")]
    assert not bad
