"""Files that the CLI writes: for their owner alone, since tasks hold secrets, and never by way of a link."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_file(path: Path, text: str, *, overwrite: bool = False) -> None:
    """Write it whole; FileExistsError if there is anything of that name, unless it is to be overwritten."""
    data = text.encode()
    if overwrite:
        _replace(path, data)
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _fill(handle, data)
    except OSError:  # half a file would be taken for a whole one
        path.unlink()
        raise


def _replace(path: Path, data: bytes) -> None:
    """Put another file in its place, be it a link: what a link leads to stays as it is."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mkstemp makes it 0600
    try:
        _fill(handle, data)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _fill(handle: int, data: bytes) -> None:
    with os.fdopen(handle, "wb") as opened:
        opened.write(data)
