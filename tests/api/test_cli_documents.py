"""The reference of the CLI names every command there is, and of tasks every option."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from hourhand.cli.main import app
from hourhand.cli.task_options import TaskOptions, flag

REFERENCE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")


def commands(node: object, path: str) -> Iterator[str]:
    below = getattr(node, "commands", None)
    if below is None:
        yield path
    else:
        for name, command in below.items():
            yield from commands(command, f"{path} {name}")


@pytest.mark.parametrize("command", sorted(commands(typer.main.get_command(app), "hourhand")))
def test_every_command_is_described(command: str) -> None:
    assert f"`{command}" in REFERENCE


@pytest.mark.parametrize("option", [flag(field.name) for field in fields(TaskOptions)])
def test_every_option_of_a_task_is_described(option: str) -> None:
    assert f"`{option}" in REFERENCE
