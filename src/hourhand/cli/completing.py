"""What the CLI completes words to, in a shell: names and ids that the server knows, zones, words of schedules.

A shell waits for the answer while somebody types: what the server does not say within a second is not said, and
nothing is ever complained of.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import NoReturn

import typer

from hourhand.cli.json_options import Json

DEADLINE_SECONDS = 1.0
MOST = 200
Found = list[tuple[str, str]]
"""Words, and what a shell shows beside them if it can."""
_SPECIAL = re.compile(r"([^A-Za-z0-9_@%+=:,./-])")
_UNSAFE = re.compile(r"""[\x00-\x1f\x7f-\x9f\\"'`$]""")
"""Zsh evaluates what it is answered: nobody's task may be named so that pressing Tab runs a command."""
SCHEDULES = (
    ("@manual", "only by hand"),
    ("@upstream", "when what it depends on has succeeded"),
    ("@every 30s", "again and again"),
    ("@after 30s", "so long after the end of the last"),
    ("@at 2030-01-01T09:00", "once"),
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@weekly", "0 0 * * SUN"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("*/5 * * * *", "every five minutes"),
    ("0 9 * * MON-FRI", "on weekdays at nine"),
)
RESOURCES = (
    "task",
    "instance",
    "group",
    "user",
    "token",
    "session",
    "pause",
    "alert-rule",
    "calendar",
    "data-source",
    "operation",
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")


def tasks(incomplete: str) -> Found:
    """Names of tasks."""
    return _asked(lambda items: [(one["name"], one["schedule"]) for one in items], "/tasks", q=incomplete or None)


def groups(incomplete: str) -> Found:
    """Names of groups; after a comma those of further ones."""
    before, comma, _ = incomplete.rpartition(",")
    found = _asked(lambda items: [(one["name"], one["title"] or "") for one in items], "/groups")
    return [(f"{before}{comma}{name}", title) for name, title in found]


def instances(_: str) -> Found:
    """Ids of instances, the living first."""
    return _asked(
        lambda items: [(str(one["id"]), f"{one['status']}, {one['task_name']}") for one in items], "/instances"
    )


def planned(_: str) -> Found:
    """Ids of instances that wait to be dispatched."""
    return _asked(
        lambda items: [(str(one["id"]), one["task_name"]) for one in items if one["blocked_by"] == "dispatch"],
        "/instances",
        status="planned",
    )


def executors(_: str) -> Found:
    """Ids of executors."""
    return _asked(lambda items: [(one["id"], one["group"]) for one in items], "/executors")


def users(_: str) -> Found:
    """Names of users."""
    return _asked(lambda items: [(one["name"], one["role"]) for one in items], "/users")


def alert_rules(_: str) -> Found:
    """Names of alert rules."""
    return _asked(lambda items: [(one["name"], one["condition"]["kind"]) for one in items], "/alert-rules")


def data_sources(_: str) -> Found:
    """Names of data sources."""
    return _asked(lambda items: [(one["name"], one["url"]) for one in items], "/data-sources")


def operation_kinds(_: str) -> Found:
    """Kinds of operations."""
    return _asked(lambda items: [(one["name"], one["title"]) for one in items if one["role"] == "operation"], "/kinds")


def tokens(_: str) -> Found:
    """Ids of tokens."""
    return _asked(lambda items: [(str(one["id"]), one["name"]) for one in items if not one["revoked_at"]], "/tokens")


def sessions(_: str) -> Found:
    """Ids of sessions."""
    return _asked(lambda items: [(str(one["id"]), one["name"]) for one in items], "/sessions")


def pauses(_: str) -> Found:
    """Ids of pauses."""
    return _asked(lambda items: [(str(one["id"]), one["reason"]) for one in items], "/pauses")


def audit_entries(_: str) -> Found:
    """Ids of the newest entries of the audit."""
    return _asked(
        lambda items: [(str(one["id"]), f"{one['action']} {one['summary'] or one['resource_type']}") for one in items],
        "/audit-logs",
    )


def timezones(_: str) -> Found:
    """Zones of this machine."""
    from zoneinfo import available_timezones

    return [(name, "") for name in sorted(available_timezones())]


def schedules(_: str) -> Found:
    """What schedules look like."""
    return list(SCHEDULES)


def resources(_: str) -> Found:
    """Kinds of things that the audit tells of."""
    return [(word, "") for word in RESOURCES]


def methods(_: str) -> Found:
    """Methods of HTTP."""
    return [(word, "") for word in METHODS]


def _asked(words: Callable[[Iterable[Json]], Found], path: str, **params: str | None) -> Found:
    """What the server answers in time; nothing where there is none, or it refuses."""
    import httpx

    from hourhand.cli.rest import found_here
    from hourhand.model.errors import HourhandError
    from hourhand.sdk.address import API, address_of
    from hourhand.settings import load_settings

    limited = {} if path in ("/groups", "/executors", "/pauses", "/data-sources", "/kinds") else {"limit": str(MOST)}
    asked = limited | {name: value for name, value in params.items() if value is not None}
    try:
        address = address_of(found_here(load_settings()))
        answer = httpx.get(
            f"{address.url}{API}{path}",
            params=asked,
            headers=address.headers,
            timeout=DEADLINE_SECONDS,
            trust_env=not address.local,
        )
        found = words(answer.raise_for_status().json()["items"])
        return [(word, _UNSAFE.sub(" ", told)) for word, told in found if not _UNSAFE.search(word)]
    except (HourhandError, httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        return []


def answer(app: typer.Typer) -> NoReturn:
    """Answer a shell that asks; Bash takes each line as it would be typed, so that spaces need a backslash there."""
    printed = io.StringIO()
    code = 0
    try:
        with redirect_stdout(printed):
            app(prog_name="hourhand")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except Exception:  # noqa: BLE001 - a shell would print it into the line that somebody types
        code = 1
    text = printed.getvalue()
    in_bash = os.environ["_HOURHAND_COMPLETE"] == "complete_bash"
    typer.echo(_SPECIAL.sub(r"\\\1", text).replace("\\\n", "\n") if in_bash else text, nl=False)
    raise SystemExit(code)
