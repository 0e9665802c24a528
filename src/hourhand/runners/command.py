"""Runners: the command runner starts a program of the executor's machine and waits for its end.

What the program is given, and nothing of the executor's own environment, is decided in `command_line.py`; that nothing
of it survives, in `supervised.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from typing import ClassVar

from hourhand.contracts.runner import STDERR, STDOUT, Attempt
from hourhand.model.errors import InvalidInput
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners.accounts import account
from hourhand.runners.command_line import CommandLine, CommandPolicy, command_line
from hourhand.runners.output import Output
from hourhand.runners.reporting import ProgressPipe
from hourhand.runners.scratch import Scratch
from hourhand.runners.supervised import Exit, Limits, Supervised, hide_process, signal_name, start
from hourhand.settings import Settings

logger = logging.getLogger("hourhand")
_LEFTOVER_SECONDS = 10.0
"""How long to wait, once nothing runs any more, for the rest of what it wrote to be read and stored."""
_LONGEST_REASON = 500


class CommandRunner:
    """Runs commands as this executor's settings allow."""

    type: ClassVar[TaskType] = TaskType.COMMAND

    def __init__(self, settings: Settings) -> None:
        """Refuse, with InvalidInput, a `command_user` that this executor cannot become."""
        user = account(settings.command_user)
        self._policy = CommandPolicy(shell=settings.command_shell, allow=settings.command_allow, user=user)
        self._limits = Limits(
            memory_mb=settings.command_memory_mb, processes=settings.command_processes, user=settings.command_user
        )
        self._grace_seconds = settings.grace_seconds
        self._scratch = Scratch(user)
        self._warned = False
        if not user.other:
            hide_process()

    def _warn(self) -> None:
        """Say once what running as root means; not before there is a command, since many executors have none."""
        if not self._warned and self._policy.user.uid == 0:
            logger.warning(
                "commands run as root, the executor's own user: they can read the store and the admin token, and "
                "change everything on this machine; set HOURHAND_COMMAND_USER to a user with fewer rights"
            )
        self._warned = True

    def close(self) -> None:
        """Remove the folder in which attempts had theirs."""
        self._scratch.close()

    async def run(self, attempt: Attempt) -> Outcome:
        """Carry the attempt out."""
        began = time.monotonic()
        try:
            outcome = await self._run(attempt, began)
        except InvalidInput as refused:
            outcome = Outcome(kind=OutcomeKind.FAILED, error_message=str(refused), retryable=False)
        except OSError as error:
            outcome = Outcome(kind=OutcomeKind.FAILED, error_message=f"the command could not be started: {error}")
        return outcome

    async def _run(self, attempt: Attempt, began: float) -> Outcome:
        self._warn()
        assignment = attempt.assignment
        async with self._scratch.folders(f"{assignment.instance_id}-{assignment.fence}") as folders:
            line = command_line(attempt, self._policy, folders)
            reports = ProgressPipe(folders.progress, attempt)
            try:
                folders.give(folders.progress)
                process = await start(
                    line.argv,
                    env=line.env,
                    cwd=line.cwd,
                    stdin=line.stdin,
                    limits=self._limits,
                    grace_seconds=self._grace_seconds,
                )
                return await _Attended(attempt, line, process, reports, began).outcome()
            finally:
                reports.close()


class _Attended:
    """One started command, until its outcome."""

    def __init__(
        self, attempt: Attempt, line: CommandLine, process: Supervised, reports: ProgressPipe, began: float
    ) -> None:
        self._attempt = attempt
        self._line = line
        self._process = process
        self._reports = reports
        self._began = began
        self._output = Output(attempt)

    async def outcome(self) -> Outcome:
        """Wait for its end, or stop it when this is cancelled."""
        following = [
            asyncio.create_task(self._output.follow(self._process.stdout, STDOUT)),
            asyncio.create_task(self._output.follow(self._process.stderr, STDERR)),
            asyncio.create_task(self._reports.follow()),
        ]
        for task in following:
            task.add_done_callback(self._check)
        cancelled = False
        try:
            try:
                ended = await self._process.wait()
            except asyncio.CancelledError:
                cancelled = True
                ended = await self._stopped()
            await self._read_out(following)
        finally:
            # Whatever came between: without these nobody listens, and what still runs is ended by its supervisor.
            self._process.close()
            for task in following:
                task.cancel()
        return self._told(ended, cancelled=cancelled)

    async def _read_out(self, following: Sequence[asyncio.Task[None]]) -> None:
        """Take the rest of what it wrote; a cancellation comes too late to change the outcome, but ends this."""
        self._reports.finish()
        with contextlib.suppress(asyncio.CancelledError):
            _, pending = await asyncio.wait(following, timeout=_LEFTOVER_SECONDS)
            if pending:
                self._attempt.log(
                    "the command has ended, but its output is held open or a report of it could not be stored; "
                    f"what comes after {_LEFTOVER_SECONDS:g} s is not kept",
                    level="warning",
                )

    def _check(self, task: asyncio.Task[None]) -> None:
        """End a command that nobody listens to any more, since it would wait for ever to be heard."""
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("reading a command's output failed, so it is stopped", exc_info=error)
            self._process.close()

    async def _stopped(self) -> Exit:
        """Stop it; a second cancellation takes the grace away, a third one leaves the rest to the supervisor."""
        try:
            return await self._process.stop()
        except asyncio.CancelledError:
            return await self._process.kill()

    def _told(self, ended: Exit, *, cancelled: bool) -> Outcome:
        if ended.left_behind and not cancelled:
            self._attempt.log(
                f"the command left {ended.left_behind} process(es) behind, which were stopped", level="warning"
            )
        kind, message = self._judged(ended)
        if cancelled:
            kind, message = OutcomeKind.CANCELLED, f"stopped: {message or 'exit code 0'}"
        result = {
            "output": self._output.stdout.text(),
            "error": self._output.stderr.text(),
            "exit_code": ended.returncode,
        }
        return Outcome(
            kind=kind,
            result=result if ended.started else None,
            error_message=message,
            output_summary=self._output.summary(),
            duration_ms=round((time.monotonic() - self._began) * 1000),
        )

    def _judged(self, ended: Exit) -> tuple[OutcomeKind, str | None]:
        if ended.failure is not None:
            return OutcomeKind.FAILED, ended.failure
        if ended.signal is not None:
            return OutcomeKind.FAILED, self._explained(f"killed by {signal_name(ended.signal)}")
        if ended.code in self._line.success_codes:
            return OutcomeKind.SUCCESS, None
        return OutcomeKind.FAILED, self._explained(f"exit code {ended.code}")

    def _explained(self, what: str) -> str:
        reason = self._output.stderr.last_line()
        return f"{what}: {reason[:_LONGEST_REASON]}" if reason else what
