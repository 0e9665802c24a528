"""Testing: what handlers say through Python's own logging is heard as executors hear it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from hourhand.runners import python_records

_NOISY = ("alembic", "uvicorn")
"""What they say of a server's start and end would fill the reports of tests that fail."""


@contextmanager
def listening() -> Iterator[None]:
    """Let records of level info pass, as `hourhand serve` does: they belong to the instance log."""
    python_records.install()
    before = {name: logging.getLogger(name).level for name in ("", *_NOISY)}
    if before[""] > logging.INFO:
        logging.getLogger().setLevel(logging.INFO)
        for name in _NOISY:
            logging.getLogger(name).setLevel(before[name] or logging.WARNING)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
