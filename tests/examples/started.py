"""A program of an example, started in its folder, and stopped at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

PATIENCE = 60.0


@contextmanager
def started(folder: Path, *arguments: str, until: str, **environment: str) -> Iterator[None]:
    """Run `python ARGUMENTS` until the test is over; wait first for what it prints once it is ready."""
    output = folder / f".{Path(arguments[-1]).name}.output"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HOURHAND_")}
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=clean | {"PYTHONUNBUFFERED": "1"} | environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: until in output.read_text() or process.poll() is not None, what=until)
        assert process.poll() is None, output.read_text()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(condition: Callable[[], Any], *, what: str, seconds: float = PATIENCE) -> Any:
    """Wait until something is so, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


def run(client: httpx.Client, task: str) -> int:
    """Run a task by hand; return the instance's id."""
    (found,) = client.get("/api/v1/tasks", params={"name": task}).json()["items"]
    return int(client.post(f"/api/v1/tasks/{found['id']}/run").raise_for_status().json()["id"])


def ended(client: httpx.Client, instance: int) -> dict[str, Any]:
    """Wait for the end of an instance, and return it."""

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = client.get(f"/api/v1/instances/{instance}").json()
        return found if found["status"] in ("success", "failed", "cancelled") else None

    found: dict[str, Any] = wait_for(look, what=f"the end of instance {instance}")
    return found


def instances(client: httpx.Client, task: str) -> list[dict[str, Any]]:
    """All instances of a task, newest first."""
    (found,) = client.get("/api/v1/tasks", params={"name": task}).json()["items"]
    items: list[dict[str, Any]] = client.get("/api/v1/instances", params={"task_id": found["id"]}).json()["items"]
    return items


def logs(client: httpx.Client, instance: int) -> str:
    """What an instance wrote."""
    return client.get(f"/api/v1/instances/{instance}/logs/download").text
