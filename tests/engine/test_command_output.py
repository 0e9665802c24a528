"""What a command writes arrives while it runs, in chunks, and never fills the executor's memory."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.attempts import Recorded
from engine.commands import attempt, cancelled, command_runner
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners.command import CommandRunner
from hourhand.runners.output import CHUNK_BYTES, KEPT_BYTES, SUMMARY_BYTES, Tail


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path)
    yield made
    made.close()


async def test_output_arrives_while_the_command_runs_also_a_line_that_has_no_end_yet(runner: CommandRunner) -> None:
    one = attempt("echo whole; printf 'half a line'; sleep 1000")
    running = asyncio.create_task(runner.run(one))
    await one.until_written("whole\nhalf a line")
    assert not running.done()
    await cancelled(running)


async def test_lines_are_gathered_into_chunks_that_end_where_lines_end(runner: CommandRunner) -> None:
    one = attempt(["seq", "1", "20000"])
    outcome = await runner.run(one)
    expected = "".join(f"{number}\n" for number in range(1, 20001))
    chunks = [line.message for line in one.lines]
    assert "".join(chunks) == expected
    assert len(chunks) < 100
    assert all(chunk.endswith("\n") and len(chunk) <= CHUNK_BYTES for chunk in chunks)
    kept = expected[-KEPT_BYTES:]
    assert (outcome.result or {})["output"] == f"[{len(expected) - KEPT_BYTES} bytes before this were not kept]\n{kept}"


async def test_a_last_line_without_an_end_and_one_without_any_are_whole(runner: CommandRunner) -> None:
    one = attempt(["printf", "a\nb"])
    assert ((await runner.run(one)).result or {})["output"] == one.written("stdout") == "a\nb"
    long = attempt("head -c 100000 /dev/zero | tr '\\0' x")
    await runner.run(long)
    assert long.written("stdout") == "x" * 100_000
    assert max(len(line.message) for line in long.lines) <= CHUNK_BYTES


async def test_characters_that_are_split_between_chunks_are_put_together(runner: CommandRunner) -> None:
    one = attempt("printf '\\303'; sleep 0.6; printf '\\274\\n'; printf 'end\\342\\202'")
    await runner.run(one)
    assert one.written("stdout") == "ü\nend\ufffd"


async def test_binary_output_is_replaced_and_stays_within_bounds(runner: CommandRunner) -> None:
    one = attempt(["head", "-c", "300000", "/dev/urandom"])
    outcome = await runner.run(one)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert max(len(line.message.encode()) for line in one.lines) <= CHUNK_BYTES
    output = (outcome.result or {})["output"]
    assert "\ufffd" in output
    assert "\0" not in output
    assert len(json.dumps(outcome.result, ensure_ascii=False).encode()) < 256 * 1024


async def test_the_summary_is_the_end_of_both_streams(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("seq 1 5000; sleep 0.5; echo oops >&2; exit 1"))
    summary = outcome.output_summary or ""
    assert summary.endswith("4999\n5000\noops\n")
    assert "bytes before this were not kept]" in summary.splitlines()[0]
    assert outcome.error_message == "exit code 1: oops"
    assert (await runner.run(attempt(["true"]))).output_summary is None


async def test_a_very_long_complaint_is_cut_in_the_error_message(runner: CommandRunner) -> None:
    outcome = await runner.run(attempt("head -c 50000 /dev/zero | tr '\\0' x >&2; exit 2"))
    assert outcome.error_message == f"exit code 2: {'x' * 500}"


async def test_a_gigabyte_of_output_needs_no_memory(runner: CommandRunner) -> None:
    one = Recorded(TaskType.COMMAND, {"command": "head -c 1000000000 /dev/zero | tr '\\0' x"}, keep_lines=False)
    await runner.run(attempt(["true"]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = await runner.run(one)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert outcome.kind is OutcomeKind.SUCCESS
    assert one.logged_characters == 1_000_000_000
    assert (outcome.result or {})["output"].startswith(f"[{1_000_000_000 - KEPT_BYTES} bytes before this")
    assert grown_kib < 32 * 1024


def test_an_end_is_cut_between_characters() -> None:
    tail = Tail(5)
    tail.add("üüüü".encode())
    assert tail.text() == "[3 bytes before this were not kept]\nüü"


def test_an_end_that_fits_has_no_marker_whatever_the_pieces() -> None:
    tail = Tail(SUMMARY_BYTES)
    for _ in range(SUMMARY_BYTES):
        tail.add(b"x")
    assert tail.text() == "x" * SUMMARY_BYTES
