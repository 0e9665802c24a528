r"""Operations: rows into MariaDB and MySQL by LOAD DATA LOCAL, and out of them as the same lines of text.

The lines are those of PostgreSQL's COPY: tabs between values, `\N` for NULL, a backslash before what would be taken
for either. MariaDB reads them as they are, but for two escapes that it does not know.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from asyncmy import errors
from asyncmy.constants.COMMAND import COM_QUERY
from asyncmy.cursors import SSCursor
from asyncmy.protocol import OKPacketWrapper

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.failures import SourceUnreachable, StatementFailed
from hourhand.operations.quoting import quoted
from hourhand.operations.sessions.mariadb import told
from hourhand.operations.transfer.canonical import Form
from hourhand.operations.transfer.checksum import Compared
from hourhand.operations.transfer.pg_copy import Blocks, Sink

_ROWS = 5_000
_PACKET = 1 << 20
_UNKNOWN = re.compile(rb"\\(.)", re.DOTALL)
_PLAIN = {b"f": b"\f", b"v": b"\v"}
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
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
    return None if text == "\\N" else _ESCAPED.sub(lambda one: _UNESCAPES.get(one[1], one[1]), text)


async def lines(blocks: Blocks) -> AsyncIterator[str]:
    """Whole lines, however the blocks are cut."""
    rest = b""
    async for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        for one in whole:
            yield one.decode()


def load_sql(dialect: Dialect, table: str, columns: Sequence[Compared]) -> str:
    """The statement; the file is none: whatever the server asks for, it is given the rows."""
    into, made = [], []
    for number, one in enumerate(columns):
        name = quoted(dialect, one.name)
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
        f"LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 "
        f"FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({', '.join(into)}){also}"
    )


async def load(session: Session, sql: str, blocks: Blocks) -> int:
    """Write lines into a table; how many rows.

    LOCAL makes warnings of what would be errors: a value that does not fit is cut, a key that is there already skipped.
    They are errors here.
    """
    try:
        written = await _loaded(session.driver, sql, blocks)
    except errors.MySQLError as error:
        raise told(error, sql) from error
    except (OSError, EOFError, asyncio.IncompleteReadError) as error:
        raise SourceUnreachable(f"the connection broke: {error or type(error).__name__}") from error
    found = await session.fetch("SHOW WARNINGS LIMIT 3")
    if found:
        said = "; ".join(str(row["Message"]) for row in found)
        raise StatementFailed(f"the target does not take a row as it is: {said}")
    return written


async def _loaded(driver: Any, sql: str, blocks: Blocks) -> int:  # noqa: ANN401 - asyncmy's connection
    """The driver's own way opens whatever file the server names, and fails at its name; this one sends what it has."""
    await driver._execute_command(COM_QUERY, sql)  # noqa: SLF001
    asked = await driver.read_packet()  # raises what the server has against the statement
    if not asked.is_load_local_packet():
        driver.close()
        raise StatementFailed(f"the server did not ask for the rows: {sql[:200]}")
    try:
        rest = b""
        async for block in blocks:
            whole = rest + block
            # An escape must not be cut in two.
            rest = whole[-1:] if len(whole) - len(whole.rstrip(b"\\")) & 1 else b""
            await _sent(driver, _known(whole[: len(whole) - len(rest)]))
        await _sent(driver, rest)
    except BaseException:
        # What was sent is rolled back by whoever began the transaction; the connection is left in order.
        await asyncio.shield(_ended(driver))
        raise
    return await _ended(driver)


async def _sent(driver: Any, block: bytes) -> None:  # noqa: ANN401
    for first in range(0, len(block), _PACKET):
        driver.write_packet(block[first : first + _PACKET])
        await driver._proto.drain()  # noqa: SLF001


async def _ended(driver: Any) -> int:  # noqa: ANN401
    driver.write_packet(b"")
    answer = OKPacketWrapper(await driver.read_packet())
    return int(answer.affected_rows)


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
