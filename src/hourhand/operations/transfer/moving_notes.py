"""Operations: what the target of a move notes of it, in the transaction that writes the rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hourhand.operations.transfer.keyset import Key, from_json, to_json

NOTES = ("instance_id", "chunk", "lo", "hi", "written", "top", "round", "moved", "expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What the target knows of the chunk that was written last."""

    instance_id: int = 0
    chunk: int = 0
    lo: Key | None = None
    hi: Key | None = None
    written: tuple[Key, ...] | None = None
    """The keys of its rows; None: all rows of the range."""
    top: Key | None = None
    """The last key there was in the beginning: what is inserted after it is not moved."""
    round: int = 1
    moved: int = 0
    """How many rows the target was given in all."""
    expected: int = 0

    @staticmethod
    def read(row: dict[str, Any]) -> Noted:
        """As it is stored."""
        keys: dict[str, Any] = {
            name: from_json(json.loads(row[name])) if row[name] else None for name in ("lo", "hi", "top")
        }
        written = None
        if row["written"]:
            written = tuple(key for one in json.loads(row["written"]) if (key := from_json(one)) is not None)
        numbers: dict[str, Any] = {
            name: int(row[name]) for name in ("instance_id", "chunk", "round", "moved", "expected")
        }
        return Noted(**numbers, **keys, written=written)

    def stored(self) -> tuple[object, ...]:
        """As parameters, in the order of NOTES."""
        lo, hi, top = (None if key is None else json.dumps(to_json(key)) for key in (self.lo, self.hi, self.top))
        written = None if self.written is None else json.dumps([to_json(one) for one in self.written])
        return (self.instance_id, self.chunk, lo, hi, written, top, self.round, self.moved, self.expected)
