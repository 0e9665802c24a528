"""An executor carries out what it claims, and reports whatever came of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hourhand.bootstrap import engine as bootstrap
from hourhand.executor import workload
from hourhand.executor.attempt import LOG_BYTES
from hourhand.model.words import OutcomeKind, Status, TaskType

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.engines import Engine


def marks(file: Path, word: str) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith(word)] if file.exists() else []


async def test_a_handler_is_called_with_its_arguments_and_its_value_is_kept(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("answer"), value={"a": [1, "ü"]})
    assert (done.status, done.result) == (Status.SUCCESS, {"value": {"a": [1, "ü"]}})
    assert done.executor_id is not None
    assert done.duration_ms is not None
    assert done.fence == 1


async def test_a_command_runs_and_its_output_is_kept(engine: Engine) -> None:
    engine.start()
    task = await engine.task(type="command", payload={"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]})
    done = await engine.result(task)
    assert done.status is Status.FAILED
    assert done.result == {"output": "out\n", "error": "err\n", "exit_code": 3}
    lines = await engine.store.read_lines(done.id)
    assert {(line.stream, line.message.strip()) for line in lines if line.stream} == {
        ("stdout", "out"),
        ("stderr", "err"),
    }


async def test_a_failed_attempt_is_retried_and_recorded(engine: Engine) -> None:
    engine.start()
    task = await engine.task("broken", max_retries=3, retry_delay_seconds=0)
    done = await engine.result(task, times=2)
    assert (done.status, done.retry_count, done.result) == (Status.SUCCESS, 2, {"value": "mended"})
    attempts = await engine.store.list_attempts(done.id)
    assert [(one.outcome, one.error_message) for one in attempts] == [
        (OutcomeKind.FAILED, "ValueError: broken at attempt 0"),
        (OutcomeKind.FAILED, "ValueError: broken at attempt 1"),
    ]


async def test_the_last_failure_is_the_instances_and_its_traceback_is_in_the_log(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("broken"))
    assert (done.status, done.error_message) == (Status.FAILED, "ValueError: broken at attempt 0")
    (line,) = [line for line in await engine.store.read_lines(done.id) if line.exception]
    assert "Traceback" in (line.exception or "")


async def test_a_handler_that_tries_to_end_the_process_fails_alone(engine: Engine) -> None:
    engine.start()
    assert (await engine.result(await engine.task("exits"))).status is Status.FAILED
    assert (await engine.result(await engine.task("answer"))).status is Status.SUCCESS


async def test_a_result_that_is_not_json_fails_and_says_so(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("not_json", max_retries=5))
    assert done.status is Status.FAILED
    assert "object" in (done.error_message or "")
    assert done.retry_count == 0, "the same result would come again"


async def test_what_takes_too_long_is_stopped(engine: Engine, tmp_path: Path) -> None:
    engine.start()
    file = tmp_path / "marks"
    done = await engine.result(await engine.task("slow", timeout_seconds=1), file=str(file))
    assert (done.status, done.error_message) == (Status.FAILED, "timed out after 1 s")
    assert len(marks(file, "stopped")) == 1


async def test_a_time_out_uses_up_a_retry(engine: Engine) -> None:
    engine.start()
    task = await engine.task("slow", timeout_seconds=1, max_retries=1, retry_delay_seconds=0)
    done = await engine.result(task)
    assert (done.status, done.retry_count) == (Status.FAILED, 1)
    (attempt,) = await engine.store.list_attempts(done.id)
    assert attempt.outcome is OutcomeKind.TIMED_OUT


async def test_a_cancel_reaches_what_runs(engine: Engine, tmp_path: Path) -> None:
    engine.start()
    file = tmp_path / "marks"
    instance_id = await engine.submit(await engine.task("slow", max_retries=5), file=str(file))
    await engine.until(instance_id, Status.RUNNING)
    async with asyncio.timeout(30):
        while not marks(file, "start"):
            await asyncio.sleep(0.02)
    await engine.store.cancel(instance_id, reason="no longer wanted")
    done = await engine.until(instance_id)
    assert (done.status, done.error_message) == (Status.CANCELLED, "no longer wanted")
    assert len(marks(file, "stopped")) == 1


async def test_a_thread_sees_that_it_is_cancelled(engine: Engine) -> None:
    engine.start()
    instance_id = await engine.submit(await engine.task("threaded"))
    await engine.until(instance_id, Status.RUNNING)
    await engine.store.cancel(instance_id, reason="enough")
    assert (await engine.until(instance_id)).status in (Status.CANCELLED, Status.SUCCESS)


async def test_what_does_not_stop_is_given_up_and_said(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload, "GIVE_UP_SECONDS", 0.0)
    engine.start()
    file = tmp_path / "marks"
    instance_id = await engine.submit(await engine.task("stubborn"), file=str(file))
    async with asyncio.timeout(30):
        while not marks(file, "start"):
            await asyncio.sleep(0.02)
    await engine.store.cancel(instance_id, reason="stop it")
    done = await engine.until(instance_id)
    assert done.status is Status.CANCELLED
    assert marks(file, "ignored")
    assert any("did not stop" in line.message for line in await engine.store.read_lines(instance_id))
    async with asyncio.timeout(30):
        while not marks(file, "end"):
            await asyncio.sleep(0.02)
    assert (await engine.store.get_instance(instance_id)).status is Status.CANCELLED, "what it does later is late"


async def test_a_failure_after_a_checkpoint_resumes_from_it(engine: Engine, tmp_path: Path) -> None:
    engine.start()
    file = tmp_path / "marks"
    task = await engine.task("steps", max_retries=1, retry_delay_seconds=0)
    done = await engine.result(task, die_at=3, file=str(file))
    assert (done.status, done.result) == (Status.SUCCESS, {"value": {"first": 3}})
    assert [line.split()[0] for line in file.read_text().splitlines()] == ["from-0", "from-3"]
    assert done.checkpoint == {"step": 5}
    lines = [line.message for line in await engine.store.read_lines(done.id) if line.message.startswith("did")]
    assert lines == [f"did step {number}" for number in range(5)], "in order, across attempts"


async def test_progress_and_phase_can_be_seen_while_it_runs(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("steps"))
    assert (done.progress, done.phase) == (1.0, "step 4")


async def test_every_line_is_there_before_the_end_is(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("chatty"), lines=2_000)
    seen: list[str] = []
    after = -1
    while page := await engine.store.read_lines(done.id, after=after):
        seen += [line.message.partition(":")[0] for line in page]
        after = page[-1].seq
    assert seen == [str(number) for number in range(2_000)]


async def test_what_is_written_is_bounded_and_the_cut_is_marked(engine: Engine) -> None:
    engine.start()
    size = 20_000
    done = await engine.result(await engine.task("chatty"), lines=2 * LOG_BYTES // size, size=size)
    assert done.status is Status.SUCCESS
    kept = 0
    after, last = -1, ""
    while page := await engine.store.read_lines(done.id, after=after):
        kept += sum(len(line.message) for line in page)
        after, last = page[-1].seq, page[-1].message
    assert kept <= LOG_BYTES + 1_000
    assert "truncated" in last


async def test_a_handler_that_blocks_its_loop_neither_loses_its_lease_nor_holds_up_a_command(engine: Engine) -> None:
    engine.start()
    blocking = await engine.submit(await engine.task("blocks"), seconds=4)
    await engine.until(blocking, Status.RUNNING)
    beside = await engine.result(await engine.task(type="command", payload={"command": ["true"]}))
    assert beside.status is Status.SUCCESS
    assert (await engine.store.get_instance(blocking)).status is Status.RUNNING, "it blocks still"
    done = await engine.until(blocking)
    assert (done.status, done.loss_count, done.fence) == (Status.SUCCESS, 0, 1)


async def test_a_handler_in_a_process_that_is_killed_fails_and_the_executor_lives_on(engine: Engine) -> None:
    engine.start()
    done = await engine.result(await engine.task("dies"))
    assert done.status is Status.FAILED
    assert "SIGKILL" in (done.error_message or "")
    assert (await engine.result(await engine.task("forks"))).result == {"value": "forked"}


async def test_an_unknown_handler_is_handed_back_for_somebody_who_knows_it(engine: Engine) -> None:
    engine.start()
    task = await engine.task("nobody_knows")
    instance_id = await engine.submit(task)
    async with asyncio.timeout(30):
        while (seen := await engine.store.get_instance(instance_id)).fence < 2:
            await asyncio.sleep(0.02)
    assert seen.status is Status.PENDING
    assert (seen.retry_count, seen.loss_count) == (0, 0)


async def test_a_task_without_a_runner_fails_and_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap._runners  # noqa: SLF001 - an executor of another release, which lacks one
    monkeypatch.setattr(
        bootstrap,
        "_runners",
        lambda *given, **named: {
            type_: runner for type_, runner in whole(*given, **named).items() if type_ is not TaskType.OPERATION
        },
    )
    engine.start()
    done = await engine.result(await engine.task(type="operation", payload={"kind": "split_boundary"}))
    assert (done.status, done.error_message) == (Status.FAILED, "this executor has no runner for operation tasks")
