"""Runners: what a handler says through Python's own logging goes to its instance log too."""

from __future__ import annotations

import logging
from contextvars import ContextVar

from hourhand.contracts.runner import Attempt

CURRENT: ContextVar[Attempt | None] = ContextVar("hourhand_attempt", default=None)
"""The attempt whose handler runs here; tasks that a handler makes inherit it, and so do our threads."""
BOUND = "hourhand_attempt"
"""Where a record of `ctx.logger` names its attempt: such a logger may be used from any thread."""
_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warning"), (logging.INFO, "info"))
_traceback = logging.Formatter()


class Records(logging.Handler):
    """Sits on the root logger and hands each record to the attempt in whose context it was made."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record to the instance log; never fails, as no handler of records may."""
        attempt = getattr(record, BOUND, None) or CURRENT.get()
        # What we say of ourselves while a handler runs is for the operator: the log is not its business.
        if attempt is None or record.name == "hourhand" or record.name.startswith("hourhand."):
            self._as_if_absent(record)
            return
        try:
            exception = _traceback.formatException(record.exc_info) if record.exc_info else None
            attempt.log(record.getMessage(), level=_level(record.levelno), exception=exception)
        except Exception:  # noqa: BLE001 - logging's own rule: report it on standard error and go on
            self.handleError(record)

    def _as_if_absent(self, record: logging.LogRecord) -> None:
        """Python prints warnings of programs that configured no logging; having us must not silence them."""
        last = logging.lastResort
        if last is None or record.levelno < last.level:
            return
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None:
            if any(one is not self for one in logger.handlers):
                return
            logger = logger.parent if logger.propagate else None
        last.handle(record)


def _level(number: int) -> str:
    return next((name for least, name in _LEVELS if number >= least), "debug")


_records = Records()


def install() -> None:
    """Listen to the root logger; once is enough."""
    root = logging.getLogger()
    if _records not in root.handlers:
        root.addHandler(_records)
