"""Rules: the words by which an ending says why it came, for those who write them and those who explain them."""

from __future__ import annotations

REPLACED = "replaced by the next instance (overlap_policy is replace)"
_DELETED = "its task was deleted by "


def task_deleted(by: str) -> str:
    """What has not started when its task is deleted."""
    return f"{_DELETED}{by}"


def deleted_by(message: str | None) -> str | None:
    """Who deleted the task; None when it ended for another reason."""
    return message.removeprefix(_DELETED) if message is not None and message.startswith(_DELETED) else None


def timed_out(seconds: int | None) -> str:
    """An attempt that took longer than its task allows."""
    return f"timed out after {seconds} s"
