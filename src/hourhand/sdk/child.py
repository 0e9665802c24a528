"""SDK: the process in which a handler with isolation="process" runs: `python -m hourhand.sdk.child APP HANDLER FD`.

`hourhand.runners.python_process` is the other side; the file descriptor is the child's end of their pair of sockets.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import datetime
from io import BufferedReader, TextIOWrapper
from typing import Any, cast

from hourhand.contracts.runner import Handler
from hourhand.model.errors import HourhandError, InvalidInput, StaleFence
from hourhand.model.instance import Assignment, Outcome
from hourhand.model.task import TaskDefinition
from hourhand.model.words import OutcomeKind, TaskType, TriggeredBy
from hourhand.rules.definition import check_json
from hourhand.runners import python_records
from hourhand.runners.python_call import begin, call, cut, drive, failed
from hourhand.sdk.context import running_loop
from hourhand.sdk.handlers import FunctionHandler
from hourhand.sdk.loading import load_app

MESSAGE_CHARACTERS = 64 * 1024
"""So that no line is longer than the other side takes."""
STOPPED = Outcome(kind=OutcomeKind.CANCELLED, error_message="stopped")


class ChildAttempt:
    """The attempt, seen from the child; `hourhand.contracts.runner.Attempt` says what each part promises."""

    def __init__(self, connection: socket.socket, order: Mapping[str, Any], replies: BufferedReader) -> None:
        self.assignment = _assignment(order["assignment"])
        self.definition = TaskDefinition(type=TaskType.PYTHON, **order["definition"])
        self.args: Mapping[str, Any] = order["args"]
        self.cancelled = False
        self.phase: str | None = None
        self._connection: socket.socket | None = connection
        self._lock = threading.Lock()
        self._sending = 0
        self._interrupted = False
        self._requests: dict[int, Future[None]] = {}
        self._made = 0
        self._replies: BufferedReader | None = replies
        os.register_at_fork(after_in_child=self._forked)

    def log(
        self, message: str, *, level: str = "info", stream: str | None = None, exception: str | None = None
    ) -> None:
        """Write to the instance log."""
        if self._connection is None:
            sys.stderr.write(f"{message}\n{exception or ''}")  # from a fork: what it prints is logged
            return
        del stream  # what it prints comes another way
        exception = exception and cut(exception, MESSAGE_CHARACTERS)
        self._send({"log": cut(message, MESSAGE_CHARACTERS), "level": level, "exception": exception})

    async def progress(
        self, fraction: float | None = None, *, phase: str | None = None, checkpoint: object = None
    ) -> None:
        """Tell how far it has come; waits for a loop only where there is one."""
        if self._connection is None:
            raise HourhandError("only the process that a handler was started in can report, not one that it forked")
        report = {"fraction": fraction, "phase": phase and cut(phase, MESSAGE_CHARACTERS), "checkpoint": checkpoint}
        if phase is not None:
            self.phase = phase
        if checkpoint is None:
            self._send({"progress": report, "request": None})
            return
        check_json(checkpoint, "checkpoint")
        stored: Future[None] = Future()
        with self._lock:
            self._made += 1
            request = self._made
            self._requests[request] = stored
            replies, self._replies = self._replies, None
        if replies is not None:
            # Only now: a process that has no other thread can be forked without harm.
            threading.Thread(target=self._listen, args=(replies,), name="hourhand-replies", daemon=True).start()
        self._send({"progress": report, "request": request})
        if running_loop() is None:
            stored.result()
        else:
            await asyncio.wrap_future(stored)

    def callback_url(self) -> str | None:
        """None: what is started here ends here."""
        return None

    def end(self, outcome: Outcome) -> None:
        """Tell what came of it; the last word."""
        told = {
            "kind": outcome.kind.value,
            "result": outcome.result,
            "error_message": outcome.error_message,
            "retryable": outcome.retryable,
            "retry_after_seconds": outcome.retry_after_seconds,
        }
        self._send({"outcome": told})

    def interrupt(self) -> None:
        """In the main thread, by a signal: raise CancelledError wherever it is, but not in the middle of a line."""
        if self.cancelled:
            return
        self.cancelled = True
        if self._sending == threading.get_ident():
            self._interrupted = True
        else:
            raise asyncio.CancelledError

    def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._sending = threading.get_ident()
            try:
                if self._connection is not None:
                    self._connection.sendall(line)
            finally:
                self._sending = 0
        if self._interrupted and threading.current_thread() is threading.main_thread():
            self._interrupted = False
            raise asyncio.CancelledError

    def _listen(self, replies: BufferedReader) -> None:
        for line in replies:
            reply = json.loads(line)
            stored = self._requests.pop(reply["request"])
            if "refused" in reply:
                stored.set_exception(self._refusal(reply["refused"], reply["message"]))
            else:
                stored.set_result(None)

    def _refusal(self, kind: str, message: str) -> HourhandError:
        match kind:
            case "StaleFence":
                return StaleFence(self.assignment.instance_id, self.assignment.fence)
            case "InvalidInput":
                return InvalidInput.one("checkpoint", None, message.removeprefix("checkpoint: "))
            case _:
                return HourhandError(f"the checkpoint could not be stored: {kind}: {message}")

    def _forked(self) -> None:
        """In a copy that the handler made: the connection stays with the original."""
        connection, self._connection = self._connection, None
        self._lock = threading.Lock()
        if connection is not None:
            connection.close()


def _assignment(order: Mapping[str, Any]) -> Assignment:
    times = {name: datetime.fromisoformat(order[name]) for name in ("scheduled_time", "available_at", "lease_until")}
    return Assignment(**{**order, **times, "triggered_by": TriggeredBy(order["triggered_by"])})


def main(source: str, name: str, descriptor: int) -> None:
    """Take the order, run the handler, tell the outcome."""
    faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        cast("TextIOWrapper", stream).reconfigure(line_buffering=True, errors="backslashreplace")
    os.set_inheritable(descriptor, False)  # noqa: FBT003 - its only form
    connection = socket.socket(fileno=descriptor)
    replies = connection.makefile("rb")
    order = json.loads(replies.readline())
    sys.path[:] = order["path"]
    attempt = ChildAttempt(connection, order, replies)
    python_records.install()
    logging.getLogger().setLevel(order["level"])
    try:
        handler = _handler(source, name)
    except Exception as error:  # noqa: BLE001 - its executor could load it, so this is worth a word
        attempt.end(failed(attempt, error))
        return
    try:
        if handler.asynchronous:
            asyncio.run(_on_loop(handler, attempt))
        else:
            _in_main_thread(handler, attempt)
    finally:
        sys.stdout.flush()


def _handler(source: str, name: str) -> FunctionHandler:
    app = load_app(source)
    handler = app.handlers.get((app.name, name))
    if handler is None:
        known = ", ".join(one for _, one in app.handlers) or "none"
        raise HourhandError(f"{source} has no handler {name!r} here; it has: {known}")
    return handler


async def _on_loop(handler: Handler, attempt: ChildAttempt) -> None:
    task = asyncio.current_task()

    def stop() -> None:
        attempt.cancelled = True
        if task is not None:
            task.cancel()

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
    try:
        outcome = await call(handler, attempt)
    except asyncio.CancelledError:
        outcome = STOPPED
    # Before the loop is closed, which waits for threads: the executor need not.
    attempt.end(outcome)


def _in_main_thread(handler: Handler, attempt: ChildAttempt) -> None:
    try:
        signal.signal(signal.SIGTERM, lambda *_: attempt.interrupt())
        called = begin(handler, attempt)
        ended = called if isinstance(called, Outcome) else drive(called, attempt)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except asyncio.CancelledError as error:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ended = error
    attempt.end(ended if isinstance(ended, Outcome) else STOPPED)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
