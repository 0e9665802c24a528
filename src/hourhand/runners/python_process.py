"""Runners: a handler in a process of its own, which can be killed and takes everything it started with it.

The two sides speak JSON lines over a pair of sockets; `hourhand.sdk.child` is the other side. First the order goes to
the child; then come its lines of log, its reports and, last, its outcome; what carries a checkpoint is answered once
that is durable.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from hourhand.contracts.runner import STDERR, STDOUT, Attempt, Handler
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind
from hourhand.runners.output import Output
from hourhand.runners.supervised import Exit, Limits, Supervised, signal_name, start

CHILD = "hourhand.sdk.child"
LINE_BYTES = 1024 * 1024
"""No line is longer: everything a child sends is bounded where it is sent."""
_LEFTOVER_SECONDS = 10.0
_LINGER_SECONDS = 5.0
"""How long a child may at least take to end once it has told its outcome."""
_LINES_AT_ONCE = 200
_SECRETS = ("HOURHAND_STORE", "HOURHAND_TOKEN", "HOURHAND_SECRET_KEY")

logger = logging.getLogger("hourhand")


async def call(handler: Handler, source: str, attempt: Attempt, grace_seconds: float) -> Outcome:
    """Run the handler in a child, and see to it that nothing of the child is left."""
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as unused:
        unused.callback(ours.close)
        with theirs:
            try:
                process = await start(
                    [sys.executable, "-m", CHILD, source, handler.name, str(theirs.fileno())],
                    env=environment(attempt),
                    cwd=os.getcwd(),  # noqa: PTH109 - a text is what is wanted
                    stdin=None,
                    limits=Limits(),
                    grace_seconds=grace_seconds,
                    pass_fds=(theirs.fileno(),),
                )
            except (OSError, InvalidInput) as error:
                return Outcome(kind=OutcomeKind.FAILED, error_message=f"its process could not be started: {error}")
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=LINE_BYTES)
        except BaseException:
            process.close()
            raise
        unused.pop_all()
    return await _Attended(attempt, process, reader, writer, grace_seconds).outcome()


def environment(attempt: Attempt) -> dict[str, str]:
    """The executor's own, without what opens the store, and with who the child is."""
    assignment = attempt.assignment
    own = {name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)}
    return own | {
        "HOURHAND_INSTANCE_ID": str(assignment.instance_id),
        "HOURHAND_FENCE": str(assignment.fence),
        "HOURHAND_ATTEMPT": f"{assignment.instance_id}-{assignment.fence}",
        "HOURHAND_IDEMPOTENCY_KEY": assignment.idempotency_key,
        "HOURHAND_TASK": attempt.definition.name,
    }


