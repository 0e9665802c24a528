"""Operations: log files that go: regular files below a fixed folder, found and removed without following any link.

A folder is opened part by part with O_NOFOLLOW, and a file is looked at and removed by that folder's handle; so a name
that somebody turns into a link meanwhile leads nowhere.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Duration, Side, Step
from hourhand.operations.failures import Refused
from hourhand.operations.work import LiveWork

_WILD = frozenset("*?[")
_MOST = 10_000
"""How many files one operation removes: all of them are listed for whoever approves it."""
_BATCH = 50
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that is old enough."""

    path: str
    """Below the folder."""
    bytes: int
    changed: datetime


@dataclass(frozen=True, slots=True)
class LogFiles:
    """What was found of the files that go."""

    folder: str
    pattern: str
    cutoff: datetime
    files: tuple[LogFile, ...]
    more: bool = False
    """Whether there are more than are removed at once."""


def split_glob(given: str) -> tuple[str, str]:
    """The folder that is fixed, and the pattern below it; refused if it could mean the whole machine."""
    parts = given.split("/")
    if not given.startswith("/") or "\x00" in given:
        raise _refused(given, "is no absolute path: give one such as /var/log/shop/*.log")
    if any(part in (".", "..") for part in parts) or "" in parts[1:]:
        raise _refused(given, "has an empty part, `.` or `..`: give the plain path, such as /var/log/shop/*.log")
    wild = next((place for place, part in enumerate(parts) if _WILD & set(part)), len(parts) - 1)
    if wild <= 1:
        raise _refused(given, "begins at the root: give a folder of its own, such as /var/log/shop/*.log")
    below = parts[wild:]
    if below[-1] == "**" or below.count("**") > 1 or any("**" in part and part != "**" for part in below):
        raise _refused(
            given, "may have one `**`, for folders, and after it a pattern for files: /var/log/shop/**/*.log"
        )
    return "/".join(parts[:wild]), "/".join(below)


def _refused(given: str, why: str) -> Refused:
    return Refused(f"{given!r} {why}", field="files_glob")


async def find_files(given: str, cutoff: datetime) -> LogFiles:
    """The files of this machine that match and were last written before the cut-off, the oldest first."""
    folder, pattern = split_glob(given)
    if os.path.realpath(folder) != folder:  # noqa: ASYNC240 - a moment
        raise _refused(given, f"goes through a link: give the real path, {os.path.realpath(folder)}/{pattern}")  # noqa: ASYNC240
    if not Path(folder).is_dir():  # noqa: ASYNC240
        raise _refused(given, f"lies in no folder of this machine: there is no {folder}")
    found = await asyncio.to_thread(
        lambda: sorted(_old(folder, pattern, cutoff), key=lambda one: (one.changed, one.path))
    )
    return LogFiles(folder, pattern, cutoff, tuple(found[:_MOST]), more=len(found) > _MOST)


