"""Operations: one file of an archive: written, made durable, read again, and only then given its name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hourhand.contracts.operation import Session
from hourhand.operations.failures import NotVerified
from hourhand.operations.transfer import canonical
from hourhand.operations.transfer.arrow import Form
from hourhand.operations.transfer.arrow_digest import digest_batches
from hourhand.operations.transfer.checksum import Checksum
from hourhand.operations.transfer.files import PartWriter, part_name, read_part
from hourhand.operations.transfer.files_reading import write_query
from hourhand.operations.transfer.files_source import ArchiveSource, Chunk
from hourhand.operations.transfer.keyset import to_json
from hourhand.operations.transfer.manifest import Header, Manifest, Part, file_digest


async def export_part(
    session: Session, source: ArchiveSource, chunk: Chunk, manifest: Manifest, number: int, *, verify: str
) -> Part:
    """Write a chunk; what the file says of itself when it is read again is what the manifest will say."""
    header = manifest.header
    name = part_name(number, header.format, header.compression)
    sql, params = source.rows_sql(lo=chunk.lo is not None), source.params(chunk.lo, chunk.hi)
    with PartWriter(manifest.folder, name, source.forms, header.compression) as writer:
        rows = await write_query(session, sql, params, source.forms, writer)
        sha256, length = await asyncio.to_thread(writer.finish)
        found = Checksum(rows, 0)
        if verify != "none":
            compared = [one.form for one in source.compared] if verify == "hash" else None
            found = await asyncio.to_thread(part_digest, writer.fresh, header, source.forms, compared, sha256)
        if found.rows != rows:
            raise NotVerified(f"{name} reads as {found.rows} rows, but {rows} were written: nothing was deleted")
        await asyncio.to_thread(writer.keep)
    return Part(
        file=name,
        lo=to_json(chunk.lo),
        hi=to_json(chunk.hi),
        rows=rows,
        checksum=found.digest if verify == "hash" else None,
        sha256=sha256,
        bytes=length,
        schema_hash=header.schema_hash,
    )


def part_digest(
    path: Path, header: Header, forms: Sequence[Form], compared: Sequence[canonical.Form] | None, sha256: str
) -> Checksum:
    """Count and, where forms are given, checksum of a file as it lies on the disk."""
    if (found := file_digest(path)) != sha256:
        raise NotVerified(f"{path} reads as {found}, but {sha256} was written: the disk cannot be trusted")
    batches = read_part(path, forms, compression=header.compression)
    if compared is None:
        return Checksum(sum(batch.num_rows for batch in batches), 0)
    return digest_batches(batches, compared)
