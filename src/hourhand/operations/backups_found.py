"""Operations: what a backup's plan depends on; the same words for every dialect."""

from __future__ import annotations

from dataclasses import dataclass

from hourhand.model.data_source import Dialect
from hourhand.model.operation import Precondition


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found."""

    dialect: Dialect
    database: str
    conditions: tuple[Precondition, ...] = ()
    bytes: int = 0
    """How large the database is."""
    place: tuple[str, ...] = ()
    """How programs are told where the server is; never with a password."""
    creation: str = ""
    """What a scratch database is created with, so that it is like this one."""
    dropping: str = ""
    """What it is dropped with, so that a session which is left does not keep it."""
    notes: tuple[str, ...] = ()
