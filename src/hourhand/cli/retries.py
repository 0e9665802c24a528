"""What the CLI says of an instance that is attempted again: which attempt it is, when, and why."""

from __future__ import annotations

from datetime import datetime

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.rest import Rest
from hourhand.model.errors import HourhandError


def next_attempt(rest: Rest, before: Json, now: Json) -> str | None:
    """Such as `attempt 1 of 4 failed: exit code 3; the next in 10 s`; None unless one has ended and one follows."""
    if now["fence"] == before["fence"] and not (before["status"] == "running" and now["status"] == "pending"):
        return None
    # By the time its attempts are read the present one may have ended as well: that is not followed by another.
    ended = [one for one in _attempts(rest, now["id"]) if one["outcome"] is not None]
    over = [one for one in ended if before["fence"] <= one["fence"] < now["fence"] + (now["status"] == "pending")]
    if not over:
        # Claimed, for the first time or after what was said at once; or given back before it had started.
        returned = before["status"] == "running" and now["status"] == "pending"
        return "it was given back, and is attempted again" if returned else None
    last = over[-1]
    why = f": {last['error_message']}" if last["error_message"] else ""
    when = _delay(last, now)
    if now["retry_count"] > before["retry_count"]:
        follows = f"the next{when}" if when else "the next follows"
        return f"attempt {now['retry_count']}{_of_how_many(rest, now)} failed{why}; {follows}"
    if now["loss_count"] > before["loss_count"]:
        return f"its executor was lost, and it is attempted again{when}{why}"
    return f"it was handed back, and is attempted again{when}{why}"


def how_many(rest: Rest, instance: Json) -> int:
    """The number of attempts that were made at it; those that were lost or handed back are among them."""
    return len(_attempts(rest, instance["id"])) if instance["fence"] > 1 else 1


def _attempts(rest: Rest, instance_id: int) -> list[Json]:
    try:
        items: list[Json] = rest.get(f"/instances/{instance_id}/attempts")["items"]
    except HourhandError:
        return []  # it is said for convenience: whatever is wrong, the next question will show it
    return items


def _of_how_many(rest: Rest, instance: Json) -> str:
    try:
        task: Json = rest.get(f"/tasks/{instance['task_id']}")
    except HourhandError:
        return ""
    known = task["version"] == instance["task_version"]
    return f" of {(task['max_retries'] or 0) + 1}" if known else ""


def _delay(last: Json, now: Json) -> str:
    """By the server's clock alone: this machine's may be another."""
    if now["status"] != "pending" or last["end_time"] is None or now["available_at"] is None:
        return ""
    seconds = (datetime.fromisoformat(now["available_at"]) - datetime.fromisoformat(last["end_time"])).total_seconds()
    return f" in {moments.length(seconds)}" if seconds > 1 else ""
