"""Operations: one chunk's rows from the source's transaction into the target's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hourhand.contracts.operation import Session
from hourhand.model.data_source import Dialect
from hourhand.operations.transfer.canonical import Form, number, to_text
from hourhand.operations.transfer.checksum import Compared
from hourhand.operations.transfer.keyset import Key
from hourhand.operations.transfer.moving_route import MARIA, Route
from hourhand.operations.transfer.mysql_load import line, lines, load, read_lines, values
from hourhand.operations.transfer.pg_copy import Blocks, Sink, copy_in, copy_out, piped

_ROWS = 2_000
_REAL = ("real", "floa", "doub", "num", "dec")


async def stream(
    route: Route, source: Session, target: Session, lo: Key | None, hi: Key, *, delete: bool
) -> tuple[int, int]:
    """Read and write at once: how many rows were read, and how many written."""

    async def read(sink: Sink) -> int:
        if route.source.dialect is Dialect.POSTGRESQL:
            query = route.reading(lo=lo is not None, delete=delete, given=(lo, hi))
            return await copy_out(source, query, route.format, sink)
        query, params = route.reading(lo=lo is not None, delete=delete), route.keys.params(lo, hi)
        if route.source.dialect in MARIA:
            return await read_lines(source, query, params, sink)
        return await _read_file(route, source, query, params, sink)

    async def write(blocks: Blocks) -> int:
        if route.target.dialect is Dialect.POSTGRESQL:
            names = tuple(one.name for one in route.columns)
            return await copy_in(target, (route.target.schema, route.target.table), names, route.format, blocks)
        if route.target.dialect in MARIA:
            return await load(target, route.writing(), blocks)
        return await _write_file(route, target, blocks)

    return await piped(read, write)


async def _read_file(route: Route, source: Session, query: str, params: tuple[object, ...], sink: Sink) -> int:
    """SQLite's rows; they are few enough to be read at once."""
    rows: list[tuple[Any, ...]] = await _threaded(source, lambda: [tuple(row) for row in
                                                  source.driver.execute(query, params).fetchall()])  # fmt: skip
    if route.target.dialect is Dialect.SQLITE:
        rows = [tuple(_tagged(value) for value in row) for row in rows]
    for first in range(0, len(rows), _ROWS):
        part = rows[first : first + _ROWS]
        await sink("".join(line(_texts(route, row)) for row in part).encode())
    return len(rows)


def _texts(route: Route, row: Sequence[Any]) -> list[str | None]:
    texts = []
    for column, value in zip(route.columns, row, strict=True):
        text = value if column.form is Form.RAW else to_text(column.form, value)
        if column.form is Form.DOCUMENT and value is not None:
            text = str(value)
        if column.form is Form.BYTES and text is not None and route.target.dialect is Dialect.POSTGRESQL:
            text = f"\\x{text}"
        texts.append(text)
    return texts


async def _write_file(route: Route, target: Session, blocks: Blocks) -> int:
    sql, count, batch = route.writing(), 0, list[tuple[Any, ...]]()

    async def flush() -> None:
        rows = batch.copy()
        batch.clear()
        await _threaded(target, lambda: target.driver.executemany(sql, rows))

    async for one in lines(blocks):
        row = values(one)
        batch.append(tuple(_stored(column, text) for column, text in zip(route.columns, row, strict=True)))
        count += 1
        if len(batch) >= _ROWS:
            await flush()
    await flush()
    return count


def _stored(column: Compared, text: str | None) -> Any:  # noqa: ANN401 - what SQLite takes
    """A value as SQLite keeps it: decimals that no binary number holds exactly stay text where the column takes it."""
    if text is None:
        return None
    match column.form:
        case Form.RAW:
            return _untagged(text)
        case Form.BYTES:
            return bytes.fromhex(text)
        case Form.NUMBER:
            if text.lstrip("-").isdigit() and -(2**63) <= int(text) < 2**63:
                return int(text)
            real = any(one in column.types[1].lower() for one in _REAL)
            return float(text) if real and number(float(text)) == text else text
    return text


def _tagged(value: Any) -> str | None:  # noqa: ANN401
    return to_text(Form.RAW, value)


def _untagged(text: str) -> Any:  # noqa: ANN401
    kind, rest = text[0], text[1:]
    match kind:
        case "x":
            return bytes.fromhex(rest)
        case "n":
            return int(rest)
        case "r":
            return float(rest)
    return rest


async def _threaded(session: Any, call: Any) -> Any:  # noqa: ANN401 - an SQLite session, which has a thread of its own
    return await session.threaded(call)
