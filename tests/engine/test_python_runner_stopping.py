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
from engine.commands import until
from engine.python_runs import attempt, runner_of
from hourhand import Context
from hourhand.model.words import OutcomeKind
from hourhand.runners.python_threads import Threads


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

    # Its place is another's now.
    assert (await runner.run(attempt(args={"wait": False}))).result == {"value": "free"}
    assert not release.is_set()
    release.set()
    await until(lambda: "handler 'sample' of instance 7 has returned and gave its thread back" in caplog.messages)
    await runner.close()


async def test_threads_that_never_return_are_replaced_up_to_a_bound_and_then_attempts_are_handed_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, release = threading.Semaphore(0), threading.Event()

    def stuck(wait: bool = True) -> str:  # noqa: FBT001, FBT002 - an argument of an instance
        begun.release()
        if wait:
            release.wait(PATIENCE)
        return "free"

    async def give_one_up() -> None:
        running = asyncio.create_task(runner.run(attempt()))
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE)
        running.cancel()
        await asyncio.wait({running})

    runner = runner_of(stuck, grace_seconds=0.05, concurrency=2, lease_seconds=17)
    for _ in range(3):
        await give_one_up()
    assert (await runner.run(attempt(args={"wait": False}))).result == {"value": "free"}
    assert begun.acquire(blocking=False)
    await give_one_up()

    refused = attempt(args={"wait": False})
    outcome = await runner.run(refused)
    assert (outcome.kind, outcome.delay_seconds) == (OutcomeKind.HANDED_BACK, 17)
    (line,) = refused.at_level("warning")
    assert line.startswith("handed back: 4 threads of this executor still run handlers that were stopped")
    assert any("4 threads run handlers that do not return" in one for one in caplog.messages)

    release.set()
    await until(lambda: sum("gave its thread back" in one for one in caplog.messages) == 4)
    outcomes = await asyncio.gather(*[runner.run(attempt(args={"wait": False})) for _ in range(6)])
    assert [one.result for one in outcomes] == [{"value": "free"}] * 6
    await runner.close()


def test_there_are_as_many_threads_as_before_once_what_was_given_up_returns() -> None:
    release, threads = threading.Event(), Threads[str](2, "counted")
    stuck = [threads.submit(lambda: str(release.wait(PATIENCE))) for _ in range(2)]
    waiting = threads.submit(lambda: "done")
    assert threads.busy
    assert not waiting.done()
    for one in stuck:
        threads.give_up(one)
    assert waiting.result(PATIENCE) == "done"
    assert (threads.given_up, threads.short) == (2, False)
    release.set()
    for one in stuck:
        assert one.result(PATIENCE) == "True"
        threads.give_up(one)  # it has returned, so nothing is given up
    both = threading.Barrier(2, timeout=PATIENCE)
    for one in [threads.submit(lambda: str(both.wait() >= 0)) for _ in range(4)]:
        assert one.result(PATIENCE) == "True"
    assert (threads.given_up, threads.busy) == (0, False)
    threads.close()


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