def _old(folder: str, pattern: str, cutoff: datetime) -> Iterator[LogFile]:
    with _opened(folder) as handle:
        for path in _matching(handle, pattern.split("/"), ""):
            try:
                with _parent(handle, path) as (within, name):
                    seen = os.stat(name, dir_fd=within, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            changed = datetime.fromtimestamp(seen.st_mtime, UTC)
            if changed < cutoff:
                yield LogFile(path, seen.st_size, changed)


def _matching(handle: int, parts: list[str], before: str) -> Iterator[str]:
    """Regular files below a folder, by the parts of a pattern; `**` is any number of folders."""
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _matching(handle, rest, before)
    with os.scandir(handle) as entries:
        found = sorted(
            (one.name, one.is_dir(follow_symlinks=False), one.is_file(follow_symlinks=False))
            for one in entries
            if one.name.encode(errors="replace").decode() == one.name  # what is no text cannot be listed
        )
    for name, is_folder, is_file in found:
        if not _fits(name, first):
            continue
        if is_file and not rest:
            yield before + name
        elif is_folder and rest:
            # A folder that may not be read has nothing that may be removed.
            with suppress(PermissionError, FileNotFoundError), _opened(name, handle) as inner:
                yield from _matching(inner, parts if first == "**" else rest, f"{before}{name}/")


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


@contextmanager
def _opened(name: str, within: int | None = None) -> Iterator[int]:
    handle = os.open(name, _FOLDER, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _parent(handle: int, path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds it, reached without following a link, and its name there."""
    *folders, name = path.split("/")
    if not folders:
        yield handle, name
        return
    with _opened(folders[0], handle) as inner, _parent(inner, "/".join([*folders[1:], name])) as found:
        yield found


def file_step(found: LogFiles) -> Step:
    """Remove what is listed, and nothing else."""
    listed = tuple(
        f"-- remove {json.dumps(f'{found.folder}/{one.path}', ensure_ascii=False)}: {one.bytes} bytes, "
        f"last written {one.changed:%Y-%m-%d %H:%M:%S} UTC"
        for one in found.files
    )
    return Step(
        name=f"remove files of {found.folder}",
        phase="remove",
        sql=listed,
        side=Side.EXECUTOR,
        duration=Duration.BY_SIZE,
        transaction=False,
        action="remove",
        destructive=True,
        values={
            "folder": found.folder,
            "files": [[one.path, one.bytes] for one in found.files],
            "before": found.cutoff.isoformat(),
        },
    )


async def do_remove(work: LiveWork, step: Step) -> None:
    """Remove the files that are still what they were when they were listed."""
    files: list[tuple[str, int]] = [tuple(one) for one in step.values["files"]]
    before = datetime.fromisoformat(step.values["before"])
    kept = work.position
    at, removed, size, stayed = (int(kept.get(name, 0)) for name in ("at", "removed", "bytes", "stayed"))
    # Those of the batch that the attempt before was at may be gone by its own doing.
    presumed = at + _BATCH if kept else 0
    while at < len(files):
        await work.save({"at": at, "removed": removed, "bytes": size, "stayed": stayed}, at / len(files))
        batch = files[at : at + _BATCH]
        results = await asyncio.to_thread(_remove, step.values["folder"], batch, before)
        for place, ((path, bytes_), result) in enumerate(zip(batch, results, strict=True), at):
            if result == "removed" or (result == "gone" and place < presumed):
                removed, size = removed + 1, size + bytes_
            else:
                stayed += 1
                work.log(f"{path}: {result}", level="warning")
        at += len(batch)
        await work.breathe()
    work.facts.update(files_removed=removed, bytes_removed=size, files_left=stayed)


def _remove(folder: str, batch: list[tuple[str, int]], before: datetime) -> list[str]:
    try:
        with _opened(folder) as handle:
            return [_removed(handle, path, before) for path, _ in batch]
    except OSError as error:
        return [f"left: {error.strerror}" for _ in batch]


def _removed(handle: int, path: str, before: datetime) -> str:
    try:
        with _parent(handle, path) as (within, name):
            seen = os.stat(name, dir_fd=within, follow_symlinks=False)
            if not stat.S_ISREG(seen.st_mode):
                return "left: no longer a regular file"
            if datetime.fromtimestamp(seen.st_mtime, UTC) >= before:
                return "left: written since"
            os.unlink(name, dir_fd=within)
    except FileNotFoundError:
        return "gone"
    except OSError as error:
        return f"left: {error.strerror}"
    return "removed"


def files_notes(found: LogFiles) -> list[str]:
    """What whoever approves it should know."""
    size = sum(one.bytes for one in found.files)
    notes = [
        f"{len(found.files)} files of {size} bytes are removed for good; executor_labels pin the task to their machine"
    ]
    if found.more:
        notes.append(f"there are more: the {_MOST} oldest are removed, the others by the next one")
    return notes


def refuse_script(dialect: Dialect) -> None:
    """Files are not the database's business."""
    raise Refused(
        f"files are removed by an executor, not by a script for {dialect.value}: leave it out", field="files_glob"
    )
