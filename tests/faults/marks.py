"""Marks: how the work itself says that it started and that it is done, and how that is read afterwards.

Each process appends to a file of its own, one line per `write`, so that lines are whole however it is killed. Nothing
here imports Hourhand: this is the witness that must not depend on it.
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from faults.history import Mark, MarkKind

FOLDER = "FAULTS_MARKS"
"""The environment variable that names the folder of the files."""


def mark(kind: MarkKind, instance_id: int, fence: int) -> None:
    """Write one mark down."""
    line = {"kind": kind.value, "instance_id": instance_id, "fence": fence, "ns": time.time_ns(), "pid": os.getpid()}
    path = Path(os.environ[FOLDER]) / f"{os.getpid()}.jsonl"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, json.dumps(line).encode() + b"\n")
    finally:
        os.close(handle)


def read_marks(folder: Path) -> list[Mark]:
    """Read the marks of all processes, oldest first."""
    found = []
    for path in folder.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            told = json.loads(line)
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=told["ns"] // 1_000)
            found.append(
                Mark(
                    kind=MarkKind(told["kind"]),
                    instance_id=told["instance_id"],
                    fence=told["fence"],
                    at=moment,
                    pid=told["pid"],
                )
            )
    return sorted(found, key=lambda one: one.at)
