"""Executor: a thread with a loop of its own for users' async handlers.

A handler that blocks its loop (a plain `time.sleep`, a long computation) holds up the handlers beside it; it must not
hold up heartbeats, cancels, time-outs, the scheduler or the API of the same process. So handlers get a loop of their
own, and one that has been blocked for long is left to itself: what starts after that starts on a fresh one.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
import traceback

logger = logging.getLogger("hourhand.executor")
WARN_SECONDS = 2.0
REPLACE_SECONDS = 10.0
MOST_RETIRED = 8


class HandlerLoop:
    """One thread, one loop."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="hourhand-handlers", daemon=True)
        self._answered = time.monotonic()
        self._asked: float | None = None
        self._warned = False
        self._stopping = False
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            while not self._stopping:
                try:
                    self.loop.run_forever()
                except BaseException:
                    # A task that a handler left behind and that calls sys.exit() ends the loop's run, not the loop.
                    logger.exception("something on the handlers' loop tried to end it; it goes on")
        finally:
            self._end_tasks()
            self.loop.close()

    def _end_tasks(self) -> None:
        """What handlers left behind is told that this is the end."""
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.wait(left, timeout=0.5))

    def look(self) -> float:
        """Ask for a sign of life; for how long the last one has been owed."""
        now = time.monotonic()
        if self._asked is None:
            self._asked = now
            self.loop.call_soon_threadsafe(self._answer)
            return 0.0
        blocked = now - self._asked
        if blocked > WARN_SECONDS and not self._warned:
            self._warned = True
            logger.warning(
                "a handler has been blocking its loop for %.1f s; the handlers beside it wait (make it `def` to give "
                'it a thread, or isolation="process"). It is here:\n%s',
                blocked,
                self.stack(),
            )
        return blocked

    def stack(self) -> str:
        """Where its thread is at this moment."""
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - the documented way to see a thread
        return "".join(traceback.format_stack(frame)[-6:]) if frame else "(its thread has ended)"

    def _answer(self) -> None:
        if self._warned:
            logger.warning("the handlers' loop goes on")
        self._asked, self._warned = None, False

    def stop(self) -> None:
        """Let it end; one that is blocked is left behind, and ends with the process."""
        self._stopping = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=1.0)


class HandlerLoops:
    """The loop that handlers are started on, and those that were given up."""

    def __init__(self) -> None:
        self._current: HandlerLoop | None = None
        self._retired: list[HandlerLoop] = []

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where to start the next handler."""
        if self._current is None:
            self._current = HandlerLoop()
        return self._current.loop

    def watch(self) -> bool:
        """Look after them, every second or so; True if the current one was given up just now."""
        self._retired = [one for one in self._retired if one.look() > 0 or not self._idle(one)]
        if self._current is None or self._current.look() < REPLACE_SECONDS or len(self._retired) >= MOST_RETIRED:
            return False
        logger.warning("the blocked handlers' loop is left to itself; new handlers start on a fresh one")
        self._retired.append(self._current)
        self._current = None
        return True

    def _idle(self, one: HandlerLoop) -> bool:
        """Whether a loop that was given up has come to its end, which is then its end."""
        if asyncio.all_tasks(one.loop):
            return False
        one.stop()
        return True

    def stop(self) -> None:
        """End all that can be ended."""
        for one in (self._current, *self._retired):
            if one is not None:
                one.stop()
