"""isolation="process": handlers in children that can be killed, and that take nobody with them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.attempts import PATIENCE, SCHEDULED, Recorded, Report
from hourhand.model.errors import StaleFence, StoreUnavailable
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners import python_process, supervised
from hourhand.runners.python import PythonRunner
from hourhand.sdk.loading import load_app
from hourhand.settings import Settings

if TYPE_CHECKING:
    from hourhand.model.instance import Outcome
    from hourhand.runners.supervised import Supervised


def attempt(name: str, **more: Any) -> Recorded:
    return Recorded(TaskType.PYTHON, {"handler": name, "app": "isolated"}, name=name, **more)


def runner(**settings: Any) -> PythonRunner:
    return PythonRunner(load_app("engine.isolated:app").handlers, settings=Settings(**settings))


async def run(name: str, attempted: Recorded | None = None, **args: Any) -> Outcome:
    async with asyncio.timeout(2 * PATIENCE):
        return await runner().run(attempted or attempt(name, args=args))


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


async def written(path: Path) -> list[int]:
    """The process ids that a handler wrote, once it has."""
    async with asyncio.timeout(PATIENCE):
        while not path.exists() or not path.read_text():  # noqa: ASYNC240 - another process writes it
            await asyncio.sleep(0.01)
    return [int(one) for one in path.read_text().split()]  # noqa: ASYNC240


async def gone(*pids: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while any(map(alive, pids)):
            await asyncio.sleep(0.01)


# What comes of it


async def test_a_handler_runs_in_a_process_of_its_own() -> None:
    assert (await run("add", a="2", b=3)).result == {"value": 5}
    value = ((await run("add_later", a=2)).result or {})["value"]
    assert (value["sum"], value["instance"]) == (3, 7)
    assert value["pid"] != os.getpid()
    await gone(value["pid"])


async def test_the_context_there_knows_the_attempt() -> None:
    more: dict[str, Any] = {"instance_id": 5, "fence": 3, "retry_count": 2, "shard_index": 1, "shard_total": 4}
    outcome = await run("look", attempt("look", **more, checkpoint=[1], args={}))
    expected = [5, 3, "look", 2, "hourhand-5", 1, 4, [1], SCHEDULED.isoformat(), {}, False]
    assert outcome.result == {"value": expected}


@pytest.mark.parametrize("name", ["report", "report_later"])
async def test_everything_a_child_says_arrives(name: str) -> None:
    attempted = attempt(name)
    outcome = await run(name, attempted)
    assert outcome.kind is OutcomeKind.SUCCESS
    assert attempted.reports == [Report(phase="counting"), Report(0.25, None, {"page": 1}), Report(0.5)]
    said = [(line.level, line.message, line.phase) for line in attempted.lines if line.stream is None]
    assert said == [("info", "counted", "counting"), ("warning", "a record", "counting")]
    assert (attempted.written("stdout"), attempted.written("stderr")) == ("printed\n", "complained\n")
    assert sorted((outcome.output_summary or "").splitlines()) == ["complained", "printed"]


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (None, "stored"),
        (StaleFence(7, 1), "StaleFence instance 7 is no longer running under fence 1"),
        (StoreUnavailable("away"), "HourhandError the checkpoint could not be stored: StoreUnavailable: away"),
    ],
)
async def test_a_checkpoint_is_answered_once_it_is_stored_or_refused(refusal: Exception | None, said: str) -> None:
    attempted = attempt("checkpoint")
    attempted.refusal = refusal
    outcome = await run("checkpoint", attempted)
    assert str((outcome.result or {})["value"]).startswith(said)


async def test_a_checkpoint_that_is_not_json_is_refused_in_the_child() -> None:
    outcome = await run("checkpoint", good=False)
    assert str((outcome.result or {})["value"]).startswith("InvalidInput checkpoint: is not JSON")


async def test_what_a_child_raises_is_a_failure_with_its_traceback() -> None:
    attempted = attempt("fail", args={"text": "no pages"})
    outcome = await run("fail", attempted)
    assert (outcome.kind, outcome.error_message) == (OutcomeKind.FAILED, "ValueError: no pages")
    (line,) = [line for line in attempted.lines if line.level == "error"]
    assert "isolated.py" in (line.exception or "")
    assert "python_call.py" not in (line.exception or "")


async def test_arguments_are_checked_in_the_child() -> None:
    outcome = await run("add", a="two")
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert (outcome.error_message or "").startswith("args.a: 'two' is refused")


async def test_results_are_checked_in_the_child() -> None:
    refused = await run("returns", kind="object")
    assert (refused.kind, refused.retryable) == (OutcomeKind.FAILED, False)
    assert "result['at'][0] is a object" in (refused.error_message or "")
    large = await run("returns", kind="large")
    assert (large.result or {})["error"] == "the result has 2000002 bytes; at most 262144 are kept"
    assert (await run("returns", kind="binary")).result == {"value": "\x00?"}


async def test_a_line_that_is_too_long_is_cut_and_the_conversation_goes_on() -> None:
    attempted = attempt("talk", args={"characters": 3_000_000})
    assert (await run("talk", attempted)).result == {"value": "said"}
    assert "… [truncated] …" in attempted.lines[0].message


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("exit", "its process ended with exit code 7 before it returned"),
        ("quiet", "its process ended with exit code 0 before it returned"),
        ("kill", "its process was killed by SIGKILL"),
        ("fault", "its process was killed by SIGSEGV"),
        ("asked", "its process was asked to end by SIGTERM"),
        ("SystemExit", "SystemExit: on purpose"),
    ],
)
async def test_a_child_that_dies_is_a_failure_that_says_how(how: str, said: str) -> None:
    attempted = attempt("die", args={"how": how})
    outcome = await run("die", attempted)
    assert (outcome.kind, outcome.error_message, outcome.retryable) == (OutcomeKind.FAILED, said, True)
    assert said in attempted.at_level("error")
    if how == "fault":
        assert "Segmentation fault" in attempted.written("stderr")


async def test_a_child_that_cannot_be_heard_any_more_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_process, "_LINGER_SECONDS", 0.2)
    attempted = attempt("die", args={"how": "deaf"})
    async with asyncio.timeout(PATIENCE):
        outcome = await runner(grace_seconds=0.2).run(attempted)
    assert outcome.kind is OutcomeKind.FAILED
    assert "has closed its connection to the executor" in attempted.at_level("warning")[0]


async def test_a_child_that_returns_and_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_process, "_LINGER_SECONDS", 0.2)
    attempted = attempt("lingers")
    async with asyncio.timeout(PATIENCE):
        outcome = await runner(grace_seconds=0.2).run(attempted)
    assert outcome.result == {"value": "returned"}
    assert "the handler has returned, but its process still runs" in attempted.at_level("warning")[0]


async def test_an_app_that_was_not_loaded_by_name_cannot_be_found_by_a_child() -> None:
    app = load_app("engine.isolated:app")
    for handler in app.handlers.values():
        handler.source = None
    outcome = await PythonRunner(app.handlers, settings=Settings()).run(attempt("add"))
    assert (outcome.kind, outcome.retryable) == (OutcomeKind.FAILED, False)
    assert "load its app by name, as in `hourhand executor MODULE:APP`" in (outcome.error_message or "")


async def test_a_module_that_the_child_cannot_load_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    module = tmp_path / "fleeting.py"
    module.write_text(
        "from hourhand import App\napp = App('isolated')\napp.task(name='add', isolation='process')(lambda: 1)\n"
    )
    handlers = load_app("fleeting:app").handlers
    module.write_text("from hourhand import App\napp = App('isolated')\n")
    outcome = await PythonRunner(handlers, settings=Settings()).run(attempt("add"))
    assert outcome.error_message == "HourhandError: fleeting:app has no handler 'add' here; it has: none"
    module.write_text("import nowhere_at_all\n")
    outcome = await PythonRunner(handlers, settings=Settings()).run(attempt("add"))
    assert "fleeting cannot be imported: ModuleNotFoundError" in (outcome.error_message or "")


# What it is given


async def test_the_child_gets_the_executors_environment_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("HOURHAND_STORE", "HOURHAND_TOKEN", "HOURHAND_SECRET_KEY", "HOURHAND_SECRET_KEY_FILE")
    for name in secrets:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("BILLING_URL", "http://books")
    found = ((await runner_without_settings_from_the_environment("environment")).result or {})["value"]
    assert "canary" not in found.values()
    assert found["BILLING_URL"] == "http://books"
    identity = {name: found[f"HOURHAND_{name}"] for name in ("INSTANCE_ID", "FENCE", "ATTEMPT", "IDEMPOTENCY_KEY")}
    assert identity == {"INSTANCE_ID": "7", "FENCE": "1", "ATTEMPT": "7-1", "IDEMPOTENCY_KEY": "hourhand-7"}


async def runner_without_settings_from_the_environment(name: str) -> Outcome:
    settings = Settings.model_construct(concurrency=1, grace_seconds=5.0, lease_seconds=15.0)
    return await PythonRunner(load_app("engine.isolated:app").handlers, settings=settings).run(attempt(name))


# Stopping


@pytest.mark.parametrize("name", ["wait", "wait_later"])
async def test_a_stopped_handler_is_interrupted_cleans_up_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt(name, args={"pids": str(pids)})
    running = asyncio.create_task(runner(grace_seconds=PATIENCE).run(attempted))
    found = await written(pids)
    running.cancel()
    outcome = await asyncio.wait_for(running, PATIENCE)
    assert (outcome.kind, outcome.error_message) == (
        OutcomeKind.CANCELLED,
        "stopped: its process was asked to end by SIGTERM",
    )
    assert "cleaning up, cancelled: True" in [line.message for line in attempted.lines]
    assert not any(map(alive, found))


async def test_a_handler_that_ignores_being_stopped_is_killed_after_the_grace(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt("wait", args={"pids": str(pids), "stubborn": True})
    running = asyncio.create_task(runner(grace_seconds=0.3).run(attempted))
    found = await written(pids)
    running.cancel()
    outcome = await asyncio.wait_for(running, PATIENCE)
    assert outcome.error_message == "stopped: its process was killed by SIGKILL"
    assert not any(map(alive, found))


async def test_a_second_cancellation_takes_the_grace_away(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt("wait", args={"pids": str(pids), "stubborn": True})
    running = asyncio.create_task(runner(grace_seconds=600).run(attempted))
    found = await written(pids)
    running.cancel()
    await asyncio.sleep(0.1)
    running.cancel()
    assert (await asyncio.wait_for(running, PATIENCE)).kind is OutcomeKind.CANCELLED
    await gone(*found)


async def test_what_a_handler_returns_while_it_is_stopped_is_its_outcome(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt("wait_later", args={"pids": str(pids), "stubborn": True})
    running = asyncio.create_task(runner(grace_seconds=PATIENCE).run(attempted))
    await written(pids)
    running.cancel()
    outcome = await asyncio.wait_for(running, PATIENCE)
    assert (outcome.kind, outcome.result) == (OutcomeKind.SUCCESS, {"value": "done after all"})


async def test_one_that_is_stopped_while_it_starts_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Supervised] = []

    async def seen(*args: Any, **more: Any) -> Supervised:
        started.append(await supervised.start(*args, **more))
        return started[-1]

    monkeypatch.setattr(python_process, "start", seen)
    runs = runner(grace_seconds=PATIENCE)
    for delay in (0, 0, 0.001, 0.01, 0.05, 0.1):
        running = asyncio.create_task(runs.run(attempt("add", args={"a": 1})))
        await asyncio.sleep(delay)
        running.cancel()
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait({running})
        if not running.cancelled():
            assert running.result().kind in (OutcomeKind.CANCELLED, OutcomeKind.SUCCESS)
    for one in started:
        await asyncio.wait_for(one.wait(), PATIENCE)
        assert not alive(one.pid)


# Forks


async def test_a_copy_that_comes_back_is_not_taken_for_the_handler(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt("fork", args={"pids": str(pids)})
    outcome = await run("fork", attempted)
    assert outcome.result == {"value": "the original"}
    await gone(*await written(pids))


async def test_a_copy_that_is_left_behind_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    attempted = attempt("fork", args={"pids": str(pids), "leave": True})
    outcome = await run("fork", attempted)
    assert outcome.result == {"value": "the original"}
    assert "the handler left 1 process(es) behind, which were stopped" in attempted.at_level("warning")
    assert not any(map(alive, await written(pids)))


async def test_a_copy_may_log_but_not_report() -> None:
    attempted = attempt("multiply")
    outcome = await run("multiply", attempted)
    assert outcome.result == {"value": "exit code 0"}
    assert not attempted.reports
    assert "from the copy\nonly the process that a handler was started in can report" in attempted.written("stderr")


async def test_a_child_that_somebody_kills_is_a_failure(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    running = asyncio.create_task(runner().run(attempt("wait", args={"pids": str(pids)})))
    child, grandchild = await written(pids)
    os.kill(child, signal.SIGKILL)
    outcome = await asyncio.wait_for(running, PATIENCE)
    assert outcome.error_message == "its process was killed by SIGKILL"
    await gone(grandchild)
