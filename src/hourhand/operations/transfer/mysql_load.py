"""Operations: rows into MariaDB and MySQL by LOAD DATA LOCAL, and out of them as the same lines of text.

The lines are those of PostgreSQL's COPY: tabs between values, `\\N` for NULL, a backslash before what would be taken for
either. MariaDB reads them as they are, but for two escapes that it does not know.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from asyncmy import errors
from asyncmy.cursors import SSCursor

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.failures import SourceUnreachable, StatementFailed
from hourhand.operations.quoting import quoted
from hourhand.operations.sessions.mariadb import told
from hourhand.operations.transfer.canonical import Form
from hourhand.operations.transfer.checksum import Compared
from hourhand.operations.transfer.keyset import unmarked
from hourhand.operations.transfer.pg_copy import Blocks, Sink

_ROWS = 5_000
_UNKNOWN = re.compile(rb"\\(.)", re.DOTALL)
_PLAIN = {b"f": b"\f", b"v": b"\v"}
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_UNESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def line(values: Sequence[str | None]) -> str:
    """One row as a line."""
    return "\t".join("\\N" if value is None else value.translate(_ESCAPES) for value in values) + "\n"


def values(line_: str) -> list[str | None]:
    """The row of a line, without its end."""
    return [_value(one) for one in line_.split("\t")]


def _value(text: str) -> str | None:
    if "\\" not in text:
        return text
    return None if text == "\\N" else re.sub(r"\\(.)", lambda one: _UNESCAPES.get(one[1], one[1]), text, flags=re.S)


async def lines(blocks: Blocks) -> AsyncIterator[str]:
    """Whole lines, however the blocks are cut."""
    rest = b""
    async for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        for one in whole:
            yield one.decode()


def load_sql(dialect: Dialect, table: str, columns: Sequence[Compared]) -> str:
    """The statement; the file's name is its parameter."""
    into, made = [], []
    for number, one in enumerate(columns):
        name = unmarked(dialect, quoted(dialect, one.name))
        if one.form is Form.BYTES:
            into.append(f"@c{number}")
            made.append(f"{name} = UNHEX(@c{number})")
        elif one.types[1].lower().startswith("bit"):
            into.append(f"@c{number}")
            made.append(f"{name} = CAST(@c{number} AS UNSIGNED)")
        else:
            into.append(name)
    also = f" SET {', '.join(made)}" if made else ""
    return (
        f"LOAD DATA LOCAL INFILE %s INTO TABLE {unmarked(dialect, table)} CHARACTER SET utf8mb4 "
        f"FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({', '.join(into)}){also}"
    )


async def load(session: Session, sql: str, blocks: Blocks) -> int:
    """Write lines into a table; how many rows.

    LOCAL makes warnings of what would be errors: a value that does not fit is cut, a key that is there already skipped.
    They are errors here.
    """
    with tempfile.NamedTemporaryFile(prefix="hourhand-", suffix=".tsv") as file:
        rest = b""
        async for block in blocks:
            whole = rest + block
            # An escape must not be cut in two.
            rest = whole[-1:] if len(whole) - len(whole.rstrip(b"\\")) & 1 else b""
            file.write(_known(whole[: len(whole) - len(rest)]))
        file.write(rest)
        file.flush()
        written = await session.execute(sql, str(Path(file.name)))
    found = await session.fetch("SHOW WARNINGS LIMIT 3")
    if found:
        said = "; ".join(str(row["Message"]) for row in found)
        raise StatementFailed(f"the target does not take a row as it is: {said}")
    return written


def _known(block: bytes) -> bytes:
    if b"\\f" not in block and b"\\v" not in block:
        return block
    return _UNKNOWN.sub(lambda one: _PLAIN.get(one[1], one[0]), block)


async def read_lines(session: Session, sql: str, params: tuple[object, ...], sink: Sink) -> int:
    """Send what a query gives, each value a text, to a sink as lines; how many rows."""
    count = 0
    try:
        async with session.driver.cursor(SSCursor) as cursor:
            await cursor.execute(sql, params or None)
            while rows := await cursor.fetchmany(_ROWS):
                count += len(rows)
                await sink("".join([line(row) for row in rows]).encode())
    except asyncio.CancelledError:
        session.driver.close()  # rows that nobody reads are still on their way: it can be asked nothing more
        raise
    except errors.MySQLError as error:
        raise told(error, sql) from error
    except (OSError, EOFError, asyncio.IncompleteReadError) as error:
        raise SourceUnreachable(f"the connection broke: {error or type(error).__name__}") from error
    return count
