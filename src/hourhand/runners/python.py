"""Runners: python: a user's function, on the loop, in a thread or in a process of its own."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import ClassVar

from hourhand.contracts.runner import Attempt, Handler
from hourhand.model.instance import Outcome
from hourhand.model.words import OutcomeKind, TaskType
from hourhand.runners import python_process, python_records
from hourhand.runners.python_call import begin, call, drive, refuse
from hourhand.runners.python_threads import Threads
from hourhand.settings import Settings

logger = logging.getLogger("hourhand")
Driven = Outcome | BaseException


class PythonRunner:
    """Looks the handler up and calls it where it belongs."""

    type: ClassVar[TaskType] = TaskType.PYTHON

    def __init__(self, handlers: Mapping[tuple[str, str], Handler], *, settings: Settings) -> None:
        self._handlers = dict(handlers)
        self._settings = settings
        self._threads: Threads[Driven] = Threads(settings.concurrency, "hourhand-handler")
        python_records.install()

    async def run(self, attempt: Attempt) -> Outcome:
        """Carry the attempt out."""
        definition = attempt.definition
        payload = definition.payload
        handler = self._handlers.get((payload.get("app") or definition.group, payload["handler"]))
        if handler is None:
            return self._hand_back(attempt)
        if handler.isolation == "loop":
            return await call(handler, attempt)
        if handler.isolation == "thread":
            return await self._in_thread(handler, attempt)
        if handler.source is None:
            return refuse(
                attempt,
                f"the handler {handler.name!r} cannot be found by a process of its own: "
                "load its app by name, as in `hourhand executor MODULE:APP`",
            )
        return await python_process.call(handler, handler.source, attempt, self._settings.grace_seconds)

    async def close(self) -> None:
        """Let idle threads end."""
        self._threads.close()

    def _hand_back(self, attempt: Attempt) -> Outcome:
        """Another release may know it: somebody else should try, and not at once."""
        payload = attempt.definition.payload
        app = payload.get("app") or attempt.definition.group
        known = ", ".join(sorted(name for of, name in self._handlers if of == app)) or "none"
        attempt.log(
            f"handed back: this executor's app {app!r} has no handler {payload['handler']!r}; it has: {known}",
            level="warning",
        )
        return Outcome(kind=OutcomeKind.HANDED_BACK, delay_seconds=self._settings.lease_seconds)

    async def _in_thread(self, handler: Handler, attempt: Attempt) -> Outcome:
        if self._threads.short:
            return self._out_of_threads(attempt)
        called = begin(handler, attempt)
        if isinstance(called, Outcome):
            return called
        if self._threads.busy:
            attempt.log(f"waits for a thread: all {self._settings.concurrency} are taken", level="warning")
        working = self._threads.submit(partial(contextvars.copy_context().run, drive, called, attempt))
        ended = asyncio.wrap_future(working)
        try:
            outcome = await asyncio.shield(ended)
        except asyncio.CancelledError:
            if working.cancel():
                called.close()  # it has not begun
            else:
                await self._let_end(handler, attempt, working, ended)
            raise
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _out_of_threads(self, attempt: Attempt) -> Outcome:
        """It could only wait for what may never return: somebody else should try, and not at once."""
        stuck = self._threads.given_up
        attempt.log(
            f"handed back: {stuck} threads of this executor still run handlers that were stopped and did not return, "
            "and no further one is made",
            level="warning",
        )
        logger.error(
            "%d threads run handlers that do not return, so an attempt is handed back: restart this executor, and use "
            'isolation="process" for handlers that cannot look at ctx.cancelled',
            stuck,
        )
        return Outcome(kind=OutcomeKind.HANDED_BACK, delay_seconds=self._settings.lease_seconds)

    async def _let_end(
        self, handler: Handler, attempt: Attempt, working: Future[Driven], ended: asyncio.Future[Driven]
    ) -> None:
        """A thread cannot be stopped: it is given the grace to notice that it should."""
        grace = self._settings.grace_seconds
        try:
            await asyncio.wait({ended}, timeout=grace)
        finally:
            if not ended.done():
                self._threads.give_up(working)
                ended.cancel()  # nobody listens to it any more
                where = f"handler {handler.name!r} of instance {attempt.assignment.instance_id}"
                attempt.log(
                    f"asked to stop, it did not return within {grace:g} s: its thread still runs, and so does what it "
                    'does; look at ctx.cancelled from time to time, or use isolation="process"',
                    level="error",
                )
                logger.error("%s did not return within %g s of being stopped and keeps its thread", where, grace)
                working.add_done_callback(lambda _: logger.warning("%s has returned and gave its thread back", where))
