"""Command tasks made for a test through the API, and their instances."""

from __future__ import annotations

import itertools
import os
import sys
import time
from typing import Any

import httpx

API = "/api/v1"
_numbers = itertools.count(1)


def command(api: httpx.Client, code: str, **fields: Any) -> int:
    """Make a task that executes Python code, under a name of its own, and return its id."""
    payload = {"command": [sys.executable, "-u", "-c", code]}
    name = fields.pop("name", f"commanded-{os.getpid()}-{next(_numbers)}")
    answer = api.post(f"{API}/tasks", json={"name": name, "type": "command", "payload": payload, **fields})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


def run(api: httpx.Client, task: int, **given: Any) -> int:
    """Run it now, and return the instance's id."""
    answer = api.post(f"{API}/tasks/{task}/run", json=given)
    assert answer.is_success, answer.text
    return int(answer.json()["id"])


def until(api: httpx.Client, instance: int, *statuses: str, seconds: float = 30) -> dict[str, Any]:
    """Wait until the instance stands so, and return it."""
    deadline = time.monotonic() + seconds
    while True:
        found: dict[str, Any] = api.get(f"{API}/instances/{instance}").json()
        if found["status"] in statuses:
            return found
        assert time.monotonic() < deadline, f"instance {instance} is {found['status']}, not {' or '.join(statuses)}"
        time.sleep(0.1)
