"""Operations: what may go wrong with them, told apart by what helps.

OperationFailure
├── Refused             it cannot be done as it is asked for; nothing was changed
│   └── Drifted         the catalog has changed since the plan was approved
├── SourceUnreachable   no connection, or it broke; worth another attempt
├── LockNotGained       others hold what it needs; names them; worth another attempt
├── FilesFailed         a file of the executor's machine cannot be written or read; worth another attempt
├── StatementFailed     the database refused a statement; trying again would not help
└── NotVerified         what is there afterwards is not what should be; names what differs
"""

from __future__ import annotations


class OperationFailure(Exception):
    """The root; its text is for people."""

    retryable = False


class Refused(OperationFailure):
    """It cannot be done as it is asked for; nothing was changed."""

    def __init__(self, message: str, *, field: str = "config") -> None:
        super().__init__(message)
        self.field = field
        """The field of the configuration that is at fault, such as `boundary`."""


class Drifted(Refused):
    """The catalog has changed since the plan was approved: it is to be approved again."""


class SourceUnreachable(OperationFailure):
    """No connection, or it broke."""

    retryable = True


class LockNotGained(OperationFailure):
    """Others hold what it needs, beyond the last rung of the ladder."""

    retryable = True


class FilesFailed(OperationFailure):
    """A file of the executor's machine cannot be written or read: the disk is full, or it is not allowed."""

    retryable = True


class StatementFailed(OperationFailure):
    """The database refused a statement."""


class NotVerified(OperationFailure):
    """What is there afterwards is not what should be."""
