"""Operations: the manifest of an archive: which files there are, what is in them, and how far the export has come.

`manifest.jsonl` lies beside the files. Its first line says what was archived; each further line stands for one file
that is whole, on the disk and read again; the last one says that the archive is complete. A file without a line, or a
line without its end, is what an attempt left behind that was killed: the next one removes it and goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hourhand.operations.failures import FilesFailed, Refused

NAME = "manifest.jsonl"
VERSION = 1
SUFFIX = ".tmp"
"""Of a file that is not whole yet."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedColumn:
    """One column, as it was in the table and as it is in the files."""

    name: str
    type: str
    """As the table's database writes it."""
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was archived."""

    table: str
    schema: str | None
    dialect: str
    columns: tuple[ArchivedColumn, ...]
    key: tuple[str, ...] = ()
    """The columns whose ranges the files are; empty: all rows are in one file."""
    primary_key: tuple[str, ...] = ()
    partition: str | None = None
    where: str | None = None
    format: str = "parquet"
    compression: str = "zstd"
    plan_hash: str = ""
    instance: int = 0
    source: str = ""
    """Where it was, for people."""
    created: str = ""
    version: int = VERSION

    @property
    def schema_hash(self) -> str:
        """The same for files with the same columns."""
        text = json.dumps([asdict(one) for one in self.columns], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file: the rows of the range `lo < key ≤ hi`."""

    file: str
    lo: Sequence[Any] | None
    hi: Sequence[Any] | None
    rows: int
    checksum: int | None
    """The sum over its rows that the database would tell of them; None: not asked for."""
    sha256: str
    bytes: int
    schema_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a manifest says."""

    folder: Path
    header: Header
    parts: tuple[Part, ...] = ()
    end: Mapping[str, Any] | None = field(default=None)
    """How it was verified; None: it is not complete."""
    digest: str = ""
    """Of its text."""

    @property
    def rows(self) -> int:
        """Of all files."""
        return sum(part.rows for part in self.parts)

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(part.bytes for part in self.parts)


def read_manifest(path: Path) -> Manifest:
    """A complete manifest, whose files are there in full length; Refused says what is wrong."""
    found = _parsed(path, path.parent, _read(path))
    if found.end is None:
        raise Refused(
            f"{path} has no line that says that it is complete: its export did not end, or the end is cut off; "
            "let the export end, or take a whole copy",
            field="manifest",
        )
    if found.end["files"] != len(found.parts) or found.end["rows"] != found.rows:
        raise Refused(
            f"{path} tells of {len(found.parts)} files with {found.rows} rows, but ends with {found.end['files']} "
            f"and {found.end['rows']}: lines are missing; take a whole copy",
            field="manifest",
        )
    for part in found.parts:
        check_part(found.folder, part)
    return found


def check_part(folder: Path, part: Part, *, digest: bool = False) -> None:
    """Refuse a file that is missing, cut short or, with `digest`, changed in any byte."""
    path = folder / part.file
    try:
        size = path.stat().st_size
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}; bring it back", field="manifest") from error
    if size != part.bytes:
        raise Refused(
            f"{path} has {size} bytes instead of {part.bytes}: it was cut short or changed; bring the whole file back",
            field="manifest",
        )
    if digest and (found := file_digest(path)) != part.sha256:
        raise Refused(
            f"{path} was changed: its SHA-256 is {found} instead of {part.sha256}; bring the file back as it was",
            field="manifest",
        )


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    summed = hashlib.sha256()
    try:
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                summed.update(block)
    except OSError as error:
        raise FilesFailed(f"{path} cannot be read: {error.strerror or error}") from error
    return summed.hexdigest()


def open_folder(folder: Path, header: Header, *, begun: bool = False) -> Manifest:
    """Begin an archive, or go on with the one that an attempt before has left; what it left half done is removed.

    One that has `begun` must be there: an executor on another machine does not see it.
    """
    path = folder / NAME
    try:
        if begun and not path.exists():
            raise FilesFailed(
                f"{path} is not on this machine ({socket.gethostname()}): the files were written by an executor on "
                "another one; let that one take over, or give an output_dir that all of them share"
            )
        folder.mkdir(mode=0o750, exist_ok=True)
        if not path.exists():
            strange = sorted(one.name for one in folder.iterdir() if not one.name.endswith(SUFFIX))
            if strange:
                raise Refused(f"{folder} is not empty ({strange[0]}): give another output_dir", field="output_dir")
            _begin(path, header)
        whole = _untorn(path)
        found = _parsed(path, folder, whole)
        if (found.header.plan_hash, found.header.instance) != (header.plan_hash, header.instance):
            raise Refused(f"{folder} is the archive of another instance: give another output_dir", field="output_dir")
        named = {part.file for part in found.parts}
        for one in folder.iterdir():
            if one.name != NAME and one.name not in named:
                one.unlink()
    except OSError as error:
        raise failed(folder, error) from error
    return found


def append(folder: Path, line: Part | Mapping[str, Any]) -> None:
    """Add a line, durably."""
    said = asdict(line) if isinstance(line, Part) else dict(line)
    try:
        with (folder / NAME).open("ab") as opened:
            opened.write(_line(said))
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise failed(folder, error) from error


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def failed(folder: Path, error: OSError) -> FilesFailed:
    """What the machine said, and that what was archived so far is safe."""
    return FilesFailed(
        f"{folder} cannot be written: {error.strerror or error}; what the manifest names is whole, and the next "
        "attempt goes on after it: make room, or allow this user to write there"
    )


def _begin(path: Path, header: Header) -> None:
    fresh = path.with_name(NAME + SUFFIX)
    with fresh.open("wb") as opened:
        opened.write(_line({"hourhand_archive": header.version, **asdict(header)}))
        opened.flush()
        os.fsync(opened.fileno())
    fresh.replace(path)
    sync_folder(path.parent)
    sync_folder(path.parent.parent)


def _untorn(path: Path) -> list[bytes]:
    """Its whole lines; a last one without its end is cut off: the file that it was for is written again."""
    text = path.read_bytes()
    end = text.rfind(b"\n") + 1
    if end < len(text):
        with path.open("r+b") as opened:
            opened.truncate(end)
            os.fsync(opened.fileno())
    return text[:end].splitlines()


def _read(path: Path) -> list[bytes]:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}", field="manifest") from error
    if not text.endswith(b"\n"):
        raise Refused(f"{path} is cut off within a line: take a whole copy", field="manifest")
    return text.splitlines()


def _parsed(path: Path, folder: Path, lines: Iterable[bytes]) -> Manifest:
    said = list(lines)
    try:
        first, *rest = [json.loads(line) for line in said]
        if first.pop("hourhand_archive") != VERSION:
            raise Refused(f"{path} has another version than {VERSION}: use a newer Hourhand", field="manifest")
        columns = tuple(ArchivedColumn(**one) for one in first.pop("columns"))
        key, primary = (tuple(first.pop(name)) for name in ("key", "primary_key"))
        header = Header(**first, columns=columns, key=key, primary_key=primary)
        end = rest.pop() if rest and "end" in rest[-1] else None
        parts = tuple(Part(**one) for one in rest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(
            f"{path} is no manifest of an archive ({error}): give the path of a manifest.jsonl", field="manifest"
        ) from error
    for part in parts:
        if Path(part.file).name != part.file or part.schema_hash != header.schema_hash:
            raise Refused(
                f"{path} names {part.file!r}, which is none of its files: take a whole copy", field="manifest"
            )
    digest = hashlib.sha256(b"\n".join(said)).hexdigest()
    return Manifest(folder=folder, header=header, parts=parts, end=end, digest=digest)


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
