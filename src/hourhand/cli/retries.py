"""What the CLI says of an instance that is attempted again: which attempt it is, when, and why."""

from __future__ import annotations

from datetime import datetime

from hourhand.cli import moments
from hourhand.cli.json_options import Json
from hourhand.cli.rest import Rest
from hourhand.model.errors import HourhandError


def next_attempt(rest: Rest, before: Json, now: Json) -> str | None:
    """Such as `attempt 2 of 4 in 10 s: exit code 3`; None unless an attempt has just ended and another one follows."""
    if now["fence"] == before["fence"] and not (before["status"] == "running" and now["status"] == "pending"):
        return None
    last = _last_attempt(rest, now["id"])
    if last is None:
        return None  # it has only been claimed for the first time
    why = f": {last['error_message']}" if last["error_message"] else ""
    when = _delay(last, now)
    if now["retry_count"] > before["retry_count"]:
        return f"attempt {now['retry_count'] + 1}{_of_how_many(rest, now)}{when}{why}"
    if now["loss_count"] > before["loss_count"]:
        return f"its executor was lost, and it is attempted again{when}{why}"
    # Claimed again: that an attempt has ended was said at once, unless it was too quick to be seen.
    return f"it was given back, and is attempted again{when}{why}" if now["status"] == "pending" else None


def _last_attempt(rest: Rest, instance_id: int) -> Json | None:
    try:
        items: list[Json] = rest.get(f"/instances/{instance_id}/attempts")["items"]
    except HourhandError:
        return None  # it is said for convenience: whatever is wrong, the next question will show it
    over = [one for one in items if one["outcome"] is not None]
    return over[-1] if over else None


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
