"""Operations: the folder that an archive goes to: whether it can be written, and whether there is room."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from hourhand.contracts.operation import Look
from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition, Side
from hourhand.operations.catalog.table import Table

_SHARE = {("parquet", True): 0.6, ("parquet", False): 1.0, ("csv", True): 0.6, ("csv", False): 1.5}
"""How much room files take at the most, as a share of the table's, compressed or not."""
_PAGES = "SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()"


@dataclass(frozen=True, slots=True)
class Room:
    """What was found."""

    folder: str
    host: str
    problem: str | None
    free: int
    needed: int | None
    """None: nobody can tell."""

    def preconditions(self) -> list[Precondition]:
        """That it can be written, and that there is enough."""
        where = f"{self.folder} on {self.host}"
        detail = f"{where} {self.problem or 'can be written'}"
        found = [Precondition(name="output_dir", ok=self.problem is None, detail=detail, side=Side.EXECUTOR)]
        if self.problem is not None:
            return found
        enough = self.needed is None or self.free > self.needed
        needed = "how much it takes is not known" if self.needed is None else f"it takes up to {self.needed:,}"
        help_ = "" if enough else ": make room, or give another output_dir"
        detail = f"{self.free:,} bytes are free in {where}, and {needed}{help_}"
        return [*found, Precondition(name="free space", ok=enough, detail=detail, side=Side.EXECUTOR)]


async def find_room(folder: str, needed: int | None) -> Room:
    """Look at the folder, on this machine."""
    problem, free = await asyncio.to_thread(_looked, Path(folder))
    return Room(folder, socket.gethostname(), problem, free, needed)


def _looked(folder: Path) -> tuple[str | None, int]:
    if not folder.is_dir():
        return "is no folder: make it, or give another output_dir", 0
    if not os.access(folder, os.W_OK | os.X_OK):
        return "cannot be written by the user that runs the executor: allow it, or give another output_dir", 0
    return None, shutil.disk_usage(folder).free


async def size_of(look: Look, table: Table, partition: str | None) -> int:
    """Bytes of the table or one partition, as the catalog tells; of SQLite those of the whole file."""
    if table.dialect is Dialect.SQLITE:
        return int((await look.source.fetch(_PAGES))[0]["n"])
    part = table.partition(partition or "")
    return part.bytes if part is not None else max(table.bytes, sum(one.bytes for one in table.partitions))


def room_for(size: int, format_: str, compression: str) -> int:
    """How much the files may take."""
    return round(size * _SHARE[format_, compression != "none"])
