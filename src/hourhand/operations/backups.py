"""Operations: backups in a folder: written aside, renamed when they are whole, and known by the manifest within.

A backup is a folder `<data source>-<moment>`; as long as it is written its name ends with `.tmp`. Only a folder with
a manifest of the same data source, database and method is ever removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hourhand.operations.failures import FilesFailed, NotVerified

MANIFEST = "hourhand-backup.json"
_HALF = "hourhand-backup.half"
STARTED = "{started}"
"""In a plan, the moment at which the first attempt begins: a plan says what is done, not when."""
_CHUNK = 1 << 20


def folder_name(data_source: str, database: str) -> str:
    """What a backup's folder is called, with a mark for the moment."""
    said = re.sub(r"[^\w.-]+", "_", data_source).strip(".") or "backup"
    digest = hashlib.sha256(f"{data_source}\x00{database}".encode()).hexdigest()[:6]
    return f"{said[:60]}-{digest}-{STARTED}"


def begun(folder: Path) -> None:
    """Make the folder to write to, empty; what an attempt before has left of it goes."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise FilesFailed(f"{folder} cannot be made: {error.strerror}") from error


def written(folder: Path) -> list[dict[str, Any]]:
    """Every file with its size and digest, read back and made durable."""
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file() and one.name not in {MANIFEST, _HALF}):
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as file:
            while block := file.read(_CHUNK):
                digest.update(block)
                size += len(block)
            os.fsync(file.fileno())
        found.append({"file": str(path.relative_to(folder)), "bytes": size, "sha256": digest.hexdigest()})
    if not found:
        raise NotVerified(f"{folder} holds no file")
    return found


def noted(folder: Path, files: list[dict[str, Any]]) -> None:
    """Keep what was read back beside it: a server has thousands of files, and a checkpoint no room for their names."""
    _write(folder / MANIFEST, {"files": files})


def kept(folder: Path, final: Path, manifest: Mapping[str, Any]) -> None:
    """Complete the manifest and give the folder its name: from then on it is a backup."""
    if final.exists() and not folder.exists():
        return  # renamed, and its executor lost before it could say so
    path = folder / MANIFEST
    _write(path, {**manifest, **json.loads(path.read_text(encoding="utf-8"))})
    for one in [*(one for one in folder.rglob("*") if one.is_dir()), folder]:
        _synced(one)
    folder.rename(final)
    _synced(final.parent)


def _write(path: Path, manifest: Mapping[str, Any]) -> None:
    """Whole or not at all, and durable."""
    half = path.with_name(_HALF)
    with half.open("w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)


def _synced(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def manifest_of(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder; None if it is no backup of ours."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) and found.get("made_by") == "hourhand" else None
    return None


def old_ones(output: Path, like: Mapping[str, Any], keep: int) -> list[Path]:
    """Backups of the same data source, database and method beyond the newest so many."""
    same = ("data_source", "database", "dialect", "method")
    whole: list[tuple[str, Path]] = []
    half: list[tuple[str, Path]] = []
    for folder in output.iterdir():
        manifest = manifest_of(folder) if folder.is_dir() else None
        if manifest is None or any(manifest.get(one) != like[one] for one in same):
            continue
        # One with a manifest that is still called so was being removed when its executor was lost.
        (half if folder.name.endswith(".tmp") else whole).append((str(manifest.get("started")), folder))
    return [folder for _, folder in [*sorted(whole, reverse=True)[keep:], *half]]


def removed(folder: Path) -> None:
    """Take it away; a name that ends with `.tmp` first, so that half of one is never taken for a backup."""
    aside = folder if folder.name.endswith(".tmp") else folder.with_name(f"{folder.name}.tmp")
    if aside != folder:
        folder.rename(aside)
    for path in [one for one in aside.iterdir() if one.name != MANIFEST]:  # last, since it says that this is ours
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(aside)
