"""Testing: what handlers say through Python's own logging is heard as executors hear it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from hourhand.runners import python_records


@contextmanager
def listening() -> Iterator[None]:
    """Let records of level info pass, as `hourhand serve` does: they belong to the instance log."""
    root = logging.getLogger()
    before = root.level
    python_records.install()
    if before > logging.INFO:
        root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.setLevel(before)
