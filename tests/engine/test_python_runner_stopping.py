"""The python runner: stopping handlers on the loop and in threads; threads and copies that are left."""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from engine.attempts import PATIENCE
from engine.python_runs import attempt, runner_of
from hourhand import Context
from hourhand.model.words import OutcomeKind


async def test_a_handler_on_the_loop_is_stopped_by_cancellation() -> None:
    begun, cleaned = asyncio.Event(), []

    async def waits() -> None:
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            cleaned.append(True)

    running = asyncio.create_task(runner_of(waits).run(attempt()))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cleaned == [True]


async def test_what_a_handler_returns_or_raises_while_it_is_stopped_is_its_outcome() -> None:
    begun = asyncio.Event()

    async def waits(then: str) -> str:
        begun.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            if then == "raise":
                raise OSError("while stopping") from None
        return "done after all"

    for then, kind in (("return", OutcomeKind.SUCCESS), ("raise", OutcomeKind.FAILED)):
        begun.clear()
        running = asyncio.create_task(runner_of(waits).run(attempt(args={"then": then})))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        running.cancel()
        assert (await running).kind is kind


async def test_a_thread_that_looks_is_given_the_time_to_return() -> None:
    begun, returned = threading.Event(), threading.Event()

    def looks(ctx: Context) -> None:
        begun.set()
        while not ctx.cancelled:
            time.sleep(0.01)
        returned.set()

    attempted = attempt()
    running = asyncio.create_task(runner_of(looks, grace_seconds=PATIENCE).run(attempted))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    attempted.cancelled = True
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert returned.is_set()
    assert not attempted.lines


async def test_a_thread_that_does_not_return_is_left_behind_with_a_word(caplog: pytest.LogCaptureFixture) -> None:
    begun, release = threading.Event(), threading.Event()

    def stuck(wait: bool = True) -> str:  # noqa: FBT001, FBT002 - an argument of an instance
        begun.set()
        if wait:
            release.wait(PATIENCE)
        return "free"

    runner = runner_of(stuck, grace_seconds=0.05, concurrency=1)
    attempted = attempt()
    running = asyncio.create_task(runner.run(attempted))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (line,) = attempted.at_level("error")
    assert "did not return within 0.05 s: its thread still runs" in line

    following = attempt(args={"wait": False})
    next_one = asyncio.create_task(runner.run(following))
    await asyncio.sleep(0)
    assert following.at_level("warning") == ["waits for a thread: all 1 are taken"]
    release.set()
    assert (await next_one).result == {"value": "free"}
    messages = [one.getMessage() for one in caplog.records]
    assert "handler 'sample' of instance 7 has returned and gave its thread back" in messages


async def test_what_waits_for_a_thread_is_stopped_at_once() -> None:
    begun, release, calls = threading.Event(), threading.Event(), []

    def stuck(number: int) -> None:
        calls.append(number)
        begun.set()
        release.wait(PATIENCE)

    runner = runner_of(stuck, grace_seconds=PATIENCE, concurrency=1)
    first = asyncio.create_task(runner.run(attempt(args={"number": 1})))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    second = asyncio.create_task(runner.run(attempt(args={"number": 2})))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    release.set()
    await first
    await runner.close()
    assert calls == [1]


async def test_as_many_threads_as_the_executor_has_slots_run_at_once() -> None:
    together = threading.Barrier(4, timeout=PATIENCE)
    runner = runner_of(lambda: together.wait() >= 0, concurrency=4)
    outcomes = await asyncio.gather(*[runner.run(attempt()) for _ in range(12)])
    assert [one.result for one in outcomes] == [{"value": True}] * 12
    await runner.close()


async def test_a_thread_sees_the_context_variables_of_its_attempt_and_leaves_no_trace() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="outer")

    def change() -> str:
        before = variable.get()
        variable.set("changed in a thread")
        return before

    variable.set("of the attempt")
    runner = runner_of(change, concurrency=1)
    assert [(await runner.run(attempt())).result for _ in range(2)] == [{"value": "of the attempt"}] * 2
    assert variable.get() == "of the attempt"


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": "tests"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


PROGRAM = """
    import asyncio, os, sys, time, threading
    from engine.attempts import Recorded
    from hourhand import App
    from hourhand.model.words import TaskType
    from hourhand.runners.python import PythonRunner
    from hourhand.settings import Settings

    app = App()
    begun = threading.Event()

    @app.task
    def stuck():
        begun.set()
        time.sleep(600)

    @app.task
    def forks():
        pid = os.fork()
        if pid:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return "I am another"

    @app.task
    async def forks_on_the_loop():
        pid = os.fork()
        if pid:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return "I am another"

    runner = PythonRunner(app.handlers, settings=Settings(grace_seconds=0))

    async def run(name):
        return await runner.run(Recorded(TaskType.PYTHON, {"handler": name}))
"""


def test_a_stuck_thread_does_not_keep_the_process_from_ending() -> None:
    done = python(
        PROGRAM
        + """
    async def main():
        running = asyncio.create_task(run("stuck"))
        await asyncio.to_thread(begun.wait)
        running.cancel()
        await asyncio.wait({running})
    asyncio.run(main())
    print("the end")
    """
    )
    assert (done.returncode, done.stdout) == (0, "the end\n"), done.stderr


@pytest.mark.parametrize("name", ["forks", "forks_on_the_loop"])
def test_a_copy_of_the_executor_that_a_handler_forks_does_not_come_back_as_one(name: str) -> None:
    done = python(
        f'{PROGRAM}\n    import warnings; warnings.simplefilter("ignore")\n    print(asyncio.run(run("{name}")).result)'
    )
    assert (done.returncode, done.stdout) == (0, "{'value': 0}\n"), done.stderr
