r"""Operations: the files of an archive: Parquet or CSV, each written whole or not at all, and read again.

CSV is what PostgreSQL's COPY writes: a header, NULL is nothing, an empty text is `""`, bytes are `\x…`, `t` and `f`.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from hourhand.operations.failures import FilesFailed
from hourhand.operations.transfer.arrow import (
    Form,
    csv_header,
    decoded,
    from_text,
    schema_of,
    text_options,
    to_text,
)
from hourhand.operations.transfer.manifest import SUFFIX, failed, sync_folder

COMPRESSIONS = {"zstd": ".zst", "gzip": ".gz", "none": ""}
READ_ROWS = 20_000
_STEPPED = ("int16", "int32", "int64", "timestamp", "timestamptz", "date")
"""Forms whose values often follow each other in steps."""


def part_name(number: int, format_: str, compression: str) -> str:
    """`part-00001.parquet`, `part-00001.csv.zst`."""
    ending = ".parquet" if format_ == "parquet" else f".csv{COMPRESSIONS[compression]}"
    return f"part-{number:05d}{ending}"


class PartWriter:
    """One file: written beside its name, and given the name once it is on the disk."""

    def __init__(self, folder: Path, name: str, forms: Sequence[Form], compression: str) -> None:
        self._folder = folder
        self._path = folder / name
        self._fresh = folder / f"{name}{SUFFIX}"
        self._forms = forms
        self._compression = None if compression == "none" else compression
        self._parquet: Any = None
        self._stream: Any = None
        self.rows = 0

    def __enter__(self) -> Self:
        """Begin."""
        try:
            self._file = self._fresh.open("wb")
        except OSError as error:
            raise failed(self._folder, error) from error
        self._hashing = _Hashing(self._file)
        if self._path.suffix == ".parquet":
            # Dictionaries of columns whose values differ cost time and room, and what is alike zstd finds by itself.
            steps = {one.name: "DELTA_BINARY_PACKED" for one in self._forms if one.form in _STEPPED}
            self._parquet = pa.parquet.ParquetWriter(
                self._hashing,
                schema_of(self._forms),
                compression=self._compression or "none",
                use_dictionary=False,
                column_encoding=steps or None,
            )
        else:
            under = pa.PythonFile(self._hashing, mode="w")
            self._stream = pa.CompressedOutputStream(under, self._compression) if self._compression else under
            self._stream.write(csv_header(self._forms))
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self.rows += batch.num_rows
        with _telling(self._folder):
            if self._parquet is not None:
                self._parquet.write_batch(batch)
            else:
                self._stream.write(to_text(batch, self._forms))

    def write_text(self, text: bytes) -> None:
        """Add rows as the database writes them in CSV."""
        if self._parquet is not None:
            self.write(from_text(text, self._forms))
            return
        with _telling(self._folder):
            self._stream.write(text)

    def finish(self) -> tuple[str, int]:
        """Make it durable, still beside its name; its digest and how long it is."""
        with _telling(self._folder):
            (self._parquet or self._stream).close()
            self._parquet = self._stream = None
            self._file.flush()
            os.fsync(self._file.fileno())
            length = self._file.tell()
            self._file.close()
        return self._hashing.summed.hexdigest(), length

    @property
    def fresh(self) -> Path:
        """Where it lies until it has its name."""
        return self._fresh

    def keep(self) -> None:
        """Give it its name."""
        with _telling(self._folder):
            self._fresh.replace(self._path)
            sync_folder(self._folder)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing half done."""
        for one in (self._parquet, self._stream):
            if one is not None:
                with suppress(OSError, pa.ArrowException, ValueError):
                    one.close()
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._fresh.unlink(missing_ok=True)


def read_part(path: Path, forms: Sequence[Form], *, compression: str) -> Iterator[Any]:
    """Its rows, batch by batch."""
    try:
        with path.open("rb") as opened:
            if ".parquet" in path.name:
                yield from pa.parquet.ParquetFile(opened).iter_batches(READ_ROWS)
                return
            stream = opened if compression == "none" else pa.CompressedInputStream(opened, compression)
            for batch in pa.csv.open_csv(stream, **text_options(forms, header=True)):
                yield decoded([batch], forms)
    except (OSError, pa.ArrowException) as error:
        raise FilesFailed(f"{path} cannot be read: {error}") from error


class _Hashing(io.RawIOBase):
    """Sums what is written."""

    def __init__(self, under: Any) -> None:  # noqa: ANN401 - an open file
        self._under = under
        self.summed = hashlib.sha256()

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - a buffer
        """Write and sum."""
        self.summed.update(data)
        return int(self._under.write(data))

    def tell(self) -> int:
        """Where it is."""
        return int(self._under.tell())


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failed(folder, error) from error
