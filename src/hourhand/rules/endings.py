"""Rules: the words by which an ending says why it came, for those who write them and those who explain them."""

from __future__ import annotations

from hourhand.model.words import OutcomeKind, Status

REPLACED = "replaced by the next instance (overlap_policy is replace)"
_DELETED = "its task was deleted by "
_TIMED_OUT = "timed out after "


def task_deleted(by: str) -> str:
    """What has not started when its task is deleted."""
    return f"{_DELETED}{by}"


def deleted_by(message: str | None) -> str | None:
    """Who deleted the task; None when it ended for another reason."""
    return message.removeprefix(_DELETED) if message is not None and message.startswith(_DELETED) else None


def cancelled(by: str) -> str:
    """What somebody cancels without saying why."""
    return f"cancelled by {by}"


def reason_given(message: str | None, by: str | None) -> str | None:
    """Why they cancelled it; None when they did not say."""
    return None if by is not None and message == cancelled(by) else message


def timed_out(seconds: int | None) -> str:
    """An attempt that took longer than its task allows."""
    return f"{_TIMED_OUT}{seconds} s"


def ending_attempt(status: Status, message: str | None) -> OutcomeKind:
    """What became of the attempt that ended an instance; the runners begin no message of their own with these words."""
    if status is Status.FAILED and message is not None and message.startswith(_TIMED_OUT):
        return OutcomeKind.TIMED_OUT
    return OutcomeKind(status.value)
