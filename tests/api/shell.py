"""The command `hourhand` in a folder of task files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from api.cli import Ran, Terminal


class Shell(Terminal):
    """Somebody with a folder of files."""

    @property
    def folder(self) -> Path:
        return self.served.folder

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return name

    def file(self, stem: str, /, *tasks: dict[str, Any], **more: Any) -> str:
        return self.write(f"{stem}.yaml", yaml.safe_dump({**more, "tasks": list(tasks)}))

    def piped(self, text: str, *arguments: str) -> Ran:
        with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()))):
            return self(*arguments)

    def managed(self, owner: str) -> dict[str, Any]:
        found = self.done("task", "list", "--json").json["items"]
        return {one["name"]: one for one in found if one["managed_by"] == owner}


def load(name: str, **more: Any) -> dict[str, Any]:
    """One task as a file has it."""
    return {"name": f"{name}-load", "command": ["true"], **more}
