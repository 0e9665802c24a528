"""A command tells how far it has come, by lines in a pipe."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.attempts import Recorded, Report
from engine.commands import attempt, command_runner, until
from hourhand.model.errors import InvalidInput, StaleFence
from hourhand.model.words import OutcomeKind
from hourhand.runners.command import CommandRunner
from hourhand.runners.reporting import LONGEST_LINE, read_report

IGNORED = "a line written to HOURHAND_PROGRESS was ignored: "


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[CommandRunner]:
    made = command_runner(tmp_path)
    yield made
    made.close()


async def told(runner: CommandRunner, script: str) -> Recorded:
    one = attempt(script)
    outcome = await runner.run(one)
    assert outcome.kind is OutcomeKind.SUCCESS, outcome.error_message
    return one


async def test_a_line_is_a_fraction_and_perhaps_a_phase(runner: CommandRunner) -> None:
    one = await told(
        runner, 'echo 0.25 > "$HOURHAND_PROGRESS"; echo "0.4 loading  all customers" > "$HOURHAND_PROGRESS"'
    )
    assert one.reports == [Report(0.25), Report(0.4, "loading  all customers")]


async def test_a_line_may_be_an_object_with_a_checkpoint(runner: CommandRunner) -> None:
    line = json.dumps({"progress": 1, "phase": "päge", "checkpoint": {"page": [3]}})
    one = await told(runner, f"echo '{line}' > \"$HOURHAND_PROGRESS\"; echo '{{}}' > \"$HOURHAND_PROGRESS\"")
    assert one.reports == [Report(1.0, "päge", {"page": [3]}), Report()]


async def test_a_report_arrives_while_the_command_runs(runner: CommandRunner, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    one = attempt(f'echo 0.5 > "$HOURHAND_PROGRESS"; cat {gate}')
    running = asyncio.create_task(runner.run(one))
    await until(lambda: bool(one.reports))
    assert not running.done()
    await asyncio.to_thread(gate.write_text, "open")
    assert ((await running).result or {})["output"] == "open"


async def test_many_lines_at_once_and_a_last_one_without_an_end_are_all_read(runner: CommandRunner) -> None:
    one = await told(
        runner, 'exec 3> "$HOURHAND_PROGRESS"; for n in 1 2 3; do echo "0.$n p$n"; done >&3; printf 0.9 >&3'
    )
    assert one.reports == [Report(0.1, "p1"), Report(0.2, "p2"), Report(0.3, "p3"), Report(0.9)]


async def test_far_more_lines_than_a_pipe_holds_are_read_in_order(runner: CommandRunner) -> None:
    one = await told(runner, 'seq -f "0.%06g" 1 20000 > "$HOURHAND_PROGRESS"')
    assert [report.fraction for report in one.reports] == [float(f"0.{n:06}") for n in range(1, 20001)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("half", "'half' is not a number from 0 to 1; the line was 'half'"),
        ("1.5 x", "1.5 is not a number from 0 to 1; the line was '1.5 x'"),
        ("nan", "nan is not a number from 0 to 1; the line was 'nan'"),
        ("-0.1", "-0.1 is not a number from 0 to 1; the line was '-0.1'"),
        ("{x", "it is not JSON: "),
        ('{"done": 1}', "'done' is not one of progress, phase, checkpoint; "),
        ('{"progress": true}', "True is not a number from 0 to 1; "),
        ('{"progress": "1"}', "'1' is not a number from 0 to 1; "),
        ('{"phase": 5}', "5 is not a phase: a text of one line, of at most 200 characters; "),
        (f"0.5 {'p' * 201}", "'ppp"),
    ],
)
async def test_a_malformed_line_is_a_warning_and_what_follows_is_still_read(
    runner: CommandRunner, line: str, reason: str
) -> None:
    one = await told(runner, f'echo \'{line}\' > "$HOURHAND_PROGRESS"; echo 0.7 > "$HOURHAND_PROGRESS"')
    assert one.reports == [Report(0.7)]
    (warning,) = one.at_level("warning")
    assert warning.startswith(IGNORED + reason)
    assert len(warning) < 500


async def test_bytes_that_are_no_text_and_blank_lines_do_no_harm(runner: CommandRunner) -> None:
    one = await told(runner, "printf '\\377\\376\\n\\n  \\n0.7\\n' > \"$HOURHAND_PROGRESS\"")
    assert one.reports == [Report(0.7)]
    assert len(one.at_level("warning")) == 1


async def test_a_line_without_end_is_given_up_and_the_next_one_is_read(runner: CommandRunner) -> None:
    size = 3 * LONGEST_LINE
    one = await told(runner, f'(head -c {size} /dev/zero | tr "\\0" x; echo; echo 0.7) > "$HOURHAND_PROGRESS"')
    assert one.reports == [Report(0.7)]
    assert one.at_level("warning") == [f"{IGNORED}it is longer than {LONGEST_LINE} bytes"]


async def test_a_checkpoint_that_cannot_be_stored_is_a_warning(runner: CommandRunner) -> None:
    one = attempt('for n in 1 2; do echo \'{"checkpoint": 1}\' > "$HOURHAND_PROGRESS"; done')
    one.refusal = InvalidInput.one("checkpoint", 1, "is refused here")
    await runner.run(one)
    assert one.at_level("warning") == [f"{IGNORED}checkpoint: is refused here"]
    assert one.reports == [Report(checkpoint=1)]


async def test_reports_of_a_superseded_attempt_go_nowhere_and_hold_nobody_up(runner: CommandRunner) -> None:
    script = 'echo \'{"checkpoint": 1}\' > "$HOURHAND_PROGRESS"; seq -f 0.%06g 1 20000 > "$HOURHAND_PROGRESS"'
    one = attempt(script)
    one.refusal = StaleFence(7, 1)
    outcome = await runner.run(one)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert one.reports == []


def test_a_deeply_nested_line_is_refused_like_any_other() -> None:
    with pytest.raises(ValueError, match="it is not JSON"):
        read_report('{"checkpoint":' + "[" * 100_000)