class _Attended:
    """One child, until its outcome."""

    def __init__(
        self,
        attempt: Attempt,
        process: Supervised,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        grace_seconds: float,
    ) -> None:
        self._attempt = attempt
        self._process = process
        self._reader = reader
        self._writer = writer
        self._grace_seconds = grace_seconds
        self._output = Output(attempt)
        self._said: Outcome | None = None

    async def outcome(self) -> Outcome:
        """Wait for its end, or stop it when this is cancelled."""
        conversing = asyncio.create_task(self._converse())
        following = [
            conversing,
            asyncio.create_task(self._output.follow(self._process.stdout, STDOUT)),
            asyncio.create_task(self._output.follow(self._process.stderr, STDERR)),
        ]
        for task in following:
            task.add_done_callback(self._check)
        stopped = False
        try:
            try:
                await asyncio.wait({conversing})
                ended = await self._end()
            except asyncio.CancelledError:
                stopped = True
                ended = await self._stop()
            await self._read_out(following)
        finally:
            # Whatever came between: without these nobody listens, and what still runs is ended by its supervisor.
            self._process.close()
            self._writer.close()
            for task in following:
                task.cancel()
        return replace(self._told(ended, stopped=stopped), output_summary=self._output.summary())

    async def _end(self) -> Exit:
        """It has said all it had to say: then it should be about to end."""
        seconds = max(self._grace_seconds, _LINGER_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                return await self._process.wait()
        except TimeoutError:
            what = "has returned" if self._said else "has closed its connection to the executor"
            self._attempt.log(
                f"the handler {what}, but its process still runs {seconds:g} s later (a thread that is no daemon?): "
                "it is stopped",
                level="warning",
            )
            return await self._process.stop()

    async def _stop(self) -> Exit:
        """Stop it; a second cancellation takes the grace away, a third one leaves the rest to the supervisor."""
        try:
            return await self._process.stop()
        except asyncio.CancelledError:
            return await self._process.kill()

    async def _read_out(self, following: Sequence[asyncio.Task[None]]) -> None:
        """Take the rest of what it wrote; a cancellation comes too late to change the outcome, but ends this."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(following, timeout=_LEFTOVER_SECONDS)

    def _check(self, task: asyncio.Task[None]) -> None:
        """End a child that nobody listens to any more, since it would wait for ever to be heard."""
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("listening to a handler's process failed, so it is stopped", exc_info=error)
            self._process.close()

    def _told(self, ended: Exit, *, stopped: bool) -> Outcome:
        if ended.left_behind and not stopped:
            self._attempt.log(
                f"the handler left {ended.left_behind} process(es) behind, which were stopped", level="warning"
            )
        if self._said is not None and self._said.kind is not OutcomeKind.CANCELLED:
            return self._said
        if ended.failure is not None:
            message = f"its process could not be started or was lost: {ended.failure}"
        elif ended.signal is not None:
            message = f"its process was killed by {signal_name(ended.signal)}"
        elif self._said is not None:
            message = "its process was asked to end by SIGTERM"
        else:
            message = f"its process ended with exit code {ended.code} before it returned"
        if stopped:
            return Outcome(kind=OutcomeKind.CANCELLED, error_message=f"stopped: {message}")
        self._attempt.log(message, level="error")
        return Outcome(kind=OutcomeKind.FAILED, error_message=message)

    # The conversation

    async def _converse(self) -> None:
        with contextlib.suppress(ConnectionError):  # the child has died: its exit says more
            self._writer.write(_line(_order(self._attempt)))
            lines = 0
            while self._said is None and (line := await self._reader.readline()):
                await self._hear(line)
                lines += 1
                if lines % _LINES_AT_ONCE == 0:
                    await asyncio.sleep(0)  # others are here too

    async def _hear(self, line: bytes) -> None:
        try:
            match json.loads(line):
                case {"log": str(message), "level": str(level), "exception": str() | None as exception}:
                    self._attempt.log(message, level=level, exception=exception)
                case {"progress": dict(report), "request": int() | None as request}:
                    await self._report(report, request)
                case {"outcome": dict(outcome)}:
                    self._said = Outcome(
                        kind=OutcomeKind(outcome["kind"]),
                        result=outcome["result"],
                        error_message=outcome["error_message"],
                        retryable=outcome["retryable"] is True,
                        retry_after_seconds=outcome["retry_after_seconds"],
                    )
                case strange:
                    self._attempt.log(f"its process said what nobody understands: {strange!r:.200}", level="warning")
        except (ValueError, KeyError) as error:
            self._attempt.log(f"its process said what nobody understands: {error}", level="warning")

    async def _report(self, report: Mapping[str, Any], request: int | None) -> None:
        answer: dict[str, Any] = {"request": request}
        try:
            await self._attempt.progress(
                report.get("fraction"), phase=report.get("phase"), checkpoint=report.get("checkpoint")
            )
        except Exception as error:  # noqa: BLE001 - it is the handler's to deal with, there
            answer |= {"refused": type(error).__name__, "message": str(error)}
        if request is not None:
            self._writer.write(_line(answer))


def _order(attempt: Attempt) -> Mapping[str, Any]:
    assignment = asdict(attempt.assignment)
    for name in ("scheduled_time", "available_at", "lease_until"):
        assignment[name] = assignment[name].isoformat()
    definition = attempt.definition
    return {
        "assignment": assignment,
        "definition": {"name": definition.name, "group": definition.group, "payload": dict(definition.payload)},
        "args": dict(attempt.args),
        "path": sys.path,
        "level": logging.getLogger().level,
    }


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
